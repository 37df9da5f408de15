// SyncMachine.swift — what a sync run does next. Pure: it reads the views, never clock or network.
//
//   read back what was sent and never answered → pull each collection → push until nothing is left

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// The next thing that a sync run has to do.
package enum SyncStep: Sendable, Hashable {
    /// Ask how an entity stands whose last write has no known outcome, or that a list of
    /// everything did not name.
    case readBack(EntityKey, ServerCall, attempt: EntityRow.Attempt?)
    /// Fetch a page of a collection; `first` says that it begins a list.
    case list(ServerCall, isFirst: Bool)
    /// Send what is pending on an entity.
    case push(EntityKey, ServerCall, covers: [Position])
    /// Nothing is left to do.
    case finish

    package var call: ServerCall? {
        switch self {
        case .readBack(_, let call, _), .list(let call, _), .push(_, let call, _): call
        case .finish: nil
        }
    }
}

/// One sync run.
package struct SyncMachine: Sendable {
    /// How often one entity's write may meet a newer version before the next run tries it again.
    package static let conflictsPerEntityMax = 5

    package private(set) var outcome = SyncOutcome()
    private let model: SyncModel
    private var unread: [EntityKey]?
    private var unnamed: [EntityKey] = []
    private var unpulled: ArraySlice<CollectionModel>
    private var page: Page?
    private var round: ArraySlice<PushCandidate>?
    private var roundPushed = false
    private var conflicts: [EntityKey: Int] = [:]

    /// A list that is being fetched.
    package struct Page: Sendable, Hashable {
        package var collection: CollectionModel
        /// Where this list began, and where the next one will.
        package var after: Revision?
        package var cursor: Revision?
        package var next: String?
        package var number = 0
        /// The next pages asked for so far: a server that names one twice would lead in a circle.
        package var seen: Set<String> = []
        /// Of a list of everything: the entities known from before that it has not named yet.
        ///
        /// They came with a list that broke off, and what went since then no list says.
        package var unnamed: Set<String> = []
    }

    package init(model: SyncModel) {
        self.model = model
        unpulled = model.collections[...]
    }

    /// The list that is being fetched; nil between lists.
    package var list: Page? { page }

    // MARK: What to do

    package mutating func next(_ views: ViewReader) throws -> SyncStep {
        if outcome.failure != nil { return .finish }
        if unread == nil { unread = try views.unknownAttempts().reversed() }
        while let key = unread?.popLast() {
            guard let collection = model[key.collection],
                let attempt = try views.entity(key)?.attempt
            else { continue }
            return .readBack(key, .read(collection, id: key.id), attempt: attempt)
        }
        if let key = unnamed.popLast(), let collection = model[key.collection] {
            return .readBack(key, .read(collection, id: key.id), attempt: nil)
        }
        if let page {
            return .list(
                .list(page.collection, after: page.after, page: page.next),
                isFirst: page.number == 0)
        }
        if let collection = unpulled.popFirst() {
            let after = try views.watermark(collection.name)?.cursor
            var page = Page(collection: collection, after: after)
            if after == nil { page.unnamed = try known(collection.name, views) }
            self.page = page
            return .list(.list(collection, after: after, page: nil), isFirst: true)
        }
        return try nextPush(views)
    }

    /// The entities of a collection that the server had when it was last heard of.
    private func known(_ collection: CollectionName, _ views: ViewReader) throws -> Set<String> {
        var ids: Set<String> = []
        try views.forEachEntity(in: collection) { key, row in
            if row.baseState == .live { ids.insert(key.id) }
            return true
        }
        return ids
    }

    private mutating func nextPush(_ views: ViewReader) throws -> SyncStep {
        while true {
            if round == nil {
                round = try views.pushCandidates(model)[...]
                roundPushed = false
            }
            while let candidate = round?.popFirst() {
                if let step = try push(candidate.key, views) {
                    roundPushed = true
                    return step
                }
            }
            // A push may have made room for what waited for it, or an edit came in between.
            round = nil
            if !roundPushed { return .finish }
        }
    }

    /// The write for an entity, or nil when it has to wait.
    private func push(_ key: EntityKey, _ views: ViewReader) throws -> SyncStep? {
        guard let collection = model[key.collection], outcome.paused[key.collection] == nil,
            conflicts[key, default: 0] < Self.conflictsPerEntityMax,
            let row = try views.entity(key), row.attempt == nil, row.status != .error,
            try views.missingReferences(of: key, row, model).isEmpty,
            let write = try PushWrite(
                try row.changes, on: try row.baseValue, revision: row.revision, id: key.id,
                collection: collection)
        else { return nil }
        let call: ServerCall =
            switch write {
            case .create(let body): .create(collection, id: key.id, body: body)
            case .update(let body, let revision):
                .update(collection, id: key.id, body: body, revision: revision)
            case .delete(let revision): .delete(collection, id: key.id, revision: revision)
            }
        return .push(key, call, covers: row.pending.map(\.position))
    }

    /// Takes note that the last step was overtaken by an edit, and nothing was sent.
    package mutating func replan() { round = nil }

    // MARK: What came of it

    /// Takes note of an answer, before the next step.
    package mutating func took(_ answer: ServerAnswer, to step: SyncStep) {
        outcome.counts.requests += 1
        if case .failure(let failure) = answer {
            failed(failure, step)
            return
        }
        switch (step, answer) {
        case (.list, .page(let listed)): took(listed)
        case (.list, _): page = nil
        case (.readBack, _): outcome.counts.readBack += 1
        case (.push(_, .delete, _), .absent): outcome.counts.pushed += 1
        case (.push(let key, _, _), .conflict), (.push(let key, _, _), .absent):
            conflicts[key, default: 0] += 1
            outcome.counts.conflicts += 1
        case (.push, .refused): outcome.counts.rejected += 1
        case (.push, _): outcome.counts.pushed += 1
        case (.finish, _): break
        }
    }

    private mutating func took(_ listed: ListPage) {
        guard var current = page else { return }
        if current.number == 0 { current.cursor = listed.cursor }
        current.number += 1
        current.unnamed.subtract(listed.records.map(\.id))
        guard let next = listed.next else {
            page = nil
            unnamed = current.unnamed.sorted().map { EntityKey(current.collection.name, $0) }
            return
        }
        guard current.seen.insert(next).inserted else {
            page = nil
            outcome.paused[current.collection.name] = .malformed("the list goes in a circle")
            return
        }
        current.next = next
        page = current
    }

    private mutating func failed(_ failure: SyncFailure, _ step: SyncStep) {
        switch (failure, step.call?.collection?.name) {
        case (.forbidden, let name?), (.client, let name?), (.malformed, let name?):
            // The others can still be synced.
            outcome.paused[name] = failure
            if case .list = step { page = nil }
        default:
            outcome.failure = failure
        }
    }

    /// Takes note that the last step's request is sent once more.
    package mutating func repeats() { outcome.counts.requests += 1 }

    /// How many more steps of a step's kind are known; nil where only the server knows.
    package func left(after step: SyncStep) -> Int? {
        switch step {
        case .readBack: (unread?.count ?? 0) + unnamed.count
        case .push: round?.count ?? 0
        case .list, .finish: nil
        }
    }

    /// Takes note of entities that the server had changed.
    package mutating func pulled(_ count: Int) { outcome.counts.pulled += count }

    /// Ends the run before it began, or in its middle.
    package mutating func end(_ failure: SyncFailure) { outcome.failure = failure }

    /// Takes stock of the outbox at the end.
    package mutating func takeStock(_ views: ViewReader) throws {
        outcome.pending = 0
        outcome.refused = 0
        for entry in try views.outbox(all: false) {
            if entry.mutation.outcome == nil { outcome.pending += 1 } else { outcome.refused += 1 }
        }
    }
}
