// SyncMachine+Placeholders.swift — which placeholders the server is asked for, and in which order.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// One request for placeholders.
struct Refetch: Sendable, Hashable {
    var collection: CollectionModel
    var ids: [String]
    /// The entity that they all refer to; nil where they refer to none.
    var together: String?
}

extension SyncMachine {
    /// The next request for placeholders; nil when all that are due were requested.
    ///
    /// The requests are decided after the pull, and again where what came of them may refer to
    /// others that are not here. Each is made once in a run: what the server does not have is
    /// requested again by a later one.
    mutating func nextRefetch(_ questions: [Refetch]?) -> SyncAction? {
        guard var questions else {
            let isAsked = model.collections.contains {
                ($0.placeholder?.refetch.every ?? .zero) != .zero
            }
            if isAsked { return look(.placeholders(dueAt: serverTime ?? begun.now)) }
            state = .choosing
            return nil
        }
        guard let next = questions.popLast() else {
            state = hasMoreToRefetch ? .refetching(nil) : .choosing
            hasMoreToRefetch = false
            return nil
        }
        state = .refetching(questions)
        refetched.formUnion(next.ids.map { EntityKey(next.collection.name, $0) })
        if next.collection.makesPlaceholders { hasMoreToRefetch = true }
        return perform(.refetch(next.collection, ids: next.ids, together: next.together))
    }

    /// The requests for placeholders, ordered by collection and by the entity that they refer to.
    func questions(about due: [PlaceholderFacts]) -> [Refetch] {
        var result: [Refetch] = []
        for collection in model.collections where outcome.failed[collection.name] == nil {
            let own = due.filter { $0.key.collection == collection.name }.sorted {
                let (a, b) = ($0.together ?? "", $1.together ?? "")
                if IDOrder.precedes(a, b) { return true }
                return !IDOrder.precedes(b, a) && IDOrder.precedes($0.key.id, $1.key.id)
            }
            for facts in own {
                guard !refetched.contains(facts.key) else { continue }
                if let last = result.last, last.collection.name == collection.name,
                    last.ids.count < traits.refetchesPerRequestMax,
                    traits.joins(facts.key.id, last.ids),
                    last.together.map(ExactString.init) == facts.together.map(ExactString.init)
                {
                    result[result.count - 1].ids.append(facts.key.id)
                } else {
                    result.append(
                        Refetch(
                            collection: collection, ids: [facts.key.id],
                            together: facts.together))
                }
            }
        }
        return result
    }

    /// Has placeholders asked for one by one that were asked for together in vain; false where that
    /// would tell no more.
    ///
    /// Perhaps only one of them is not there, or out of reach, and the server answers for none.
    mutating func refetchAlone(_ step: SyncStep, after failure: SyncFailure) -> Bool {
        guard case .refetch(let collection, let ids, let together) = step, ids.count > 1,
            traits.refetchesPerRequestMax < .max, case .refetching(let questions) = state
        else { return false }
        guard failure.isMalformed || !failure.isServers else { return false }
        let alone = ids.map { Refetch(collection: collection, ids: [$0], together: together) }
        state = .refetching((questions ?? []) + alone.reversed())
        return true
    }
}
