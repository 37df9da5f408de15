// Draft.swift — a commit in the making.

package import TidemarkEvents
package import TidemarkLog

/// Answers that an event names, and where its commit goes on.
struct AnswersToKeep: Sendable {
    var answers: [KeptAnswer]
    var run: Position
    var position: Position
    /// The event after it, by index in the commit.
    var next: Int
    var max: SyncSettings.KeptAnswers

    /// From so many bytes on another thread is worth it.
    static let bytesForThread = 32 << 10

    var bodyBytes: Int { answers.reduce(0) { $0 + $1.bodyBytes } }

    /// They as they are stored, without what the events of their commit hold.
    func stored(beside events: [Event]) throws -> [UInt8] {
        let payloads = events[next...].enumerated().lazy
            .filter { $0.element.kind == .serverUpserted }
            .map { (Position(position.rawValue + UInt64($0.offset) + 1), $0.element.payload) }
        return try AnswerTable.stored(answers, sharing: Array(payloads))
    }
}

extension [AnswersToKeep] {
    func stored(beside events: [Event]) -> Result<[[UInt8]], any Error> {
        Result { try map { try $0.stored(beside: events) } }
    }
}

/// A commit in the making: events appended to it are folded at once, so that what is read from it
/// is as if they were committed.
package final class Draft {
    /// What every event of the commit is recorded at.
    package let now: Timestamp
    package private(set) var events: [Event] = []
    /// What payloads of these events name by hash, to be stored with them.
    package private(set) var bodies: [[UInt8]] = []
    /// Answers of a sync run that are to be kept beside the log.
    private(set) var kept: [AnswersToKeep] = []
    /// How many runs' answers stay kept, and how many bytes of them; nil to prune none.
    private(set) var keptMax: SyncSettings.KeptAnswers?
    /// Events that are dropped with it.
    var truncation: TruncationToMake?
    /// The rows that changed, in order; filled when the draft has ended.
    package private(set) var changes: RowChanges = []
    /// What the rows of entities, which come first in ``changes``, were before, in their order.
    private(set) var rowsBefore: [[UInt8]?] = []
    /// The bytes of the payloads.
    private(set) var payloadBytes = 0
    /// Whether a model is registered, and whether the user did something that may be sent, or
    /// fetched.
    private(set) var (hasModel, mayBeSent) = (false, false)
    /// The key that the next event is to carry, and no other.
    package var idempotencyKey: IdempotencyKey?
    /// The position of the last event, of this commit or before it.
    package private(set) var last: Position
    private var current: Fold?

    init(now: Timestamp, after last: Position, _ fold: Fold) {
        self.now = now
        self.last = last
        current = fold
    }

    /// The views as they are with everything appended so far.
    package var fold: Fold {
        guard let current else { preconditionFailure("a transaction was used after it had ended") }
        return current
    }

    /// The position that the next event will get.
    package var nextPosition: Position { last.next }

    /// Appends an event and folds it; a payload that is said to be JSON and is not becomes opaque.
    ///
    /// - Parameter bodies: what the payload names by hash instead of holding it.
    @discardableResult
    package func append(_ event: Event, bodies: [[UInt8]] = []) throws -> Position {
        self.bodies += bodies
        return try append(checked: event.checked)
    }

    /// Appends an event whose payload was checked already, and folds it.
    @discardableResult
    package func append(checked event: consuming Event) throws -> Position {
        // Folded is what will be read: an empty name or a zero position, for one, is not written.
        event.normalize()
        if let key = idempotencyKey {
            event.idempotencyKey = key.bytes
            idempotencyKey = nil
        }
        last = last.next
        payloadBytes += event.payload.count
        if event.kind == .modelRegistered { hasModel = true }
        if try isToSend(event) { mayBeSent = true }
        events.append(copy event)
        try fold.apply(event, at: last)
        return last
    }

    /// Whether the user did something that may be sent, or fetched.
    private func isToSend(_ event: Event) throws -> Bool {
        if event.kind == .assetWanted || event.kind == .issueAnswered { return true }
        guard event.isLocal else { return false }
        guard let name = event.collection, let known = try fold.known(name) else { return true }
        return !known.model.localOnly
    }

    /// Has answers kept beside the log that the last event names.
    ///
    /// What the events after it in this commit hold of them is not stored twice.
    ///
    /// - Parameters:
    ///   - run: the `sync.started` of their run.
    ///   - max: how much is kept of a run at most.
    package func keep(
        _ answers: [KeptAnswer], of run: Position, _ max: SyncSettings.KeptAnswers
    ) {
        kept.append(
            AnswersToKeep(answers: answers, run: run, position: last, next: events.count, max: max))
    }

    /// Has the answers of older runs removed.
    package func pruneAnswers(_ max: SyncSettings.KeptAnswers) { keptMax = max }

    /// Whether any id is another one's alias, as far as was asked.
    private(set) var hasBindings = false

    /// Takes the rows and lets go of the transaction; the draft can't be used after.
    func end() {
        (changes, rowsBefore) = fold.changesAndRowsBefore()
        hasBindings = fold.hasBindings
        drop()
    }

    /// Lets go of the transaction and makes nothing; the draft can't be used after.
    func drop() { current = nil }
}
