// HistoryWords.swift — the meaning of an event for the entity that it affected, in a few words.

package import TidemarkEvents
package import TidemarkViews

extension EntityHistory.Outcome {
    /// Whether it says that an edit of the user is on the server.
    var isArrival: Bool { rule.isEmpty && outcome == .accepted }
}

extension EntityStep {
    /// What happened, for people.
    ///
    /// - Parameters:
    ///   - decisions: the decisions about the entity at the event.
    ///   - outcomes: the mutations that it settled.
    func words(
        _ decisions: [DecisionRow], _ outcomes: [EntityHistory.Outcome], _ views: ViewReader
    ) throws -> String {
        guard isOwn else { return try consequence(decisions, views) }
        return switch event.kind.family {
        case .word(.upserted): said(outcomes)
        case .word(.deleted): try deleted(views)
        case .store, .model, .local, .app, .runStart, .runEnd, .request, .answer, .notice, .list,
            .push, .asset, .unknown:
            try event.words.map(EventText.printable) ?? consequence(decisions, views)
        }
    }

    private func said(_ outcomes: [EntityHistory.Outcome]) -> String {
        if waits { return "said by the server; counts once all of its set is there" }
        if after.basePosition != position {
            return before == after ? "said by the server, and older" : "said by the server"
        }
        if event.isTakenOver { return "taken over from the app's own database" }
        if event.mutation != nil { return "the server's words for what was sent" }
        if before.isPartial { return "said by the server; the whole of it" }
        if before.isPlaceholder { return "said by the server, in place of a stand-in" }
        if !before.prunedDigest.isEmpty { return "said by the server again, after it was pruned" }
        if outcomes.contains(where: \.isArrival) { return "found on the server" }
        switch before.baseState {
        case .absent where before.attempt != nil: return "found on the server"
        case .absent: return "first heard of from the server"
        case .deleted: return "made again on the server"
        case .live: return before.isAssumed ? "said by the server" : "changed on the server"
        }
    }

    private func deleted(_ views: ViewReader) throws -> String {
        if waits { return "gone, said the server; counts once all of its set is there" }
        if after.basePosition != position { return "gone, said the server, and that is older" }
        if let words = try views.absence(event) { return words }
        return before.baseState == .live ? "deleted on the server" : "not on the server"
    }

    /// The effect of an event that is about another entity, or about none.
    private func consequence(_ decisions: [DecisionRow], _ views: ViewReader) throws -> String {
        if event.kind == .localWiped, let words = event.words { return words }
        if after.isPartial, !before.isPartial { return "known in part, as something refers to it" }
        if after.isPlaceholder, !before.isPlaceholder {
            let field = decisions.first { $0.rule == "placeholder" }?.fields.first
            let name = try field.flatMap { try views.referrer(by: $0, to: key, event) }
            let of = name.map { " of \($0)" } ?? ""
            return "made up, because \(field ?? "something")\(of) names it"
        }
        if let decision = decisions.last {
            switch decision.result {
            case "pruned":
                let owner = try views.lostOwner(of: key, before, at: position)
                let why = owner.map { ": belonged to \($0.key), out of reach since \($0.since)" }
                return "pruned by \(decision.rule)" + (why ?? "")
            case "voided": return "its pruning is void: the time was wrong"
            case "kept" where decision.rule == "serverTime":
                return "not pruned: that time was never believed"
            case "hidden" where decision.rule == "missing":
                return "hidden: what it names in \(decision.fields.joined()) can't be had"
            case "shown" where decision.rule == "missing":
                return "seen again: what it names in \(decision.fields.joined()) is there"
            case "hidden": return "out of reach: not in a list of everything"
            case "shown": return "in reach again"
            case "removed":
                return decision.fields.joined(separator: ", ") + " named what was deleted"
            default: return "followed from \(decision.rule)"
            }
        }
        if after.isHidden != before.isHidden {
            return (after.isHidden ? "out of reach" : "in reach again") + ", as what it belongs to"
        }
        let name = event.key.map { " (\($0))" } ?? ""
        if endsEdit { return "ended with what it lay in" + name }
        if after.isOrphan != before.isOrphan, !after.isEmpty {
            return (after.isOrphan ? "not seen" : "seen again") + ", as what it lies in" + name
        }
        if after.triedAt != before.triedAt { return "asked for, and the server has none" }
        if after.pending.count < before.pending.count { return "what followed, follows no more" }
        return "changed with \(event.kind)"
    }

    /// Whether the deletion of what it lay in ended an edit of it.
    var endsEdit: Bool {
        !isOwn && before.isOrphan
            && before.pending.contains { item in
                !item.isDerived && !after.pending.contains { $0.position == item.position }
            }
    }
}

extension ViewReader {
    /// That a list of the server's did not name what an event deletes, and whose answer let that
    /// count; nil where the server said that it is gone.
    func absence(_ event: Event) throws -> String? {
        guard event.kind == .serverDeleted, let cause = event.cause, event.call == nil else {
            return nil
        }
        let isAnswer = try self.event(at: cause)?.kind == .issueAnswered
        let answer = isAnswer ? ", as the answer \(cause) said" : ""
        return "not in the server's list any more" + answer
    }

    /// The collection whose field of a name leads to an entity, where only one can be meant: a page
    /// may have brought records of others with its own.
    package func referrer(
        by field: String, to key: EntityKey, _ page: Event
    ) throws -> CollectionName? {
        let names = try model().collections.filter { collection in
            collection.references.contains {
                $0.field == field && $0.collection == key.collection
            }
        }.map(\.name)
        return names.first { $0 == page.collection } ?? (names.count == 1 ? names.first : nil)
    }
}
