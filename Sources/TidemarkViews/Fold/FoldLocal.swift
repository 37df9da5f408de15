// FoldLocal.swift — the user's edits of an entity.

import TidemarkEvents
import TidemarkRules

extension Fold {
    func edit(_ event: Event, _ position: Position, _ kind: EntityRow.Pending.Kind) throws {
        guard let key = event.key else { return }
        let place = rowKey(of: key)
        var row = try entity(at: place)
        if kind == .create || kind == .action, !event.isObject { return }
        let patch = kind == .update ? try Patch(parsing: event.payload) : Patch()
        let mutation = MutationRow(
            key: key, kind: event.kind, recordedAt: event.recordedAt, fields: patch.fieldNames)
        put(mutation, at: position)
        // An edit makes refused mutations pending again. What a person is asked about only the
        // answer does.
        if row.refusal?.isAsked != true { try rearm(&row, key) }
        let editedAt = try editTime(event)
        let content = row.content
        row.pending.append(pending(event, position, kind, editedAt))
        if editedAt != nil || event.bootID != nil { try noteGiven(event, editedAt, position) }
        if try known(key.collection)?.model.localOnly == true {
            try acceptAtOnce(&row, key, proof: position)
            return try put(row, at: place)
        }
        if kind == .delete { try annihilate(&row, key, proof: position) }
        // What an action makes may be any JSON.
        if kind == .update, row.relay == nil, let content, JSON.isObject(content),
            try isReadAsItLies(key.collection)
        {
            // The document is that of all that was pending before.
            row.current = patch.applied(toChecked: content)
        } else {
            try refresh(&row, key)
        }
        try put(row, at: place)
    }

    /// Makes the base of an entity that is kept on this device alone what its edits make of it:
    /// they are accepted, and nothing waits.
    private func acceptAtOnce(
        _ row: inout EntityRow, _ key: EntityKey, proof: Position
    ) throws {
        let made =
            try row.isOnlyCreated
            ? row.pending[0].payload : row.made(in: collection(key.collection))
        for item in row.pending {
            // There is no server that could do anything.
            let outcome: MutationOutcome = item.isAction ? .discarded : .accepted
            try settle(item, of: key, outcome, proof: proof, revision: nil)
        }
        try endAttempt(&row, key)
        forgetIssues(of: &row, key)
        if row.isPlaceholder { put(.placeholder(key), nil) }
        // Of a server's word before the collection was kept here nothing counts, and none comes
        // with which a deletion would be compared.
        row = EntityRow()
        guard !made.isEmpty else { return }
        row.baseState = .live
        row.base = made
        row.basePosition = proof
    }

    /// Whether today's model reads the documents and edits of a collection as they lie in the log.
    private func isReadAsItLies(_ name: CollectionName) throws -> Bool {
        guard let known = try known(name) else { return true }
        return known.model.readsVerbatim && known.model.keyed.isEmpty
    }

    /// The mutation that an event makes; of an action with a document that it makes the entity.
    private func pending(
        _ event: Event, _ position: Position, _ kind: EntityRow.Pending.Kind,
        _ editedAt: Timestamp?
    ) -> EntityRow.Pending {
        var item = EntityRow.Pending(
            position: position, kind: kind, payload: event.payload, editedAt: editedAt)
        guard kind == .action, var requested = event.read(LocalRequested.self),
            let document = requested.document
        else { return item }
        requested.document = nil
        (item.kind, item.payload, item.request) = (.create, document, requested.encoded)
        return item
    }

    func discard(_ event: Event, _ position: Position) throws {
        guard let key = event.key else { return }
        var row = try entity(key)
        // Of what was given up before, and may have arrived, the next word still tells.
        if let sent = row.pending.last(where: { $0.mayHaveArrived || row.isCarried($0) }),
            row.baseState == .live, let collection = try known(key.collection)?.model
        {
            row.givenUp = try row.sent(through: sent.position, in: collection)
        }
        for item in row.pending {
            try settle(item, of: key, .discarded, proof: position, revision: nil)
        }
        row.pending = []
        row.refusal = nil
        forgetIssues(of: &row, key)
        if try isGivenUp(row, key) { try endAttempt(&row, key) }
        try refresh(&row, key)
        try put(row, key)
    }

    func retry(_ event: Event) throws {
        guard let key = event.key else { return }
        var row = try entity(key)
        let isServers = row.refusal.map { $0.status != 0 } ?? false
        let isRefused = row.status == .error
        try rearm(&row, key)
        try put(row, key)
        try resend(from: key, isRefusedByServer: isServers, onlyFailed: !isRefused)
    }

    func rearm(_ row: inout EntityRow, _ key: EntityKey) throws {
        row.refusal = nil
        for index in row.pending.indices where row.pending[index].isRefused {
            row.pending[index].isRefused = false
            try reopen(row.pending[index], of: key)
        }
    }

    /// Created and deleted here before it was sent: nothing is left to send.
    ///
    /// A creation that may be on the server although it was turned away (503) is read back first.
    ///
    /// - Parameter isKnown: whether the server said that it does not have it.
    func annihilate(
        _ row: inout EntityRow, _ key: EntityKey, proof: Position, isKnown: Bool = false
    ) throws {
        guard row.baseState != .live, row.attempt == nil, row.endsDeleted, !row.isMadeForOthers
        else { return }
        if !isKnown, try !namesEntities(key.collection),
            let sent = row.pending.last(where: \.mayHaveArrived),
            let call = try mutation(sent.position)?.call
        {
            row.attempt = EntityRow.Attempt(call: call, covers: sent.position)
            put(.attempt(key), call.bigEndianBytes)
            return
        }
        for item in row.pending {
            try settle(item, of: key, .annihilated, proof: proof, revision: nil)
        }
        row.pending = []
        // What a person was asked about is in question no more.
        row.refusal = nil
        forgetIssues(of: &row, key)
    }

    /// Computes the visible entity from its base and its pending mutations.
    func refresh(_ row: inout EntityRow, _ key: EntityKey) throws {
        row.current = []
        if let relay = row.relay, !row.pending.contains(where: { $0.position <= relay.covers }) {
            row.relay = nil
        }
        if row.pending.isEmpty {
            if row.baseState == .deleted {
                try row.forgetBase(in: known(key.collection)?.model)
            }
            return
        }
        if row.isOnlyCreated { return }
        row.current = try row.made(in: try collection(key.collection))
    }
}

extension Fold {
    /// The entity under a key that lasts; within all events but a further edit with what is in its
    /// overtaken edits, and between events without that.
    package func entity(at place: RowKey) throws -> EntityRow {
        let row = try heldRow(at: place)
        guard seesOvertaken, row.pending.contains(where: \.isOvertaken),
            let key = EntityKey(bytes: place.bytes)
        else { return row }
        return try whole(row, key)
    }

    /// The row that is kept of an entity with more than a few edits, or with overtaken ones: what
    /// those say goes into rows of their own.
    ///
    /// - Parameter before: what was pending in the row that was kept so far.
    func elided(
        _ row: EntityRow, _ before: [EntityRow.Pending], at place: RowKey
    ) throws -> EntityRow {
        guard let key = EntityKey(bytes: place.bytes) else { return row }
        var row = row
        try row.leaveOutOvertaken(
            in: collection(key.collection), isFurtherEdit: !seesOvertaken,
            read: { try get(.overtaken($0, key)) },
            keep: { position, payload in
                let place = RowKey.overtaken(position, key)
                if try get(place) != payload { put(place, payload) }
            })
        let left = before.filter(\.isOvertaken)
        guard !left.isEmpty else { return row }
        let kept = Set(row.pending.filter(\.isOvertaken).map(\.position))
        for item in left where !kept.contains(item.position) {
            put(.overtaken(item.position, key), nil)
        }
        return row
    }

    /// Writes the entities anew of which a new model may ask for each edit, and those of which it
    /// reads a field as it lies in the log that was read in another form, or after a migration.
    func readEditsAnew(of before: SyncModel) throws {
        var changed: [CollectionName: Bool] = [:]
        for collection in try model().collections {
            let old = before[collection.name] ?? CollectionModel(collection.name)
            let isReread =
                !old.forms.allSatisfy(collection.forms.contains)
                || !collection.migrations.starts(with: old.migrations)
            if isReread || !collection.leavesOutOvertaken(as: old) {
                changed[collection.name] = isReread
            }
        }
        guard !changed.isEmpty else { return }
        for key in try openKeys() {
            guard let isReread = changed[key.collection],
                try isReread || heldRow(at: .entity(key)).pending.contains(where: \.isOvertaken)
            else { continue }
            var row = try entity(key)
            try refresh(&row, key)
            try put(row, key)
        }
    }
}

extension Fold {
    /// The base that the server's word is compared with: where it tells what a write made that was
    /// given up since, that is no other side's change.
    func arrivedBase(
        _ row: EntityRow, beside new: Base, _ collection: CollectionModel
    ) throws -> Base {
        let base = try row.baseValue(in: collection)
        guard !row.givenUp.isEmpty, base.isLive, var known = base.document,
            var told = new.document
        else { return base }
        let names = comparedNames(collection)
        func isSame(_ name: String, _ left: JSONDocument, _ right: JSONDocument) throws -> Bool {
            if left.value(name) == right.value(name) { return true }
            guard let one = left.rawValue(name), let other = right.rawValue(name) else {
                return false
            }
            return try names.nameTheSame(one, other, in: name)
        }
        var made = try collection.read(JSONDocument(parsing: row.givenUp))
        known.keepPlaces()
        told.keepPlaces()
        made.keepPlaces()
        let changed = try made.keys.filter { try !isSame($0, made, known) }
        let removed = known.keys.filter { made.rawValue($0) == nil }
        let isArrived = try changed.allSatisfy { name in
            try isSame(name, made, told) || told.value(name).leavesOut(made.value(name))
        }
        guard isArrived, removed.allSatisfy({ told.rawValue($0) == nil }) else { return base }
        let bytes = known.applying(
            set: changed.compactMap { name in
                told.rawValue(name).map { (key: name, value: Array($0)) }
            }, unset: (changed + removed).filter { told.rawValue($0) == nil })
        return .live(try JSONDocument(parsing: bytes))
    }
}
