// FailureStreak.swift — when calls that fail one after another say that the server itself fails,
// and when something else answers in its place.
//
// A call's failure concerns what it asked for. Three different calls in a row, of two collections
// where there are two, with no answer between them, concern everything. Folders of a tree that fail
// while the server answered others count as one call, up to the tenth in a row. That what failed in
// an earlier run fails again says nothing of the server; after three in a row, the others of that
// kind wait for the next run. So do the others of a collection of which ten in a row fail.

package import TidemarkEvents

/// The calls of a run that failed since the server answered last.
package struct FailureStreak<Call: Hashable & Sendable>: Sendable {
    /// What kind of call failed in an earlier run.
    package enum Kind: Sendable { case list, read, write }

    private var calls: Set<Call> = []
    /// The folders of trees among them.
    private var folders: Set<Call> = []
    private var collections: Set<CollectionName> = []
    /// How many of each kind they are.
    private var counts: [Kind: Int] = [:]
    /// Whether the last of them was answered by something else than the server.
    private var isForeign = false
    /// How many failed in earlier runs already.
    private var again: [Kind: Int] = [:]
    /// Whether the server answered anything in this run.
    package private(set) var hasAnswer = false

    package init() {}

    /// The server answered, perhaps with a refusal.
    package mutating func answered() {
        self = FailureStreak()
        hasAnswer = true
    }

    /// A call failed.
    ///
    /// - Parameters:
    ///   - collection: what it was about; nil for all of them.
    ///   - kind: of which kind it is, if there may be many of one collection.
    ///   - known: of which kind it is, if it failed in an earlier run, too.
    ///   - isForeign: whether something else answered in the server's place.
    ///   - isFolder: whether it lists a folder of a tree, where others of it were answered.
    ///   - isFirst: whether that ends the run where it comes before any answer: a call about one
    ///     entity says less of the server than a list does.
    ///   - count: how many collections the run is about.
    /// - Returns: whether nothing more is to be asked in this run.
    package mutating func failed(
        _ call: Call, _ collection: CollectionName?, kind: Kind? = nil, known: Kind? = nil,
        isForeign: Bool, isFolder: Bool = false, isFirst: Bool = true, of count: Int
    ) -> Bool {
        // A page instead of the first answer, or of two in a row: nobody else is there to be asked.
        let isInPlace = isForeign && (!hasAnswer && isFirst || self.isForeign && known == nil)
        if let known {
            again[known, default: 0] += 1
            return isInPlace
        }
        self.isForeign = isForeign
        if calls.insert(call).inserted, let kind { counts[kind, default: 0] += 1 }
        if isFolder { folders.insert(call) }
        if let collection { collections.insert(collection) }
        return isInPlace || isServers && collections.count >= min(2, count)
    }

    /// Whether so many calls failed that it is the server itself that fails.
    private var isServers: Bool {
        let areOne = !folders.isEmpty && folders.count < Self.callsOfOneMax
        return calls.count - (areOne ? folders.count - 1 : 0) >= Self.callsMax
    }

    private static var callsMax: Int { 3 }
    private static var callsOfOneMax: Int { 10 }

    /// Whether so many of a kind failed, all of one collection, that the others of that kind and
    /// collection are left to the next run.
    package func leavesOthers(_ kind: Kind) -> Bool {
        collections.count == 1 && counts[kind, default: 0] >= Self.callsOfOneMax
    }

    /// Whether nothing more of a kind is to be asked that failed in earlier runs.
    package func skips(_ kind: Kind) -> Bool { again[kind, default: 0] >= Self.callsMax }

    /// Whether everything that was asked failed.
    package var isAll: Bool { !hasAnswer && (!calls.isEmpty || !again.isEmpty) }
}
