// RedecideMishap.swift — a mishap that was not recorded, and what today's engine makes of it. The
// comparison ends there, because the recording does not cover it.

import TidemarkCapsule
package import TidemarkEvents
import TidemarkRules
import TidemarkStore
import TidemarkSync
import TidemarkViews

/// Something that is to happen otherwise than recorded.
package enum RedecideMishap: Sendable, Hashable {
    /// The process ends after the event's commit in a sync run.
    case restart(Position)
    /// The answer in the event's commit is handed over twice.
    case duplicate(Position)
    /// The answer in the event's commit is lost.
    case drop(Position)

    /// The event at which it happens.
    package var position: Position {
        switch self {
        case .restart(let position), .duplicate(let position), .drop(let position): position
        }
    }
}

/// What today's engine did after a mishap.
package struct RedecideAftermath: Sendable, Hashable {
    /// The events that it appended afterwards, in one line each.
    package var acts: [String] = []
    /// The outcomes of its runs: of the run with the mishap, unless the process ended, and of a
    /// later run that gets recorded answers as far as there are any.
    package var outcomes: [String] = []
    /// How many mutations are pending at the end, and how many the server refused.
    package var pending = 0
    package var refused = 0
    /// Whether any of it was decided without events before the capsule's first one.
    package var missesEvents = false
}

extension RedecideHost {
    /// Whether a mishap is to happen at the run's next commit.
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

    /// A lost answer.
    func lost(_ question: SyncQuestion) -> (ServerAnswer, AnswerRecord) {
        let error = TransportError(.connectionLost, detail: "lost by the replay")
        return judged(error, to: question.call, uptime: question.sentUptime)
    }

    /// The answer to a request that no recorded run sent.
    func nobody(_ question: SyncQuestion) -> (ServerAnswer, AnswerRecord) {
        let error = TransportError(.offline, detail: "not recorded")
        return judged(error, to: question.call, uptime: question.sentUptime)
    }

    /// Writes a commit without comparing it.
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
