// CauseChain.swift — the chain of causes of an event.

package import TidemarkCapsule
public import TidemarkEvents
import TidemarkInspect

/// One event of a chain of causes.
public struct CauseStep: Sendable, Hashable, CustomStringConvertible {
    /// The event's position in the log.
    public var position: Position
    /// The event in one line.
    public var text: String

    package init(position: Position, text: String) {
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

    /// The chain of causes of an event: the event itself, then the events that led to it, the
    /// latest first, down to the edit, the timer or the sync run that began it.
    ///
    /// The references `cause`, `call`, `mutation` and `sync` are followed.
    ///
    /// - Parameter event: returns the event at a position; nil leaves it out of the chain.
    package static func of(
        _ position: Position, event: (Position) throws -> Event?
    ) rethrows -> [CauseStep] {
        var steps: [CauseStep] = []
        var waiting: Set<Position> = [position]
        while let next = waiting.max(), steps.count < stepsMax {
            waiting.remove(next)
            guard let event = try event(next) else { continue }
            steps.append(CauseStep(position: next, text: EventText.line(event)))
            // Only references to earlier events are followed, so that a damaged log can't cause a
            // loop.
            waiting.formUnion(references(of: event).filter { $0 < next })
        }
        return steps
    }

    /// The events that an event names as its causes.
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
