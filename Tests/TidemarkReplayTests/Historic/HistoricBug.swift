// HistoricBug.swift — bugs that sync engines had, planted again: each is a log, and what the engine
// with the bug made of it. Sources: the behaviours of Toggl, Essentials, DHIS2 and ownCloud.

import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay

@testable import CapsuleSupport

/// A bug, planted.
struct HistoricBug: Sendable, CustomStringConvertible {
    /// How a replay finds it.
    enum Found: Sendable {
        /// The engine made other rows of the same events.
        case folding
        /// The engine did something else with the same answers.
        case deciding
    }

    /// The name of its folder.
    var name: String
    var found: Found
    /// A log in which it happened, as the engine with the bug wrote it.
    var log: @Sendable () async throws -> Capsule
    /// A log with the digests that the engine with the bug made of it.
    var recorded: @Sendable (Capsule) throws -> Capsule
    /// Whether an event is the one that the bug made something else of, in the log above.
    var isCulprit: @Sendable (Event) -> Bool

    var description: String { name }

    /// A log in which the bug happened, with the digests of then.
    func record() async throws -> Capsule { try recorded(try await log()) }

    static let all = [
        cursorApart, deviceClock, editLost, doubledCreation, cutShort, orphanRemoved, tieByArrival,
        tombstoneUndone, tombstoneUnread,
    ]

    static func named(_ name: String) -> HistoricBug? { all.first { $0.name == name } }
}

extension EntityKey {
    /// The key of a test's entity.
    static func of(_ text: String) -> EntityKey { EntityKey(text) ?? EntityKey("none", "none") }
}
