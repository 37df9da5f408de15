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
    /// Aggregate data values.
    case dataValues
    /// The user who signs in, with his units.
    case user
    /// Programs, organisation units and the like, by the name of their list.
    case metadata(String)

    init(_ name: CollectionName) {
        switch name.rawValue {
        case "trackedEntities": self = .trackedEntities
        case "enrollments": self = .enrollments
        case "events": self = .events
        case "relationships": self = .relationships
        case "dataValues": self = .dataValues
        case "me": self = .user
        default: self = .metadata(name.rawValue)
        }
    }

    var isTracker: Bool {
        switch self {
        case .trackedEntities, .enrollments, .events, .relationships: true
        case .dataValues, .user, .metadata: false
        }
    }
}

/// A version that is none of DHIS2, or too old.
struct Dhis2VersionError: Error, Hashable {
    /// What is wrong, and what would be right.
    let description: String
}

/// The names of one version's API.
struct Dhis2Dialect: Sendable, Hashable {
    enum Generation: Sendable, Hashable { case old, new }

    /// The second number of the version: 41 of 2.41.
    let minor: Int

    /// The second number of the oldest version that is spoken.
    static let oldest = 29

    /// Reads a version as `system/info` says it: `2.41`, `2.40.3`, `2.42-SNAPSHOT`.
    ///
    /// - Throws: ``Dhis2VersionError`` for anything else, and for a version that is too old. One
    ///   that is newer than those that are known is spoken to as the newest of these.
    init(version: String) throws(Dhis2VersionError) {
        let parts = version.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "." || $0 == "-" })
        guard parts.count > 1, parts[0] == "2", let minor = Int(parts[1]), minor > 0,
            parts[1].allSatisfy(\.isNumber)
        else {
            throw Dhis2VersionError(
                description: "\"\(version.prefix(40))\" is no version of DHIS2; name the server's, "
                    + "as in \"2.41\"")
        }
        guard minor >= Self.oldest else {
            throw Dhis2VersionError(
                description: "DHIS2 2.\(minor) is older than 2.\(Self.oldest), the oldest version "
                    + "that can be synced with")
        }
        self.minor = minor
    }

    var generation: Generation { minor < 40 ? .old : .new }

    /// Whether a tracked entity that the user may not see in a program is answered for as if there
    /// was none.
    var deniesAsMissing: Bool { minor > 41 }

    /// Whether what the user may not see is taken out of a page of a list after it was cut, and
    /// nothing tells whether more follows.
    ///
    /// Up to 2.39 it is so, too, but there the page says whether it is the last one.
    func cutsFirst(_ kind: Dhis2Kind) -> Bool {
        kind == .trackedEntities && generation == .new && minor < 42
    }

    /// Whether data values are sent set by set, with the data set's id.
    var namesDataSets: Bool { minor >= 39 }

    /// Whether every version of this number lists data values by data element.
    var listsElements: Bool { minor >= 40 }

    /// The path of a list, below `api`.
    func place(of kind: Dhis2Kind) -> String {
        switch kind {
        case .metadata(let name): ServerRequest.percentEncoded(name)
        case .dataValues: "dataValueSets"
        case .user: "me"
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
        case .dataValues: "dataValues"
        case .user: "me"
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
        case .dataValues, .user, .metadata: "id"
        }
    }

    /// The parameter of a list that names the objects which are wanted; nil where there is none.
    func idsParameter(of kind: Dhis2Kind) -> String? {
        guard kind.isTracker else { return nil }
        return minor < 41 ? idField(of: kind) : listName(of: kind)
    }

    /// What an object of a kind holds.
    func children(of kind: Dhis2Kind) -> [Dhis2Kind] {
        switch kind {
        case .trackedEntities: [.enrollments, .relationships]
        case .enrollments: [.events, .relationships]
        case .events: [.relationships]
        case .relationships, .dataValues, .user, .metadata: []
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
        let known = Self.parameters(of: kind)
        for parameter in parameters.all {
            guard known.contains(parameter.name) else {
                let list = known.isEmpty ? "none" : known.joined(separator: ", ")
                throw .client(
                    status: 0, "\"\(parameter.name)\" is no parameter of its lists; \(list) are")
            }
            if kind.isTracker {
                words.append((name(of: parameter.name), value(of: parameter)))
            } else {
                words.append((parameter.name, parameter.value))
            }
        }
        return words
    }

    private static func parameters(of kind: Dhis2Kind) -> [String] {
        switch kind {
        case .trackedEntities, .enrollments, .events, .relationships:
            ["program", "trackedEntityType", "orgUnit", "orgUnitMode", "programStage", "status"]
        case .dataValues:
            [
                "dataSet", "dataElementGroup", "orgUnit", "orgUnitGroup", "children", "period",
                "startDate", "endDate", "periods", "attributeOptionCombo",
            ]
        case .user, .metadata: []
        }
    }

    /// Several units stand behind each other with commas, and with semicolons up to 2.40.
    private func value(of parameter: ListParameters.Parameter) -> String {
        guard parameter.name == "orgUnit" else { return parameter.value }
        return parameter.value.split(whereSeparator: { $0 == "," || $0 == ";" })
            .joined(separator: minor < 41 ? ";" : ",")
    }

    private func name(of parameter: String) -> String {
        switch parameter {
        case "orgUnit": generation == .old ? "ou" : minor < 41 ? "orgUnit" : "orgUnits"
        case "orgUnitMode": minor < 41 ? "ouMode" : "orgUnitMode"
        default: parameter
        }
    }
}
