// FeedRule.swift — the rule of a collection that is listed as a feed: in blocks, by two of its
// fields.

extension CollectionModel {
    /// How a feed is listed: by keyset pagination, the newest first.
    ///
    /// The *backfill* walks back by ``order`` from now, in blocks, until one is short. What changed
    /// is listed forward by ``change``, from the last change of the backfill's first block. A
    /// block, its entities and its cursor are one commit.
    ///
    /// The server must filter and sort by both fields. Both hold times, in the form of
    /// ``CollectionModel/dates``; a record whose key is missing or no time is put aside.
    public struct FeedRule: Sendable, Hashable {
        /// How the server compares two keys.
        public enum Comparison: String, Sendable, Hashable, CaseIterable {
            /// As texts, byte by byte, or as numbers: `…Z` and `…+00:00` are two keys.
            case verbatim
            /// By the time that they say: `…Z` and `…+00:00` are one key.
            case instants
        }

        /// The field of the order of display.
        public var order: String
        /// The field of the last change on the server.
        public var change: String
        /// How many entities a block has.
        public var block: Int
        /// How far the backfill goes back, by ``order``; nil for all that there is.
        public var ageMax: TimeSpan?
        /// How often the ids of all entities are listed, so that what was deleted goes and what is
        /// missing comes; zero for never.
        public var reconcileEvery: TimeSpan
        /// How the server compares keys.
        public var compares: Comparison

        /// The default of ``block``.
        public static let usualBlock = 50

        /// A feed by two fields.
        public init(
            order: String, change: String, block: Int = usualBlock, ageMax: TimeSpan? = nil,
            reconcileEvery: TimeSpan = .zero, compares: Comparison = .verbatim
        ) {
            self.order = order
            self.change = change
            self.block = block
            self.ageMax = ageMax
            self.reconcileEvery = reconcileEvery
            self.compares = compares
        }
    }
}

package typealias FeedRule = CollectionModel.FeedRule

extension FeedRule: ModelObject {
    static let blank = FeedRule(order: "", change: "")

    static let members: [ModelMember<FeedRule>] = [
        ModelMember(
            "order", \.order, .text, isNeeded: true, "The field with the time of display."),
        ModelMember(
            "change", \.change, .text, isNeeded: true,
            "The field with the time of the last change on the server."),
        ModelMember(
            "block", \.block, .number(2...10_000), "How many entities are listed at once."),
        ModelMember(
            "ageMax", \.ageMax,
            .span(from: .seconds(1), monthsMax: 1200, to: .days(36_500), such: "P1Y"),
            "How far back the list begins; all there is unless given."),
        ModelMember(
            "reconcileEvery", \.reconcileEvery, .span(to: .days(365), such: "P7D"),
            """
            How often the ids of all entities are listed, to find what was deleted; PT0S for \
            never.
            """),
        ModelMember(
            "compares", \.compares, .word,
            "How the server compares two keys: as it wrote them, or by the time that they say."),
    ]
}
