// TogglType.swift — the kinds of entities that Toggl has, and where they are.

import TidemarkEvents
import TidemarkSync

/// A kind of entity, by the name of its collection.
enum TogglType: String {
    case workspaces, user, preferences, tags, clients, projects, tasks
    case features = "workspace_features"
    case timeEntries = "time_entries"

    /// What every path begins with.
    static let base = "/api/v9"

    /// The kind of a collection's entities.
    ///
    /// - Throws: a failure `client` when there is no such kind.
    static func known(_ collection: CollectionModel) throws(SyncFailure) -> TogglType {
        guard let type = TogglType(rawValue: collection.name.rawValue) else {
            throw .client(status: 0, "Toggl has no \"\(collection.name)\"")
        }
        return type
    }

    /// Where all of them are listed.
    var listPath: String {
        switch self {
        case .user: Self.base + "/me"
        case .features: Self.base + "/me/features"
        default: Self.base + "/me/" + rawValue
        }
    }

    /// Whether there is just one of them, so that a list is the entity itself.
    var isSingle: Bool { self == .user || self == .preferences }

    /// Where one of them is read; nil where it is only listed.
    func readPath(_ id: String) -> String? {
        switch self {
        case .timeEntries: listPath + "/" + URLPath.escape(id.utf8)
        case .workspaces: Self.base + "/workspaces/" + URLPath.escape(id.utf8)
        case .user, .preferences: listPath
        case .features, .tags, .clients, .projects, .tasks: nil
        }
    }

    /// Where those of a workspace are written.
    ///
    /// - Throws: a failure `client` when there is no such place, with words for a person.
    func path(in workspace: String?, _ verb: String) throws(SyncFailure) -> String {
        switch self {
        case .tags, .clients, .projects, .timeEntries: break
        case .workspaces, .user, .preferences, .features, .tasks:
            throw .client(status: 0, "Toggl does not let \(rawValue) be \(verb)")
        }
        guard let workspace else {
            throw .client(status: 0, "without a workspace_id it can't be \(verb)")
        }
        return "\(Self.base)/workspaces/\(URLPath.escape(workspace.utf8))/\(rawValue)"
    }
}

/// What stands for a version where the server has none: `AT@WORKSPACE`, each part only where the
/// document has it.
enum TogglRevision {
    /// What stands between the two.
    static let separator: Character = "@"
    /// What stands for a time that the document has not.
    static let unknownTime = "-"

    /// The version of a document.
    static func of(_ document: JSONDocument) -> Revision {
        let time = document.value("at")?.stringValue ?? unknownTime
        let workspace = document.value("workspace_id")?.idText
        return Revision(time + (workspace.map { "\(separator)\($0)" } ?? ""))
    }

    /// The workspace that a version names.
    static func workspace(of revision: Revision) -> String? {
        let parts = revision.description.split(
            separator: separator, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[1]) : nil
    }
}
