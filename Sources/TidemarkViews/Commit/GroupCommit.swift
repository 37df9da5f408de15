// GroupCommit.swift — all commits that wait are stored in one transaction, one after another.
//
// A flush costs the same for one commit as for fifty. So whoever gets to the writer thread first
// stores what everybody asked for meanwhile: each draft is folded over the transaction as those
// before it left it, in an overlay of its own, and written when its body has returned. A body that
// throws drops its overlay and nothing else. Nobody waits for company: a lone commit goes at once.

import TidemarkEvents
import TidemarkLog
import TidemarkStore

extension Journal {
    /// How much goes into one transaction: then the next begins.
    private enum Most {
        static let events = 256
        static let bytes = 256 << 10
    }

    /// Stores every commit that waits, unless this one was stored with those before it; the job of
    /// the writer thread.
    func commitWaiting(_ writer: borrowing Writer, with request: CommitRequest) {
        // Who came since has a job of its own, behind those that wait to be told of this group.
        guard !request.isFinished else { return }
        var waiting = requests.withLock { waiting in
            defer { waiting = [] }
            return waiting
        }[...]
        while !waiting.isEmpty { waiting = waiting.dropFirst(commitSome(waiting, writer)) }
    }

    /// Rebuilds the tables where their damage kept a commit from being stored.
    ///
    /// - Returns: whether it can be tried again.
    private func mend(_ error: any Error, _ writer: borrowing Writer) -> Bool {
        guard let error = error as? StoreError, error.code == .damagedTable else { return false }
        return (try? rebuild(insteadOf: error, writer)) != nil
    }

    /// Takes a request back that could not be handed to the writer thread.
    ///
    /// - Returns: true when it was stored with others all the same, just before the store closed.
    func withdraw(_ request: CommitRequest) -> Bool {
        let isWaiting = requests.withLock { waiting in
            let index = waiting.firstIndex { $0 === request }
            if let index { waiting.remove(at: index) }
            return index != nil
        }
        if !isWaiting { environment.waitForLastWrites() }
        return !isWaiting
    }

    /// Stores the first of these commits in one transaction, as many as fit.
    ///
    /// - Returns: how many were finished, at least one.
    private func commitSome(
        _ waiting: ArraySlice<CommitRequest>, _ writer: borrowing Writer, mayMend: Bool = true
    ) -> Int {
        var failures: [(any Error)?] = []
        // One more than got through, where one of them can't be stored.
        var tried = 0
        do {
            let (last, edge, lacksIndexes) = try writer.transaction { transaction in
                (failures, tried) = ([], 0)
                var group = try GroupCommit(self, transaction)
                for request in waiting {
                    tried += 1
                    do {
                        try group.commit(request, transaction)
                        failures.append(nil)
                    } catch let failure as GroupCommit.BodyFailure {
                        failures.append(failure.error)
                    }
                    if group.events >= Most.events || group.bytes >= Most.bytes { break }
                }
                try group.end(transaction)
                return (group.last, group.edge, group.lacksIndexes)
            }
            if let last {
                shared.writtenEdge.withLock { $0 = edge.encoded }
                guardian?.committed(last: last.record.last, root: last.record.root, at: last.now)
            }
            // Not in the same transaction, which would fail with them where there is no room.
            if lacksIndexes { settleIndexes(writer) }
            for (request, failure) in zip(waiting, failures) { request.finish(failure) }
            return failures.count
        } catch {
            if error is UnusableAnswers, keepsAnswers.withLock(\.self) {
                keepsAnswers.withLock { $0 = false }
                return commitSome(waiting, writer, mayMend: mayMend)
            }
            if mayMend, mend(error, writer) {
                return commitSome(waiting, writer, mayMend: false)
            }
            guard tried > 1 else {
                waiting.first?.finish(error)
                return 1
            }
            // One of them can't be stored: each for itself, so that only that one fails.
            for request in waiting.prefix(tried) { _ = commitSome([request][...], writer) }
            return tried
        }
    }
}

/// The table with the answers that are kept is damaged: the commit is made without it.
private struct UnusableAnswers: Error {}

/// One transaction's commits: what they share is read once and written once.
private struct GroupCommit {
    /// What a caller's body threw; the transaction is as it was before it.
    struct BodyFailure: Error {
        let error: any Error
    }

    private let journal: Journal
    private var state: ViewTables.State
    private var generation: Generation { state.generation }
    /// The state as it is stored; nil in a new store.
    private let stored: ViewTables.State?
    /// The indexes to be kept, once a commit has asked.
    private var plan: IndexPlan?
    /// Whether a model was registered whose indexes are not all there.
    private(set) var lacksIndexes = false
    private(set) var edge: MerkleEdge
    /// The last event that is sealed.
    private let sealed: Position
    private var hasBindings: Bool
    /// The last commit, if there was one.
    private(set) var last: (record: CommitRecord, now: Timestamp)?
    private(set) var events = 0
    private(set) var bytes = 0

    init(_ journal: Journal, _ transaction: borrowing WriteTransaction) throws {
        self.journal = journal
        let known = journal.shared.writtenEdge.withLock(\.self)
        edge =
            try journal.log.edge(writtenAs: known, transaction)
            ?? journal.log.checkedEdge(transaction)
        sealed = try journal.log.sealed.last(transaction)
        stored = try journal.views.state(transaction)
        let found = ViewTables.state(stored, of: Position(edge.size))
        if !found.isCurrent { throw found.problem }
        if let doubt = journal.shared.doubt(of: found) { throw doubt }
        state = stored ?? ViewTables.State()
        try journal.views.dropStaleIndexes(&state, Position(edge.size), transaction)
        hasBindings = try journal.views.hasBindings(state.generation, transaction)
    }

    /// Runs one caller's body and writes what it appended.
    mutating func commit(
        _ request: CommitRequest, _ transaction: borrowing WriteTransaction
    ) throws {
        request.news = nil
        guard journal.phase.withLock(\.self) == .open else {
            throw BodyFailure(error: Journal.closed("begin"))
        }
        let draft = try draft(request, transaction)
        guard !draft.events.isEmpty else { return }
        let changes = draft.changes
        request.news = try journal.news(draft, generation, transaction)
        // Meanwhile threads of their own hash a large commit's events and rows.
        let prepared = PreparedEvents(draft.events, after: edge)
        let digests =
            draft.events.count < PreparedEvents.countForThread
            ? nil : Background { ViewDigest.of(changes) }
        // So are long answers that are to be kept.
        let kept = try draft.kept.filter { kept in
            try keeping { try !journal.log.kept.hasTooMuch(kept.run, transaction) } ?? false
        }
        let isLong = kept.contains { $0.bodyBytes > AnswersToKeep.bytesForThread }
        let stored =
            isLong
            ? Background { [events = draft.events] in kept.stored(beside: events) } : nil
        let model = try newPlan(draft)
        if let model { plan = model }
        let indexChanges = try indexChanges(draft, transaction)
        // Large ones are made while log and rows are written.
        let early =
            draft.events.count < PreparedEvents.countForThread
            ? nil : Background { Result { try indexChanges() } }
        // First, as rows name events instead of what these say.
        try journal.log.begin(prepared, bodies: draft.bodies, after: edge, transaction)
        let fresh = FreshEvents(first: Position(edge.size + 1), events: draft.events)
        let released = try journal.views.write(
            changes, of: fresh, releasing: sealed, generation, transaction)
        try journal.log.release(released, edge: &edge, transaction)
        try journal.views.writeIndexes(
            early?.value.get() ?? indexChanges(), generation, transaction)
        if let model, state.indexes != model.names {
            state = try journal.views.dropIndexes(notIn: model, state, transaction)
            lacksIndexes = true
        }
        let record = try journal.log.end(
            prepared, views: digests?.value ?? ViewDigest.of(changes), edge: &edge, transaction)
        // What can't be made is not kept.
        let made = try? (stored?.value ?? kept.stored(beside: draft.events)).get()
        for (kept, stored) in zip(kept, made ?? []) {
            try keeping {
                try journal.log.kept.keep(
                    stored, of: kept.run, at: kept.position, bytesMax: kept.max.bytes, transaction)
            }
        }
        if let max = draft.keptMax {
            try keeping {
                try journal.log.kept.prune(runs: max.runs, bytes: max.bytes, transaction)
            }
        }
        if let truncation = draft.truncation {
            try journal.drop(truncation, edge: &edge, transaction)
        }
        last = (record, request.now)
        if draft.hasBindings { hasBindings = true }
        events += draft.events.count
        bytes += draft.payloadBytes
    }

    /// Does something with the answers that are kept; nil where their table can't be used.
    ///
    /// - Throws: ``UnusableAnswers`` where that is found.
    private func keeping<R>(_ body: () throws -> R) throws -> R? {
        guard journal.keepsAnswers.withLock(\.self) else { return nil }
        do { return try body() } catch let error as StoreError where error.code == .damaged {
            throw UnusableAnswers()
        }
    }

    /// Notes what the indexes are and know by now, if anything was written.
    func end(_ transaction: borrowing WriteTransaction) throws {
        guard let last else { return }
        var state = state
        if !state.indexes.isEmpty { state.indexedTo = last.record.last }
        if state != stored { try journal.views.setState(state, transaction) }
    }

    /// The indexes that a commit's model asks for; nil when it does not register one.
    private func newPlan(_ draft: Draft) throws -> IndexPlan? {
        guard draft.hasModel else { return nil }
        let fact = draft.changes.last { $0.key == .store("model") }?.value
        return try fact.map { journal.models.plan(try StoreFactRow(parsing: $0)) }
    }

    /// Finds what a commit changes in the indexes that are there and that its model asks for.
    private mutating func indexChanges(
        _ draft: Draft, _ transaction: borrowing WriteTransaction
    ) throws -> @Sendable () throws -> IndexChanges {
        guard !state.indexes.isEmpty else { return { [] } }
        let views = journal.views
        let plan = try plan ?? views.indexPlan(journal.models, generation, transaction)
        self.plan = plan
        let isWhole = plan.names == state.indexes
        let kept = isWhole ? plan : IndexPlan(plan, only: state.indexes)
        let (changes, before) = (draft.changes, draft.rowsBefore)
        return { try kept.changes(changes, before) }
    }

    private func draft(
        _ request: CommitRequest, _ transaction: borrowing WriteTransaction
    ) throws -> Draft {
        try journal.views.withFold(
            journal.models, hasBindings: hasBindings, remembersRows: true,
            indexNames: state.indexes, generation, transaction
        ) { fold in
            let draft = Draft(now: request.now, after: Position(edge.size), fold)
            do { try request.run(draft) } catch {
                draft.drop()
                throw BodyFailure(error: error)
            }
            draft.end()
            return draft
        }
    }
}
