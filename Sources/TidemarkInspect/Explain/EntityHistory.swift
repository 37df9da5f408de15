// EntityHistory.swift — the history of an entity, event by event, with the changes.

public import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// A change of a field, or of a value within one, by an event.
public struct FieldChange: Sendable, Hashable {
    /// The field's name.
    public var field: String
    /// The value before; nil where there was none.
    public var old: JSONValue?
    /// The value after; nil where it was removed.
    public var new: JSONValue?
}

/// The history of an entity.
public struct EntityHistory: Sendable, Hashable {
    /// One event that affected the entity.
    public struct Entry: Sendable, Hashable {
        /// The event.
        public var position: Position
        /// When it was appended, by the device's clock.
        public var recordedAt: Timestamp
        /// The kind of event.
        public var kind: EventKind
        /// The `sync.started` of the run that it belongs to.
        public var sync: Position?
        /// What it means for the entity, in a few words.
        public var words: String
        /// Its changes to the document, by field.
        public var changes: [FieldChange]
        /// The decisions at the event: rule, version and result.
        public var decisions: [String]
        /// The mutations that it settled, each with its outcome.
        public var outcomes: [Outcome]
    }

    /// How a mutation left the outbox.
    public struct Outcome: Sendable, Hashable {
        /// The mutation: the edit, or the event from which a rule derived the change.
        public var mutation: Position
        /// Its outcome.
        public var outcome: MutationOutcome
        /// The rule that the mutation followed from; empty for an edit of the user.
        public var rule: String
    }

    /// The entity's permanent key.
    public var key: EntityKey
    /// The entity's ids; the id of its key comes first.
    public var ids: [String]
    /// In log order; a word of the server's that waited for all of its set is there once more where
    /// it counted.
    public var entries: [Entry]
}

extension EntityHistory {
    /// Builds the history; nil when the log has nothing on the entity.
    ///
    /// - Parameter field: limits the entries to events that changed this field or decided about it.
    package init?(
        _ timeline: EntityTimeline, field: FieldPath? = nil, _ views: ViewReader
    ) throws {
        guard let key = timeline.keys.first, !timeline.steps.isEmpty || timeline.base != nil else {
            return nil
        }
        self.key = key
        ids = timeline.keys.map(\.id)
        entries = []
        let collection = try views.model()[key.collection]
        for step in timeline.steps {
            // Of a word that waits they are told where it counts.
            let decisions =
                step.waits
                ? [] : timeline.decisions.filter { step.isAt($0.position) }.map(\.row)
            let changes = step.changes(of: field, in: collection)
            if let field {
                let isTold =
                    !changes.isEmpty
                    || decisions.contains { !$0.fields.isEmpty && field.isIn($0.fields) }
                guard isTold else { continue }
            }
            let outcomes = try step.outcomes(views, life: key)
            entries.append(
                Entry(
                    position: step.position, recordedAt: step.event.recordedAt,
                    kind: step.event.kind, sync: step.event.sync,
                    words: try step.words(decisions, outcomes, views), changes: changes,
                    decisions: decisions.map(\.words), outcomes: outcomes))
        }
    }
}

extension EntityHistory {
    /// The entries that tell the end of an entity that has no row any more: by which its document
    /// went, and by which all else that was known of it did; none where it was never here.
    ///
    /// - Parameter timeline: that of which the history, of all fields, was made.
    package func ending(_ timeline: EntityTimeline) -> [Entry] {
        let steps = timeline.steps
        let end = steps.lastIndex { $0.before.content != nil && $0.after.content == nil }
        guard let end else { return [] }
        let last = steps.lastIndex { !$0.before.isEmpty && $0.after.isEmpty } ?? end
        return (last > end ? [end, last] : [end]).map { entries[$0] }
    }
}

extension EntityStep {
    /// The document before and after, as today's model reads it, visible or not.
    ///
    /// Elements of lists that are told by keys stand in it under their names, but for a path to a
    /// field.
    func documents(
        of path: FieldPath? = nil, in collection: CollectionModel?
    ) -> (before: JSONDocument?, after: JSONDocument?) {
        func document(_ row: EntityRow) -> JSONDocument? {
            var document = row.readable(in: collection)?.named(for: path, in: collection)
            // Without a path all of its members are looked up.
            if path == nil { document?.keepPlaces() }
            return document
        }
        return (document(before), document(after))
    }

    /// The event's changes, of one field or of all.
    func changes(of field: FieldPath?, in collection: CollectionModel?) -> [FieldChange] {
        guard before.content != after.content else { return [] }
        let (old, new) = documents(of: field, in: collection)
        if let field {
            let values = (old.flatMap(field.value), new.flatMap(field.value))
            guard values.0 != values.1 else { return [] }
            return [FieldChange(field: field.description, old: values.0, new: values.1)]
        }
        var names = old?.keys ?? []
        for name in new?.keys ?? [] where old?.rawValue(name) == nil { names.append(name) }
        return names.compactMap { name in
            let (was, now) = (old?.value(name), new?.value(name))
            return was == now ? nil : FieldChange(field: name, old: was, new: now)
        }
    }

    /// The mutations that the event settled.
    func outcomes(_ views: ViewReader, life: EntityKey) throws -> [EntityHistory.Outcome] {
        var settled: [(position: Position, rule: String, row: MutationRow?)] = []
        for item in before.pending {
            let isLeft = after.pending.contains {
                $0.position == item.position && $0.rule == item.rule
            }
            guard !isLeft else { continue }
            let row = try views.mutation(of: item, key) ?? views.mutation(of: item, life)
            settled.append((item.position, item.rule, row))
        }
        // The deletion of an entity that was never sent is settled together with its creation, and
        // each edit of what is kept on this device alone by itself.
        if [.localCreated, .localUpdated, .localDeleted].contains(event.kind),
            after.pending.isEmpty
        {
            settled.append((position, "", try views.mutation(position)))
        }
        return settled.compactMap { item in
            guard let row = item.row, isAt(row.proof), let outcome = row.outcome else {
                return nil
            }
            return EntityHistory.Outcome(
                mutation: item.position, outcome: outcome, rule: item.rule)
        }
    }
}

extension EntityRow {
    /// The entity's document as a model reads it, visible or not.
    func readable(in collection: CollectionModel?) -> JSONDocument? {
        guard let content, let document = try? JSONDocument(parsing: content) else { return nil }
        return (try? collection?.read(document)) ?? document
    }
}

extension DecisionRow {
    /// Rule, version, result and fields, and the parts of the mutation that were kept.
    package var words: String {
        var words = "\(rule)/\(ruleVersion): \(result)"
        if !fields.isEmpty { words += " on " + fields.joined(separator: ", ") }
        if !kept.isEmpty { words += "; kept " + kept.joined(separator: ", ") }
        return words
    }
}
