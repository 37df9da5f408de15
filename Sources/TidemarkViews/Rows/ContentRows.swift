// ContentRows.swift — files beside entities as rows of the ledger.
//
//   'A' 'c' digest               a file: what is stored of it, and who references it
//   'A' 'e' collection 0 id      an entity: what it names, and who wants that
//   'A' 'l' digest               a stored file that was wanted with all that lies in an entity, and
//                                is not any more
//   'A' 'n' collection 0 source  what entities call files: a text of the server's, of which at most
//                                200 bytes are in the key
//   'A' 's'                      when files were swept last
//   'A' 'u' digest               a stored file that nothing references
//   'A' 'w' collection 0 id      an entity of which somebody wants all that lies in it
//
// What is to be fetched, and what is being fetched, stands in rows of its own (TransferRows.swift).
//
// Digests are in hexadecimal. A source means the same file in all entities of a collection.

package import TidemarkEvents
package import TidemarkRules

/// How often entities reference a file by one field.
package struct ContentHold: Sendable, Hashable {
    package var field: ContentField
    package var references: Int
    /// How many of them somebody wants.
    package var wanted: Int
    /// How many of them are files of the user's that are to be sent.
    package var sends = 0
    /// How many of them somebody waits for: who wants it of the entity itself.
    package var asked = 0

    fileprivate func encode() -> [UInt8] {
        var writer = ProtoWriter()
        writer.message(1, field.collection.rawValue)
        writer.message(2, field.field)
        writer.varint(3, UInt64(references))
        writer.varint(4, UInt64(wanted))
        writer.varint(5, UInt64(sends))
        writer.varint(6, UInt64(asked))
        return writer.bytes
    }

    fileprivate init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(field: ContentField("", ""), references: 0, wanted: 0)
        var reader = ProtoReader(bytes)
        while let part = try reader.next() {
            switch part.number {
            case 1: field.collection = CollectionName(try part.string())
            case 2: field.field = try part.string()
            case 3: references = try part.count()
            case 4: wanted = try part.count()
            case 5: sends = try part.count()
            case 6: asked = try part.count()
            default: continue
            }
        }
    }

    package init(
        field: ContentField, references: Int, wanted: Int, sends: Int = 0, asked: Int = 0
    ) {
        self.field = field
        self.references = references
        self.wanted = wanted
        self.sends = sends
        self.asked = asked
    }
}

extension [ContentHold] {
    /// Adds what another one counts, or takes it away; what is none is not kept.
    mutating func add(_ hold: ContentHold, times factor: Int = 1) {
        let index = firstIndex { $0.field >= hold.field } ?? endIndex
        if index == endIndex || self[index].field != hold.field {
            insert(ContentHold(field: hold.field, references: 0, wanted: 0), at: index)
        }
        // Rows of a capsule, and of a base that an earlier version made, may count any number.
        func sum(_ count: Int, _ other: Int) -> Int {
            let (sum, isTooLarge) = count.addingReportingOverflow(
                factor.multipliedReportingOverflow(by: other).partialValue)
            return isTooLarge ? count : Swift.max(0, sum)
        }
        self[index].references = sum(self[index].references, hold.references)
        self[index].wanted = sum(self[index].wanted, hold.wanted)
        self[index].sends = sum(self[index].sends, hold.sends)
        self[index].asked = sum(self[index].asked, hold.asked)
        if self[index].references == 0 { remove(at: index) }
    }
}

/// A source by which entities name a file; of one of the user's that is sent, its digest.
package struct ContentSource: Sendable, Hashable {
    package var collection: CollectionName
    package var text: String
    /// The id of the entity below which the file is sent; empty for any other.
    package var entity = ""

    package init(_ collection: CollectionName, _ text: String) {
        self.collection = collection
        self.text = text
    }

    /// A file of the user's as it is sent for an entity: below that, or once for all that name it.
    package init(sending digest: String, for key: EntityKey, _ collection: CollectionModel?) {
        self.init(key.collection, digest)
        if collection?.sendsFilesBelow == true { entity = key.id }
    }

    /// Whether both are the same bytes, as in the keys of their rows.
    package static func == (left: Self, right: Self) -> Bool {
        left.collection == right.collection && ExactString(left.text) == ExactString(right.text)
            && ExactString(left.entity) == ExactString(right.entity)
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(collection)
        hasher.combine(ExactString(text))
        hasher.combine(ExactString(entity))
    }

    /// How many bytes of it are in the key of its row.
    package static let keyBytes = 200
}

/// A file: 'A' 'c' digest.
package struct ContentRow: Sendable, Hashable {
    /// What is stored of it; nil where it is only referenced.
    package var stored: Stored?
    /// The sources that it is the file of.
    package var sources: [ContentSource] = []
    /// References by its digest, in the order of their fields.
    package var own: [ContentHold] = []
    /// References by its sources, in the order of their fields.
    package var holds: [ContentHold] = []
    /// Whether it was stored here, and somebody took it away or it was damaged.
    package var isLost = false

    /// What is stored.
    package struct Stored: Sendable, Hashable {
        package var bytes: UInt64
        /// The last `asset.stored`.
        package var position: Position
        /// When that was recorded.
        package var at: Timestamp
        /// When its use was logged last.
        package var usedAt: Timestamp?
        /// The version that it is of, where the server has one.
        package var revision: Revision?
        /// Whether it came from the user of this device.
        package var isImported = false
        /// Since when nobody wants it who had wanted all that lies in an entity; nil where somebody
        /// does, or nobody did.
        package var letGoAt: Position? { didSet { if letGoAt == nil { isLetGo = false } } }
        /// Whether a whole list came after that.
        package var isLetGo = false
    }

    package init() {}

    var isEmpty: Bool { stored == nil && own.isEmpty && holds.isEmpty }

    /// Whether any entity references it.
    package var isReferenced: Bool { !own.isEmpty || !holds.isEmpty }

    /// Whether anybody wants it.
    var isWanted: Bool { own.contains { $0.wanted > 0 } || holds.contains { $0.wanted > 0 } }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        if let stored {
            writer.position(1, stored.position)
            writer.varint(2, stored.bytes)
            writer.signed(3, stored.at.rawValue)
            writer.signed(4, stored.usedAt?.rawValue ?? 0)
            writer.bytes(5, stored.revision?.rawValue ?? [])
            writer.flag(6, stored.isImported)
        }
        for source in sources { writer.message(7, source.encoded) }
        for hold in own { writer.message(8, hold.encode()) }
        for hold in holds { writer.message(9, hold.encode()) }
        writer.position(10, stored?.letGoAt)
        writer.flag(11, stored?.isLetGo ?? false)
        writer.flag(12, isLost)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                stored = Stored(
                    bytes: 0, position: try field.position(), at: Timestamp(rawValue: 0))
            case 2: stored?.bytes = try field.unsigned()
            case 3: stored?.at = Timestamp(rawValue: try field.signed())
            case 4: stored?.usedAt = Timestamp(rawValue: try field.signed())
            case 5: stored?.revision = Revision(rawValue: try field.bytes())
            case 6: stored?.isImported = try field.flag()
            case 7: sources.append(try ContentSource(parsing: try field.bytes()))
            case 8: own.append(try ContentHold(parsing: try field.bytes()))
            case 9: holds.append(try ContentHold(parsing: try field.bytes()))
            case 10: stored?.letGoAt = try field.position()
            case 11: stored?.isLetGo = try field.flag()
            case 12: isLost = try field.flag()
            default: continue
            }
        }
    }

    /// What is known of the stored file; nil where none is stored.
    ///
    /// - Parameter now: by the device's clock.
    package func standing(_ digest: String, at now: Timestamp) -> ContentStanding? {
        guard let stored else { return nil }
        var standing = ContentStanding(
            digest: digest, bytes: stored.bytes, storedAt: stored.at,
            usedAt: stored.lastUse(before: now) ?? stored.at)
        standing.fields = Set((own + holds).map(\.field)).sorted()
        standing.isWanted = isWanted
        standing.isLetGo = stored.isLetGo
        standing.isOwn = !own.isEmpty
        return standing
    }
}

extension ContentRow.Stored {
    /// When it was used last, or stored, as far as that was not dated by a clock that was ahead.
    package func lastUse(before now: Timestamp) -> Timestamp? {
        [usedAt, at].compactMap(\.self).filter { $0 <= now }.max()
    }
}

extension ContentSource {
    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.message(1, collection.rawValue)
        writer.message(2, text)
        writer.string(3, entity)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init("", "")
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: collection = CollectionName(try field.string())
            case 2: text = try field.string()
            case 3: entity = try field.string()
            default: continue
            }
        }
    }
}

/// What entities of a collection call files, of sources that begin alike: 'A' 'n' collection 0
/// source.
package struct ContentNamesRow: Sendable, Hashable {
    /// One source.
    package struct Entry: Sendable, Hashable {
        package var source: String
        /// The file that is stored of it; empty for none.
        package var digest = ""
        /// References by it, in the order of their fields.
        package var holds: [ContentHold] = []
        /// The id of the entity that came to name it last; empty where it does not any more.
        package var entity = ""
        /// In a tree, the ids of all entities that name it, in order; empty where it is only that
        /// one, and where there were too many.
        package var namers: [String] = []
        /// How its fetching stands.
        package var fetch = FetchStanding()

        /// How many are noted.
        static let namersMax = 16

        init(_ source: String) { self.source = source }

        /// Notes that an entity comes to name it, before it is the last one that did.
        ///
        /// - Parameter count: how many references there were before.
        mutating func noteNamer(_ id: String, beside count: Int) {
            if namers.isEmpty {
                // Of several of which not all are known nothing is noted.
                guard count == 1, !entity.isEmpty, ExactString(entity) != ExactString(id) else {
                    return
                }
            }
            namers = Set((namers + [entity, id]).map(ExactString.init)).inOrder
            namers.removeAll(where: \.isEmpty)
            if namers.count > Self.namersMax { namers = [] }
        }

        /// Whether somebody waits for its file.
        var isAsked: Bool { holds.contains { $0.asked > 0 } }

        /// Whether any entity references it, or anything is known of its file.
        var isEmpty: Bool { holds.isEmpty && digest.isEmpty && fetch.call == nil }
    }

    /// In the order of the sources.
    package private(set) var entries: [Entry] = []

    package init() {}

    package subscript(_ source: String) -> Entry? {
        get { entries.first { ExactString($0.source) == ExactString(source) } }
        set {
            let index =
                entries.firstIndex {
                    !$0.source.utf8.lexicographicallyPrecedes(source.utf8)
                } ?? entries.endIndex
            let isThere =
                index < entries.endIndex
                && ExactString(entries[index].source) == ExactString(source)
            switch (isThere, newValue) {
            case (true, let entry?): entries[index] = entry
            case (true, nil): entries.remove(at: index)
            case (false, let entry?): entries.insert(entry, at: index)
            case (false, nil): break
            }
        }
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        for entry in entries {
            var inner = ProtoWriter()
            inner.message(1, entry.source)
            inner.string(2, entry.digest)
            for hold in entry.holds { inner.message(3, hold.encode()) }
            inner.string(4, entry.entity)
            for id in entry.namers { inner.message(6, id) }
            if !entry.fetch.isEmpty { inner.message(5, entry.fetch.encoded) }
            writer.message(1, inner.bytes)
        }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            guard field.number == 1 else { continue }
            var entry = Entry("")
            var inner = ProtoReader(try field.bytes())
            while let part = try inner.next() {
                switch part.number {
                case 1: entry.source = try part.string()
                case 2: entry.digest = try part.string()
                case 3: entry.holds.append(try ContentHold(parsing: try part.bytes()))
                case 4: entry.entity = try part.string()
                case 6: entry.namers.append(try part.string())
                case 5: entry.fetch = try FetchStanding(parsing: try part.bytes())
                default: continue
                }
            }
            entries.append(entry)
        }
    }
}

/// When files were swept last: 'A' 's'.
package struct ContentSweepRow: Sendable, Hashable {
    /// The `timer.fired`.
    package var position: Position
    /// By the device's clock.
    package var at: Timestamp

    package init(position: Position, at: Timestamp) {
        self.position = position
        self.at = at
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        writer.signed(2, at.rawValue)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start, at: Timestamp(rawValue: 0))
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: at = Timestamp(rawValue: try field.signed())
            default: continue
            }
        }
    }
}

extension ContentRow {
    /// Whether files of a digest are noted: it is part of a row's key.
    package static func isNoted(_ digest: String) -> Bool {
        (1...128).contains(digest.utf8.count)
    }
}

extension RowKey {
    package static func content(_ digest: String) -> RowKey {
        RowKey(.ledger, Ledger.contents + digest.utf8)
    }
    package static func unreferencedContent(_ digest: String) -> RowKey {
        RowKey(.ledger, Ledger.unreferencedContents + digest.utf8)
    }
    package static func contents(of key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.contentsOfEntities))
    }
    static func letGo(_ digest: String) -> RowKey {
        RowKey(.ledger, Ledger.letGo + digest.utf8)
    }
    static func treeWants(_ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.treeWants))
    }
    package static func contentNames(_ source: ContentSource) -> RowKey {
        RowKey(
            .ledger,
            Ledger.contentNames + EntityKey.prefix(of: source.collection)
                + source.text.utf8.prefix(ContentSource.keyBytes))
    }
    package static let contentSweep = RowKey(.ledger, Ledger.contentSweep)

    /// The rows about files that an event about one may have written.
    package static func contents(by event: Event, _ position: Position) -> [RowKey] {
        guard event.kind.family == .asset || event.kind == .timerFired else {
            return fetches(by: event) + [position, event.cause].compactMap(\.self).map(unfetched)
        }
        let stored = event.read(AssetStored.self)
        let digests = [
            stored?.digest, event.read(AssetRemoved.self)?.digest,
            event.read(AssetUsed.self)?.digest,
        ].compactMap(\.self)
        var keys = digests.flatMap {
            [RowKey.content($0), .unreferencedContent($0), .letGo($0)]
        }
        if let key = event.key { keys.append(.treeWants(key)) }
        if let source = stored?.source, let collection = event.collection {
            keys.append(.contentNames(ContentSource(collection, source)))
        }
        return keys + [.contentSweep]
    }

    /// The rows about fetching that a request for a file may have written.
    private static func fetches(by event: Event) -> [RowKey] {
        let calls = [event.call].compactMap(\.self).map { RowKey.openFetch($0) }
        guard let collection = event.collection else { return calls }
        if let name = event.read(RequestAnswered.self)?.file.name {
            return calls + [.contentNames(ContentSource(collection, name))]
        }
        guard let file = event.read(RequestSent.self)?.file else { return calls }
        if let digest = file.sentDigest {
            var below = ContentSource(collection, digest)
            below.entity = event.key?.id ?? ""
            return calls + [.send(ContentSource(collection, digest)), .send(below)]
        }
        guard let source = file.source else { return calls }
        return calls + [.contentNames(ContentSource(collection, source))]
    }

    /// The digest of the file that the row is about; nil for any other row.
    package var digestOfContent: String? {
        guard tree == .ledger, bytes.starts(with: Ledger.contents) else { return nil }
        return String(utf8: bytes.dropFirst(Ledger.contents.count))
    }

    /// The entity whose contents the row tells of; nil for any other row.
    package var entityOfContents: EntityKey? {
        guard tree == .ledger,
            bytes.starts(with: Ledger.contentsOfEntities) || bytes.starts(with: Ledger.treeWants)
        else { return nil }
        return EntityKey(bytes: bytes.dropFirst(Ledger.contentsOfEntities.count))
    }
}

extension Ledger {
    package static let contents = LedgerSort.contents.prefix + "c".utf8
    package static let contentsOfEntities = LedgerSort.contents.prefix + "e".utf8
    package static let contentNames = LedgerSort.contents.prefix + "n".utf8
    package static let contentSweep = LedgerSort.contents.prefix + "s".utf8
    package static let unreferencedContents = LedgerSort.contents.prefix + "u".utf8
    package static let letGo = LedgerSort.contents.prefix + "l".utf8
    package static let treeWants = LedgerSort.contents.prefix + "w".utf8
}
