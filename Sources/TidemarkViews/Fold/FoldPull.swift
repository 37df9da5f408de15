// FoldPull.swift — how far collections were listed, and what in their lists could not be read.

package import TidemarkEvents
import TidemarkRules

extension Fold {
    func pulled(_ event: Event, _ position: Position) throws {
        guard let collection = event.collection else { return }
        let payload = PullCompletedPayload(event.payload)
        try lose(payload.hidden, of: collection, position)
        for name in payload.gone { put(.unreadable(collection, name), nil) }
        let isSettled = try isTimeSettled(for: event)
        if payload.isFull, isSettled, try isOwed(collection) { put(.owed(collection), nil) }
        let isByDate = try knownCollection(collection)?.since != nil
        // Without a cursor there is nothing to go on from, but for a date.
        guard event.revision != nil || isByDate, isSettled else { return try endList(collection) }
        let place = RowKey.watermark(collection, scope: payload.scope)
        var row = WatermarkRow(
            cursor: event.revision, position: position, recordedAt: event.recordedAt)
        let before = try get(place).map { try WatermarkRow(parsing: $0) }
        row.epoch = payload.epoch ?? before?.epoch
        row.fullAt =
            try payload.isFull
            ? believed(event.serverTime, of: event) ?? before?.fullAt
            : before?.fullAt
        if isByDate { try promote(&row, before, event, payload, collection) }
        put(place, row.encoded)
        try endList(collection)
        try hold(payload, collection, position)
    }

    /// Whether a list that ended moves a mark: not one that began or ended in doubt about the
    /// server's time, nor one that was asked for by a time that proved wrong.
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

    /// What follows from the entities of a page, all of which were taken in before.
    func follow(
        _ page: PullPagePayload, of name: CollectionName, _ event: Event, _ position: Position
    ) throws {
        guard let collection = try knownCollection(name),
            collection.makesPlaceholders || collection.placeholder != nil
        else { return }
        try noteTried(page, collection, event)
        try makePlaceholders(page, collection, event, position)
    }

    /// How far a collection has been pulled.
    package func watermark(
        _ collection: CollectionName, scope: String = ""
    ) throws -> WatermarkRow? {
        try get(.watermark(collection, scope: scope)).map { try WatermarkRow(parsing: $0) }
    }

    func unreadable(_ event: Event, _ position: Position) {
        guard let collection = event.collection,
            let payload = UnreadablePayload(event.payload)
        else { return }
        var row = UnreadableRow(
            position: position, digest: payload.digest, problem: payload.problem)
        row.asOf = event.asOf
        put(.unreadable(collection, payload.name), row.encoded)
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

/// `pull.page`: `{"scope":…,"ids":[…],"at":[…],"times":{…},"list":{…}}`; `list` is ``ListPayload``.
package struct PullPagePayload: Sendable, Hashable {
    /// The scope of a page that holds what placeholders were asked for.
    package static let refetchScope = "refetch"
    /// What stands in the place of an entity that was asked for and is not there.
    package static let absentWord = "absent"
    /// What stands in the place of an entity that was here as the page says.
    package static let sameWord = "="

    package var scope: String
    /// The entities that the page names.
    package var named: [String] = []
    /// Those of them that were here as the page says.
    package var same: [String] = []
    /// The entities that were asked for and are not there.
    package var absent: [String] = []
    /// The last changes of those of which no row tells.
    package var times: [ExactString: Timestamp] = [:]
    /// What it says of the list of everything that it is part of; nil where it says nothing.
    package var list: ListPayload?

    package init?(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return nil }
        scope = document.value("scope")?.stringValue ?? ""
        list = document.value("list")?.object.map(ListPayload.init)
        let places = document.value("at")?.array ?? []
        for (index, id) in (document.value("ids")?.array ?? []).enumerated() {
            guard let id = id.stringValue else { continue }
            let place = index < places.count ? places[index].stringValue : nil
            if place == Self.absentWord {
                absent.append(id)
            } else {
                named.append(id)
                if place == Self.sameWord { same.append(id) }
            }
        }
        for (id, time) in document.value("times")?.object ?? [:] {
            times[ExactString(id)] = time.int64Value.map { Timestamp(rawValue: $0) }
        }
    }
}

/// `pull.completed`: `{"scope":…,"complete":true,"full":…,"epoch":…,"asked":…,"held":[…],"of":…,
/// "hidden":[…],"gone":[…]}`.
package struct PullCompletedPayload: Sendable, Hashable {
    package var scope = ""
    package var isFull = false
    package var epoch: Revision?
    /// When the list was asked for, by the server's clock, and a little earlier.
    package var asked: Timestamp?
    /// The entities that were not named and are not taken for deleted before the user says so.
    package var held: [String] = []
    /// The entities that were not named and are out of reach.
    package var hidden: [String] = []
    /// What could not be read and was not named any more, by name.
    package var gone: [String] = []
    /// How many entities of the collection there were.
    package var knownCount = 0

    package init(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload) else { return }
        scope = document.value("scope")?.stringValue ?? ""
        isFull = document.value("full") == .bool(true)
        epoch = document.value("epoch")?.stringValue.map { Revision($0) }
        asked = document.value("asked")?.int64Value.map { Timestamp(rawValue: $0) }
        held = (document.value("held")?.array ?? []).compactMap(\.stringValue)
        hidden = (document.value("hidden")?.array ?? []).compactMap(\.stringValue)
        gone = (document.value("gone")?.array ?? []).compactMap(\.stringValue)
        knownCount = document.value("of")?.int64Value.flatMap(Int.init(exactly:)) ?? 0
    }
}

/// `server.unreadable`: `{"name":…,"sha256":…,"problem":…,"body":…}`.
package struct UnreadablePayload: Sendable, Hashable {
    package var name: String
    package var digest: String
    package var problem: String

    package init?(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload),
            let name = document.value("name")?.stringValue, !name.isEmpty
        else { return nil }
        self.name = name
        digest = document.value("sha256")?.stringValue ?? ""
        problem = document.value("problem")?.stringValue ?? ""
    }
}

/// What a server sent as an entity, and is none.
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
