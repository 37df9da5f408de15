// ReplayDifference.swift — how the outcomes of two replays differ, for tests.

public import TidemarkEvents
package import TidemarkInspect
import TidemarkViews

/// How two outcomes of a log differ: in entities and their fields, and in outcomes of mutations.
public struct ReplayDifference: Sendable, Hashable {
    /// A field with two values.
    public struct Field: Sendable, Hashable {
        /// The name of the field; empty where the document is no object.
        public var name: String
        /// JSON; nil where there is no such field.
        public var before: String?
        /// The same in the second outcome.
        public var after: String?
    }

    /// An entity whose visible state differs.
    public struct Entity: Sendable, Hashable {
        public var key: EntityKey
        /// The status in the first outcome; nil where it does not exist.
        public var statusBefore: EntityStatus?
        /// The status in the second outcome; nil where it does not exist.
        public var statusAfter: EntityStatus?
        /// The fields that differ, where both sides have a document.
        public var fields: [Field]
    }

    /// A mutation whose outcome differs.
    public struct Mutation: Sendable, Hashable {
        /// The mutation.
        public var position: Position
        public var key: EntityKey
        /// Its outcome in the first fold; nil where it has none, or does not exist.
        public var before: MutationOutcome?
        /// Its outcome in the second fold.
        public var after: MutationOutcome?
    }

    /// Sorted by key.
    public var entities: [Entity]
    /// In log order.
    public var mutations: [Mutation]
    /// How many other rows differ: watermarks, decisions and other rows that are not visible.
    public var hiddenRows: Int
    /// The same difference for the tool.
    package let views: ViewsDifference

    /// Whether no visible row differs.
    public var isEmpty: Bool { views.isEmpty }

    package init(_ views: ViewsDifference) {
        func text(_ bytes: [UInt8]?) -> String? {
            bytes.map { String(decoding: $0, as: UTF8.self) }
        }
        self.views = views
        hiddenRows = views.rows.count
        entities = views.entities.map { entity in
            Entity(
                key: entity.key, statusBefore: entity.before?.status,
                statusAfter: entity.after?.status,
                fields: entity.fields.map {
                    Field(name: $0.name, before: text($0.before), after: text($0.after))
                })
        }
        mutations = views.mutations.compactMap { mutation in
            (mutation.after ?? mutation.before).map {
                Mutation(
                    position: $0.position, key: $0.mutation.key,
                    before: mutation.before?.mutation.outcome,
                    after: mutation.after?.mutation.outcome)
            }
        }
    }
}

extension ReplayDifference: CustomStringConvertible {
    /// The lines that `tidemark diff` prints.
    public var description: String { views.lines().joined(separator: "\n") }
}

/// The outcome with a change.
public struct WhatIfResult: Sendable, Hashable {
    /// The difference from the outcome of the unchanged log.
    public var difference: ReplayDifference
    /// The events that were left out, in log order.
    public var leftOut: [CauseStep]
}
