// Dhis2Path.swift — what the path of a request names.

/// The target of a request, below `/api` or `/api/41`.
enum Dhis2Path: Sendable, Hashable {
    case systemInfo
    case me
    /// A list of metadata: `programs`.
    case metadata(String)
    case metadatum(String, id: String)
    case list(Dhis2Kind, Dhis2Generation)
    case object(Dhis2Kind, Dhis2Generation, id: String)
    /// Where the new API imports.
    case tracker
    case job(String)
    case jobReport(String)
    /// Temporary access to a tracked entity in a program.
    case override
    case transfer
    case requiredValues(attribute: String)
    /// Generated values: one that is not kept, or several that are reserved.
    case generate(attribute: String)
    case reserve(attribute: String)
    case dataValueSets
    case registrations
    case fileResources
    case fileResource(id: String)
    /// The bytes of a file by its own id, which values' files are not given by.
    case fileData(id: String)
    /// The file of a value; the old API's address of an event's names both as parameters.
    case file(Dhis2Kind, Dhis2Generation, id: String, element: String)
    case eventFile
    case unknown

    /// Reads a path without its query.
    init(_ path: some StringProtocol) {
        var parts = path.split(separator: "/", omittingEmptySubsequences: true)
            .map { KintoQuery.decoded($0) }
        guard let api = parts.firstIndex(of: "api") else {
            self = .unknown
            return
        }
        parts.removeFirst(api + 1)
        if let first = parts.first, Int(first) != nil { parts.removeFirst() }
        if let last = parts.popLast() {
            parts.append(last.hasSuffix(".json") ? String(last.dropLast(5)) : last)
        }
        if parts.first == "tracker" {
            self = Self.tracker(Array(parts.dropFirst()))
        } else {
            self = Self.other(parts)
        }
    }

    private static func tracker(_ parts: [String]) -> Dhis2Path {
        switch parts.count {
        case 0: return .tracker
        case 2 where parts[0] == "jobs": return .job(parts[1])
        case 3 where parts[0] == "jobs" && parts[2] == "report": return .jobReport(parts[1])
        case 2 where parts == ["ownership", "override"]: return .override
        case 2 where parts == ["ownership", "transfer"]: return .transfer
        default:
            guard let kind = Dhis2Kind(rawValue: parts[0]) else { return .unknown }
            if parts.count == 5, parts[2] == kind.valuesMember, parts[4] == "file" {
                return .file(kind, .new, id: parts[1], element: parts[3])
            }
            if parts.count == 1 { return .list(kind, .new) }
            return parts.count == 2 ? .object(kind, .new, id: parts[1]) : .unknown
        }
    }

    private static func other(_ parts: [String]) -> Dhis2Path {
        guard let first = parts.first else { return .unknown }
        switch (first, parts.count) {
        case ("system", 2) where parts[1] == "info": return .systemInfo
        case ("me", 1): return .me
        case ("dataValueSets", 1): return .dataValueSets
        case ("completeDataSetRegistrations", 1): return .registrations
        case ("fileResources", 1): return .fileResources
        case ("fileResources", 2): return .fileResource(id: parts[1])
        case ("fileResources", 3) where parts[2] == "data": return .fileData(id: parts[1])
        case ("events", 2) where parts[1] == "files": return .eventFile
        case ("trackedEntityInstances", 4) where parts[3] == "file":
            return .file(.trackedEntities, .old, id: parts[1], element: parts[2])
        case ("trackedEntityAttributes", 3): return attribute(parts[1], parts[2])
        case (_, 1...2): break
        default: return .unknown
        }
        if let kind = Dhis2Kind.allCases.first(where: { $0.oldName == first }) {
            return parts.count == 1 ? .list(kind, .old) : .object(kind, .old, id: parts[1])
        }
        return parts.count == 1 ? .metadata(first) : .metadatum(first, id: parts[1])
    }

    private static func attribute(_ id: String, _ action: String) -> Dhis2Path {
        switch action {
        case "requiredValues": .requiredValues(attribute: id)
        case "generate": .generate(attribute: id)
        case "generateAndReserve": .reserve(attribute: id)
        default: .unknown
        }
    }

    /// The id of the object or metadatum, when the target is one.
    var recordID: String? {
        switch self {
        case .object(_, _, let id): id
        case .metadatum(let resource, let id): Dhis2ServerModel.isMetadata(resource) ? id : nil
        default: nil
        }
    }
}
