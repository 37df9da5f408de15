// FoldListing.swift — lists of everything: which are owed, and how far an unfinished one is.

package import TidemarkEvents

extension Fold {
    // MARK: In progress

    /// Notes how far a list of everything is, and what the page names.
    func listed(
        _ page: PullPage, of target: PullTarget, _ event: Event, _ position: Position
    ) throws {
        guard let list = page.list else { return }
        let before = try listed(target)
        guard let state = list.state else { return try endList(target) }
        // The list would go on where nothing is that it brought.
        if try isWiped(target.collection, after: state.asOf) { return }
        // A list of which only a later page is logged began at another position.
        let isOther = before?.state.map { $0.asOf != state.asOf } ?? false
        if state.page == 1 || isOther { try endList(target) }
        var row = ListedRow(sync: event.sync)
        if state.page > 1, !isOther, let before {
            row.begun = before.begun
            row.latest = before.latest
        }
        row.state = state
        put(.listed(target), row.encoded)
        var listed = ListedPageRow(position: position)
        listed.same = page.same + list.same
        listed.references = list.references
        listed.unreadable = list.unreadable
        listed.missing = list.missing
        if !listed.isEmpty { put(.listedPage(target, state.page), listed.encoded) }
    }

    /// Forgets an unfinished list.
    func endList(_ target: PullTarget) throws {
        guard let row = try listed(target) else { return }
        put(.listed(target), nil)
        guard row.state != nil else { return }
        for (place, _) in try ledgerRows(RowKey.listedPages(target)) { put(place, nil) }
    }

    // MARK: Owed

    /// Notes the targets that a run is asked to list whole.
    ///
    /// Each is owed until such a list was logged as complete, whatever becomes of the run.
    func owe(_ run: RunStart, _ position: Position) throws {
        guard run.mode.isFull else { return }
        let model = try model().synced
        var targets = run.scope.targets(in: model)
        for collection in run.scope.listed(model) where collection.hasListSources {
            targets += try knownTargets(of: collection)
        }
        for target in targets { try owe(target, position) }
    }

    /// Has a target listed whole: by a list that is begun from now on, or by the run that is asked
    /// to.
    ///
    /// - Parameter keepsDate: whether the list of changes after it goes on from the date of before.
    func owe(_ target: PullTarget, _ position: Position, keepsDate: Bool = false) throws {
        let row = OwedRow(
            since: position, keepsDate: try owed(target)?.keepsDate ?? false || keepsDate)
        put(.owed(target), row.encoded)
    }

    // MARK: Held

    /// Holds the entities that a whole list did not name, too many to be deleted without asking;
    /// releases them when a later list names them.
    func hold(_ payload: PullCompleted, _ target: PullTarget, _ position: Position) throws {
        let before = try held(target)
        guard !payload.held.isEmpty else {
            if payload.isFull, before != nil { put(.held(target), nil) }
            return
        }
        // The same entities again are the same question.
        if let before, before.ids.map(ExactString.init) == payload.held.map(ExactString.init) {
            return
        }
        let row = HeldRow(
            position: position, ids: payload.held, knownCount: payload.knownCount ?? 0)
        put(.held(target), row.encoded)
    }

    /// Notes which held entities a page names: they were there later than the list that did not
    /// name them.
    func seen(_ page: PullPage, of target: PullTarget) throws {
        let same = page.same + (page.list?.same ?? [])
        guard !same.isEmpty, let held = try held(target) else { return }
        let ids = Set(held.ids.map(ExactString.init))
        for id in same {
            let key = try resolve(EntityKey(target.collection, id))
            guard ids.contains(ExactString(key.id)) else { continue }
            var row = try entity(key)
            guard row.baseState == .live, let known = row.asOf, known < held.position else {
                continue
            }
            row.asOf = held.position
            try put(row, key)
        }
    }
}

/// Entities that a whole list did not name, held until the user decides: 'h' collection 0 scope.
package struct HeldRow: Sendable, Hashable {
    /// The `pull.completed` that held them.
    package var position: Position
    package var ids: [String]
    /// How many entities of the collection there were.
    package var knownCount: Int

    package init(position: Position, ids: [String], knownCount: Int) {
        self.position = position
        self.ids = ids
        self.knownCount = knownCount
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, UInt64(max(0, knownCount)))
        for id in ids { writer.message(2, id) }
        return position.bigEndianBytes + writer.bytes
    }

    package init?(parsing bytes: [UInt8]) throws(ProtoError) {
        guard let position = Position(bigEndianBytes: bytes.prefix(8)) else { return nil }
        self.init(position: position, ids: [], knownCount: 0)
        var reader = ProtoReader(Array(bytes.dropFirst(8)))
        while let field = try reader.next() {
            switch field.number {
            case 1: knownCount = Int(clamping: try field.unsigned())
            case 2: ids.append(try field.string())
            default: continue
            }
        }
    }
}

extension RowReading {
    /// The entities that a whole list of a target did not name and that are held.
    package func held(_ target: PullTarget) throws -> HeldRow? {
        try get(.held(target)).flatMap { try HeldRow(parsing: $0) }
    }

    /// How many entities are held, by collection.
    package func heldCounts() throws -> [CollectionName: Int] {
        var counts: [CollectionName: Int] = [:]
        for (place, value) in try ledgerRows(Ledger.held) {
            guard let target = PullTarget(bytes: place.bytes.dropFirst()),
                let row = try HeldRow(parsing: value)
            else { continue }
            counts[target.collection, default: 0] += max(1, row.ids.count)
        }
        return counts
    }
}
