// ListPlan+Views.swift — reads the standing of a target and its entities before it is listed.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

extension ViewReader {
    /// The standing of a target before it is listed.
    ///
    /// - Parameter now: the server's time; nil where it is in doubt.
    package func standing(
        of target: PullTarget, _ collection: CollectionModel, at now: Timestamp?
    ) throws -> ListStanding {
        let name = target.collection
        var standing = ListStanding(last: last)
        if collection.feed != nil { standing.feed = try feedStanding(of: name) }
        let target = collection.feed == nil ? target : PullTarget(name)
        if let state = try listing(target) {
            standing.cut = CutListing(state: state, pages: try listedPages(target))
        }
        standing.mark = try watermark(target)
        let owed = try owed(target)
        (standing.isOwed, standing.keepsDate) = (owed != nil, owed?.keepsDate ?? false)
        standing.isHeld = try held(target) != nil
        standing.hasUnanswered = try hasUnanswered(in: name, at: now)
        if collection.window != nil || collection.feed != nil && standing.hasUnanswered {
            standing.unansweredMoments = try unansweredMoments(in: collection)
        }
        return standing
    }

    private func feedStanding(of name: CollectionName) throws -> FeedStanding {
        var standing = FeedStanding()
        let back = try watermark(PullTarget(name, scope: PullTarget.back))
        standing.back = back?.cursor.flatMap { FeedCursor($0) }
        standing.epoch = back?.epoch
        standing.forward = try feedCursor(PullTarget(name, scope: PullTarget.forward))
        let owed = try owed(PullTarget(name))?.since
        standing.isOwed = owed.map { owed in back.map { $0.position < owed } ?? true } ?? false
        return standing
    }

    /// The local entities that a list is compared with, and what it is asked for with.
    package func contents(
        of plan: ListPlan, _ adapter: any ServerAdapter
    ) throws -> ListContents {
        var contents = ListContents()
        let name = plan.collection.name
        contents.walk = TreeWalk(plan.collection, adapter.traits)
        contents.walk?.tellsMissing = plan.comparesKnown
        contents.walk?.use = plan.versions
        let marks = plan.versions == .none ? [:] : try folderMarks(of: name)
        contents.walk?.versions[""] = marks[""]?.cursor
        if !plan.target.parameters.isEmpty {
            let asked = adapter.asked(
                plan.target.parameters, of: plan.collection, at: plan.now, readableDocument)
            contents.parameters = asked == plan.target.parameters ? nil : asked
        }
        let folder = try plan.target.folder.map { folder in
            folder.isEmpty ? "" : try resolve(EntityKey(name, folder)).id
        }
        var isNarrow = false
        if let folder, !plan.isBeforeDeletion {
            isNarrow = try contents.walk?.note(folder: folder, of: plan.collection, self) ?? false
        }
        if !isNarrow, plan.comparesKnown || plan.aheadSince != nil || contents.walk != nil {
            try forEachEntity(in: name) { key, row in
                try contents.walk?.note(key, row, in: plan.collection, self)
                // What was said of a folder since may be more than its list told.
                if let mark = marks[key.id], row.basePosition.map({ $0 < mark.position }) ?? false {
                    contents.walk?.versions[key.id] = mark.cursor
                }
                guard try plan.target.holds(row, in: plan.collection) else { return true }
                if plan.comparesKnown, plan.knows(row) { contents.known.insert(.init(key.id)) }
                if plan.isAhead(row) {
                    let id =
                        try serverID(of: key, row, idField: plan.collection.idField) ?? key.id
                    if row.isAssumed || plan.cut?.tells(id, row) != true {
                        contents.ahead.append(id)
                    }
                }
                return true
            }
        }
        if let walk = contents.walk {
            if !walk.ended.isEmpty {
                contents.known = contents.known.filter { !walk.wentAlong($0) }
            }
            contents.held = Set(try held(plan.target)?.ids.map { ExactString($0) } ?? [])
        }
        if plan.isBeforeDeletion {
            var all = try deletedFolders(in: plan.collection)
            if let own = folder.map({ EntityKey(name, $0) }), !all.contains(own) { all.append(own) }
            contents.walk?.keep(toDeleted: all.map(\.id))
        } else if let folder {
            contents.walk?.keep(toFolder: folder)
        }
        guard let cut = plan.cut else { return contents }
        if contents.walk != nil {
            contents.missing = try cut.missing { try entity(EntityKey(name, $0)) }
            return contents
        }
        for id in cut.named where contents.known.remove(id) == nil {
            let found = try found(EntityKey(name, id.text))
            if let found { contents.known.remove(ExactString(found.key.id)) }
        }
        let wanted = try cut.wanted { try entity(EntityKey(name, $0)) }
        contents.wanted = try wanted.filter { reference in
            // One whose fetch failed is asked for by itself.
            let row = try self.failing(self.resolve(EntityKey(name, reference.id)))
            return row.map { $0.isWrite || $0.isAbsent } ?? true
        }
        return contents
    }
}

extension ListPlan {
    /// Whether an entity is one that the server had when the list began.
    fileprivate func knows(_ row: EntityRow) -> Bool {
        // Where absence hides entities, it hides placeholders as well.
        let isHere = collection.access.hidesAbsent ? row.isListed : row.isInReach
        return isHere && (cut == nil || row.basePosition ?? .start <= asOf)
    }

    /// Whether the log holds a newer answer about an entity than the cursor: it was written or read
    /// by itself.
    ///
    /// A server whose cursor identifies a state does not list it once another client has restored
    /// that state.
    fileprivate func isAhead(_ row: EntityRow) -> Bool {
        guard let aheadSince else { return false }
        let isAhead = row.basePosition.map { $0 > aheadSince } ?? false
        return row.isAssumed || (isAhead && !row.isPlaceholder)
    }
}

extension PullTarget {
    /// Whether an entity is of the target's list: of a part, only if nothing is pending on it and
    /// its fields say so.
    func holds(_ row: EntityRow, in collection: CollectionModel) throws -> Bool {
        guard !parameters.isEmpty else { return true }
        guard row.pending.isEmpty, row.attempt == nil else { return false }
        return try row.baseValue(in: collection).document.map(parameters.hold) ?? false
    }
}
