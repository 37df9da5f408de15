// CapsuleFile+Reading.swift — reads a capsule from the bytes of a file that may come from a
// stranger.
//
// Nothing in it is used as a path, and nothing is executed. Sizes in it are not trusted: memory is
// taken only for bytes that are there, and never for more than the limits allow.

import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

extension Capsule {
    /// Parses a file's bytes.
    ///
    /// - Throws: ``CapsuleError`` for any bytes that are no valid capsule.
    package init(parsing bytes: [UInt8], limits: CapsuleLimits = CapsuleLimits()) throws {
        var stream = try CapsuleStream(bytes, limits)
        var reading = CapsuleReading(limits)
        while !reading.isComplete {
            guard let record = try stream.next() else {
                throw CapsuleError(.truncated, "its last record, the checksum, is missing")
            }
            do { try reading.take(record, before: stream.digestBefore) } catch {
                throw record.located(error, reading.place(of: record))
            }
        }
        try stream.expectEnd()
        self = try reading.capsule()
    }

    /// Reads a file.
    ///
    /// - Throws: ``CapsuleError`` for its contents, ``StoreError`` where it can't be read; symbolic
    ///   links, directories and devices are not read.
    package init(file path: String, limits: CapsuleLimits = CapsuleLimits()) throws {
        let file = SmallFile(at: path)
        guard let bytes = try file.read(bytesMax: limits.fileBytesMax + 1) else {
            throw StoreError(.missing, during: "open", detail: "no \(path)")
        }
        try self.init(parsing: bytes, limits: limits)
    }
}

/// The parts of a capsule that have been parsed so far.
private struct CapsuleReading {
    private var check: CapsuleCheck
    private var provenance: Capsule.Provenance?
    private var base: Capsule.Base?
    private var commits: [Capsule.Commit] = []
    private var bodies: [[UInt8]] = []
    private var answers: [Capsule.Answers] = []
    private var contents: [Capsule.Content] = []
    private(set) var isComplete = false

    init(_ limits: CapsuleLimits) { check = CapsuleCheck(limits) }

    /// Parses the next record.
    ///
    /// - Parameter digest: the SHA-256 of everything before it.
    mutating func take(_ record: CapsuleStream.Record, before digest: [UInt8]) throws {
        switch record.field {
        case 1: break
        case 2:
            let read = try Capsule.Provenance(parsing: try record.bytes)
            try check.provenance(read)
            provenance = read
        case 3:
            let read = try Capsule.Base(parsing: try record.bytes)
            try check.base(read)
            base = read
        case 4, 5:
            let row = try SnapshotRow(
                parsing: try record.bytes, tree: record.field == 4 ? .rows : .ledger)
            try check.row(row)
            base?.rows.append(row)
        case 6:
            let commit = try Capsule.Commit(parsing: try record.bytes, check)
            try check.commit(commit)
            commits.append(commit)
        case 7:
            try check.body(try record.bytes)
            bodies.append(try record.bytes)
        case 8:
            let kept = try Capsule.Answers(parsing: try record.bytes)
            try check.answers(kept)
            answers.append(kept)
        case 9:
            let content = try Capsule.Content(parsing: try record.bytes)
            try check.content(content)
            contents.append(content)
        case 15:
            guard try record.bytes == digest else {
                throw CapsuleError(.damaged, "its SHA-256 is another one than it says")
            }
            isComplete = true
        // Fields that a newer version added and that this version may ignore.
        case 10..<15: break
        default: throw CapsuleError(.invalid, "a field \(record.field), which none has")
        }
        if record.field > 3, provenance == nil || base == nil {
            throw CapsuleError(.invalid, "it does not begin with provenance and base")
        }
    }

    /// The record's name in an error.
    func place(of record: CapsuleStream.Record) -> String {
        switch record.field {
        case 1: "format"
        case 2: "provenance"
        case 3: "base"
        case 4, 5: "row \((base?.rows.count ?? 0) + 1)"
        case 6: "commit \(commits.count + 1)"
        case 7: "body \(bodies.count + 1)"
        case 8: "answers \(answers.count + 1)"
        case 9: "content \(contents.count + 1)"
        case 15: "checksum"
        default: "field \(record.field)"
        }
    }

    func capsule() throws -> Capsule {
        guard let provenance, let base else {
            throw CapsuleError(.invalid, "it has no provenance and no base")
        }
        return Capsule(
            provenance: provenance, base: base, commits: commits, bodies: bodies, answers: answers,
            contents: contents)
    }
}

// MARK: Messages

/// Reads the fields of a message; only those in `repeated` may repeat or be empty.
private func forEachField(
    in bytes: [UInt8], upTo known: UInt32, repeated: ClosedRange<UInt32>? = nil,
    _ body: (ProtoField) throws -> Void
) throws {
    var reader = ProtoReader(bytes)
    var last: UInt32 = 0
    while let field = try reader.next() {
        guard field.number <= known else { continue }
        if repeated?.contains(field.number) != true {
            guard field.number > last else { throw ProtoError.fieldOrder(field.number) }
            guard !field.isEmpty else { throw ProtoError.defaultWritten(field.number) }
        }
        last = field.number
        try body(field)
    }
}

extension Capsule.Provenance {
    fileprivate init(parsing bytes: [UInt8]) throws {
        self.init(build: "", last: .start, root: [])
        namesRemote = false
        try forEachField(in: bytes, upTo: 8) { field in
            switch field.number {
            case 1: build = try field.string()
            case 2: last = try field.position()
            case 3: root = try field.bytes()
            case 4: isRedacted = try field.isSet()
            case 5: redaction = try field.string()
            case 6: isShrunk = try field.isSet()
            case 7: namesRemote = try field.isSet()
            default: note = try field.string()
            }
        }
    }
}

extension ProtoField {
    /// A flag; it must be written as 1.
    fileprivate func isSet() throws(ProtoError) -> Bool {
        guard try unsigned() == 1 else { throw .valueOutOfRange(number) }
        return true
    }
}

extension Capsule.Base {
    fileprivate init(parsing bytes: [UInt8]) throws {
        self.init(fingerprints: [])
        try forEachField(in: bytes, upTo: 2) { field in
            if field.number == 1 {
                position = try field.position()
            } else {
                fingerprints = try field.bytes()
            }
        }
    }
}

extension SnapshotRow {
    fileprivate init(parsing bytes: [UInt8], tree: Tree) throws {
        var (key, value): ([UInt8], [UInt8]) = ([], [])
        try forEachField(in: bytes, upTo: 2) { field in
            if field.number == 1 { key = try field.bytes() } else { value = try field.bytes() }
        }
        self.init(key: RowKey(tree, key), value: value)
    }
}

extension Capsule.Commit {
    fileprivate init(parsing bytes: [UInt8], _ check: CapsuleCheck) throws {
        self.init(entries: [], views: [])
        try forEachField(in: bytes, upTo: 2, repeated: 1...2) { field in
            if field.number == 1 {
                try check.room(forEvents: entries.count + 1)
                entries.append(try Capsule.Entry(parsing: try field.bytes(), check))
            } else {
                try check.room(forViews: views.count + 1)
                views.append(try ViewDigest(strictly: try field.bytes()))
            }
        }
    }
}

extension Capsule.Entry {
    fileprivate init(parsing bytes: [UInt8], _ check: CapsuleCheck) throws {
        var position = Position.start
        var (header, payload): ([UInt8], [UInt8]) = ([], [])
        try forEachField(in: bytes, upTo: 3) { field in
            switch field.number {
            case 1: position = try field.position()
            case 2: header = try field.bytes()
            default: payload = try field.bytes()
            }
        }
        guard position > .start, !header.isEmpty else {
            throw CapsuleError(.invalid, at: position, "an event without position or header")
        }
        try check.header(header.count, at: position)
        do {
            self.init(position: position, event: try Event(header: header, payload: payload))
        } catch {
            throw CapsuleError(.invalid, at: position, "its header: \(error)")
        }
    }
}

extension Capsule.Answers {
    fileprivate init(parsing bytes: [UInt8]) throws {
        self.init(position: .start, answers: [])
        try forEachField(in: bytes, upTo: 2) { field in
            if field.number == 1 {
                position = try field.position()
            } else {
                answers = try [KeptAnswer](parsing: try field.bytes())
            }
        }
    }
}

extension Capsule.Content {
    fileprivate init(parsing bytes: [UInt8]) throws {
        self.init(digest: "", bytes: [])
        try forEachField(in: bytes, upTo: 2) { field in
            if field.number == 1 {
                digest = Hexadecimal.encode(try field.bytes())
            } else {
                self.bytes = try field.bytes()
            }
        }
    }
}

extension ViewDigest {
    /// Like ``ViewDigest/init(parsing:)``, but each field may occur only once.
    fileprivate init(strictly bytes: [UInt8]) throws {
        try forEachField(in: bytes, upTo: 4) { _ in }
        try self.init(parsing: bytes)
    }
}
