// RedactionWords.swift — Tidemark's words that are no secrets; the adapter names those of its
// server.

import TidemarkEvents
import TidemarkSync
import TidemarkViews

enum RedactionWords {
    /// Words in Tidemark's payloads, and the methods of HTTP.
    static let own: Set<String> = Set(SyncTrigger.allCases.map(\.rawValue))
        .union(TransportError.Code.allCases.map(\.rawValue))
        .union(FailureKind.allCases.map(\.rawValue))
        .union(IssueKind.allCases.map(\.rawValue))
        .union(WriteEffect.allCases.map(\.rawValue))
        .union(ServerDescribed.Preconditions.allCases.map(\.rawValue))
        .union(ServerRefusal.ownMessages)
        .union([EntityRow.Refusal.asked])
        .union(AssetRemoved.Reason.allCases.map(\.rawValue))
        .union(ReceivedFile.Result.allCases.map(\.rawValue))
        .union([
            "=", "?", "absent", "back", "cleanUp", "combined", "cursorExpired", "discard",
            "dismiss", "download", "entity", "equals", "fetch", "forward", "import", "incomplete",
            "keepBoth", "keepMine", "keepTheirs", "list", "local", "pool", "push", "reconcile",
            "refetch", "retry",
            "server", "sweep", "synced", "tree", "unchanged", "withheld",
            "GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS",
        ])

    /// Path segments with a meaning of their own.
    static let segments: Set<String> = [".", ".."]
}
