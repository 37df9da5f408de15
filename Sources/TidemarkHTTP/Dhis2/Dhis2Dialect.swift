// Dhis2Dialect.swift — what the versions of DHIS2 call things: up to 2.39 by the names of the old
// tracker API, from 2.40 on by those of the new one.

import TidemarkEvents
import TidemarkSync

/// What a collection holds.
enum Dhis2Kind: Sendable, Hashable {
    case trackedEntities
    case enrollments
    case events
    case relationships
    /// Programs, organisation units and the like, by the name of their list.
    case metadata(String)

    init(_ name: CollectionName) {
        switch name.rawValue {
        case "trackedEntities": self = .trackedEntities
        case "enrollments": self = .enrollments
        case "events": self = .events
        case "relationships": self = .relationships
        default: self = .metadata(name.rawValue)
        }
    }

    var isTracker: Bool { if case .metadata = self { false } else { true } }
}

/// The names of one version's API.
struct Dhis2Dialect: Sendable, Hashable {
    enum Generation: Sendable, Hashable { case old, new }

    /// The second number of the version: 41 of 2.41.
    let minor: Int

    /// Reads a version as `system/info` says it; nil for anything else.
    init?(version: String) {
        let parts = version.split(whereSeparator: { $0 == "." || $0 == "-" })
        guard parts.count > 1, parts[0] == "2", let minor = Int(parts[1]), minor > 0 else {
            return nil
        }
        self.minor = minor
    }

    var generation: Generation { minor < 40 ? .old : .new }

    /// The path of a list, below `api`.
    func place(of kind: Dhis2Kind) -> String {
        switch kind {
        case .metadata(let name): URLPath.escape(name.utf8)
        case .trackedEntities, .enrollments, .events, .relationships:
            generation == .old ? listName(of: kind) : "tracker/" + listName(of: kind)
        }
    }

    /// What a list is called in its address and, as a member, in its answer.
    func listName(of kind: Dhis2Kind) -> String {
        switch kind {
        case .trackedEntities: generation == .old ? "trackedEntityInstances" : "trackedEntities"
        case .enrollments: "enrollments"
        case .events: "events"
        case .relationships: "relationships"
        case .metadata(let name): name
        }
    }

    /// The members by which an answer's list may be called.
    func listMembers(of kind: Dhis2Kind) -> [String] {
        generation == .new && kind.isTracker
            ? [listName(of: kind), "instances"] : [listName(of: kind)]
    }

    func idField(of kind: Dhis2Kind) -> String {
        switch kind {
        case .trackedEntities: generation == .old ? "trackedEntityInstance" : "trackedEntity"
        case .enrollments: "enrollment"
        case .events: "event"
        case .relationships: "relationship"
        case .metadata: "id"
        }
    }

    /// The parameter of a list that names the objects which are wanted; nil for metadata.
    func idsParameter(of kind: Dhis2Kind) -> String? {
        if case .metadata = kind { return nil }
        return minor < 41 ? idField(of: kind) : listName(of: kind)
    }

    /// What an object of a kind holds.
    func child(of kind: Dhis2Kind) -> Dhis2Kind? {
        switch kind {
        case .trackedEntities: .enrollments
        case .enrollments: .events
        case .events, .relationships, .metadata: nil
        }
    }

    /// The member with the last change.
    var changedAt: String { generation == .old ? "lastUpdated" : "updatedAt" }

    /// The parameter that leaves out what did not change since.
    var since: String { generation == .old ? "lastUpdatedStartDate" : "updatedAfter" }

    /// The parameters of a list in the server's words.
    func words(
        _ parameters: ListParameters, of kind: Dhis2Kind
    ) throws(SyncFailure) -> [(name: String, value: String)] {
        var words: [(name: String, value: String)] = []
        for parameter in parameters.all {
            guard kind.isTracker, let name = name(of: parameter.name) else {
                let known = kind.isTracker ? Self.parameters.joined(separator: ", ") : "none"
                throw .client(
                    status: 0, "\"\(parameter.name)\" is no parameter of its lists; \(known) are")
            }
            words.append((name, parameter.value))
        }
        return words
    }

    private static let parameters = [
        "program", "trackedEntityType", "orgUnit", "orgUnitMode", "programStage", "status",
    ]

    private func name(of parameter: String) -> String? {
        switch parameter {
        case "orgUnit": generation == .old ? "ou" : minor < 41 ? "orgUnit" : "orgUnits"
        case "orgUnitMode": minor < 41 ? "ouMode" : "orgUnitMode"
        default: Self.parameters.contains(parameter) ? parameter : nil
        }
    }
}
