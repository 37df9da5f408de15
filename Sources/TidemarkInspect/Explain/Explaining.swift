// Explaining.swift — queries about one entity: its history, who set its fields, and why it has its
// current state.

public import Tidemark
public import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Journal {
    /// Reads the views, and folds timelines of entities where `body` asks for them, at one position
    /// of the log.
    ///
    /// Neither of the two arguments may outlive `body`.
    package func withTimelines<R>(
        _ body: (ViewReader, _ timeline: (EntityKey) throws -> EntityTimeline) throws -> R
    ) throws -> R {
        try environment.read { transaction in
            try ViewReader.with(self, transaction) { views in
                try body(views) { try EntityTimeline($0, self, views, transaction) }
            }
        }
    }

    /// Folds the timeline of an entity, up to the last event that the reader knows.
    package func timeline(_ key: EntityKey, _ views: ViewReader) throws -> EntityTimeline {
        try environment.read { transaction in
            try EntityTimeline(key, self, views, transaction)
        }
    }

    /// The history of an entity; nil when the log has nothing on it.
    package func history(of target: EntityTarget) throws -> EntityHistory? {
        try withTimelines { views, timeline in
            try EntityHistory(try timeline(target.key), field: target.field, views)
        }
    }

    /// Who last set each field of an entity, or one field; nil when the log has nothing on it.
    package func blame(of target: EntityTarget) throws -> [FieldBlame]? {
        try withTimelines { views, timeline in
            let found = try timeline(target.key)
            guard !found.steps.isEmpty || found.base != nil else { return nil }
            return try found.blame(of: target.field, views)
        }
    }
}

extension Replica {
    /// The history of an entity, event by event; nil when the log has nothing on it.
    ///
    /// The whole log is read. The entity's events are folded again, or all events where a rule
    /// compared it with other entities. Blocks; call it off the main thread.
    ///
    /// - Parameter key: the entity's key, by any of its ids.
    /// - Throws: ``TidemarkError`` when the store can't be read.
    public func history(of key: EntityKey) throws -> EntityHistory? {
        do { return try journal.history(of: EntityTarget(key)) } catch {
            throw TidemarkError.wrapping(error)
        }
    }

    /// Who last set each field of an entity, in the order of the document; empty when there is
    /// none.
    ///
    /// The whole log is read. Blocks; call it off the main thread.
    ///
    /// - Parameter key: the entity's key, by any of its ids.
    /// - Throws: ``TidemarkError`` when the store can't be read.
    public func blame(of key: EntityKey) throws -> [FieldBlame] {
        do { return try journal.blame(of: EntityTarget(key)) ?? [] } catch {
            throw TidemarkError.wrapping(error)
        }
    }

    /// Why an entity has its current state, as `tidemark why` prints it; nil when there is none.
    ///
    /// Blocks; call it off the main thread.
    ///
    /// - Parameter key: the entity's key, by any of its ids.
    /// - Throws: ``TidemarkError`` when the store can't be read.
    public func explanation(of key: EntityKey) throws -> String? {
        do {
            return try journal.read { views in
                try EntityExplanation(EntityTarget(key), views)?.lines.joined(separator: "\n")
            }
        } catch { throw TidemarkError.wrapping(error) }
    }
}
