// EngineBell.swift — wakes an engine that waits: for an edit, for a timer, for the end of a run.

import TidemarkStore

/// A bell that one waits for and anybody rings; ringing twice before it is heard is once.
final class EngineBell: Sendable {
    /// What is heard; by one at a time.
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

    /// Whether there was an edit since this was asked last.
    func takeEdit() -> Bool {
        edited.withLock { edited in
            defer { edited = false }
            return edited
        }
    }
}
