// EventLog+Checks.swift — what is asked of a log when it is opened: is it ours, and all there?

package import TidemarkEvents
package import TidemarkStore

/// Where the events come from that a salvaged log begins with.
package struct LogOrigin: Sendable, Hashable {
    /// The id of the store that they were salvaged from; `unknown` where nothing said it.
    package var storeID: String
    /// The last event that is proven to be of that store's log.
    package var proven: Position

    package init(storeID: String, proven: Position) {
        self.storeID = storeID
        self.proven = proven
    }
}

extension EventLog {
    /// What the store itself says about whose it is: the message `tidemark.v1.Identity`.
    struct Mark {
        var storeID = ""
        var format: UInt32 = 0
        var origin: LogOrigin?
        /// Whether it is a part of a log, as a capsule and a replay hold one: it has no tree.
        var isPart = false

        init() {}

        init(parsing bytes: [UInt8]) throws(ProtoError) {
            var reader = ProtoReader(bytes)
            while let field = try reader.next() {
                switch field.number {
                case 1: storeID = try field.string()
                case 2: format = try field.small()
                case 3: origin = LogOrigin(storeID: try field.string(), proven: .start)
                case 4: origin?.proven = try field.position()
                case 5: isPart = try field.small() != 0
                default: continue
                }
            }
        }

        var encoded: [UInt8] {
            var writer = ProtoWriter()
            writer.string(1, storeID)
            writer.varint(2, UInt64(format))
            writer.string(3, origin?.storeID ?? "")
            writer.position(4, origin?.proven)
            writer.varint(5, isPart ? 1 : 0)
            return writer.bytes
        }
    }

    private func mark(_ transaction: borrowing some TableReading & ~Copyable) throws -> Mark? {
        guard let bytes = try catalog.value(.identity, transaction) else { return nil }
        do { return try Mark(parsing: bytes) } catch {
            throw LogError(.corruptMeta, at: .start, "the value \"identity\": \(error)")
        }
    }

    /// The id of the store; nil in one that was made before stores had any.
    package func storeID(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> String? {
        try mark(transaction)?.storeID
    }

    /// The store whose log this one's begins with; nil where it begins with its own.
    package func origin(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> LogOrigin? {
        try mark(transaction)?.origin
    }

    /// Writes down whose log this one begins with.
    package func setOrigin(
        _ origin: LogOrigin, _ transaction: borrowing WriteTransaction
    ) throws {
        var mark = try mark(transaction) ?? Mark()
        mark.origin = origin
        try catalog.set(.identity, mark.encoded, transaction)
    }

    /// Whether the log is only a part of one, made of a capsule.
    package func isPart(_ transaction: borrowing some TableReading & ~Copyable) throws -> Bool {
        try mark(transaction)?.isPart == true
    }

    /// Writes down that the log is a part of one.
    func setIsPart(_ transaction: borrowing WriteTransaction) throws {
        var mark = try mark(transaction) ?? Mark()
        mark.isPart = true
        try catalog.set(.identity, mark.encoded, transaction)
    }

    /// Writes the id and the format of the store into it.
    package func setIdentity(
        _ identity: StoreIdentity, _ transaction: borrowing WriteTransaction
    ) throws {
        var mark = (try? self.mark(transaction)) ?? Mark()
        mark.storeID = identity.storeID
        mark.format = UInt32(StoreIdentity.format)
        try catalog.set(.identity, mark.encoded, transaction)
    }

    /// Refuses a store of a format that this version doesn't know.
    package func checkFormat(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        guard let mark = try mark(transaction), mark.format > UInt32(StoreIdentity.format) else {
            return
        }
        throw StoreIdentity.newerFormat(mark.format, "the store")
    }

    /// Refuses a log that isn't the one that the identity speaks of, or has lost its end since.
    ///
    /// - Throws: ``StoreError``: `otherStore`, `rolledBack`.
    package func checkIdentity(
        _ identity: StoreIdentity, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        if let known = try storeID(transaction), known != identity.storeID {
            throw StoreError(
                .otherStore, during: "open",
                detail: "data.mdb is of the store \(known), identity.json of the store "
                    + identity.storeID)
        }
        let last = try lastPosition(transaction)
        guard last >= identity.position else {
            throw StoreError(
                .rolledBack, during: "open",
                detail: "the log ends at \(last), and was known to reach \(identity.position)")
        }
        guard identity.position != .start else { return }
        // Of what was dropped since, no root is known but the last one.
        let base = try base(transaction)
        if let base, identity.position < base.position { return }
        let root =
            try base?.position == identity.position
            ? base?.edge.root : commit(endingAt: identity.position, transaction)?.root
        guard root == identity.root else {
            throw StoreError(
                .rolledBack, during: "open",
                detail: "the log is another one than was known up to \(identity.position): an "
                    + "older copy was put in its place and went on differently")
        }
    }

    /// The right edge, to go on from: that of the log's last commit.
    ///
    /// - Throws: ``LogError`` `corruptEdge`, `rootMismatch`, `corruptCommit`, where a commit after
    ///   it would prove nothing.
    package func checkedEdge(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> MerkleEdge {
        let edge = try edge(transaction)
        do { try checkLastCommit(edge, transaction) } catch let error as LogError {
            guard try isPart(transaction) else { throw error }
        }
        return edge
    }

    /// The same, where it need not be looked at because its bytes are those that were written last
    /// by who asks; nil where they are not.
    package func edge(
        writtenAs known: [UInt8]?, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> MerkleEdge? {
        guard let known, try catalog.value(.edge, transaction) == known else { return nil }
        return try? MerkleEdge(parsing: known)
    }

    private func checkLastCommit(
        _ edge: MerkleEdge, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        let last = try lastPosition(transaction)
        guard edge.size == last.rawValue else {
            throw LogError(
                .corruptEdge, at: last,
                "the log ends at \(last), and \(edge.size) events were appended")
        }
        guard last > .start else { return }
        guard let commit = try commit(endingAt: last, transaction) else {
            throw LogError(.corruptCommit, at: last, "no commit ends with the log")
        }
        guard commit.root == edge.root else {
            throw LogError(.rootMismatch, at: last, "the last commit's root is not the edge's")
        }
    }

    /// How many events at the end of the log are looked at when it is opened.
    package static let tailEvents: UInt64 = 1_000

    /// Checks the end of the log, where a crash or a cut would show: the last events' checksums and
    /// positions, their number, the last commit and the right edge.
    ///
    /// Bodies are not looked at: a store is opened as fast when its last events have large ones.
    ///
    /// - Throws: ``LogError`` with the position of what is wrong.
    package func checkTail(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        let last = try lastPosition(transaction)
        try checkBeginning(transaction)
        let edge = try edge(transaction)
        guard edge.size == last.rawValue else {
            throw LogError(
                .missingEvent, at: Position(min(edge.size, last.rawValue) + 1),
                "the log ends at \(last), and \(edge.size) events were appended")
        }
        if last > .start { try checkLastEvents(last, transaction) }
        let count = try eventCount(edge, transaction)
        guard count == last.rawValue else {
            throw LogError(
                .missingEvent, at: .start, "the log ends at \(last), and holds \(count) events")
        }
    }

    private func checkLastEvents(
        _ last: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws {
        _ = try checkedEdge(transaction)
        let held = try last.rawValue - (base(transaction)?.position.rawValue ?? 0)
        var expected = Position(last.rawValue - min(held, Self.tailEvents) + 1)
        try forEachFrame(from: expected, transaction) { position, frame in
            guard position == expected else {
                throw LogError(.missingEvent, at: expected, "the next event is \(position)")
            }
            do { _ = try Event(header: frame.get().header, payload: []) } catch {
                throw LogError(damage: error, at: position)
            }
            expected = expected.next
            return true
        }
        guard expected == last.next else {
            throw LogError(.missingEvent, at: expected, "none follows, though its commit is there")
        }
    }
}
