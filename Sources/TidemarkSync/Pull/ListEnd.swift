// ListEnd.swift — what follows from the end of a list: whether it is logged, what its event says,
// and what becomes of the entities that a list of everything did not name.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

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
        // What is not named may have moved past a page.
        if shifts.areThere { return isFew || !isMuch ? .asked : .none }
        if !isMuch, isFew || !goesOn { return .asked }
        return isMuch || isDoubtful ? .held : .deleted
    }

    /// The entities that a finished list of everything did not name and that are deleted, held or
    /// hidden.
    func absentAtEnd(_ entity: (EntityKey) throws -> EntityRow?) throws -> Absent {
        guard readBack.isEmpty else { return Absent() }
        let ids = try absent(entity)
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
