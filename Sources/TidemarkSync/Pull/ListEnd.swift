// ListEnd.swift — what follows from the end of a list: whether it is logged, what its event says,
// and what becomes of the entities that a list of everything did not name.

import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// Entities that a list of everything did not name.
package struct Absent: Sendable, Hashable {
    package var ids: [String] = []
    /// Whether the user is asked before they are taken for deleted.
    package var isHeld = false
    /// Whether they are hidden instead of deleted.
    package var isOutOfReach = false

    package init(ids: [String] = [], isHeld: Bool = false, isOutOfReach: Bool = false) {
        self.ids = ids
        self.isHeld = isHeld
        self.isOutOfReach = isOutOfReach
    }
}

/// What becomes of the entities that a list of everything did not name.
package enum Sweep: Sendable, Hashable {
    /// Nothing: there are none, or nothing can be concluded.
    case none
    /// The server is asked about some of them, one by one, and only its answers tell.
    case asked
    /// They are deleted.
    case deleted
    /// The user is asked first.
    case held
    /// They are hidden: the user has no access to them.
    case outOfReach
}

extension Listing {
    /// How many unnamed entities are read back one by one before it is seen whether all were gone.
    package static let readBackMax = 10
    /// The most such rounds of a list: the rest is left to the next list.
    private static let roundsMax = 10

    /// The entities that a list of everything should have named, in the order of their ids: those
    /// without a newer answer.
    ///
    /// None where one of those that were read back last is there, or enough were.
    package func absent(_ entity: (EntityKey) throws -> EntityRow?) throws -> [String] {
        let isAnyThere = try readBack.contains { id in
            try entity(EntityKey(collection.name, id))?.baseState == .live
        }
        guard !isAnyThere, rounds < Self.roundsMax else { return [] }
        return try unnamed.inOrder.filter { id in
            guard let row = try entity(EntityKey(collection.name, id)), row.baseState == .live,
                !row.isPlaceholder || collection.access.hidesAbsent, row.attempt == nil,
                try target.holds(row, in: collection)
            else { return false }
            return row.asOf.map { $0 <= asOf } ?? true
        }
    }

    /// Takes some of the unnamed entities, to be read back.
    ///
    /// Of many each list begins with others: what the server has and never lists does not hide for
    /// ever what is gone.
    mutating func readBackNext(of ids: [String]) {
        let most = Self.readBackMax
        let first = ids.count > most ? Int(Self.chance(asOf) % UInt64(ids.count)) : 0
        readBack = Array((ids[first...] + ids[..<first]).prefix(most))
        rounds += 1
    }

    /// A number that is as good as random, and the same each time (SplitMix64).
    ///
    /// Runs add the same number of events to the log, one like the other.
    private static func chance(_ position: Position) -> UInt64 {
        var bits = (position.rawValue &+ 1) &* 0x9E37_79B9_7F4A_7C15
        bits = (bits ^ (bits >> 30)) &* 0xBF58_476D_1CE4_E5B9
        bits = (bits ^ (bits >> 27)) &* 0x94D0_49BB_1331_11EB
        return bits ^ (bits >> 31)
    }

    /// Whether it has an entity read back that it did not name.
    func readsBack(_ key: EntityKey) -> Bool {
        key.collection == collection.name
            && readBack.contains { ExactString($0) == ExactString(key.id) }
    }

    /// No request can be made that asks about an entity which was to be read back.
    mutating func cannotAsk(_ id: String) {
        unaskable.insert(ExactString(id))
        readBack.removeAll { ExactString($0) == ExactString(id) }
    }

    /// Those of some unnamed entities that can be read back.
    func askable(_ ids: [String]) -> [String] {
        unaskable.isEmpty ? ids : ids.filter { !unaskable.contains(ExactString($0)) }
    }
}

extension Listing {
    /// Decides about the entities that it did not name.
    package func sweep(absent ids: [String]) -> Sweep {
        guard isWhole, collection.isSwept, !ids.isEmpty, walk?.isUnsure != true else {
            return .none
        }
        if collection.access.hidesAbsent {
            return isDoubtful || shifts.areThere ? .none : .outOfReach
        }
        // What the user deleted here, alone or with its folder, is no question.
        let others = undecided(ids)
        if others.isEmpty, !shifts.areThere { return .deleted }
        // A share that is not mounted looks like a tree whose only file was deleted.
        let isMuch = SweepRule.asksFirst(
            absent: others.count, of: knownCount, isReadable: walk == nil || count > 0)
        // At the path of one that is gone there may be another.
        let isFew = ids.count <= Self.readBackMax && walk == nil
        let canAsk = !askable(ids).isEmpty
        // What is not named may have moved past a page.
        if shifts.areThere { return canAsk && (isFew || !isMuch) ? .asked : .none }
        if !isMuch, isFew || !goesOn {
            if canAsk { return .asked }
            // Only another list could tell.
            if !goesOn { return .none }
        }
        return isMuch || isDoubtful ? .held : .deleted
    }

    /// The entities that a finished list of everything did not name and that are deleted, held or
    /// hidden.
    func absentAtEnd(_ entity: (EntityKey) throws -> EntityRow?) throws -> Absent {
        let ids = try absent(entity)
        // Of those that were asked about only the answers tell.
        guard readBack.isEmpty || askable(ids).isEmpty else { return Absent() }
        return switch sweep(absent: ids) {
        case .none: Absent()
        case .outOfReach: Absent(ids: ids, isOutOfReach: true)
        // What the user deleted goes once the others are settled.
        case .held: Absent(ids: undecided(ids), isHeld: true)
        case .deleted: Absent(ids: ids)
        case .asked where shifts.areThere || !goesOn: Absent()
        // There were more when the list ended, or the server's time was in doubt.
        case .asked: Absent(ids: ids, isHeld: isDoubtful)
        }
    }
}

/// Compares the end of a list with the rows.
package struct ListEnd {
    /// What becomes of the end of a list.
    package enum Decision: Hashable {
        /// It is not logged, and nothing follows from it.
        case nothing
        /// The same entities are held already, and nothing else is new.
        case heldAlready(Absent)
        /// It is logged, with what it concludes.
        case logged(Absent)
    }

    let list: Listing
    let news: ServerNews

    package init(_ list: Listing, _ news: ServerNews) {
        self.list = list
        self.news = news
    }

    /// What becomes of the end, and of the entities that the list did not name.
    ///
    /// A list without a cursor or a since-date deletes none: things may have moved past its pages
    /// while they came, and no list of changes tells. It is logged only for the writes that it
    /// settles, what it closes, holds or no longer holds, and the entities that it hides.
    package func decision(_ absent: Absent) throws -> Decision {
        // A list concludes absence only if the server's time is not in doubt.
        let isConcluded = list.goesOn || absent.isOutOfReach || absent.isHeld
        let isTaken = try isConcluded && !news.fold.isTimeInDoubt()
        let absent = isTaken ? absent : Absent()
        let isLogged =
            try absent.isOutOfReach || absent.isHeld || list.goesOn || list.settles || endsSomething
            || endsHeld
        guard isLogged, try isWorthNoting || !absent.ids.isEmpty else { return .nothing }
        return try isHeldAlready(absent) ? .heldAlready(absent) : .logged(absent)
    }

    /// Whether the end is logged: the cursor or the since-date moved, everything was listed, or the
    /// last logged list is too old.
    var isWorthNoting: Bool {
        get throws {
            if try list.movesCursor || list.isOfIDs || endsSomething || endsHeld { return true }
            // How folders are left out from now on.
            if let walk = list.walk, walk.use == .noted || walk.isUnmoved { return true }
            guard list.collection.since != nil || list.walk != nil else { return false }
            guard let mark = try news.fold.watermark(list.target) else { return true }
            return list.walk == nil && isNews(after: mark)
        }
    }

    /// The payload of the list's `pull.completed`.
    func completed(_ absent: Absent) throws -> PullCompleted {
        var completed = PullCompleted()
        completed.scope = list.isOfIDs ? PullPage.reconcileScope : list.target.scope
        completed.isFull = list.isWhole
        completed.epoch = list.epoch
        if list.isWhole { completed.limit = list.target.limit }
        if list.collection.since != nil { completed.asked = list.asked }
        if absent.isHeld {
            (completed.held, completed.knownCount) = (absent.ids, list.knownCount)
        } else if !answersForHeld, let held = try news.fold.held(list.target) {
            completed.held = try held.ids.filter { try isMissing($0, since: held.position) }
            if !completed.held.isEmpty { completed.knownCount = held.knownCount }
        }
        if absent.isOutOfReach { completed.hidden = absent.ids }
        completed.gone = try readableAgain
        completed.isOfAllFolders = list.walk?.use == .noted
        completed.isUnmoved = list.walk?.isUnmoved ?? false
        completed.keepsSince = list.keepsSince
        return completed
    }

    /// The server's time when the list began, where it is believed.
    var serverTime: Timestamp? {
        get throws {
            guard let time = list.serverTime, try !news.fold.isTimeInDoubt() else { return nil }
            return try news.fold.believes(time, begun: news.begun) ? time : nil
        }
    }

    /// Whether an entity that was held is as it was then: nothing said since that it is there, or
    /// gone.
    private func isMissing(_ id: String, since held: Position) throws -> Bool {
        let row = try news.fold.entity(EntityKey(list.collection.name, id))
        return row.baseState == .live && row.asOf.map { $0 < held } ?? true
            && list.unnamed.contains(ExactString(id)) && !list.readBack.contains(id)
    }

    /// Whether a list answers for what an earlier one held: not where something moved past a page.
    private var answersForHeld: Bool { list.isWhole && !list.shifts.areThere }

    /// Whether a list at which no later one goes on ends a question.
    private var endsHeld: Bool {
        get throws {
            try !list.goesOn && answersForHeld && !news.fold.isTimeInDoubt()
                && news.fold.held(list.target) != nil
        }
    }

    /// Whether a list closes something open: one that was cut off, and of everything an owed list,
    /// or records that could not be read.
    private var endsSomething: Bool {
        get throws {
            let open = try news.fold.listed(list.target)?.state
            guard list.isWhole else { return open?.isOfChanges == true }
            return try open != nil || news.fold.isOwed(list.target) || !readableAgain.isEmpty
        }
    }

    /// The names of records that could not be read before and that the list does not name.
    private var readableAgain: [String] {
        get throws {
            guard list.isWhole, list.collection.window == nil, !list.target.isPart else {
                return []
            }
            return try news.fold.unreadable(of: list.collection.name).filter {
                !list.unreadable.contains(ExactString($0))
            }
        }
    }

    private func isHeldAlready(_ absent: Absent) throws -> Bool {
        guard absent.isHeld, !list.settles, let held = try news.fold.held(list.target),
            held.ids.map(ExactString.init) == absent.ids.map(ExactString.init),
            try !endsSomething
        else { return false }
        guard list.goesOn else { return true }
        guard let mark = try news.fold.watermark(list.target), mark.cursor == list.cursor,
            mark.epoch == list.epoch || list.epoch == nil
        else { return false }
        return list.collection.since == nil || !isNews(after: mark)
    }

    private func isNews(after mark: WatermarkRow) -> Bool {
        !list.keepsSince
            && SinceDecision.isNews(
                since: mark.since, checkedAt: mark.checkedAt, latest: list.latest, asked: list.asked
            )
    }
}
