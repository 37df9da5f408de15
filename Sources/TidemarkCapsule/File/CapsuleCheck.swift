// CapsuleCheck.swift — validates every part of a capsule: while it is read, because it may come
// from a stranger, and while it is written, because it must be readable again.

import TidemarkEvents
import TidemarkLog
import TidemarkViews

/// Checks the parts of a capsule in their order.
struct CapsuleCheck {
    let limits: CapsuleLimits
    private var lastKey: RowKey?
    private var lastPosition = Position.start
    private var rows = 0
    private var events = 0
    private var bodies = 0
    private var lastAnswered = Position.start
    private var lastContent = ""
    private var contentBytes = 0

    init(_ limits: CapsuleLimits) { self.limits = limits }

    // MARK: Head

    mutating func provenance(_ provenance: Capsule.Provenance) throws(CapsuleError) {
        try bound(provenance.build.utf8.count, limits.buildBytesMax, "the build", "bytes")
        try bound(provenance.note.utf8.count, limits.noteBytesMax, "the note", "bytes")
        try bound(
            provenance.redaction.utf8.count, limits.noteBytesMax, "the words on redaction", "bytes")
        // The text may be printed on a terminal, which can take control characters as commands.
        for (name, text) in [
            ("build", provenance.build), ("note", provenance.note),
            ("redaction", provenance.redaction),
        ] where !text.unicodeScalars.allSatisfy({ $0 == "\n" || !$0.isControl }) {
            throw CapsuleError(.invalid, "the \(name) has a control character in it")
        }
        guard provenance.root.isEmpty || provenance.root.count == 32 else {
            throw CapsuleError(.invalid, "a root of \(provenance.root.count) bytes")
        }
        try position(provenance.last)
    }

    mutating func base(_ base: Capsule.Base) throws(CapsuleError) {
        try position(base.position)
        let bytes = base.fingerprints.count
        guard bytes % 4 == 0 else {
            throw CapsuleError(.invalid, "fingerprints of \(bytes) bytes, not four for each view")
        }
        try bound(bytes / 4, limits.viewsMax, "the base", "fingerprints")
        lastPosition = base.position
    }

    // MARK: Contents

    mutating func content(_ content: Capsule.Content) throws(CapsuleError) {
        guard lastContent < content.digest else {
            throw CapsuleError(.invalid, "its hash is not behind that of the file before")
        }
        lastContent = content.digest
        contentBytes += content.bytes.count
        try bound(contentBytes, limits.contentsBytesMax, "its files", "bytes")
        guard content.isWhole else {
            throw CapsuleError(.damaged, "it does not hold what its hash says")
        }
    }

    // MARK: Rows

    mutating func row(_ row: SnapshotRow) throws(CapsuleError) {
        rows += 1
        try bound(rows, limits.rowsMax, "the base", "rows")
        let key = row.key
        try bound(key.bytes.count, limits.keyBytesMax, "a key", "bytes")
        switch key.tree {
        case .rows:
            guard EntityKey(bytes: key.bytes)?.isValid == true else {
                throw CapsuleError(.invalid, "a key that is no collection and id")
            }
        case .ledger:
            guard key.sort != nil else { throw CapsuleError(.invalid, "a key of no view") }
        }
        if let lastKey, !(lastKey < key) {
            throw CapsuleError(.invalid, "its key is not behind that of the row before")
        }
        lastKey = key
    }

    // MARK: Commits

    mutating func commit(_ commit: Capsule.Commit) throws(CapsuleError) {
        guard !commit.entries.isEmpty else { throw CapsuleError(.invalid, "it has no events") }
        for entry in commit.entries {
            events += 1
            try bound(events, limits.eventsMax, "the capsule", "events")
            try self.entry(entry)
        }
        try bound(commit.views.count, limits.viewsMax, "a commit", "digests")
        var last: UInt32 = 0
        for digest in commit.views {
            guard digest.view > last else {
                throw CapsuleError(
                    .invalid, at: commit.last, "view \(digest.view) behind view \(last)")
            }
            last = digest.view
            guard digest.fingerprint.count == 4, digest.digest.count == 16,
                digest.rows.count % 8 == 0, !digest.rows.isEmpty
            else {
                throw CapsuleError(
                    .invalid, at: commit.last,
                    "the digest of view \(digest.view) has not the sizes that one has")
            }
        }
    }

    private mutating func entry(_ entry: Capsule.Entry) throws(CapsuleError) {
        let event = entry.event
        func refuse(_ detail: String) -> CapsuleError {
            CapsuleError(.invalid, at: entry.position, detail)
        }
        try position(entry.position)
        guard entry.position > lastPosition else {
            throw refuse("it stands behind \(lastPosition)")
        }
        lastPosition = entry.position
        guard event.kind.rawValue > 0 else { throw refuse("an event without a kind") }
        for reference in [event.cause, event.sync, event.mutation, event.call, event.asOf] {
            if let reference { try position(reference, at: entry.position) }
        }
        for time in [event.recordedAt, event.serverTime].compactMap(\.self)
        where time.rawValue.magnitude > UInt64(CapsuleLimits.microsecondsMax) {
            throw refuse("a time \(time.rawValue) µs from 1970")
        }
        if let collection = event.collection, !collection.isValid {
            throw refuse("a collection of a name that none has")
        }
        if let id = event.entity, !EntityKey(event.collection ?? "c", id).isValid {
            throw refuse("an entity of an id that none has")
        }
        switch event.payloadType {
        case .none:
            guard event.payload.isEmpty else { throw refuse("a payload that is said to be none") }
        case .json:
            do { try JSON.validate(event.payload) } catch {
                throw refuse("a payload that is said to be JSON: \(error)")
            }
        case .opaque: break
        }
    }

    /// Refuses headers that don't fit the log.
    func header(_ bytes: Int, at position: Position) throws(CapsuleError) {
        guard bytes <= EventFrame.headerBytesMax else {
            throw CapsuleError(.invalid, at: position, "a header of \(bytes) bytes")
        }
    }

    mutating func body(_ body: [UInt8]) throws(CapsuleError) {
        bodies += 1
        try bound(bodies, limits.bodiesMax, "the capsule", "bodies")
        guard !body.isEmpty else { throw CapsuleError(.invalid, "a body without bytes") }
    }

    mutating func answers(_ kept: Capsule.Answers) throws(CapsuleError) {
        guard kept.position > lastAnswered else {
            throw CapsuleError(.invalid, at: kept.position, "it stands behind \(lastAnswered)")
        }
        lastAnswered = kept.position
        // Answers that can be cut are only put into a capsule whole.
        guard !kept.answers.isEmpty, kept.answers.allSatisfy(\.isWhole) else {
            throw CapsuleError(.invalid, at: kept.position, "answers that are none, or are cut")
        }
        if let odd = kept.answers.first(where: { !$0.hasStatus }) {
            throw CapsuleError(.invalid, at: kept.position, "an answer of status \(odd.status)")
        }
    }

    // MARK: Numbers

    private func position(
        _ position: Position, at place: Position = .start
    ) throws(CapsuleError) {
        guard position <= CapsuleLimits.positionMax else {
            throw CapsuleError(
                .invalid, at: place,
                "\(position) is further than \(CapsuleLimits.positionMax), the last that may be")
        }
    }

    /// Throws where the current commit may not have that many more events; checked before memory is
    /// taken.
    func room(forEvents count: Int) throws(CapsuleError) {
        try bound(events + count, limits.eventsMax, "the capsule", "events")
    }

    /// Throws where the current commit may not have that many digests.
    func room(forViews count: Int) throws(CapsuleError) {
        try bound(count, limits.viewsMax, "a commit", "digests")
    }

    private func bound(
        _ number: Int, _ most: Int, _ what: String, _ unit: String
    ) throws(CapsuleError) {
        guard number <= most else {
            throw CapsuleError(.tooLarge, "\(what) has more than \(most) \(unit)")
        }
    }
}

extension Capsule {
    /// A note as a capsule may have it: its lines, without what a terminal may take as a command.
    package static func note(_ text: String) -> String {
        let lines = text.replacing("\r\n", with: "\n").replacing("\r", with: "\n")
        return String(
            String.UnicodeScalarView(
                lines.unicodeScalars.map { $0 == "\n" || !$0.isControl ? $0 : " " }))
    }
}

extension Unicode.Scalar {
    /// Whether a terminal may take it as a command, or as a change of text direction.
    fileprivate var isControl: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
        // Others of this category join and part the letters of many languages.
        case .format: [0x202A...0x202E, 0x2066...0x2069].contains { $0.contains(value) }
        default: false
        }
    }
}
