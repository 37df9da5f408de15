// TogglType.swift — Toggl's kinds of entities, and their paths.

import TidemarkEvents
import TidemarkSync

/// A kind of entity, by the name of its collection.
enum TogglType: String {
    case workspaces, user, preferences, tags, clients, projects, tasks
    case features = "workspace_features"
    case timeEntries = "time_entries"

    /// The beginning of every path.
    static let base = "/api/v9"

    /// The kinds that `/me` has beside the user where it is asked to, each as a list or null under
    /// the kind's name.
    static let related: [TogglType] = [
        .tags, .clients, .projects, .tasks, .workspaces, .timeEntries,
    ]

    /// The kind of a collection's entities.
    ///
    /// - Throws: a failure `client` when there is no such kind.
    static func known(_ collection: CollectionModel) throws(SyncFailure) -> TogglType {
        guard let type = TogglType(rawValue: collection.name.rawValue) else {
            throw .client(status: 0, "Toggl has no \"\(collection.name)\"")
        }
        return type
    }

    /// The path of the list of all of them.
    var listPath: String {
        switch self {
        case .user: Self.base + "/me"
        case .features: Self.base + "/me/features"
        default: Self.base + "/me/" + rawValue
        }
    }

    /// The field with the workspace that one of them belongs to.
    var workspaceField: String { self == .clients ? "wid" : "workspace_id" }

    /// The field of a document with the time of its last change; the user's `at` is that of the
    /// request, and counts only where there is nothing else.
    func changeField(of document: JSONDocument) -> String {
        let ofUser = "updated_at"
        return self == .user && document.rawValue(ofUser) != nil ? ofUser : "at"
    }

    /// Whether there is only one of them, so that a list returns the entity itself.
    var isSingle: Bool { self == .user || self == .preferences }

    /// The path to read one of them; nil where it can only be listed.
    func readPath(_ id: String) -> String? {
        switch self {
        case .timeEntries: listPath + "/" + ServerRequest.percentEncoded(id)
        case .workspaces: Self.base + "/workspaces/" + ServerRequest.percentEncoded(id)
        case .user, .preferences: listPath
        case .features, .tags, .clients, .projects, .tasks: nil
        }
    }

    /// The path to write those of a workspace.
    ///
    /// - Throws: a failure `client` when there is no such path, with a message for a person.
    func path(in workspace: String?, _ verb: String) throws(SyncFailure) -> String {
        switch self {
        case .tags, .clients, .projects, .timeEntries: break
        case .workspaces, .user, .preferences, .features, .tasks:
            throw .client(status: 0, "Toggl does not let \(rawValue) be \(verb)")
        }
        guard let workspace else {
            throw .client(status: 0, "without a \(workspaceField) it can't be \(verb)")
        }
        return "\(Self.base)/workspaces/\(ServerRequest.percentEncoded(workspace))/\(rawValue)"
    }
}

/// The version of an entity, where the server has none: `TIME@WORKSPACE`, each part only where the
/// document has it.
enum TogglRevision {
    /// The separator between time and workspace.
    static let separator: Character = "@"
    /// The text for a time that the document lacks.
    static let unknownTime = "-"

    /// The version of a document; nil of preferences, which tell nothing that would change with
    /// them.
    static func of(_ document: JSONDocument, _ type: TogglType) -> Revision? {
        guard type != .preferences else { return nil }
        let time = document.value(type.changeField(of: document))?.stringValue ?? unknownTime
        let workspace = document.value(type.workspaceField)?.idText
        return Revision(time + (workspace.map { "\(separator)\($0)" } ?? ""))
    }

    /// The workspace in a version.
    static func workspace(of revision: Revision) -> String? {
        let parts = revision.description.split(
            separator: separator, omittingEmptySubsequences: false)
        return parts.count == 2 ? String(parts[1]) : nil
    }
}
