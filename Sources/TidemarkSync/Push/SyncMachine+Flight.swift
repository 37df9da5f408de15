// SyncMachine+Flight.swift — writes of a tree that are on their way at the same time.
//
//   sent → another one, or receive → answered → another one, or receive → … → the rest of the push
//
// What a tree's queue finds may be sent in any order (TreeQueue.swift), so only numbers limit what
// is on its way. Whatever else the run has to do waits until all of it is answered: a question
// about an entity, other credentials, the next round.

import TidemarkEvents
import TidemarkViews

/// The writes that are on their way.
struct WritesInFlight: Sendable {
    private struct Flight: Sendable {
        /// Its `request.sent`.
        var sent: Position
        var items: [PushItem]
    }
    private var flights: [Flight] = []
    /// A candidate that can't be sent beside what is on its way.
    private struct Waiting: Sendable {
        var candidate: PushCandidate
        /// Whether it waits for another upload only.
        var isUpload: Bool
    }
    /// Candidates that are looked at again once they may be sent, in order.
    private var waiting: [Waiting] = []
    /// The candidate that was looked at last.
    var looked: PushCandidate?
    /// Whether another one may go beside them now; the driver says so before each decision.
    var isOpen = true

    /// Whether the one that landed last was lost.
    private var hasLost = false

    /// How many candidates wait at most until they may be sent.
    private static let waitingMax = 1024

    var isEmpty: Bool { flights.isEmpty }
    /// Whether others can be looked at meanwhile.
    var hasRoom: Bool { isEmpty || waiting.count < Self.waitingMax }
    /// How many wait.
    var waits: Int { waiting.count }

    /// Has the candidate that was looked at wait.
    mutating func wait(isUpload: Bool) {
        guard let looked else { preconditionFailure("nothing was looked at") }
        waiting.append(Waiting(candidate: looked, isUpload: isUpload))
    }

    /// The first candidate that waits and may be sent by now.
    mutating func takeWaiting(uploadsMax: Int) -> PushCandidate? {
        let mayUpload = uploads < uploadsMax
        guard let place = waiting.firstIndex(where: { isEmpty || $0.isUpload && mayUpload })
        else { return nil }
        return waiting.remove(at: place).candidate
    }

    /// Forgets what waits: it is found again.
    mutating func forgetWaiting() { waiting = [] }
    var count: Int { flights.count }
    var sent: [Position] { flights.map(\.sent) }
    /// How many of them send a file.
    var uploads: Int { flights.count { $0.items.contains { $0.call.file != nil } } }

    /// Whether an entity's write may go beside them: those of one tree may.
    func mayTake(_ key: EntityKey) -> Bool {
        flights.allSatisfy { $0.items.allSatisfy { $0.key.collection == key.collection } }
    }

    mutating func send(_ items: [PushItem], as sent: Position) {
        if flights.isEmpty { hasLost = false }
        flights.append(Flight(sent: sent, items: items))
    }

    /// Notes whether a write that lands got no answer.
    ///
    /// - Returns: whether the one before it, which was on its way together with it, got none
    ///   either: then the network is why, and not its entity.
    mutating func note(isLost: Bool) -> Bool {
        defer { hasLost = isLost }
        return isLost && hasLost && !flights.isEmpty
    }

    /// The write that an answer belongs to.
    mutating func land(_ sent: Position) -> [PushItem]? {
        guard let place = flights.firstIndex(where: { $0.sent == sent }) else { return nil }
        return flights.remove(at: place).items
    }
}

extension SyncMachine {
    /// Whether writes may be sent without waiting for their answers, before others are.
    package func mayFly(_ items: [PushItem]) -> Bool {
        guard model.settings.budgets.actions > 1, model.settings.limits.isEmpty, items.count == 1,
            let collection = model[items[0].key.collection]
        else { return false }
        return collection.tree != nil
    }

    /// The `request.sent` of the writes that are on their way.
    package var inFlight: [Position] { flight.sent }

    /// Says whether another write may be sent beside those that are on their way.
    package mutating func allowMore(_ isOpen: Bool) { flight.isOpen = isOpen }

    /// Notes whether a write got no answer; whether the one before, beside it, got none either.
    package mutating func isLostAgain(_ isLost: Bool) -> Bool { flight.note(isLost: isLost) }

    /// A write was sent whose answer is told later, by ``answered(_:)``.
    package mutating func sent(_ call: Position) -> SyncAction {
        guard case .result(.push(let items)) = awaited else { trap("sent no push") }
        flight.send(items, as: call)
        return decide()
    }

    /// The next step while writes are on their way.
    mutating func nextInFlight() -> SyncAction {
        let budgets = model.settings.budgets
        // What is to be read back waits for the others, as long as it is not much.
        if outcome.failure == nil, flight.isOpen, flight.count < budgets.actions,
            asked.count < budgets.actions, let action = nextPush()
        {
            return action
        }
        return perform(.receive)
    }

    /// Takes up the write that an answer belongs to.
    mutating func land(_ sent: Position?) {
        guard let items = sent.flatMap({ flight.land($0) }) else { trap("awaits no such answer") }
        awaited = .result(.push(items))
    }

    /// What waited and may be sent by now.
    mutating func takeWaiting() -> PushCandidate? { flight.takeWaiting(uploadsMax: uploadsMax) }

    /// How many files may be sent at the same time.
    ///
    /// The first one goes alone where it may be asked after it whether the server heeds
    /// preconditions.
    private var uploadsMax: Int {
        let isFirst = traits.triesPreconditions && trial.known == nil && !trial.hasUploaded
        return isFirst ? 1 : max(1, model.settings.budgets.uploads)
    }

    /// Whether a planned step may be carried out beside what is on its way.
    func mayCarryOut(_ next: PushPlanner.Next) -> Bool {
        guard !flight.isEmpty else { return true }
        switch next {
        case .look, .more: return true
        case .ask, .readFirst, .list: return false
        case .send(let items):
            return mayFly(items) && items.allSatisfy { flight.mayTake($0.key) }
                && (!next.isUpload || flight.uploads < uploadsMax)
        }
    }
}

extension PushPlanner.Next {
    /// Whether it sends a file.
    var isUpload: Bool {
        if case .send(let items) = self { items.contains { $0.call.file != nil } } else { false }
    }
}
