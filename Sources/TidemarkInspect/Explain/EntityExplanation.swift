// EntityExplanation.swift — why an entity is as it is: what the server said, what is pending, which
// rules decided about it, from which events, with which result, and what was given up.

package import TidemarkEvents
package import TidemarkViews

/// What was decided about one entity, and how it stands.
package struct EntityExplanation: Sendable {
    /// One decision about the entity, or because of it.
    package struct Decision: Sendable {
        /// The event that it was made at.
        package var position: Position
        package var row: DecisionRow
        /// The events that it was made from, in the order in which the rule names them.
        package var inputs: [Input]
        /// What the rule gave to fields of the entity that it decided about, while it is pending.
        package var given: [FieldChange]
        /// What was given up.
        package var losses: [Loss]
        /// Whether it is about another entity, which this one won against.
        package var isAboutOther: Bool
    }

    /// An event that a decision was made from.
    package struct Input: Sendable {
        package var position: Position
        /// The event; nil when the log does not have it any more.
        package var event: Event?
    }

    /// What the losing side of a decision had.
    package struct Loss: Sendable, Hashable {
        /// Where it stands in the log.
        package var position: Position
        /// The field; nil where all of it was given up.
        package var field: String?
        /// The field's value; nil where it had been removed.
        package var value: JSONValue?
    }

    /// A mutation that is pending.
    package struct Pending: Sendable {
        package var item: EntityRow.Pending
        package var mutation: MutationRow?
    }

    /// The key that the entity has for life, also when it was asked for by another id.
    package var key: EntityKey
    /// The field that was asked for; nil for the whole entity.
    package var field: FieldPath?
    /// The entity's ids, that of its key first.
    package var ids: [String]
    package var row: EntityRow
    /// The event that the server's side comes from.
    package var base: Input?
    package var pending: [Pending]
    /// What keeps what is pending from being sent.
    package var holds: [PushHold]
    /// Open issues of it.
    package var issues: [IssueRow]
    /// What it belongs to that is out of reach, where it is out of reach with that.
    package var hiddenOwner: EntityKey?
    /// In the order of the log.
    package var decisions: [Decision]

    /// Collects what the log says; nil when the views have nothing of it.
    package init?(_ target: EntityTarget, _ views: ViewReader) throws {
        guard let (key, row) = try views.found(target.key) else { return nil }
        self.key = key
        self.row = row
        field = target.field
        let keys = try views.keys(of: key)
        ids = keys.map(\.id)
        let model = try views.model()
        base = try row.basePosition.map { Input(position: $0, event: try views.event(at: $0)) }
        pending = try row.pending.map {
            Pending(item: $0, mutation: try views.mutation(of: $0, key))
        }
        holds = try views.holds(of: key, row, model)
        issues = try views.issues().filter { $0.key.map(keys.contains) ?? false }
        decisions = []
        hiddenOwner = try row.isHidden ? views.hiddenOwner(of: key, row) : nil
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
        inputs = try placed.row.inputs.map {
            EntityExplanation.Input(position: $0, event: try views.event(at: $0))
        }
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
        losses = []
        losses = givenUp
    }

    /// What the losing side had, as its event says.
    private var givenUp: [EntityExplanation.Loss] {
        switch row.result {
        case "serverWins":
            guard let input = inputs.first else { return [] }
            let fields = row.superseded.isEmpty ? row.fields : row.superseded
            return input.values(of: fields)
        case "merged":
            return row.superseded.isEmpty ? [] : inputs.first?.values(of: row.superseded) ?? []
        case "localWins":
            guard inputs.count > 1 else { return [] }
            return inputs[1].values(of: row.fields)
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
    /// What the event gives to some fields; all of it as one where none are named.
    fileprivate func values(of fields: [String]) -> [EntityExplanation.Loss] {
        let whole = [EntityExplanation.Loss(position: position, field: nil, value: nil)]
        guard let event, !fields.isEmpty else { return whole }
        switch event.kind.form {
        case .document where event.kind != .serverDeleted:
            guard let document = try? JSONDocument(parsing: event.payload) else { return whole }
            return fields.map {
                EntityExplanation.Loss(position: position, field: $0, value: document.value($0))
            }
        case .patch:
            guard let patch = try? Patch(parsing: event.payload) else { return whole }
            return fields.map { field in
                let value = patch.value(of: field).flatMap { try? JSONValue(parsing: $0) }
                return EntityExplanation.Loss(position: position, field: field, value: value)
            }
        case .document, .registration, .members, .nothing, nil: return whole
        }
    }
}

extension ViewReader {
    /// The owner that an entity is hidden with; nil where it is hidden by itself.
    fileprivate func hiddenOwner(of key: EntityKey, _ row: EntityRow) throws -> EntityKey? {
        try owners(of: key, row).compactMap { try found($0) }
            .first { $0.row.isHidden && $0.key != key }?.key
    }
}
