// PageResult.swift — the result of a page, as far as the next step depends on it.

package import TidemarkEvents

/// The result of a page or a fetch.
package struct PageResult: Sendable, Hashable {
    /// How many entities were new.
    package var count = 0
    /// What of that was logged, by collection, in the order of the log.
    package var applied: [AppliedPage] = []
    /// References of the page whose version is not here.
    package var wanted: [ServerReference] = []
    /// Every entity that the page names, readable or not, by its local id.
    package var named: Set<ExactString> = []
    /// Whether an entity became accessible so that everything is listed again.
    package var isGain = false
    /// Whether the list was logged as complete with it.
    package var isComplete = false
    /// The list after the page, without its entities; nil for a fetch.
    package var list: Listing?
    /// What it adds to a list by folders.
    package var step: TreeWalk.Step?
    /// Whether something changed in a folder whose version stayed.
    package var isUnmoved = false
    /// The part of a feed after a block of it.
    package var feed: FeedListing?
    /// What came of a question for values of a pool.
    package var refill: SyncOutcome.Refill?
    /// Whether what became of the entity only a list tells.
    package var isPutOff = false
    /// The call that is to tell of an entity, as the answer to this one told nothing.
    package var other: ServerCall?
    /// The question that tells whether a content is the one that was sent.
    package var proof: ContentProof?
    /// Of which entities a promised answer says too little, as the server told something else of
    /// them since their writes were sent.
    package var overtaken: [EntityKey] = []
    /// Whether the page shows that something moved past one before it.
    package var isShift = false
    /// Whether changes may be missing, so that everything is listed.
    package var isCut = false
    /// Why the list can't go on: its pages lead in a circle, or there are too many.
    package var failure: SyncFailure?

    /// A time by the server's clock shortly before the page was requested.
    package var asked: Timestamp?
    /// The last change of an entity that the page names, deletions included, but for those that
    /// claim to be later than its request.
    package var latest: Timestamp?

    package init() {}
}
