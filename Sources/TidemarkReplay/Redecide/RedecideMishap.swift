// RedecideMishap.swift — something that did not happen then happens now: what today's engine makes
// of it. From there on nothing is compared, because the record says nothing of it.

import TidemarkCapsule
package import TidemarkEvents
import TidemarkRules
import TidemarkStore
import TidemarkSync
import TidemarkViews

/// Something that is to go otherwise than it was recorded.
package enum RedecideMishap: Sendable, Hashable {
    /// The process ends after the commit of an event of a sync run.
    case restart(Position)
    /// The answer in the commit of an event is handed over twice.
    case duplicate(Position)
    /// The answer in the commit of an event is lost.
    case drop(Position)

    /// The event that it is about.
    package var position: Position {
        switch self {
        case .restart(let position), .duplicate(let position), .drop(let position): position
        }
    }
}

/// What today's engine made of a mishap.
package struct RedecideAftermath: Sendable, Hashable {
    /// What it appended from there on, in one line each.
    package var acts: [String] = []
    /// How its runs ended: the one that it happened in, unless the process ended, and one after it
    /// that is answered as far as the record can.
    package var outcomes: [String] = []
    /// Mutations that wait in the end, and those that the server refused.
    package var pending = 0
    package var refused = 0
}

extension RedecideHost {
    /// Whether one of the mishaps is about the run's next commit.
    func meets(_ isWanted: (RedecideMishap) -> Bool) -> Bool {
        guard let entries = state.withLock({ commit($0) }) else { return false }
        return mishaps.contains { mishap in
            isWanted(mishap) && entries.contains { $0.position == mishap.position }
        }
    }

    /// Whether the answer to a read is to be lost; from then on nothing is compared.
    func loses(_ read: RecordedRead) -> Bool {
        read.sent != nil
            && mishaps.contains { mishap in
                if case .drop(let lost) = mishap { read.events.contains(lost) } else { false }
            }
    }

    /// The answer that is lost.
    func lost(_ question: SyncQuestion) -> (ServerAnswer, AnswerRecord) {
        let error = TransportError(.connectionLost, detail: "lost by the replay")
        return judged(error, to: question.call, uptime: question.sentUptime)
    }

    /// The answer to what nobody asked then, in this run or another one.
    func nobody(_ question: SyncQuestion) -> (ServerAnswer, AnswerRecord) {
        let error = TransportError(.offline, detail: "not recorded")
        return judged(error, to: question.call, uptime: question.sentUptime)
    }

    /// Writes a commit that nothing is compared with.
    func writeFree<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        let (result, events) = try await journal.write(at: now) { draft in
            (try body(draft), draft.events)
        }
        let first = try journal.read { $0.last.rawValue } - UInt64(events.count) + 1
        state.withLock { state in
            for (index, event) in events.enumerated() {
                state.aftermath.append("\(Position(first + UInt64(index))) \(event.line)")
            }
        }
        return result
    }
}
