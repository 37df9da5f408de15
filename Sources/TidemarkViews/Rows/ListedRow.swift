// ListedRow.swift — a list of everything in the making: how far it is, and what its pages named,
// so that a later run goes on with it.
//
//   'l' collection          how far it is, from the last page's member `list`
//   't' collection number   what a page named that was here before, or is to be fetched
//
// Both are kept until the list is noted as complete, or begins anew.

package import TidemarkEvents

/// What a page says of the list that it is part of: the member `list` of `pull.page`.
///
/// ```json
/// {"page":3,"asOf":12,"of":40,"next":"…","cursor":"…","epoch":"…","asked":…,"time":…}
/// ```
package struct ListState: Sendable, Hashable {
    /// How many pages it has so far.
    package var page: Int
    /// The log's last position when it began.
    package var asOf: Position
    /// How many entities of the collection were here then.
    package var knownCount: Int
    /// Where its pages begin, once everything was listed and what changed meanwhile is.
    package var after: Revision?
    /// What names the next page; nil when there is none.
    package var next: String?
    /// Where a later list goes on.
    package var cursor: Revision?
    package var epoch: Revision?
    /// When it was asked for, by the server's clock, and a little earlier.
    package var asked: Timestamp?
    /// The server's clock when it began.
    package var serverTime: Timestamp?
    /// The span that is listed, where it is not all of it.
    package var from: Timestamp?
    package var to: Timestamp?
    /// Whether it holds records without an id.
    package var isDoubtful = false

    package init(page: Int, asOf: Position, knownCount: Int) {
        self.page = page
        self.asOf = asOf
        self.knownCount = knownCount
    }
}

/// An entity that a page only names.
package struct ListedReference: Sendable, Hashable {
    package var id: String
    package var revision: Revision?
    /// When it was changed last, or deleted, where the page says so.
    package var serverTime: Timestamp?

    package init(id: String, revision: Revision?, serverTime: Timestamp? = nil) {
        self.id = id
        self.revision = revision
        self.serverTime = serverTime
    }

    /// Reads `[id, version or null, time]`; the time may be missing.
    package init?(_ items: [JSONValue]?) {
        guard let items, let id = items.first?.stringValue else { return nil }
        self.init(
            id: id, revision: items.dropFirst().first?.stringValue.map { Revision($0) },
            serverTime: items.dropFirst(2).first?.int64Value.map { Timestamp(rawValue: $0) })
    }

    package var json: JSONValue {
        .array(
            [.string(id), revision.map { .string($0.description) } ?? .null]
                + (serverTime.map { [.number(JSONNumber($0.rawValue))] } ?? []))
    }
}

/// The member `list` of a `pull.page`.
package struct ListPayload: Sendable, Hashable {
    /// How far the list is; nil when no later run can go on with it.
    package var state: ListState?
    /// Entities that the page only names and that are to be fetched.
    package var references: [ListedReference] = []
    /// Entities that it only names and that are here in that version.
    package var same: [String] = []
    /// What in it can't be read, by name.
    package var unreadable: [String] = []

    package init(_ state: ListState?) { self.state = state }

    /// Reads it from a `pull.page`; nil where the page is part of no such list.
    package init?(_ payload: [UInt8]) {
        guard let document = try? JSONDocument(parsing: payload),
            let object = document.value("list")?.object
        else { return nil }
        self.init(object)
    }

    init(_ object: JSONObject) {
        func time(_ name: String) -> Timestamp? {
            object[name]?.int64Value.map { Timestamp(rawValue: $0) }
        }
        func revision(_ name: String) -> Revision? {
            object[name]?.stringValue.map { Revision($0) }
        }
        func texts(_ name: String) -> [String] {
            (object[name]?.array ?? []).compactMap(\.stringValue)
        }
        references = (object["refs"]?.array ?? []).compactMap { ListedReference($0.array) }
        same = texts("same")
        unreadable = texts("unreadable")
        guard let page = object["page"]?.int64Value.flatMap(Int.init(exactly:)), page > 0,
            let asOf = object["asOf"]?.int64Value.flatMap(UInt64.init(exactly:))
        else { return }
        let count = max(0, object["of"]?.int64Value.flatMap(Int.init(exactly:)) ?? 0)
        var state = ListState(page: page, asOf: Position(asOf), knownCount: count)
        state.after = revision("after")
        state.next = object["next"]?.stringValue
        state.cursor = revision("cursor")
        state.epoch = revision("epoch")
        state.asked = time("asked")
        state.serverTime = time("time")
        state.from = time("from")
        state.to = time("to")
        state.isDoubtful = object["doubtful"] == .bool(true)
        self.state = state
    }

    package var json: JSONValue {
        var object = JSONObject()
        func add(_ name: String, _ text: String?) {
            if let text { object[name] = .string(text) }
        }
        func add(_ name: String, _ time: Timestamp?) {
            if let time { object[name] = .number(JSONNumber(time.rawValue)) }
        }
        func add(_ name: String, _ texts: [String]) {
            if !texts.isEmpty { object[name] = .array(texts.map(JSONValue.string)) }
        }
        if let state {
            object["page"] = .number(JSONNumber(state.page))
            object["asOf"] = .number(JSONNumber(state.asOf.rawValue))
            if state.knownCount > 0 { object["of"] = .number(JSONNumber(state.knownCount)) }
            add("after", state.after?.description)
            add("next", state.next)
            add("cursor", state.cursor?.description)
            add("epoch", state.epoch?.description)
            add("asked", state.asked)
            add("time", state.serverTime)
            add("from", state.from)
            add("to", state.to)
            if state.isDoubtful { object["doubtful"] = true }
        }
        if !references.isEmpty {
            object["refs"] = .array(references.map(\.json))
        }
        add("same", same)
        add("unreadable", unreadable)
        return .object(object)
    }
}

/// What the pages of a list named that is not complete yet: 'l' collection.
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
        if let next = state.next { writer.message(8, next.utf8) }
        if let cursor = state.cursor { writer.message(9, cursor.rawValue) }
        if let epoch = state.epoch { writer.message(10, epoch.rawValue) }
        writer.signed(11, state.asked?.rawValue ?? 0)
        writer.signed(12, state.serverTime?.rawValue ?? 0)
        writer.signed(13, state.from?.rawValue ?? 0)
        writer.signed(14, state.to?.rawValue ?? 0)
        writer.flag(15, state.isDoubtful)
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
            case 4: state.page = Int(clamping: try field.unsigned())
            case 5: state.asOf = try field.position()
            case 6: state.knownCount = Int(clamping: try field.unsigned())
            case 7: state.after = Revision(rawValue: try field.bytes())
            case 8: state.next = try field.string()
            case 9: state.cursor = Revision(rawValue: try field.bytes())
            case 10: state.epoch = Revision(rawValue: try field.bytes())
            case 11: state.asked = Timestamp(rawValue: try field.signed())
            case 12: state.serverTime = Timestamp(rawValue: try field.signed())
            case 13: state.from = Timestamp(rawValue: try field.signed())
            case 14: state.to = Timestamp(rawValue: try field.signed())
            case 15: state.isDoubtful = try field.flag()
            default: continue
            }
        }
        if state.page > 0 { self.state = state }
    }
}

/// What a page of a list in the making named that no row tells of: 't' collection number.
package struct ListedPageRow: Sendable, Hashable {
    /// The `pull.page`.
    package var position: Position
    /// Entities that were here as it says.
    package var same: [String] = []
    /// Entities that it only names and that are to be fetched.
    package var references: [ListedReference] = []
    /// What could not be read, by name.
    package var unreadable: [String] = []

    package init(position: Position) { self.position = position }

    var isEmpty: Bool { same.isEmpty && references.isEmpty && unreadable.isEmpty }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        for id in same { writer.message(2, id.utf8) }
        for reference in references {
            var inner = ProtoWriter()
            inner.string(1, reference.id)
            inner.bytes(2, reference.revision?.rawValue ?? [])
            inner.signed(3, reference.serverTime?.rawValue ?? 0)
            writer.message(3, inner.bytes)
        }
        for name in unreadable { writer.message(4, name.utf8) }
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

extension ViewReader {
    /// How far the list of everything is that is in the making; nil where none is that a later run
    /// can go on with.
    package func listing(_ collection: CollectionName) throws -> ListState? {
        try row(.listed(collection)).flatMap { try ListedRow(parsing: $0).state }
    }

    /// What its pages named, in order.
    package func listedPages(_ collection: CollectionName) throws -> [ListedPageRow] {
        var pages: [ListedPageRow] = []
        try forEachRow(RowKey.listedPages(collection)) { _, value in
            pages.append(try ListedPageRow(parsing: value))
        }
        return pages
    }

    /// Whether a collection is to be listed whole, because a run was asked to and did not.
    package func isOwed(_ collection: CollectionName) throws -> Bool {
        try row(.owed(collection)) != nil
    }
}
