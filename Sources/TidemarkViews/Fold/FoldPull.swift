// FoldPull.swift — how far collections were listed, and what in their lists could not be read.

package import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Takes in that a list is complete, and how far that is.
    func pulled(_ event: Event, _ payload: PullCompleted, _ position: Position) throws {
        guard let name = event.collection else { return }
        let target = payload.target(name)
        // A feed's parts go on where their pages say.
        guard !target.isFeed, try !isWiped(name, after: event.asOf) else { return }
        let rules = try rules()
        let collection = try knownCollection(name)
        if let collection {
            for rule in rules.ending where rule.isRule(of: collection) {
                try rule.end(payload, collection, position, self)
            }
        }
        for record in payload.gone { put(.unreadable(name, record), nil) }
        let isSettled = try isTimeSettled(for: event)
        let isPaid =
            try payload.isFull && isSettled && isPaid(target, by: event)
            && (collection?.feed == nil || isListedBack(name))
        let marking = collection.map { collection in
            rules.marking.filter { $0.isRule(of: collection) }
        }
        // Without a cursor there is nothing to go on from, unless a rule has something; of a tree
        // by paths it counts that it was listed.
        let isOfIDs = payload.scope == PullPage.reconcileScope
        let isByPath = collection?.isByPath ?? false
        guard event.revision != nil || isOfIDs || isByPath || marking?.isEmpty == false, isSettled
        else {
            if isPaid { put(.owed(target), nil) }
            try endList(target)
            if isSettled { try hold(payload, target, position) }
            return
        }
        let place = RowKey.watermark(target)
        var row = WatermarkRow(
            cursor: event.revision, position: position, recordedAt: event.recordedAt)
        let before = try get(place).map { try WatermarkRow(parsing: $0) }
        row.epoch = payload.epoch ?? before?.epoch
        row.limit = payload.isFull ? payload.limit : before?.limit
        row.fullAt =
            try payload.isFull
            ? believed(event.serverTime, of: event) ?? before?.fullAt
            : before?.fullAt
        row.walkedAt = payload.isOfAllFolders ? event.recordedAt : before?.walkedAt
        row.isUnmoved = payload.isUnmoved || before?.isUnmoved ?? false
        if let collection, let marking {
            for rule in marking {
                try rule.mark(&row, after: before, payload, collection, event, self)
            }
        }
        put(place, row.encoded)
        if isPaid { put(.owed(target), nil) }
        try endList(target)
        try hold(payload, target, position)
    }

    /// Whether a list of everything is the one that is owed: it was begun after the reason came, or
    /// the reason is the run.
    private func isPaid(_ target: PullTarget, by event: Event) throws -> Bool {
        guard let reason = try owed(target)?.since else { return false }
        return event.sync == reason || event.asOf.map { $0 >= reason } ?? true
    }

    /// Whether a feed's backfill moved since all of it is owed: with the ids alone nothing is
    /// listed, and without the debt the backfill would not begin anew.
    private func isListedBack(_ name: CollectionName) throws -> Bool {
        guard let reason = try owed(PullTarget(name))?.since,
            let back = try watermark(PullTarget(name, scope: PullTarget.back))
        else { return false }
        return back.position >= reason
    }

    /// Takes in which folders of a tree by paths are listed, with all that lies below.
    func walked(
        _ page: PullPage, of name: CollectionName, _ event: Event, _ position: Position
    ) {
        for folder in page.folders {
            let row = WatermarkRow(
                cursor: folder.revision, position: position, recordedAt: event.recordedAt)
            put(.watermark(.folder(folder.id, of: name)), row.encoded)
        }
    }

    /// Whether a complete list moves the watermark: not if it began or ended while the server's
    /// time was in doubt, nor if it was asked for by a time that proved wrong.
    private func isTimeSettled(for event: Event) throws -> Bool {
        guard let clock = try serverClock() else { return true }
        // Versions that believed each answer asked by the latest time ever seen.
        if let time = event.serverTime, try !believes(time, of: event) { return false }
        guard !clock.isInDoubt, let settledAt = clock.settledAt else { return !clock.isInDoubt }
        return event.asOf.map { $0 >= settledAt } ?? true
    }

    /// A time that an event of a run says, where it was believed.
    func believed(_ time: Timestamp?, of event: Event) throws -> Timestamp? {
        try time.flatMap { try believes($0, of: event) ? $0 : nil }
    }

    func unreadable(_ event: Event, _ record: ServerUnreadable, _ position: Position) throws {
        guard let collection = event.collection, !record.name.isEmpty,
            try !isWiped(collection, after: event.asOf)
        else { return }
        var row = UnreadableRow(position: position, digest: record.digest, problem: record.problem)
        row.asOf = event.asOf
        put(.unreadable(collection, record.name), row.encoded)
    }
}

extension Fold {
    // MARK: What could not be read

    /// What could not be read of a collection, by name.
    package func unreadable(of collection: CollectionName) throws -> [String] {
        guard try hasUnreadable() else { return [] }
        let prefix = Ledger.unreadable + EntityKey.prefix(of: collection)
        return try ledgerRows(prefix).map { row in
            String(decoding: row.key.bytes.dropFirst(prefix.count), as: UTF8.self)
        }
    }

    /// Whether an entity could not be read when it was sent last.
    package func isUnreadable(_ key: EntityKey) throws -> Bool {
        try hasUnreadable() && get(.unreadable(key.collection, key.id)) != nil
    }

    /// Takes note that the server said how an entity is, or that it is gone: it can be read.
    func wasRead(_ key: EntityKey, asOf: Position) throws {
        guard try hasUnreadable() else { return }
        let place = RowKey.unreadable(key.collection, key.id)
        guard let bytes = try get(place) else { return }
        let row = try UnreadableRow(parsing: bytes)
        if row.asOf ?? row.position <= asOf { put(place, nil) }
    }
}

/// A record of the server that can't be read as an entity.
package struct UnreadableRow: Sendable, Hashable {
    /// The `server.unreadable` with the server's bytes.
    package var position: Position
    /// SHA-256 of the bytes, in hexadecimal digits.
    package var digest: String
    package var problem: String
    /// Whether the user has seen it.
    package var isDismissed = false
    /// The log's last position when it was asked for.
    package var asOf: Position?

    package init(position: Position, digest: String, problem: String) {
        self.position = position
        self.digest = digest
        self.problem = problem
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        writer.string(2, digest)
        writer.string(3, problem)
        writer.flag(4, isDismissed)
        writer.position(5, asOf)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start, digest: "", problem: "")
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: digest = try field.string()
            case 3: problem = try field.string()
            case 4: isDismissed = try field.flag()
            case 5: asOf = try field.position()
            default: continue
            }
        }
    }
}
