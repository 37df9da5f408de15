// EntityRow.swift — the view row of one entity.

package import TidemarkEvents
package import TidemarkRules

/// An entity: its base from the server, its pending mutations, and the result of both.
package struct EntityRow: Sendable, Hashable {
    package enum BaseState: UInt64, Sendable {
        case absent = 0
        case live = 1
        case deleted = 2
    }

    /// One pending mutation.
    package struct Pending: Sendable, Hashable {
        package enum Kind: UInt64, Sendable {
            case create = 1
            case update = 2
            case delete = 3
            /// A later mutation, rewritten, carries its change.
            case carried = 4
            /// Something that the server is to do: it changes nothing here.
            case action = 5
        }
        package var position: Position
        package var kind: Kind
        package var payload: [UInt8]
        /// Whether an attempt that was never answered may have reached the server.
        package var mayHaveArrived = false
        /// Whether the server refused it, or a person is asked about it; it waits for an edit, an
        /// answer, a retry or to be discarded.
        package var isRefused = false
        /// When it was made, by the server's clock, where the collection's policy asks for it.
        package var editedAt: Timestamp?
        /// The rule that it is derived by; empty for an edit of the user.
        package var rule = ""
        /// Of a creation that is an action of the server's: the payload of `local.requested`
        /// without its document; else empty.
        package var request: [UInt8] = []
        /// Whether edits behind it set its fields again, and its payload lies in a row of its
        /// own; here it changes nothing: OvertakenEdits.swift.
        package var isOvertaken = false
        /// The fields of it that the last attempt which covered it left out: LeftOut.swift.
        package var leftOut: [String] = []
        /// Whether these are all, and another mutation tells that the attempt was made.
        package var isLeftOut = false

        package var isDerived: Bool { !rule.isEmpty }

        /// Whether it changes nothing here.
        package var isAction: Bool { kind == .action }

        /// What the server is to do, beside taking changes; nil for an edit.
        package var requested: LocalRequested? {
            if isAction { return LocalRequested(stored: payload) }
            guard !request.isEmpty else { return nil }
            var requested = LocalRequested(stored: request)
            requested.document = payload
            return requested
        }

        /// Whether it is sent by itself.
        var isSentAlone: Bool { isAction || !request.isEmpty }

        /// What follows from an event comes after what the event itself is.
        func precedes(_ other: Pending) -> Bool {
            (position.rawValue, isDerived ? 1 : 0)
                < (other.position.rawValue, other.isDerived ? 1 : 0)
        }
    }

    /// A push that was sent and whose outcome is not known.
    package struct Attempt: Sendable, Hashable {
        /// Its `request.sent`.
        package var call: Position
        /// The last mutation it carried.
        package var covers: Position
    }

    /// That what is pending went another way.
    package struct Relay: Sendable, Hashable {
        /// The last mutation that did.
        package var covers: Position
        /// The `push.relayed`.
        package var position: Position
        /// Whether the other side said that it has it.
        package var isConfirmed: Bool
    }

    /// Why the server refused what is pending.
    package struct Refusal: Sendable, Hashable {
        package var position: Position
        package var status: UInt32
        package var message: String
        /// Whether nobody refused it: both sides changed the entity, and a person is asked.
        package var isAsked = false
        /// The server's words because of which a person was asked before, about what is in question
        /// still.
        package var earlier: [Position] = []
        /// Where a person is asked about what was only sent and accepted before: that, with what
        /// the server is known to have made of it; else empty.
        package var base: [UInt8] = []

        /// Why a person is asked, the oldest first.
        package var questions: [Position] { isAsked ? earlier + [position] : [] }

        /// What is said where a person is asked.
        package static let asked = "both sides changed it"
    }

    package var baseState = BaseState.absent
    /// The server's document; of a deleted entity the last one, while something is pending on it.
    package var base: [UInt8] = []
    package var basePosition: Position?
    package var asOf: Position?
    package var revision: Revision?
    package var serverTime: Timestamp?
    package var pending: [Pending] = []
    /// The entity with everything pending applied; empty when nothing is pending, when it is
    /// deleted, and when all that is pending is that it was made, whose payload it is then.
    package var current: [UInt8] = []
    package var attempt: Attempt?
    /// Whether the base is what was sent: the server accepted it without returning the entity.
    package var isAssumed = false { didSet { if !isAssumed { isUntold = false } } }
    /// Of such a base: whether the server has told nothing of the entity yet, which was made here.
    package var isUntold = false
    package var refusal: Refusal?
    /// That some of what is pending went another way; nil once nothing of that is.
    package var relay: Relay?
    /// The last answer to a write of it, where the server said something of the entity in it.
    package var issuesAt: Position?
    /// Whether the base is a placeholder's, because another entity refers to this one.
    package var isPlaceholder = false { didSet { if !isPlaceholder { isPartial = false } } }
    /// Of a placeholder: whether the server sent it, but not the whole of it.
    package var isPartial = false
    /// Of a placeholder: when the server was last asked for it in vain.
    package var triedAt: Timestamp?
    /// Whether it is hidden: not seen, and not pushed.
    package var isHidden = false
    /// Whether it lies in an entity of its tree that is deleted, or in an orphan: not seen.
    package var isOrphan = false
    /// Whether all that lies in it is noted as orphans.
    package var hasOrphans = false
    /// Whether, before the server had it, an entity was moved into it that was made elsewhere, or
    /// out of it after others were made in that: so it has to be made there even where it was
    /// deleted meanwhile.
    package var isEntered = false
    /// Of an entity that the server knows by its path: the event by which it told something new of
    /// a file, or of a folder that it is there.
    package var newsAt: Position?
    /// Of a deleted entity of a tree whose server tells ids: of its last document the member with
    /// that id; else empty.
    package var mark: [UInt8] = []
    /// What a write without an answer may have made of it that was given up since; empty for none.
    package var givenUp: [UInt8] = []
    /// Of an entity that was pruned: SHA-256 of the document that the server had said; else empty.
    package var prunedDigest: [UInt8] = []
    /// The event by which it was pruned.
    package var prunedAt: Position?

    package init() {}

    // MARK: What it means

    /// The entity's sync status.
    package var status: EntityStatus {
        if pending.contains(where: \.isRefused) { return .error }
        if attempt != nil { return .uploading }
        guard let last = pending.last else {
            if isPlaceholder { return isPartial ? .stub : .placeholder }
            return issuesAt == nil ? .synced : .warning
        }
        if let relay, last.position <= relay.covers {
            return relay.isConfirmed ? .confirmed : .relayed
        }
        if last.kind == .delete { return .deleted }
        return baseState == .live ? .updated : .created
    }

    /// The entity's document as the app sees it; nil when there is none.
    package var document: [UInt8]? {
        isHidden || isOrphan ? nil : content
    }

    /// The same, whether it is in reach or not.
    package var content: [UInt8]? {
        if pending.isEmpty { return baseState == .live ? base : nil }
        if isOnlyCreated { return pending[0].payload }
        return current.isEmpty ? nil : current
    }

    /// The entity's document as the app sees it, read by today's model; nil when there is none.
    package func document(in collection: CollectionModel?) throws(JSONError) -> [UInt8]? {
        guard let document else { return nil }
        return try collection?.read(document) ?? document
    }

    /// The same, seen or not.
    package func content(in collection: CollectionModel?) throws(JSONError) -> [UInt8]? {
        guard let content else { return nil }
        return try collection?.read(content) ?? content
    }

    /// Whether all that is known of the entity is that it was made here.
    package var isOnlyCreated: Bool {
        pending.count == 1 && pending[0].kind == .create && baseState != .live
    }

    /// Whether the row says anything at all.
    package var isEmpty: Bool {
        baseState == .absent && pending.isEmpty && attempt == nil && prunedDigest.isEmpty
    }

    /// Whether its base is an edit that was accepted at once, of what is kept on this device alone:
    /// any other base has a position as of which it counts.
    package var isLocalOnly: Bool {
        baseState == .live && asOf == nil && !isPlaceholder && !isAssumed
    }

    /// Whether its base is what the app took over from a database of its own: any other word of the
    /// server was asked for before it was logged.
    package var isTakenOver: Bool {
        baseState == .live && !isAssumed && !isPlaceholder && asOf == basePosition
    }

    package var baseValue: Base {
        get throws(JSONError) {
            switch baseState {
            case .absent: .absent
            case .live: .live(try JSONDocument(parsing: base))
            case .deleted: .deleted(last: base.isEmpty ? nil : try JSONDocument(parsing: base))
            }
        }
    }

    /// The base as a collection's model of today reads it.
    package func baseValue(in collection: CollectionModel) throws(JSONError) -> Base {
        try baseValue.read(by: collection)
    }

    /// The pending changes, without actions, as a collection's model of today reads them.
    package func changes(in collection: CollectionModel) throws(JSONError) -> [PendingChange] {
        try changes(pending, in: collection)
    }

    /// What the pending mutations make of the base: its document, or nothing.
    package func made(in collection: CollectionModel) throws(JSONError) -> [UInt8] {
        let base = try baseValue(in: collection)
        guard case .document(let bytes) = try Current(changes(in: collection), on: base) else {
            return []
        }
        return bytes
    }

    /// The same of the mutations up to one, as an attempt carries them.
    package func made(
        through last: Position, in collection: CollectionModel
    ) throws(JSONError) -> [UInt8] {
        var part = self
        part.pending.removeAll { $0.position > last }
        return try part.made(in: collection)
    }

    /// Some of the pending mutations as a collection's model of today reads them.
    func changes(
        _ items: [Pending], in collection: CollectionModel
    ) throws(JSONError) -> [PendingChange] {
        let changes = try changes(items)
        if collection.readsVerbatim, collection.keyed.isEmpty { return changes }
        return try changes.map { (change) throws(JSONError) in try change.read(by: collection) }
    }

    /// The pending mutations as the rules take them.
    package var changes: [PendingChange] {
        get throws(JSONError) { try changes(pending) }
    }

    private func changes(_ items: [Pending]) throws(JSONError) -> [PendingChange] {
        var result: [PendingChange] = []
        for item in items {
            let change: PendingChange.Change
            switch item.kind {
            case .create: change = .create(try JSONDocument(parsing: item.payload))
            case .update where item.isOvertaken: change = .carried
            case .update: change = .update(try Patch(parsing: item.payload))
            case .delete: change = .delete
            case .carried: change = .carried
            case .action: continue
            }
            result.append(
                PendingChange(
                    item.position, change,
                    mayHaveArrived: item.mayHaveArrived || isCarried(item),
                    isRefused: item.isRefused, editedAt: item.editedAt))
        }
        return result
    }

    /// What of it is sent next: an action by itself, or all edits up to the next action.
    package var next: ArraySlice<Pending> {
        pending.first?.isSentAlone == true
            ? pending.prefix(1) : pending.prefix { !$0.isSentAlone }
    }

    /// Whether all that is pending is known to have arrived another way before the server was asked
    /// for its word: then that counts.
    func isConfirmed(by asOf: Position) -> Bool {
        guard status == .confirmed, let relay else { return false }
        return relay.position <= asOf
    }

    /// Whether an attempt whose outcome is not known carries it, or some of it.
    func isCarried(_ item: Pending) -> Bool {
        attempt.map { item.position <= $0.covers } == true && !item.isLeftOut
    }
}

extension EntityRow {
    package var encoded: [UInt8] {
        let payloads = pending.reduce(0) { $0 + $1.payload.count + 32 }
        var writer = ProtoWriter(capacity: 64 + base.count + payloads + current.count)
        writer.varint(1, baseState.rawValue)
        writer.bytes(2, base)
        writer.position(3, basePosition)
        writer.position(4, asOf)
        writer.bytes(5, revision?.rawValue ?? [])
        writer.signed(6, serverTime?.rawValue ?? 0)
        for item in pending {
            var inner = ProtoWriter(capacity: item.payload.count + 24)
            inner.position(1, item.position)
            inner.varint(2, item.kind.rawValue)
            inner.bytes(3, item.isOvertaken ? [] : item.payload)
            inner.flag(4, item.mayHaveArrived)
            inner.flag(5, item.isRefused)
            inner.signed(6, item.editedAt?.rawValue ?? 0)
            inner.string(7, item.rule)
            inner.bytes(8, item.request)
            inner.flag(9, item.isOvertaken)
            for field in item.leftOut { inner.message(10, field) }
            inner.flag(11, item.isLeftOut)
            writer.message(7, inner.bytes)
        }
        writer.bytes(8, current)
        writer.position(9, attempt?.call)
        writer.position(10, attempt?.covers)
        writer.position(11, refusal?.position)
        writer.varint(12, UInt64(refusal?.status ?? 0))
        writer.string(13, refusal?.message ?? "")
        writer.flag(14, isAssumed)
        writer.flag(15, isPlaceholder)
        writer.signed(16, triedAt?.rawValue ?? 0)
        writer.flag(17, isHidden)
        writer.bytes(18, prunedDigest)
        writer.position(19, prunedAt)
        writer.position(20, issuesAt)
        if let relay {
            writer.position(21, relay.covers)
            writer.position(22, relay.position)
            writer.flag(23, relay.isConfirmed)
        }
        writer.flag(24, isPartial)
        writer.flag(25, isOrphan)
        writer.flag(26, hasOrphans)
        writer.flag(27, isEntered)
        writer.position(28, newsAt)
        writer.flag(29, refusal?.isAsked ?? false)
        writer.bytes(30, givenUp)
        writer.flag(31, isUntold)
        for question in refusal?.earlier ?? [] { writer.position(32, question) }
        writer.bytes(33, refusal?.base ?? [])
        writer.bytes(34, mark)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: baseState = BaseState(rawValue: try field.unsigned()) ?? .absent
            case 2: base = try field.bytes()
            case 3: basePosition = try field.position()
            case 4: asOf = try field.position()
            case 5: revision = Revision(rawValue: try field.bytes())
            case 6: serverTime = Timestamp(rawValue: try field.signed())
            case 7: pending.append(try Pending(parsing: try field.bytes()))
            case 8: current = try field.bytes()
            case 9: attempt = Attempt(call: try field.position(), covers: .start)
            case 10: attempt?.covers = try field.position()
            case 11: refusal = Refusal(position: try field.position(), status: 0, message: "")
            case 12: refusal?.status = try field.small()
            case 13: refusal?.message = try field.string()
            case 14: isAssumed = try field.flag()
            case 15: isPlaceholder = try field.flag()
            case 16: triedAt = Timestamp(rawValue: try field.signed())
            case 17: isHidden = try field.flag()
            case 18: prunedDigest = try field.bytes()
            case 19: prunedAt = try field.position()
            case 20: issuesAt = try field.position()
            case 21:
                let covers = try field.position()
                relay = Relay(covers: covers, position: covers, isConfirmed: false)
            case 22: relay?.position = try field.position()
            case 23: relay?.isConfirmed = try field.flag()
            case 24: isPartial = try field.flag()
            case 25: isOrphan = try field.flag()
            case 26: hasOrphans = try field.flag()
            case 27: isEntered = try field.flag()
            case 28: newsAt = try field.position()
            case 29: refusal?.isAsked = try field.flag()
            case 30: givenUp = try field.bytes()
            case 31: isUntold = try field.flag()
            case 32: refusal?.earlier.append(try field.position())
            case 33: refusal?.base = try field.bytes()
            case 34: mark = try field.bytes()
            default: continue
            }
        }
    }
}

extension EntityRow.Pending {
    /// The same change in another form, which was never sent.
    mutating func rewrite(as change: PendingChange.Change) {
        switch change {
        case .create(let document): (kind, payload) = (.create, document.bytes)
        case .update(let patch): (kind, payload) = (.update, patch.encoded)
        case .delete: (kind, payload) = (.delete, [])
        case .carried: (kind, payload) = (.carried, [])
        }
        mayHaveArrived = false
        request = []
    }

    fileprivate init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start, kind: .update, payload: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: kind = Kind(rawValue: try field.unsigned()) ?? .update
            case 3: payload = try field.bytes()
            case 4: mayHaveArrived = try field.flag()
            case 5: isRefused = try field.flag()
            case 6: editedAt = Timestamp(rawValue: try field.signed())
            case 7: rule = try field.string()
            case 8: request = try field.bytes()
            case 9: isOvertaken = try field.flag()
            case 10: leftOut.append(try field.string())
            case 11: isLeftOut = try field.flag()
            default: continue
            }
        }
        if isOvertaken { payload = Self.nothing }
    }
}
