// TogglPath.swift — what the path of a request names.

/// The target of a request.
enum TogglPath: Sendable, Hashable {
    case me
    case quota
    case features
    /// The preferences, in general or those of one kind of app.
    case preferences(client: String?)
    /// The user's rows of a kind.
    case list(TogglKind)
    case current
    /// A time entry, below the user.
    case entry(Int64)
    case workspace(Int64)
    /// The rows of a kind in a workspace.
    case place(TogglKind, workspace: Int64)
    case row(TogglKind, workspace: Int64, id: Int64)
    case stop(workspace: Int64, id: Int64)
    /// Several time entries at once; nil for what is no number.
    case entries(workspace: Int64, ids: [Int64?])
    /// The search of the reports.
    case search(workspace: Int64)
    /// Below the address of an older version.
    case gone
    case unknown

    /// Reads a path without its query.
    init(_ path: some StringProtocol) {
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
        } else if names.starts(with: ["api", "v8"]) {
            self = .gone
        } else if names.count == 7, names.starts(with: ["reports", "api", "v3", "workspace"]),
            names.suffix(2) == ["search", "projects"], let workspace = Int64(names[4])
        {
            self = .search(workspace: workspace)
        } else {
            self = .unknown
        }
    }

    /// The id in a path to a single row.
    var recordID: String? {
        switch self {
        case .entry(let id), .workspace(let id), .row(_, _, let id), .stop(_, let id): "\(id)"
        default: nil
        }
    }

    /// The workspace that it names.
    var workspace: Int64? {
        switch self {
        case .workspace(let id), .place(_, let id), .row(_, let id, _), .stop(let id, _),
            .entries(let id, _), .search(let id):
            id
        case .me, .quota, .features, .preferences, .list, .current, .entry, .gone, .unknown: nil
        }
    }

    private static func mine(_ names: [String]) -> TogglPath {
        switch (names.count, names.first) {
        case (0, _): return .me
        case (1, "quota"): return .quota
        case (1, "features"): return .features
        case (1...2, "preferences"): return .preferences(client: names.dropFirst().first)
        case (2, "time_entries") where names[1] == "current": return .current
        case (2, "time_entries"): return Int64(names[1]).map { .entry($0) } ?? .unknown
        case (1, let name?):
            guard let kind = TogglKind(rawValue: name), kind != .user, kind != .features else {
                return .unknown
            }
            return .list(kind)
        default: return .unknown
        }
    }

    private static func workspaces(_ names: [String]) -> TogglPath {
        guard let first = names.first, let workspace = Int64(first) else { return .unknown }
        if names.count == 1 { return .workspace(workspace) }
        guard let kind = TogglKind(rawValue: names[1]), TogglKind.written.contains(kind) else {
            return .unknown
        }
        switch names.count {
        case 2: return .place(kind, workspace: workspace)
        case 3:
            if let id = Int64(names[2]) { return .row(kind, workspace: workspace, id: id) }
            guard kind == .timeEntries, names[2].contains(",") else { return .unknown }
            let ids = names[2].split(separator: ",", omittingEmptySubsequences: false)
            return .entries(workspace: workspace, ids: ids.map { Int64($0) })
        case 4 where kind == .timeEntries && names[3] == "stop":
            return Int64(names[2]).map { .stop(workspace: workspace, id: $0) } ?? .unknown
        default: return .unknown
        }
    }
}
