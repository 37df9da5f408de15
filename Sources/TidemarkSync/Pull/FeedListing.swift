// FeedListing.swift — a part of a feed that is being listed: the backfill, or what changed.

package import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// What the views say of a feed.
package struct FeedStanding: Sendable, Hashable {
    /// Where the backfill goes on; nil where it never began.
    package var back: FeedCursor?
    /// The identity of the collection with which the backfill began anew; nil where it did not.
    package var epoch: Revision?
    /// Where the list of changes goes on; nil where no change was seen.
    package var forward: FeedCursor?
    /// Whether a run was to list everything since the backfill moved last.
    package var isOwed = false

    package init() {}
}

/// A part of a feed in progress.
package struct FeedListing: Sendable, Hashable {
    package let collection: CollectionModel
    package let rule: FeedRule
    package let target: PullTarget
    /// The log's last position when it began.
    package let asOf: Position
    /// The identity of the collection on the server, where it is news.
    package var epoch: Revision?
    /// Where the next block begins.
    package internal(set) var cursor: FeedCursor
    /// Where a later run goes on while changes dated ahead are listed; nil while none are.
    package internal(set) var kept: FeedCursor?
    /// Where the list of changes goes on, as far as it is known.
    package internal(set) var forward: FeedCursor?
    /// Whether the next block is the first of the backfill.
    package internal(set) var isFirst: Bool
    /// Whether its end settles writes without an answer: that of the list of changes, or, before
    /// there is one, that of the backfill of an empty feed.
    package var settles = false
    /// Whether it is done.
    package internal(set) var isOver = false
    /// How many blocks it has in this run.
    package internal(set) var blocks = 0

    package var isBack: Bool { target.scope == PullTarget.back }

    /// The block that is asked for next; nil when there is none.
    package var block: FeedBlock? {
        guard !isOver else { return nil }
        let field = isBack ? rule.order : rule.change
        let bound: FeedBlock.Bound? =
            switch cursor {
            case .upTo(let key): .upTo(key)
            case .before(let key): .before(key)
            case .from(let key): .from(key)
            case .after(let key): .after(key)
            case .equal(let key, let id): .equal(key, after: id)
            case .end: nil
            }
        return bound.map { FeedBlock(field, $0, limit: rule.block) }
    }

    package var call: ServerCall? { block.map { .feed(collection, $0) } }

    /// The scope and the parameters of the next block, as they stand in the log.
    var scope: String {
        if case .equal = cursor { PullPage.equalsScope } else { target.scope }
    }

    var parameters: FeedParameters {
        var parameters = FeedParameters()
        parameters.field = isBack ? rule.order : rule.change
        parameters.cursor = cursor
        parameters.limit = rule.block
        return parameters
    }
}
