// TogglTarget.swift — the target of a request, by its path.

/// The target of a path of Toggl's API.
enum TogglTarget: Sendable, Hashable {
    /// The user's rows of a type.
    case list(TogglRowType)
    /// The user, or the preferences.
    case single(TogglRowType)
    /// A time entry, below the user.
    case entry(id: String)
    /// The path to create workspaces.
    case workspaces
    case workspace(String)
    /// The path to create rows within a workspace.
    case place(TogglRowType, workspace: String)
    /// A row within a workspace.
    case row(TogglRowType, workspace: String, id: String)
    /// The reports API's search for a workspace's projects.
    case search(workspace: String)
    case unknown

    /// Reads a path without its query.
    init(path: some StringProtocol) {
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            .map { KintoQuery.decoded($0) }
        let names = Array(parts.dropFirst())
        guard parts.first == "", !names.contains("") else {
            self = .unknown
            return
        }
        if names.starts(with: ["api", "v9", "me"]) {
            self = Self.mine(Array(names.dropFirst(3)))
        } else if names.starts(with: ["api", "v9", "workspaces"]) {
            self = Self.workspaces(Array(names.dropFirst(3)))
        } else if names.count == 7, names.starts(with: ["reports", "api", "v3", "workspace"]),
            names.suffix(2) == ["search", "projects"]
        {
            self = .search(workspace: names[4])
        } else {
            self = .unknown
        }
    }

    /// The id in a path to a single row.
    var recordID: String? {
        switch self {
        case .entry(let id), .workspace(let id), .row(_, _, let id): id
        case .list, .single, .workspaces, .place, .search, .unknown: nil
        }
    }

    private static func mine(_ names: [String]) -> TogglTarget {
        switch names.count {
        case 0: return .single(.user)
        case 1 where names == ["features"]: return .list(.features)
        case 1:
            guard let type = TogglRowType(rawValue: names[0]) else { return .unknown }
            switch type {
            case .preferences: return .single(type)
            case .user, .features: return .unknown
            default: return .list(type)
            }
        case 2 where names[0] == TogglRowType.timeEntries.rawValue: return .entry(id: names[1])
        default: return .unknown
        }
    }

    private static func workspaces(_ names: [String]) -> TogglTarget {
        if names.isEmpty { return .workspaces }
        if names.count == 1 { return .workspace(names[0]) }
        guard names.count <= 3, let type = TogglRowType(rawValue: names[1]), type.isWritten else {
            return .unknown
        }
        return names.count == 2
            ? .place(type, workspace: names[0])
            : .row(type, workspace: names[0], id: names[2])
    }
}

/// The kinds of rows, by the names of their collections.
enum TogglRowType: String, Sendable, Hashable, CaseIterable {
    case workspaces, user, preferences, tags, clients, projects, tasks
    case features = "workspace_features"
    case timeEntries = "time_entries"

    /// Whether clients write them under the path of their workspace.
    var isWritten: Bool {
        switch self {
        case .tags, .clients, .projects, .timeEntries: true
        case .workspaces, .user, .preferences, .features, .tasks: false
        }
    }

    /// Whether there is only one row.
    var isSingle: Bool { self == .user || self == .preferences }

    /// The member that holds the id; nil for a type without ids.
    var idField: String? {
        switch self {
        case .preferences: nil
        case .features: "workspace_id"
        default: "id"
        }
    }

    /// Whether a row has the time of its last change.
    var hasTime: Bool { self != .preferences && self != .features }

    /// The reference fields of rows, and the types that they refer to.
    static let references: [(field: String, type: TogglRowType)] = [
        ("workspace_id", .workspaces), ("project_id", .projects), ("task_id", .tasks),
        ("tag_ids", .tags), ("client_id", .clients), ("default_workspace_id", .workspaces),
    ]
}
