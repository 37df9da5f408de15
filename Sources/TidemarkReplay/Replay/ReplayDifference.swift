// ReplayDifference.swift — how the outcomes of two replays differ, for tests to look at.

public import TidemarkEvents
package import TidemarkInspect
import TidemarkViews

/// How two outcomes of a log differ: entities and their fields, and what became of mutations.
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

    /// An entity of which something else is seen.
    public struct Entity: Sendable, Hashable {
        public var key: EntityKey
        /// The status in the first outcome; nil where it is not there.
        public var statusBefore: EntityStatus?
        /// The status in the second outcome; nil where it is not there.
        public var statusAfter: EntityStatus?
        /// The fields that differ, where there is a document on both sides.
        public var fields: [Field]
    }

    /// A mutation that stands otherwise in the outbox.
    public struct Mutation: Sendable, Hashable {
        /// The mutation.
        public var position: Position
        public var key: EntityKey
        /// Its outcome in the first one; nil where it has none, or is not there.
        public var before: MutationOutcome?
        /// Its outcome in the second one.
        public var after: MutationOutcome?
    }

    /// In the order of their keys.
    public var entities: [Entity]
    /// In the order of the log.
    public var mutations: [Mutation]
    /// How many other rows differ: in watermarks, decisions and what else is not seen.
    public var hiddenRows: Int
    /// The same for the tool.
    package let views: ViewsDifference

    /// Whether nothing that is seen differs.
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

/// What would have come out.
public struct WhatIfResult: Sendable, Hashable {
    /// How it differs from what comes out of the log as it is.
    public var difference: ReplayDifference
    /// The events that were left out, in the order of the log.
    public var leftOut: [CauseStep]
}

/// What came out with something happening otherwise.
public struct InjectionResult: Sendable, Hashable {
    /// How it differs from what comes out of the log as it is.
    public var difference: ReplayDifference
    /// What must hold whatever happens and does not: a mutation that is lost, for example.
    public var faults: [String]
    /// Whether every row is the same, seen or not.
    public var isSame: Bool
}
