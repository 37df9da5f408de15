// Explaining.swift — asking a store about one entity: its history, who set its fields, and why it
// is as it is.

public import Tidemark
public import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

extension Journal {
    /// Reads the views, and folds what touched an entity where that is asked for, at one point of
    /// the log.
    ///
    /// Neither the reader nor what folds must be kept.
    package func withTimelines<R>(
        _ body: (ViewReader, _ timeline: (EntityKey) throws -> EntityTimeline) throws -> R
    ) throws -> R {
        try environment.read { transaction in
            try ViewReader.with(self, transaction) { views in
                try body(views) { try EntityTimeline($0, self, views, transaction) }
            }
        }
    }

    /// Folds what touched an entity up to the last event that a reader knows of.
    package func timeline(_ key: EntityKey, _ views: ViewReader) throws -> EntityTimeline {
        try environment.read { transaction in
            try EntityTimeline(key, self, views, transaction)
        }
    }

    /// The history of an entity; nil when the log never heard of it.
    package func history(of target: EntityTarget) throws -> EntityHistory? {
        try withTimelines { views, timeline in
            try EntityHistory(try timeline(target.key), field: target.field, views)
        }
    }

    /// Who set each field of an entity last, or one of them; nil when the log never heard of it.
    package func blame(of target: EntityTarget) throws -> [FieldBlame]? {
        try withTimelines { views, timeline in
            let found = try timeline(target.key)
            guard !found.steps.isEmpty || found.base != nil else { return nil }
            return try found.blame(of: target.field, views)
        }
    }
}

extension Replica {
    /// Everything that happened to an entity, event by event; nil when the log never heard of it.
    ///
    /// The whole log is looked through; the entity's events are folded again, and all events where
    /// a rule compared it with others.
    ///
    /// - Parameter key: by any of the entity's ids.
    /// - Throws: ``TidemarkError`` when the store can't be read.
    public func history(of key: EntityKey) throws -> EntityHistory? {
        do { return try journal.history(of: EntityTarget(key)) } catch {
            throw TidemarkError.wrapping(error)
        }
    }

    /// Who set each field of an entity last, in the order of the document; empty when there is
    /// none.
    ///
    /// - Parameter key: by any of the entity's ids.
    /// - Throws: ``TidemarkError`` when the store can't be read.
    public func blame(of key: EntityKey) throws -> [FieldBlame] {
        do { return try journal.blame(of: EntityTarget(key)) ?? [] } catch {
            throw TidemarkError.wrapping(error)
        }
    }

    /// Why an entity is as it is, as `tidemark why` prints it; nil when there is none.
    ///
    /// - Parameter key: by any of the entity's ids.
    /// - Throws: ``TidemarkError`` when the store can't be read.
    public func explanation(of key: EntityKey) throws -> String? {
        do {
            return try journal.read { views in
                try EntityExplanation(EntityTarget(key), views)?.lines.joined(separator: "\n")
            }
        } catch { throw TidemarkError.wrapping(error) }
    }
}
