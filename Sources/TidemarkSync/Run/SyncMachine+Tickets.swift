// SyncMachine+Tickets.swift — answers that the server promised: when it is asked for them.
//
//   left by an earlier run   before anything else, at most twice
//   promised in this run     once nothing else can be sent: after a second, then every two, for all
//                            of them together
//   … of deletions           also before anything else is sent, where deletions go first
//   where the server fails   as often as it would be otherwise, up to the third time in a row
//
// What the server still owes is left to the next run. After a day, or where the server knows
// nothing of a promise any more, how the entities stand is asked: nothing is sent again blindly,
// and what did not arrive goes alone. It is asked of one, too, whose write was taken, where the
// server told something else of it since that was sent.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension SyncMachine {
    /// Takes the promises that earlier runs left; what they are about is not read back.
    ///
    /// - Returns: the entities that they are about.
    mutating func prepare(_ left: [OpenTicket]) -> Set<EntityKey> {
        let awaited = left.filter { !isOver($0) }
        ticketsDue = awaited.reversed()
        return Set(awaited.flatMap { $0.items.map(\.key) })
    }

    /// How often in a row a server may say that an answer is to be had by another word.
    private static let namedAnewMax = 8

    /// The time by which promises are over: where the server never told its own, the device's; nil
    /// where it is in doubt, and none is.
    var promiseTime: Timestamp? { isTimeInDoubt ? nil : serverTime ?? begun.now }

    /// Whether nothing will come of a promise any more.
    private func isOver(_ ticket: OpenTicket) -> Bool {
        TicketRow.isOver(since: ticket.since, at: promiseTime)
    }

    /// The next question for an answer; nil where none is due.
    mutating func nextPoll() -> SyncAction? {
        while let ticket = ticketsDue.popLast() {
            let tries = polls[ticket.call, default: 0]
            let isOwn = ownTickets.contains(ticket.call)
            let isNamedAnew = namedAnew.remove(ticket.call) != nil
            let triesMax = isOwn ? traits.polling.tries : traits.polling.triesLater
            // What is to be had at once is no new try, a few times.
            guard tries < triesMax + (isNamedAnew ? Self.namedAnewMax : 0) else { continue }
            polls[ticket.call] = tries + 1
            guard !isNamedAnew, rested.remove(ticket.call) == nil else {
                return perform(.poll(ticket, afterSeconds: 0))
            }
            // The others that are due wait at the same time.
            rested = Set(ticketsDue.map(\.call))
            let first = isOwn ? traits.polling.first : 0
            let pause = tries == 0 ? first : traits.polling.every
            return perform(.poll(ticket, afterSeconds: pause))
        }
        return nil
    }

    /// Takes the promises that are open once nothing else can be sent.
    ///
    /// - Returns: whether any of them is asked for.
    mutating func take(_ tickets: [OpenTicket]) -> Bool {
        ticketsDue = tickets.filter { ticket in
            !isOver(ticket) && ownTickets.contains(ticket.call)
                && polls[ticket.call, default: 0] < traits.polling.tries
        }.reversed()
        return !ticketsDue.isEmpty
    }

    /// Notes that the server promised an answer.
    mutating func promised(_ items: [PushItem], as sent: Position) {
        ownTickets.insert(sent)
        guard traits.deletesFirst, items.contains(where: \.call.isDeletion) else { return }
        promisedDeletions.insert(sent)
    }

    /// Whether writes wait for deletions that were promised: these go first.
    func waitForDeletions(_ next: PushPlanner.Next) -> Bool {
        guard !promisedDeletions.isEmpty, case .send(let items) = next else { return false }
        return items.contains { !$0.call.isDeletion && $0.refusal == nil }
    }

    /// How often in a row a server may fail when it is asked for an answer.
    private static let failedPollsMax = 3

    /// Asks once more for an answer where the server failed to give it; what it refuses, and what
    /// something else answers in its place, is left to the next run.
    mutating func pollFailed(_ ticket: OpenTicket, _ failure: SyncFailure) {
        let failures = failedPolls[ticket.call, default: 0] + 1
        failedPolls[ticket.call] = failures
        guard failure.isServers, !failure.isForeign, failures < Self.failedPollsMax else {
            polls[ticket.call] = traits.polling.tries
            return
        }
        ticketsDue.insert(ticket, at: 0)
    }

    /// Takes what came of asking for an answer.
    ///
    /// - Parameter overtaken: the entities of which it says too little.
    mutating func took(
        _ answer: ServerAnswer, of ticket: OpenTicket, overtaken: [EntityKey]
    ) {
        failedPolls[ticket.call] = nil
        switch answer {
        case .waiting: ticketsDue.insert(ticket, at: 0)
        case .deferred(let name):
            var next = ticket
            next.ticket = name
            namedAnew.insert(ticket.call)
            ticketsDue.append(next)
        case .batch(let answers):
            promisedDeletions.remove(ticket.call)
            for (item, answered) in zip(ticket.items, answers)
            where !overtaken.contains(item.key) {
                pushed(item, answered.answer)
            }
            putBack(overtaken)
        case .absent:
            promisedDeletions.remove(ticket.call)
            // Perhaps one of them is why: what did not arrive is not sent with others again.
            let keys = ticket.items.map(\.key)
            lostPromises.formUnion(keys)
            putBack(keys)
        case .failure, .description, .page, .combined, .unchanged, .cursorExpired, .records,
            .reserved,
            .record, .stored, .deleted, .conflict, .conflictUnknown, .refused, .ignored:
            trap("is told \(Self.caseName(answer)) of a promised answer")
        }
    }
}
