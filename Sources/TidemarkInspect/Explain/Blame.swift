// Blame.swift — who last set each field of an entity: the event at which the field got its current
// value. A server that repeats the same value has not set it.

public import TidemarkEvents
package import TidemarkViews

/// Who last set a field.
public struct FieldBlame: Sendable, Hashable {
    /// Who sets fields.
    @nonexhaustive public enum Author: String, Sendable, Hashable, CaseIterable {
        /// The user, when creating the entity.
        case created
        /// The user, with an edit.
        case edit
        /// Another client, through the server.
        case pull
        /// The server, in its answer to a write, or in its first word on the entity after it: its
        /// own value, or its refusal of every change.
        case answer
        /// A conflict rule that merged both sides.
        case merge
        /// A rule of the model: rivals, a choice, the removal of what was deleted, or the policy
        /// that both sides are kept.
        case rule
        /// Nobody: the entity is a placeholder for a reference.
        case placeholder
        /// The user, by discarding what was pending, or by deleting what the entity lay in: the
        /// value before is visible again.
        case discard
        /// Another change of what is pending.
        case other
        /// Unknown: the value is older than the first event of the log.
        case before
    }

    /// The field, or the path of a value in it.
    public var field: String
    /// Its value; nil where it was removed.
    public var value: JSONValue?
    /// Who set it.
    public var author: Author
    /// The rule and its version, where a rule set the field; otherwise empty.
    public var rule: String
    /// The events that the rule decided on.
    public var inputs: [Position]
    /// The event at which the field got its value.
    public var position: Position
    /// When that was appended, by the device's clock.
    public var recordedAt: Timestamp?
    /// The `sync.started` of the run that the event belongs to.
    public var sync: Position?
    /// The value before; nil where there was none.
    public var before: JSONValue?
}

extension EntityTimeline {
    /// Who last set each field of the current entity, in the order of the document; with a path,
    /// only that of the path, even if it has no value any more.
    package func blame(of path: FieldPath? = nil, _ views: ViewReader) throws -> [FieldBlame] {
        guard let key = keys.first else { return [] }
        let collection = try views.model()[key.collection]
        // By key of the entity: before two keys were bound to one entity, each had its own fields.
        var known: [EntityKey: [ExactString: FieldBlame]] = [:]
        var last: JSONDocument?
        if let base {
            last = base.row.readable(in: collection)?.named(for: path, in: collection)
            for field in path.map({ [$0.description] }) ?? last?.keys ?? [] {
                let place = path ?? FieldPath(name: field)
                let value = last.flatMap(place.value)
                // What has no value there may never have had one.
                guard value != nil || path == nil else { continue }
                known[key, default: [:]][ExactString(field)] = FieldBlame(
                    field: field, value: value, author: .before, rule: "",
                    inputs: [], position: base.position, recordedAt: nil, sync: nil, before: nil)
            }
        }
        for step in steps {
            let decisions = self.decisions.filter { step.isAt($0.position) }.map(\.row)
            var changes = step.changes(of: path, in: collection)
            // From now on, every field of a former placeholder is the server's.
            if step.before.isPlaceholder, !step.after.isPlaceholder, step.isOwn {
                changes = step.allFields(of: path, in: collection)
            }
            // What another key brings along as both become one has its author already.
            let others = known.filter { $0.key != step.key && step.joined.contains($0.key) }
                .sorted { $0.key < $1.key }
            let isAnswer = try !changes.isEmpty && step.tellsOwnWrite(views, life: key)
            for change in changes {
                let name = ExactString(change.field)
                if let other = others.compactMap({ $0.value[name] }).first(where: {
                    $0.value != nil && $0.value == change.new
                }) {
                    known[step.key, default: [:]][name] = other
                    continue
                }
                known[step.key, default: [:]][name] = step.blame(
                    change, decisions, isAnswer: isAnswer)
            }
            if step.key == key { last = step.documents(in: collection).after }
        }
        let blames = known[key] ?? [:]
        if let path { return blames[ExactString(path.description)].map { [$0] } ?? [] }
        return (last?.keys ?? []).compactMap { blames[ExactString($0)] }
    }
}

extension EntityStep {
    /// Every field of the document afterwards, as if all were new.
    fileprivate func allFields(
        of path: FieldPath?, in collection: CollectionModel?
    ) -> [FieldChange] {
        let (old, new) = documents(of: path, in: collection)
        if let path {
            return [
                FieldChange(
                    field: path.description, old: old.flatMap(path.value),
                    new: new.flatMap(path.value))
            ]
        }
        let gone = changes(of: nil, in: collection).filter { $0.new == nil }
        return gone
            + (new?.keys ?? []).map { name in
                FieldChange(field: name, old: old?.value(name), new: new?.value(name))
            }
    }

    /// Whether it is the server's word about what was sent: in its answer, or the first one that
    /// comes of it.
    fileprivate func tellsOwnWrite(_ views: ViewReader, life: EntityKey) throws -> Bool {
        if event.mutation != nil { return true }
        guard event.kind == .serverUpserted else { return false }
        // What another client wrote since is of another version.
        if before.isAssumed {
            return before.revision == nil || event.revision == nil
                || before.revision == event.revision
        }
        return try outcomes(views, life: life).contains(where: \.isArrival)
    }

    /// - Parameter isAnswer: whether it is the server's word about what was sent.
    fileprivate func blame(
        _ change: FieldChange, _ decisions: [DecisionRow], isAnswer: Bool
    ) -> FieldBlame {
        let rule = decisions.last { decision in
            FieldPath(change.field).isIn(decision.fields) && !decision.fields.isEmpty
        }
        var blame = FieldBlame(
            field: change.field, value: change.new, author: author(change, rule, isAnswer),
            rule: "", inputs: [], position: position, recordedAt: event.recordedAt,
            sync: event.sync, before: change.old)
        if blame.author == .rule || blame.author == .merge, let rule {
            blame.rule = "\(rule.rule)/\(rule.ruleVersion)"
            blame.inputs = rule.inputs
        } else if blame.author == .rule {
            blame.rule = withdrawn(change)?.rule ?? ""
            if event.isKeptBoth {
                blame.rule = ConflictPolicy.keepBoth.name
                blame.inputs = [event.cause].compactMap(\.self)
            }
        }
        return blame
    }

    private func author(
        _ change: FieldChange, _ decision: DecisionRow?, _ isAnswer: Bool
    ) -> FieldBlame.Author {
        let derived = after.pending.contains { item in
            item.isDerived && isAt(item.position)
                && FieldPath(change.field).isIn(
                    (try? Patch(parsing: item.payload))?.fieldNames ?? [])
        }
        if derived { return .rule }
        // A rule that withdraws its derived change sets the field, too.
        if decision?.result == "kept" { return .rule }
        guard isOwn else {
            if withdrawn(change) != nil { return .rule }
            // The event of another entity: a rule followed from it here.
            if let decision, decision.rule != "placeholder" { return .rule }
            if endsEdit { return .discard }
            return after.isPlaceholder ? .placeholder : .other
        }
        if event.isKeptBoth { return .rule }
        switch event.kind.family {
        // Of what is asked for, only what it makes has fields.
        case .local(.created), .local(.requested): return .created
        case .local(.updated), .local(.deleted): return .edit
        case .local(.discarded): return .discard
        case .word:
            if decision?.result == "merged" { return .merge }
            return isAnswer ? .answer : .pull
        case .push, .answer: return .answer
        case .store, .model, .local(.retried), .local(.wiped), .app, .runStart,
            .runEnd, .request, .notice, .list,
            .asset, .unknown:
            return .other
        }
    }

    /// The derived change that had given the field its value, and was withdrawn.
    private func withdrawn(_ change: FieldChange) -> EntityRow.Pending? {
        before.pending.first { item in
            item.isDerived && !after.pending.contains(item)
                && FieldPath(change.field).isIn(
                    (try? Patch(parsing: item.payload))?.fieldNames ?? [])
        }
    }
}
