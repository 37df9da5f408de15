// EngineBell.swift — wakes a waiting engine: for an edit, for a timer, or at the end of a run.

import TidemarkStore

/// A bell that one task waits for and any can ring; ringing twice before it is heard counts once.
final class EngineBell: Sendable {
    /// The rings; only one task may listen.
    let rings: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private let edited = Lock(false)

    init() {
        (rings, continuation) = AsyncStream.makeStream(
            of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    func ring() { continuation.yield() }

    /// Rings because of an edit.
    func ringForEdit() {
        edited.withLock { $0 = true }
        ring()
    }

    /// Whether there was an edit since the last call.
    func takeEdit() -> Bool {
        edited.withLock { edited in
            defer { edited = false }
            return edited
        }
    }
}
