// AnswerTable.swift — the answers of the last sync runs as they came, in a table of their own.
//
//   key                                              value
//   run, event: 8 bytes b. e. each; record, 4 b. e.  a part of the stored bytes, ≤ 3,900 bytes
//   run, 0: 8 bytes b. e. each                       a format, 1, and how many bytes the run has
//                                                    here, 8 bytes little-endian
//
// A run goes by its `sync.started`, answers by the event that names them. The stored bytes: a
// format, 1, and one zstd frame of the message tidemark.v1.KeptAnswers, whose bodies are cut. That
// something is not there is no damage: it is pruned by runs and by bytes, whatever events name it.

package import TidemarkEvents
package import TidemarkStore

/// The table "answers".
package struct AnswerTable: Sendable {
    static let name = "answers"
    private static let format: UInt8 = 1
    /// What a run has that has more than may be kept: nothing of it is.
    private static let tooMuch = UInt64.max

    private let log: EventLog
    private var table: Table { log.answers }

    init(_ log: EventLog) { self.log = log }

    // MARK: Keeping

    /// Answers as they are stored.
    ///
    /// - Parameter payloads: those of the events that follow from them, in their order.
    package static func stored(
        _ answers: [KeptAnswer], sharing payloads: [(position: Position, bytes: [UInt8])]
    ) throws -> [UInt8] {
        [format] + (try Zstd.compress(answers.map { $0.cut(by: payloads) }.encoded, level: 1))
    }

    /// Keeps the answers that an event names.
    ///
    /// - Parameters:
    ///   - stored: what ``stored(_:sharing:)`` made of them.
    ///   - bytesMax: the most that the run may have in the table; of one with more nothing is kept.
    package func keep(
        _ stored: [UInt8], of run: Position, at position: Position, bytesMax: Int,
        _ transaction: borrowing WriteTransaction
    ) throws {
        let before = try bytes(of: run, transaction) ?? 0
        guard before != Self.tooMuch else { return }
        let after = before &+ UInt64(stored.count)
        guard after > before, after <= UInt64(clamping: bytesMax) else {
            try remove(run, transaction)
            return try setBytes(Self.tooMuch, of: run, transaction)
        }
        var number: UInt32 = 0
        for start in stride(from: 0, to: stored.count, by: EventLog.bodyRecordBytesMax) {
            let end = min(start + EventLog.bodyRecordBytesMax, stored.count)
            try transaction.put(
                table, Self.key(run, position) + Self.bigEndian(number),
                Array(stored[start..<end]))
            number += 1
        }
        try setBytes(after, of: run, transaction)
    }

    /// Whether a run has more than may be kept, so that nothing more of it is.
    package func hasTooMuch(
        _ run: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> Bool { try bytes(of: run, transaction) == Self.tooMuch }

    /// Removes all but the last runs.
    ///
    /// - Parameters:
    ///   - runs: how many stay at most.
    ///   - bytes: how many bytes those have at most, the last one first.
    package func prune(
        runs: Int, bytes: Int, _ transaction: borrowing WriteTransaction
    ) throws {
        var left = UInt64(clamping: bytes)
        var removed: [Position] = []
        for (index, run) in try self.runs(transaction).reversed().enumerated() {
            let own = try self.bytes(of: run, transaction) ?? 0
            let size = own == Self.tooMuch ? 0 : own
            guard removed.isEmpty, index < runs, size <= left else {
                removed.append(run)
                continue
            }
            left -= size
        }
        for run in removed { try remove(run, transaction) }
    }

    private func remove(_ run: Position, _ transaction: borrowing WriteTransaction) throws {
        var keys: [[UInt8]] = []
        try transaction.scan(table, from: nil, prefix: run.bigEndianBytes, reversed: false) {
            key, _ in
            keys.append(key.copied())
            return true
        }
        for key in keys { _ = try transaction.delete(table, key) }
    }

    // MARK: Reading

    /// The runs of which something is kept, in their order.
    package func runs(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [Position] {
        var runs: [Position] = []
        var next: Position? = .start
        while let from = next {
            next = nil
            try transaction.scan(table, from: from.bigEndianBytes, prefix: [], reversed: false) {
                key, _ in
                guard let run = Position(bigEndianBytes: key.copied().prefix(8)) else {
                    return true
                }
                runs.append(run)
                next = run.next
                return false
            }
        }
        return runs
    }

    /// How many bytes a run has in the table; nil where nothing of it was kept.
    package func bytes(
        of run: Position, _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> UInt64? {
        guard let value = try transaction.get(table, Self.key(run, .start)), value.count == 9
        else { return nil }
        return (0..<8).reduce(0) { $0 | UInt64(value[1 + $1]) << (8 * UInt64($1)) }
    }

    /// The answers that an event names, whole; nil where they are not there any more.
    ///
    /// - Throws: ``LogError`` `corruptAnswer` where they are not what the event names,
    ///   `newerFormat` where a later version stored them.
    package func answers(
        named name: KeptName, of run: Position, at position: Position,
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [KeptAnswer]? {
        guard name.digest != nil else { return nil }
        var stored: [UInt8] = []
        try transaction.scan(
            table, from: nil, prefix: Self.key(run, position), reversed: false
        ) { _, record in
            stored += record.copied()
            return true
        }
        guard let format = stored.first else { return nil }
        func damage(_ detail: String) -> LogError {
            LogError(.corruptAnswer, at: position, "the answer that is kept of it: \(detail)")
        }
        guard format == Self.format else {
            throw LogError(
                .newerFormat, at: position,
                "the answer that is kept of it is of format \(format); use a newer tidemark")
        }
        let answers: [KeptAnswer]
        do {
            let content = try Zstd.decompress(
                Array(stored.dropFirst()), bytesMax: Self.contentBytesMax)
            answers = try [KeptAnswer](parsing: content).map { answer in
                try answer.joined { place in
                    guard let event = try log.event(at: place, transaction) else {
                        throw damage("it refers to \(place), which is not there")
                    }
                    return event.payload
                }
            }
        } catch let error as ZstdError { throw damage("\(error)") } catch let error as ProtoError {
            throw damage("\(error)")
        }
        // In a part of a log, texts of it may be others than those that were hashed.
        guard try answers.name == name || log.isPart(transaction) else {
            throw damage("its hash differs")
        }
        return answers
    }

    /// The most bytes that the answers which one event names may have.
    private static let contentBytesMax = 1 << 30

    private func setBytes(
        _ bytes: UInt64, of run: Position, _ transaction: borrowing WriteTransaction
    ) throws {
        let value = (0..<8).map { UInt8(truncatingIfNeeded: bytes >> (8 * UInt64($0))) }
        try transaction.put(table, Self.key(run, .start), [Self.format] + value)
    }

    private static func key(_ run: Position, _ position: Position) -> [UInt8] {
        run.bigEndianBytes + position.bigEndianBytes
    }

    private static func bigEndian(_ number: UInt32) -> [UInt8] {
        (0..<4).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
