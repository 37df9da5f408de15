// CauseChain.swift — how it came to an event: what it names as its cause, and what those name.

package import TidemarkCapsule
public import TidemarkEvents
import TidemarkInspect

/// One event of a chain of causes.
public struct CauseStep: Sendable, Hashable, CustomStringConvertible {
    /// Where it stands in the log.
    public var position: Position
    /// What it says, in one line.
    public var text: String

    public init(position: Position, text: String) {
        self.position = position
        self.text = text
    }

    /// Position and text: `@12 request.sent tasks/1 PUT /v1/…`.
    public var description: String { "\(position) \(text)" }
}

/// Chains of causes.
package enum CauseChain {
    /// How many steps a chain has at most.
    package static let stepsMax = 12

    /// How it came to an event: the event itself, then what brought it about, the last first, down
    /// to the edit, the timer or the sync run that began it.
    ///
    /// Followed are `cause`, `call`, `mutation` and `sync`.
    ///
    /// - Parameter event: the events that there are; those that it does not have are left out.
    package static func of(
        _ position: Position, event: (Position) throws -> Event?
    ) rethrows -> [CauseStep] {
        var steps: [CauseStep] = []
        var waiting: Set<Position> = [position]
        while let next = waiting.max(), steps.count < stepsMax {
            waiting.remove(next)
            guard let event = try event(next) else { continue }
            steps.append(CauseStep(position: next, text: EventText.line(event)))
            // A reference leads back, never on, whatever a damaged log says.
            waiting.formUnion(references(of: event).filter { $0 < next })
        }
        return steps
    }

    /// The events that one names as those that brought it about.
    package static func references(of event: Event) -> [Position] {
        [event.cause, event.call, event.mutation, event.sync].compactMap(\.self)
    }
}

extension Capsule {
    /// Its events by their positions.
    package var eventsByPosition: [Position: Event] {
        var events: [Position: Event] = [:]
        for commit in commits {
            for entry in commit.entries { events[entry.position] = entry.event }
        }
        return events
    }
}
