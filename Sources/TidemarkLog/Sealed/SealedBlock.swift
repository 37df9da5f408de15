// SealedBlock.swift — some hundred records of the log in one zstd frame.
//
//   offset  width  field    notes
//        0      1  format   1; readers refuse newer
//        1      …  content  one zstd frame with its content size and checksum
//
// The content is the message tidemark.v1.SealedRecords: records as they lay in the table "log", in
// their order. They are frames of events, one position after another, and behind the last event of
// a commit the frame of its record, which is known by its flags.

package import TidemarkEvents
package import TidemarkStore

/// Events that were sealed together, and the records of the commits that end among them.
package struct SealedBlock: Sendable {
    static let format: UInt8 = 1
    /// The most bytes that a block's content may have; what is sealed stays far below.
    static let contentBytesMax = 64 << 20

    package let first: Position
    package let last: Position
    /// The message with the records.
    private let content: [UInt8]
    /// Where the frames of the events lie in ``content``.
    private let events: [Range<Int>]
    /// The records of commits, each with the index of the event before it.
    private let commits: [(index: Int, range: Range<Int>)]

    /// What is wrong with stored bytes.
    package enum Damage: Error, Hashable, Sendable, CustomStringConvertible {
        case newerFormat(UInt8)
        case zstd(ZstdError)
        case records(ProtoError)
        case count(Int)

        package var description: String {
            switch self {
            case .newerFormat(let format): "format \(format) is not known to this version"
            case .zstd(let error): "\(error)"
            case .records(let error): "its records: \(error)"
            case .count(let count): "it holds \(count) events"
            }
        }
    }

    /// Reads what ``stored(_:)`` wrote.
    ///
    /// The frames are not looked at: each has a checksum of its own.
    package init(parsing stored: [UInt8], last: Position) throws(Damage) {
        guard let format = stored.first, format == Self.format else {
            throw .newerFormat(stored.first ?? 0)
        }
        let content: [UInt8]
        do {
            content = try Zstd.decompress(
                Array(stored.dropFirst()), bytesMax: Self.contentBytesMax)
        } catch { throw .zstd(error) }
        var events: [Range<Int>] = []
        var commits: [(index: Int, range: Range<Int>)] = []
        do throws(ProtoError) {
            var reader = ProtoReader(content)
            while let field = try reader.next() {
                guard field.number == 1 else { continue }
                let range = try field.slice().indices
                let isCommit =
                    range.count > 1 && content[range.lowerBound + 1] == CommitRecord.flags
                guard isCommit else {
                    events.append(range)
                    continue
                }
                guard commits.last?.index ?? -1 < events.count - 1 else { throw .truncated }
                commits.append((events.count - 1, range))
            }
        } catch { throw .records(error) }
        guard !events.isEmpty, UInt64(events.count) <= last.rawValue else {
            throw .count(events.count)
        }
        self.content = content
        self.events = events
        self.commits = commits
        self.last = last
        first = Position(last.rawValue - UInt64(events.count) + 1)
    }

    /// The bytes to store for records in their order.
    static func stored(_ records: [[UInt8]], level: Int32 = 3) throws -> [UInt8] {
        var content = ProtoWriter(capacity: records.reduce(0) { $0 + $1.count + 4 })
        for record in records { content.bytes(1, record) }
        return [format] + (try Zstd.compress(content.bytes, level: level))
    }

    /// How many bytes its records have.
    var recordBytes: Int {
        events.reduce(0) { $0 + $1.count } + commits.reduce(0) { $0 + $1.range.count }
    }

    /// How many records of commits it has.
    var commitCount: Int { commits.count }

    func contains(_ position: Position) -> Bool { first <= position && position <= last }

    /// Lends the frame of one of its events.
    func withFrame<R>(at position: Position, _ body: (Span<UInt8>) throws -> R) rethrows -> R {
        let range = events[Int(position.rawValue - first.rawValue)]
        return try body(content.span.extracting(range))
    }

    /// The record of the commit that ends with one of its events; nil when none does.
    func commit(endingAt last: Position) throws(LogError) -> CommitRecord? {
        let index = Int(last.rawValue - first.rawValue)
        guard let found = commits.first(where: { $0.index == index }) else { return nil }
        return try CommitRecord(framed: content.span.extracting(found.range), last: last)
    }

    /// Walks over its records in order, or backwards; `body` says whether to go on.
    ///
    /// - Parameter start: the event to begin with; backwards, behind its commit's record.
    /// - Returns: what `body` said last.
    func forEachRecord(
        from start: Position, reversed: Bool = false,
        _ body: (_ position: Position, _ isCommit: Bool, _ record: Span<UInt8>) throws -> Bool
    ) rethrows -> Bool {
        let from = Int(min(max(start, first), last).rawValue - first.rawValue)
        var next = reversed ? commits.count - 1 : 0
        for index in reversed ? Array((0...from).reversed()) : Array(from..<events.count) {
            let position = Position(first.rawValue + UInt64(index))
            while commits.indices.contains(next),
                reversed ? commits[next].index > index : commits[next].index < index
            { next += reversed ? -1 : 1 }
            let commit =
                commits.indices.contains(next) && commits[next].index == index
                ? commits[next].range : nil
            if reversed, let commit {
                guard try body(position, true, content.span.extracting(commit)) else {
                    return false
                }
            }
            guard try body(position, false, content.span.extracting(events[index])) else {
                return false
            }
            if !reversed, let commit {
                guard try body(position, true, content.span.extracting(commit)) else {
                    return false
                }
            }
        }
        return true
    }

    /// Whether its records are just these.
    func holds(_ records: [[UInt8]]) -> Bool {
        var rest = records[...]
        let goesOn = forEachRecord(from: first) { _, _, record in
            guard let next = rest.popFirst() else { return false }
            return ByteOrder.areEqual(record, next[...])
        }
        return goesOn && rest.isEmpty
    }
}
