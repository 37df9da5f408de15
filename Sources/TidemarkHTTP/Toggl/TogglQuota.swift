// TogglQuota.swift — Toggl's quotas: which of them a request counts for, and when one is used up.
//
//   quota        counts
//   user         every address below /me
//   workspace    every address of that workspace, those of the reports API among them

import HTTPTypes
import Tidemark
import TidemarkEvents
import TidemarkSync

enum TogglQuota {
    /// The header field with the number of requests that are left.
    static let remaining = "X-Toggl-Quota-Remaining"
    /// The header field with the seconds after which the quota begins anew.
    static let resetsIn = "X-Toggl-Quota-Resets-In"

    static let fields = [remaining, resetsIn]

    /// The failure of a 402 for a quota that is used up; nil for one about a premium feature.
    ///
    /// Toggl tells the state of the quota with every answer, so what is left decides, where it is
    /// told.
    static func failure(_ headerFields: HTTPFields) -> SyncFailure? {
        func number(_ name: String) -> Int64? {
            HTTPField.Name(name).flatMap { headerFields[$0] }.flatMap { Int64($0) }
        }
        let seconds = number(resetsIn).map { min(max($0, 0), RetryAfter.secondsMax) }
        let isUsedUp = number(remaining).map { $0 <= 0 } ?? (seconds != nil)
        return isUsedUp ? .tooManyRequests(retryAfterSeconds: seconds) : nil
    }

    /// The quota that the request for a call counts for; nil where it names no workspace.
    static func group(of call: ServerCall) -> RequestGroup? {
        if isOfUser(call) { return RequestGroup(TogglPlan.userQuota) }
        let workspace: String? =
            switch call {
            case .read(_, let id): id
            case .create(let collection, _, let body), .update(let collection, _, let body, _, _):
                (try? TogglType.known(collection)).flatMap { type in
                    TogglAdapter.workspace(of: body, type)
                }
            case .delete(_, _, let revision): TogglRevision.workspace(of: revision)
            case .describe, .list, .listWindow, .listPart, .feed, .combined, .fetch, .refetch,
                .perform, .batch, .poll, .reserve:
                nil
            }
        return workspace.map { RequestGroup(TogglPlan.workspaceQuota, id: $0) }
    }

    /// Whether the request for a call goes to an address of the user.
    static func isOfUser(_ call: ServerCall) -> Bool {
        switch call {
        case .list, .listWindow, .listPart, .combined, .refetch: true
        case .read(let collection, _): collection.name.rawValue != TogglType.workspaces.rawValue
        case .update(let collection, _, _, _, _):
            (try? TogglType.known(collection))?.isSingle == true
        case .describe, .feed, .fetch, .create, .delete, .perform, .batch, .poll, .reserve: false
        }
    }
}
