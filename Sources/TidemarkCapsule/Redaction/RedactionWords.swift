// RedactionWords.swift — words of ours that are no secrets; those of a server its adapter knows.

import TidemarkEvents
import TidemarkSync

enum RedactionWords {
    /// Words of our own payloads, and the methods of HTTP.
    static let own: Set<String> = Set(SyncTrigger.allCases.map(\.rawValue))
        .union(TransportError.Code.allCases.map(\.rawValue))
        .union(FailureKind.allCases.map(\.rawValue))
        .union(IssueKind.allCases.map(\.rawValue))
        .union(WriteEffect.allCases.map(\.rawValue))
        .union(ServerRefusal.ownMessages)
        .union([
            "=", "absent", "cleanUp", "cursorExpired", "discard", "dismiss", "entity", "incomplete",
            "keepMine", "keepTheirs", "list", "local", "push", "refetch", "retry", "server",
            "synced", "unchanged",
            "GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS",
        ])

    /// Segments by which paths are built.
    static let segments: Set<String> = [".", ".."]
}
