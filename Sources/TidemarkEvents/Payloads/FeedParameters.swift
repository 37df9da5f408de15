// FeedParameters.swift — what was asked for by the request of a feed's block.

/// The member `parameters` of a `pull.page`: of a block of a feed.
package struct FeedParameters: MemberPayload {
    /// The field that was compared.
    package var field = ""
    /// Where the block began: the cursor as it was, or that of the ids.
    package var cursor: FeedCursor?
    /// How many entities were asked for.
    package var limit: Int?

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("field", \.field, .text, .text),
        PayloadMember("at", \.cursor, .feedCursor, .feedCursor),
        PayloadMember("limit", \.limit, .integer, .plain),
    ]
}

extension PayloadCodec<FeedCursor> {
    static var feedCursor: Self {
        PayloadCodec(
            "a place in a feed", { FeedCursor($0) }, append: { $1 += $0.json.encoded() })
    }
}
