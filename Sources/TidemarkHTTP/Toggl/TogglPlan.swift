// TogglPlan.swift — how many requests Toggl takes in an hour, by what a workspace pays for.
//
// Source: Toggl's page on API limits. Each hour begins with its first request; a sliding hour never
// has more.

import Tidemark
public import TidemarkEvents

/// What a workspace pays for.
@nonexhaustive public enum TogglPlan: Sendable, Hashable, CaseIterable {
    case free, starter, premium

    /// The name of the group of requests to addresses of the user.
    static let userQuota = "user"
    /// The name of the groups of requests to addresses of a workspace, one a workspace.
    static let workspaceQuota = "workspace"

    /// How many requests an hour a workspace takes.
    public var workspaceRequests: Int {
        switch self {
        case .free: 30
        case .starter: 240
        case .premium: 600
        }
    }

    /// The limits: those of the user and of each workspace, and one request a second, of which ten
    /// may come at once.
    public var limits: [SyncSettings.RequestLimit] {
        [
            RequestLimit(
                requests: 30, within: .hours(1), wholePulls: true, group: Self.userQuota),
            RequestLimit(
                requests: workspaceRequests, within: .hours(1), group: Self.workspaceQuota),
            RequestLimit(requests: 1, within: .seconds(1), burst: 9),
        ]
    }
}
