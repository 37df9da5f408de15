// EntityExplanation.swift — explains the state of an entity: its base, what is pending, and which
// rules decided about it, from which events, with which result and which losses.

package import TidemarkEvents
package import TidemarkLog
package import TidemarkViews

/// The state of one entity, and the decisions about it.
package struct EntityExplanation: Sendable {
    /// One decision about the entity, or made because of it.
    package struct Decision: Sendable {
        /// The event that it was made at.
        package var position: Position
        package var row: DecisionRow
        /// The events that the decision used, in the rule's order.
        package var inputs: [Input]
        /// The field values that the rule set in the entity, while they are pending.
        package var given: [FieldChange]
        /// The values that were lost.
        package var losses: [Loss]
        /// The entity that the policy keeps them in; nil where they were given up.
        package var keptIn: EntityKey?
        /// The event by which the rule took back what it had derived; nil where it did not.
        package var withdrawnAt: Position?
        /// Whether it is about another entity, over which this one won, or which stopped when this
        /// one started.
        package var isAboutOther: Bool
    }

    /// An event that a decision used.
    package struct Input: Sendable {
        package var position: Position
        /// The event; nil when the log no longer has it.
        package var event: Event?
        /// Where the log begins, if that is behind it.
        package var beginning: LogBeginning?

        init(_ position: Position, _ views: ViewReader) throws {
            self.position = position
            event = try views.event(at: position)
            beginning = try event == nil ? views.beginning(after: position) : nil
        }
    }

    /// A value of the losing side of a decision.
    package struct Loss: Sendable, Hashable {
        /// The position of the losing event.
        package var position: Position
        /// The field; nil where the whole change was lost.
        package var field: String?
        /// The field's value; nil where it was removed.
        package var value: JSONValue?
    }

    /// A mutation that is pending.
    package struct Pending: Sendable {
        package var item: EntityRow.Pending
        package var mutation: MutationRow?
    }

    /// An owner that was out of reach.
    package struct LostOwner: Sendable, Hashable {
        package var key: EntityKey
        /// The event since which it was.
        package var since: Position
    }

    /// A deleted entity of its tree.
    package struct DeletedAbove: Sendable, Hashable {
        package var key: EntityKey
        /// The event that deleted it, here or on the server.
        package var position: Position?
    }

    /// The entity's permanent key, even if another of its ids was given.
    package var key: EntityKey
    /// The field that was asked for; nil for the whole entity.
    package var field: FieldPath?
    /// The entity's ids; the id of its key comes first.
    package var ids: [String]
    package var row: EntityRow
    /// The event that its base comes from.
    package var base: Input?
    /// Of a deleted entity: that the server's list did not name it; nil where the server said that
    /// it is gone.
    package var absence: String?
    package var pending: [Pending]
    /// The event that what is pending went another way, or arrived by it; nil where it did not.
    package var relay: Input?
    /// The reasons why the pending mutations are not sent.
    package var holds: [PushHold]
    /// Its open issues.
    package var issues: [IssueRow]
    /// The hidden owner that the entity is hidden with; nil where it is hidden by itself or
    /// visible.
    package var hiddenOwner: EntityKey?
    /// The owner that was out of reach when it was pruned for that; nil where it was itself, or
    /// where that is not known any more.
    package var lostOwner: LostOwner?
    /// The deleted entity that it lies in, with which it is not seen; nil where there is none.
    package var deletedAbove: DeletedAbove?
    /// The open issues of lists of everything that did not name it, nor many others.
    package var unnamedAt: [Position]
    /// The page whose word on it was left out, with all that stands in it; nil for none.
    package var withheldAt: Position?
    /// The reserved values that it holds.
    package var taken: [TakenValue]
    /// In log order, those that the log reaches back to.
    package var decisions: [Decision]
    /// Up to which event decisions were dropped; nil for none.
    package var dropped: Position?

    /// Collects what the log has on the entity; nil when the views have nothing.
    package init?(_ target: EntityTarget, _ views: ViewReader) throws {
        guard let (key, row) = try views.found(target.key) else { return nil }
        self.key = key
        self.row = row
        field = target.field
        let keys = try views.keys(of: key)
        ids = keys.map(\.id)
        let model = try views.model()
        base = try row.basePosition.map { try Input($0, views) }
        relay = try row.relay.map { try Input($0.position, views) }
        absence = try base?.event.flatMap { try views.absence($0) }
        pending = try row.pending.map {
            Pending(item: $0, mutation: try views.mutation(of: $0, key))
        }
        holds = try views.holds(of: key, row, model)
        issues = try views.issues().filter { $0.key.map(keys.contains) ?? false }
            .map(views.inFull)
        decisions = []
        dropped = try views.droppedRows()?.last
        taken = try views.takenValues(row, in: model[key.collection], model).filter { value in
            target.field.map { $0.isIn([value.field]) } ?? true
        }
        withheldAt = try views.withheldPage(key)
        unnamedAt = try views.unnamed(keys)
        hiddenOwner = try row.isHidden ? views.hiddenOwner(of: key, row) : nil
        deletedAbove = try row.isOrphan ? views.deletedAbove(key, row) : nil
        if row.baseState == .absent, let prunedAt = row.prunedAt {
            lostOwner = try views.lostOwner(of: key, row, at: prunedAt)
        }
        let made =
            try views.decisions(about: keys + [EntityKey(key.collection, "")]).map { ($0, false) }
            + views.decisions(becauseOf: keys).map { ($0, true) }
        for (placed, isAboutOther) in made.sorted(by: { $0.0.position < $1.0.position }) {
            if let field, !field.isIn(placed.row.fields) { continue }
            decisions.append(try Decision(placed, isAboutOther: isAboutOther, row, views))
        }
    }
}

extension EntityExplanation.Decision {
    fileprivate init(
        _ placed: PlacedDecision, isAboutOther: Bool, _ row: EntityRow, _ views: ViewReader
    ) throws {
        position = placed.position
        self.row = placed.row
        self.isAboutOther = isAboutOther
        inputs = try placed.row.inputs.map { try EntityExplanation.Input($0, views) }
        let about = isAboutOther ? try views.entity(placed.row.key) ?? EntityRow() : row
        given = []
        let derived = about.pending.first {
            $0.position == placed.position && $0.rule == placed.row.rule
        }
        for field in (try derived.map { try Patch(parsing: $0.payload) })?.set ?? [] {
            given.append(
                FieldChange(
                    field: field.name, old: .null, new: try? JSONValue(parsing: field.value)))
        }
        let mutation = try views.derivedMutation(placed.position, placed.row.key)
        if let mutation, mutation.rule == placed.row.rule, mutation.outcome == .withdrawn {
            withdrawnAt = mutation.proof
        }
        losses = []
        losses = givenUp(try views.model()[placed.row.key.collection])
        if placed.row.rule == ConflictPolicy.keepBoth.name {
            keptIn = try views.keptBeside(placed.position)
        }
    }

    /// The values of the losing side, from its event, but those that the server's word has as well.
    private func givenUp(_ collection: CollectionModel?) -> [EntityExplanation.Loss] {
        switch row.result {
        case "serverWins", "superseded":
            guard let input = inputs.first else { return [] }
            let fields = row.superseded.isEmpty ? row.fields : row.superseded
            let mine = input.values(of: fields, in: collection)
            guard row.result == "serverWins", inputs.count > 1 else { return mine }
            let theirs = inputs[1].values(of: fields, in: collection)
            return mine.filter { loss in
                loss.field == nil
                    || !theirs.contains { $0.field == loss.field && $0.value == loss.value }
            }
        case "merged":
            return row.superseded.isEmpty
                ? [] : inputs.first?.values(of: row.superseded, in: collection) ?? []
        case "localWins":
            guard inputs.count > 1 else { return [] }
            return inputs[1].values(of: row.fields, in: collection)
        case "stopped":
            guard let input = inputs.first else { return [] }
            return row.fields.map {
                EntityExplanation.Loss(position: input.position, field: $0, value: .null)
            }
        default: return []
        }
    }
}

extension EntityExplanation.Input {
    /// The event's values of some fields, or elements of lists by their names; its whole change
    /// where none are named.
    ///
    /// Of an edit only the fields that it names: one that carries others is decided about together
    /// with all of theirs. They are looked for under the names of today's model first, then under
    /// those that they had.
    fileprivate func values(
        of fields: [String], in collection: CollectionModel?
    ) -> [EntityExplanation.Loss] {
        let whole = [EntityExplanation.Loss(position: position, field: nil, value: nil)]
        guard let event, !fields.isEmpty else { return whole }
        switch event.kind.form {
        case .document where event.kind != .serverDeleted:
            guard let raw = try? JSONDocument(parsing: event.payload) else { return whole }
            let lists = collection?.keyed ?? []
            let read = (try? collection?.read(raw)) ?? raw
            let named = (try? read.expanded(lists)) ?? read
            let namedRaw = (try? raw.expanded(lists)) ?? raw
            return fields.compactMap { field in
                let value =
                    read.value(field, lists, named: named)
                    ?? raw.value(field, lists, named: namedRaw)
                // What a creation lacks was not given up; what the server's word lacks was.
                guard value != nil || event.kind != .localCreated else { return nil }
                return EntityExplanation.Loss(position: position, field: field, value: value)
            }
        case .patch:
            guard let raw = try? Patch(parsing: event.payload) else { return whole }
            let patches = [collection?.read(raw) ?? raw, raw]
            return fields.compactMap { field in
                let name = ExactString(field)
                let patch = patches.first { $0.fieldNames.contains { ExactString($0) == name } }
                guard let patch else { return nil }
                let value = patch.value(of: field).flatMap { try? JSONValue(parsing: $0) }
                return EntityExplanation.Loss(position: position, field: field, value: value)
            }
        case .document, .registration, .members, .nothing, nil: return whole
        }
    }
}

extension JSONDocument {
    /// The value of a field, or of an element of a list by its name.
    ///
    /// - Parameter named: the same with the elements under their names.
    fileprivate func value(
        _ name: String, _ lists: [KeyedList], named: JSONDocument
    ) -> JSONValue? {
        let list = lists.element(name)?.list
        let isOne = list.map { !form(of: $0).isKeyed } ?? true
        return isOne ? value(list?.field ?? name) : named.value(name)
    }
}

extension ViewReader {
    /// What the policy `keepBoth` made, in the same commit, of what lost against an event.
    fileprivate func keptBeside(_ lost: Position) throws -> EntityKey? {
        let run = try event(at: lost)?.sync
        var position = lost.next
        while let event = try event(at: position), event.sync == run, event.kind != .syncFinished {
            if event.kind == .localCreated, event.isKeptBoth, event.cause == lost {
                return event.key
            }
            position = position.next
        }
        return nil
    }

    /// The events that hold an entity, by any of its keys, as a list of everything did not name it.
    fileprivate func unnamed(_ keys: [EntityKey]) throws -> [Position] {
        guard let name = keys.first?.collection else { return [] }
        let ids = Set(keys.map { ExactString($0.id) })
        var positions: [Position] = []
        try walk(.ledger, Ledger.held + EntityKey.prefix(of: name)) { _, value in
            if let held = try HeldRow(parsing: value),
                held.ids.contains(where: { ids.contains(ExactString($0)) })
            {
                positions.append(held.position)
            }
            return true
        }
        return positions
    }

    /// The owner that an entity is hidden with; nil where it is hidden by itself.
    fileprivate func hiddenOwner(of key: EntityKey, _ row: EntityRow) throws -> EntityKey? {
        try owners(of: key, row).compactMap { try found($0) }
            .first { $0.row.isHidden && $0.key != key }?.key
    }

    /// The owner, near or far, that was out of reach when an entity was pruned for that; nil where
    /// it was hidden by itself, or where that is not known any more.
    ///
    /// - Parameter row: as it was, or as the pruning left it.
    func lostOwner(
        of key: EntityKey, _ row: EntityRow, at position: Position
    ) throws -> EntityExplanation.LostOwner? {
        func made(about key: EntityKey) throws -> [PlacedDecision] {
            try decisions(about: keys(of: key)).filter {
                $0.position <= position && $0.row.rule == PruneDecision.Rule.access.rawValue
            }
        }
        func isPruning(_ decision: PlacedDecision) -> Bool {
            decision.position == position && decision.row.result == "pruned"
        }
        guard try made(about: key).contains(where: isPruning) else { return nil }
        let model = try model()
        var passed: Set<EntityKey> = []
        var next = (key: key, row: row)
        while passed.insert(next.key).inserted {
            guard let collection = model[next.key.collection],
                let reference = collection.ownerReference,
                let id = try lastSaid(next.row, collection)?.ids(in: reference.field).first,
                let owner = try found(EntityKey(reference.collection, id))
            else { return nil }
            // One that was pruned before is not hidden any more, and came back without a word.
            if let decision = try made(about: owner.key).last(where: { !isPruning($0) }),
                decision.row.result == "hidden"
            {
                return EntityExplanation.LostOwner(key: owner.key, since: decision.position)
            }
            next = owner
        }
        return nil
    }

    /// An entity as it is, or as the server said it last before it was pruned.
    private func lastSaid(
        _ row: EntityRow, _ collection: CollectionModel
    ) throws -> JSONDocument? {
        if let document = row.readable(in: collection) { return document }
        guard !row.prunedDigest.isEmpty, let position = row.basePosition,
            let event = try event(at: position), event.kind == .serverUpserted,
            let said = try? JSONDocument(parsing: event.payload)
        else { return nil }
        return (try? collection.read(said)) ?? said
    }

    /// The deleted entity that one of a tree lies in, itself or with others around it.
    fileprivate func deletedAbove(
        _ key: EntityKey, _ row: EntityRow
    ) throws -> EntityExplanation.DeletedAbove? {
        guard let collection = try model()[key.collection] else { return nil }
        var passed: Set<EntityKey> = [key]
        var next = try place(of: row, in: collection)
        while let place = next, passed.insert(place).inserted, let above = try found(place) {
            if above.row.content == nil {
                let deletion = above.row.pending.last { $0.kind == .delete }?.position
                return EntityExplanation.DeletedAbove(
                    key: above.key, position: deletion ?? above.row.basePosition)
            }
            next = try self.place(of: above.row, in: collection)
        }
        return nil
    }
}
