// TransferRows.swift — files that are to be fetched or sent, or that are on their way, as rows of
// the ledger.
//
//   'A' 'o' position                   a request about a file that has no answer yet: the source,
//                                      or the digest of one that is sent
//   'A' 'p' collection 0 digest        a file of the user's that is to be sent before what names
//                                      it, for as long as that is pending
//   'A' 'p' collection 0 id 0 digest   the same of one that is sent below the entity that names it;
//                                      of the digest as much as there is room for
//   'A' 'f' position                   a file that somebody asked for and that can't be had, by the
//                                      answer that said so: an issue
//   'A' 't' time, collection 0 source  what is to be asked for from a time of the device's clock
//                                      on: the sources, of which at most 200 bytes are in the key,
//                                      and when the pause began that ends then; at once is the
//                                      time 0, and 1 where nobody waits for it
//
// How far a file is stands with its source: 'A' 'n' (ContentRows.swift).

package import TidemarkEvents
package import TidemarkRules

/// How the fetching of a source stands.
package struct FetchStanding: Sendable, Hashable {
    package var progress = FetchProgress()
    /// The request without an answer; nil for none.
    package var call: Position?
    /// The request by whose position the part file is called; nil for no part file.
    package var first: Position?
    /// For how long it is not asked for again; nil where it is at once.
    package var pause: FilePause?
    /// From when on it is to be asked for, as the row 'A' 't' says; nil where it isn't.
    package var dueAt: Timestamp?
    /// The answer by which it can't be had, as the row 'A' 'f' says; nil where none does.
    package var told: Position?

    package init() {}

    /// The name of its part file; nil for none.
    package var part: String? { first.map(Self.part) }

    /// The name of the part file that a request begins.
    package static func part(of first: Position) -> String { "fetch-\(first.rawValue)" }

    var isEmpty: Bool { self == FetchStanding() }

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, progress.received)
        writer.varint(2, progress.total.map { $0 &+ 1 } ?? 0)
        writer.string(3, progress.tag)
        writer.flag(4, progress.isPartless)
        writer.varint(5, UInt64(progress.failures))
        writer.varint(6, UInt64(progress.restarts))
        writer.position(7, call)
        writer.position(8, first)
        writer.signed(9, pause?.until.rawValue ?? 0)
        // At once is the time 0, which is not written.
        writer.signed(10, dueAt?.rawValue ?? 0)
        writer.flag(11, dueAt != nil)
        writer.position(12, told)
        writer.varint(13, UInt64(progress.doubts))
        writer.signed(14, pause?.since.rawValue ?? 0)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: progress.received = try field.unsigned()
            case 2: progress.total = try field.unsigned() &- 1
            case 3: progress.tag = try field.string()
            case 4: progress.isPartless = try field.flag()
            case 5: progress.failures = try field.count()
            case 6: progress.restarts = try field.count()
            case 7: call = try field.position()
            case 8: first = try field.position()
            case 9: pause = FilePause(until: try field.signed())
            case 10: dueAt = Timestamp(rawValue: try field.signed())
            case 11: dueAt = dueAt ?? Timestamp(rawValue: 0)
            case 12: told = try field.position()
            case 13: progress.doubts = try field.count()
            case 14: pause?.since = Timestamp(rawValue: try field.signed())
            default: continue
            }
        }
    }
}

/// A file of the user's that is to be sent: 'A' 'p' collection 0 digest, or one that is sent below
/// the entity that names it: 'A' 'p' collection 0 id 0 digest.
package struct SendRow: Sendable, Hashable {
    /// By what records name it, once the server has it; nil before.
    package var name: String?
    /// The id of the entity that came to name it last; of one that is sent below an entity, the
    /// id of that.
    package var entity = ""
    /// Of one that is sent below an entity, its digest; else empty.
    package var digest = ""
    /// Where it is sent: `upload` of the rule.
    package var place = ""
    /// The request without an answer; nil for none.
    package var call: Position?
    /// How often it failed in a row.
    package var failures = 0
    /// How often in a row it was refused by what may be another's than the server's.
    package var doubts = 0
    /// The status with which the server refused it, 0 for none; nil where it did not.
    package var refusal: Int?
    /// Whether it was refused since it was named: what names it may be refused for that.
    var wasRefused = false
    /// For how long it is not sent again; nil where it is at once.
    package var pause: FilePause?
    /// The first request since it was named, or since its failures were forgotten; nil for none.
    package var first: Position?

    package init() {}

    /// Whether the last request failed, or was refused.
    var hasFailed: Bool { failures > 0 || refusal != nil }

    /// Whether it failed so often that it is an issue for the user.
    ///
    /// One that the server refused has the write refused that names it, which is one of its own.
    var isTold: Bool {
        failures >= TransferRule.failuresTold && refusal == nil && name == nil
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.string(1, name ?? "")
        writer.string(2, entity)
        writer.position(3, call)
        writer.varint(4, UInt64(failures))
        writer.varint(5, refusal.map { UInt64(clamping: $0) + 1 } ?? 0)
        writer.signed(6, pause?.until.rawValue ?? 0)
        writer.string(7, place)
        writer.varint(8, UInt64(doubts))
        writer.signed(9, pause?.since.rawValue ?? 0)
        writer.position(10, first)
        writer.string(11, digest)
        writer.flag(12, wasRefused)
        return writer.bytes
    }

    /// Forgets what was answered so far.
    package mutating func forgetFailures() {
        (failures, doubts, refusal, pause) = (0, 0, nil, nil)
        (call, first) = (nil, nil)
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: name = try field.string()
            case 2: entity = try field.string()
            case 3: call = try field.position()
            case 4: failures = try field.count()
            case 5: refusal = try field.count() - 1
            case 6: pause = FilePause(until: try field.signed())
            case 7: place = try field.string()
            case 8: doubts = try field.count()
            case 9: pause?.since = Timestamp(rawValue: try field.signed())
            case 10: first = try field.position()
            case 11: digest = try field.string()
            case 12: wasRefused = try field.flag()
            default: continue
            }
        }
    }
}

extension FilePause {
    /// The beginning comes after it; where none does, the pause is void.
    fileprivate init(until end: Int64) {
        self.init(since: Timestamp(rawValue: end), until: Timestamp(rawValue: end))
    }
}

extension ProtoField {
    /// A count, of which there may be more: rows of a capsule may hold any number.
    func count() throws(ProtoError) -> Int { Int(min(try unsigned(), 1 << 32)) }
}

/// A file that somebody asked for and that can't be had: 'A' 'f' position.
struct UnfetchedRow: Sendable, Hashable {
    var source: ContentSource
    /// The id of the entity that names it, and by which field.
    var entity: String
    var field: String
    /// Why, in a sentence.
    var message: String

    init(_ source: ContentSource, entity: String, field: String, message: String) {
        (self.source, self.entity, self.field) = (source, entity, field)
        self.message = message
    }

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.message(1, source.encoded)
        writer.string(2, entity)
        writer.string(3, field)
        writer.string(4, message)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(ContentSource("", ""), entity: "", field: "", message: "")
        var reader = ProtoReader(bytes)
        while let part = try reader.next() {
            switch part.number {
            case 1: source = try ContentSource(parsing: try part.bytes())
            case 2: entity = try part.string()
            case 3: field = try part.string()
            case 4: message = try part.string()
            default: continue
            }
        }
    }
}

/// Sources that are to be asked for from the same time on: 'A' 't'; or that of a request: 'A' 'o'.
struct SourcesRow: Sendable, Hashable {
    var sources: [ContentSource] = []
    /// Whether the request sends a file, the digest of which stands as the source.
    var isSend = false
    /// When the pause began at whose end they are due; nil for none.
    var pausedAt: Timestamp?
    /// Whether the request is one to the remote for a file.
    var isOwn = false

    init(_ sources: [ContentSource] = [], isSend: Bool = false) {
        self.sources = sources
        self.isSend = isSend
    }

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        for source in sources { writer.message(1, source.encoded) }
        writer.flag(2, isSend)
        writer.signed(3, pausedAt?.rawValue ?? 0)
        writer.flag(4, isOwn)
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: sources.append(try ContentSource(parsing: try field.bytes()))
            case 2: isSend = try field.flag()
            case 3: pausedAt = Timestamp(rawValue: try field.signed())
            case 4: isOwn = try field.flag()
            default: continue
            }
        }
    }

    /// Whether they are to be asked for, being due from a time on.
    func isDue(from time: Timestamp, at now: Timestamp) -> Bool {
        FilePause(since: pausedAt ?? time, until: time).isOver(at: now)
    }
}

extension Timestamp {
    /// From when on is asked for what somebody waits for, and for what nobody does: at once.
    static let dueAsked = Timestamp(rawValue: 0)
    static let dueUnasked = Timestamp(rawValue: 1)

    /// Eight bytes that sort as the times do.
    package var orderBytes: [UInt8] {
        let bits = UInt64(bitPattern: rawValue) ^ (1 << 63)
        return (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) }
    }

    package init?(orderBytes bytes: ArraySlice<UInt8>) {
        guard bytes.count == 8 else { return nil }
        let bits = bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        self.init(rawValue: Int64(bitPattern: bits ^ (1 << 63)))
    }
}

extension RowKey {
    /// A request for a file without an answer.
    package static func openFetch(_ call: Position) -> RowKey {
        RowKey(.ledger, Ledger.openFetches + call.bigEndianBytes)
    }

    /// A file that can't be had, by the answer that said so.
    static func unfetched(_ answer: Position) -> RowKey {
        RowKey(.ledger, Ledger.unfetched + answer.bigEndianBytes)
    }

    /// A file of the user's that is to be sent: the source is its digest.
    package static func send(_ source: ContentSource) -> RowKey {
        var bytes = Ledger.sends + EntityKey.prefix(of: source.collection)
        if !source.entity.isEmpty { bytes += Array(source.entity.utf8) + [0] }
        return RowKey(.ledger, bytes + source.text.utf8.prefix(max(bytesMax - bytes.count, 0)))
    }

    /// What is to be asked for from a time on.
    package static func dueFetch(_ time: Timestamp, _ source: ContentSource) -> RowKey {
        RowKey(
            .ledger,
            Ledger.dueFetches + time.orderBytes + EntityKey.prefix(of: source.collection)
                + source.text.utf8.prefix(ContentSource.keyBytes))
    }

    /// The time from which on something is to be asked for; nil for a row of another kind.
    var fetchTime: Timestamp? {
        guard bytes.starts(with: Ledger.dueFetches) else { return nil }
        return Timestamp(orderBytes: bytes.dropFirst(Ledger.dueFetches.count).prefix(8))
    }
}

extension Ledger {
    package static let unfetched = LedgerSort.contents.prefix + "f".utf8
    package static let openFetches = LedgerSort.contents.prefix + "o".utf8
    package static let dueFetches = LedgerSort.contents.prefix + "t".utf8
    package static let sends = LedgerSort.contents.prefix + "p".utf8
}

extension RowReading {
    /// The entities that name a file by a field by which somebody asked for it of them, in the
    /// order of their ids.
    ///
    /// - Parameter first: one that is looked at alone, and the others only where it is none.
    package func askers(
        of source: ContentSource, first: EntityKey? = nil
    ) throws -> [(key: EntityKey, field: String)] {
        func field(_ row: EntityContentsRow) -> String? {
            row.names.first { $0.isSource(source) && row.asksFor($0.field) }?.field
        }
        if let first, let field = field(try contents(of: first)) { return [(first, field)] }
        var found: [(key: EntityKey, field: String)] = []
        let prefix = Ledger.contentsOfEntities + EntityKey.prefix(of: source.collection)
        try walk(.ledger, prefix) { key, value in
            let name = EntityKey(bytes: key.dropFirst(Ledger.contentsOfEntities.count))
            if let name, let field = field(try EntityContentsRow(parsing: value)) {
                found.append((name, field))
            }
            return true
        }
        return found
    }

    /// The files that somebody asked for and that can't be had.
    func unfetchedIssues() throws -> [IssueRow] {
        try ledgerRows(Ledger.unfetched).compactMap { place, value in
            guard let position = Position(bigEndianBytes: place.bytes.dropFirst(2)) else {
                return nil
            }
            let row = try UnfetchedRow(parsing: value)
            var issue = IssueRow(
                kind: .unfetched, position: position, collection: row.source.collection,
                entity: row.entity)
            issue.fields = [row.field]
            issue.name = row.source.text
            issue.message = row.message
            return issue
        }
    }
}
