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
    /// Whether they are not deleted, but out of reach.
    package var isOutOfReach = false

    package init(ids: [String] = [], isHeld: Bool = false, isOutOfReach: Bool = false) {
        self.ids = ids
        self.isHeld = isHeld
        self.isOutOfReach = isOutOfReach
    }
}

extension Listing {
    /// The entities of a finished list of everything that are taken for deleted, asked about, or
    /// out of reach.
    func absentAtEnd(_ entity: (EntityKey) throws -> EntityRow?) throws -> Absent {
        guard !isReadBack else { return Absent() }
        let ids = try absent(entity)
        return switch sweep(absent: ids) {
        case .none: Absent()
        case .outOfReach: Absent(ids: ids, isOutOfReach: true)
        case .held: Absent(ids: ids, isHeld: true)
        case .deleted: Absent(ids: ids)
        // They were more when the list came to its end, or the time was in doubt.
        case .asked: Absent(ids: ids, isHeld: isDoubtful)
        }
    }
}

/// The end of a list, compared with the rows.
package struct ListEnd {
    /// What becomes of the end of a list.
    package enum Decision: Hashable {
        /// It is not worth an event, and nothing follows from it.
        case nothing
        /// The same entities are held already, and the end says nothing else.
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
    /// Without a cursor or a date to go on from, a list says nothing of them: it is logged only for
    /// what it settles, or for the entities that are out of reach.
    package func decision(_ absent: Absent) throws -> Decision {
        // Entities are absent by a list only where its time was right.
        let isTaken = try (list.goesOn || absent.isOutOfReach) && !news.fold.isTimeInDoubt()
        let absent = isTaken ? absent : Absent()
        let says = try list.goesOn || list.settles || endsSomething
        guard absent.isOutOfReach || says, try isWorthNoting || !absent.ids.isEmpty else {
            return .nothing
        }
        return try isHeldAlready(absent) ? .heldAlready(absent) : .logged(absent)
    }

    /// Whether the end is worth an event: the cursor or the date of the last change moved,
    /// everything was listed, or the last list that was noted is of long ago.
    var isWorthNoting: Bool {
        get throws {
            if try list.movesCursor || endsSomething { return true }
            guard list.collection.since != nil else { return false }
            guard let mark = try news.fold.watermark(list.target) else { return true }
            return isNews(after: mark)
        }
    }

    /// What the event of the end says.
    func completed(_ absent: Absent) throws -> PullCompleted {
        var completed = PullCompleted()
        completed.scope = list.target.scope
        completed.isFull = list.isWhole
        completed.epoch = list.epoch
        if list.collection.since != nil { completed.asked = list.asked }
        if absent.isHeld { (completed.held, completed.knownCount) = (absent.ids, list.knownCount) }
        if absent.isOutOfReach { completed.hidden = absent.ids }
        completed.gone = try readableAgain
        return completed
    }

    /// The server's time when the list began, where it is believed.
    var serverTime: Timestamp? {
        get throws {
            guard let time = list.serverTime, try !news.fold.isTimeInDoubt() else { return nil }
            return try news.fold.believes(time, begun: news.begun) ? time : nil
        }
    }

    /// Whether a list of everything ends what was open: a run that was asked to list everything, a
    /// list that was cut off, or records that could not be read.
    private var endsSomething: Bool {
        get throws {
            guard list.isWhole else { return false }
            return try news.fold.isOwed(list.target)
                || news.fold.listed(list.target)?.state != nil || !readableAgain.isEmpty
        }
    }

    /// The records that could not be read before and that the list did not name any more, by name.
    private var readableAgain: [String] {
        get throws {
            guard list.isWhole, list.collection.window == nil else { return [] }
            return try news.fold.unreadable(of: list.collection.name).filter {
                !list.unreadable.contains(ExactString($0))
            }
        }
    }

    private func isHeldAlready(_ absent: Absent) throws -> Bool {
        guard absent.isHeld, !list.settles, let held = try news.fold.held(list.target),
            let mark = try news.fold.watermark(list.target), mark.cursor == list.cursor,
            mark.epoch == list.epoch || list.epoch == nil
        else { return false }
        if list.collection.since != nil, isNews(after: mark) { return false }
        return try held.ids.map(ExactString.init) == absent.ids.map(ExactString.init)
            && !endsSomething
    }

    private func isNews(after mark: WatermarkRow) -> Bool {
        SinceDecision.isNews(
            since: mark.since, checkedAt: mark.checkedAt, latest: list.latest, asked: list.asked)
    }
}
