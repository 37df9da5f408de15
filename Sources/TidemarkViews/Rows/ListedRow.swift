// ListedRow.swift — a list in the making: how far it is, and what its pages named, so that a later
// run goes on with it.
//
//   'l' collection 0 scope              how far it is, from the last page's member `list`
//   't' collection 0 [scope 0] number   what a page named that was here before, or is to be fetched
//
// Both are kept until the list is logged as complete, or restarts.

package import TidemarkEvents

/// What the pages of a list named that is not complete yet: 'l' collection 0 scope.
package struct ListedRow: Sendable, Hashable {
    /// The last change among it.
    var latest: Timestamp?
    /// The run that lists, and the one that began.
    var sync: Position?
    package var begun: Position?
    /// How far it is, where a later run can go on with it.
    package var state: ListState?

    init(sync: Position?) {
        self.sync = sync
        begun = sync
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.signed(1, latest?.rawValue ?? 0)
        writer.position(2, sync)
        guard let state else { return writer.bytes }
        writer.position(3, begun)
        writer.varint(4, UInt64(state.page))
        // Before the first event the position is 0, which is left out.
        writer.position(5, state.asOf)
        writer.varint(6, UInt64(state.knownCount))
        if let after = state.after { writer.message(7, after.rawValue) }
        if let next = state.next { writer.message(8, next) }
        if let cursor = state.cursor { writer.message(9, cursor.rawValue) }
        if let epoch = state.epoch { writer.message(10, epoch.rawValue) }
        writer.signed(11, state.asked?.rawValue ?? 0)
        writer.signed(12, state.serverTime?.rawValue ?? 0)
        writer.signed(13, state.from?.rawValue ?? 0)
        writer.signed(14, state.to?.rawValue ?? 0)
        writer.flag(15, state.isDoubtful)
        writer.varint(16, UInt64(max(0, state.found)))
        // The first pass is left out.
        writer.varint(17, UInt64(max(1, state.pass) - 1))
        // Of none it is left out: there can't be fewer.
        writer.varint(18, UInt64(max(0, state.total ?? 0)))
        writer.varint(19, UInt64(max(0, state.pageSize ?? 0)))
        writer.flag(20, state.isOfChanges)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var state = ListState(page: 0, asOf: .start, knownCount: 0)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: latest = Timestamp(rawValue: try field.signed())
            case 2: sync = try field.position()
            case 3: begun = try field.position()
            case 4: state.page = try field.count()
            case 5: state.asOf = try field.position()
            case 6: state.knownCount = try field.count()
            case 7: state.after = Revision(rawValue: try field.bytes())
            case 8: state.next = try field.string()
            case 9: state.cursor = Revision(rawValue: try field.bytes())
            case 10: state.epoch = Revision(rawValue: try field.bytes())
            case 11: state.asked = Timestamp(rawValue: try field.signed())
            case 12: state.serverTime = Timestamp(rawValue: try field.signed())
            case 13: state.from = Timestamp(rawValue: try field.signed())
            case 14: state.to = Timestamp(rawValue: try field.signed())
            case 15: state.isDoubtful = try field.flag()
            case 16: state.found = try field.count()
            case 17: state.pass = try field.count() + 1
            case 18: state.total = try field.count()
            case 19: state.pageSize = try field.count()
            case 20: state.isOfChanges = try field.flag()
            default: continue
            }
        }
        if state.page > 0 { self.state = state }
    }
}

/// What a page of a list in the making named that no row tells of: 't' collection 0 [scope 0]
/// number.
package struct ListedPageRow: Sendable, Hashable {
    /// The `pull.page`.
    package var position: Position
    /// Entities that were here as it says.
    package var same: [String] = []
    /// Entities that it only names and that are to be fetched.
    package var references: [ListedReference] = []
    /// What could not be read, by name.
    package var unreadable: [String] = []
    /// Entities that the server had where the page lists, and that it does not name.
    package var missing: [String] = []

    package init(position: Position) { self.position = position }

    var isEmpty: Bool {
        same.isEmpty && references.isEmpty && unreadable.isEmpty && missing.isEmpty
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        for id in same { writer.message(2, id) }
        for reference in references {
            var inner = ProtoWriter()
            inner.string(1, reference.id)
            inner.bytes(2, reference.revision?.rawValue ?? [])
            inner.signed(3, reference.serverTime?.rawValue ?? 0)
            writer.message(3, inner.bytes)
        }
        for name in unreadable { writer.message(4, name) }
        for id in missing { writer.message(5, id) }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        position = .start
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: same.append(try field.string())
            case 3: references.append(try ListedReference(parsing: try field.bytes()))
            case 4: unreadable.append(try field.string())
            case 5: missing.append(try field.string())
            default: continue
            }
        }
    }
}

extension ListedReference {
    fileprivate init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(id: "", revision: nil)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: id = try field.string()
            case 2: revision = Revision(rawValue: try field.bytes())
            case 3: serverTime = Timestamp(rawValue: try field.signed())
            default: continue
            }
        }
    }
}

extension RowReading {
    /// What the pages of a list named that is not complete yet.
    package func listed(_ target: PullTarget) throws -> ListedRow? {
        try get(.listed(target)).map { try ListedRow(parsing: $0) }
    }

    /// How far the list is that is in the making; nil where a later run can go on with none.
    package func listing(_ target: PullTarget) throws -> ListState? {
        try listed(target)?.state
    }

    /// What its pages named, in order.
    package func listedPages(_ target: PullTarget) throws -> [ListedPageRow] {
        try ledgerRows(RowKey.listedPages(target)).map { try ListedPageRow(parsing: $0.value) }
    }

    /// Where the parts of a feed go on; nil where it was never listed.
    package func feedCursor(_ target: PullTarget) throws -> FeedCursor? {
        try watermark(target)?.cursor.flatMap { FeedCursor($0) }
    }

    /// That a target is to be listed whole; nil where it is not.
    package func owed(_ target: PullTarget) throws -> OwedRow? {
        try get(.owed(target)).flatMap { OwedRow($0) }
    }

    /// Whether a target is to be listed whole, because a run was asked to and did not.
    package func isOwed(_ target: PullTarget) throws -> Bool {
        try get(.owed(target)) != nil
    }
}

/// That a target is to be listed whole.
package struct OwedRow: Sendable, Hashable {
    /// Where the reason came.
    package var since: Position
    /// Whether the list of changes after it goes on from the date of before.
    package var keepsDate = false

    var encoded: [UInt8] { since.bigEndianBytes + (keepsDate ? [1] : []) }

    init(since: Position, keepsDate: Bool) { (self.since, self.keepsDate) = (since, keepsDate) }

    init?(_ bytes: [UInt8]) {
        guard let since = Position(bigEndianBytes: bytes.prefix(8)) else { return nil }
        (self.since, keepsDate) = (since, bytes.count > 8)
    }
}
