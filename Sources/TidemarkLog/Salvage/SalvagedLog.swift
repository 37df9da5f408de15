// SalvagedLog.swift — what can be proven of the log of a store that can't be opened, read from its
// file without LMDB.
//
//   1. every page is looked at, also those that were freed (PageScan.swift)
//   2. of what was found, the longest beginning that commits' roots prove (PrefixSearch.swift)
//   3. what follows it: events that no root proves, and holes
//
// Nothing is written. Events stay in the file; they are read once more when they are asked for.

package import TidemarkEvents
import TidemarkStore

/// How far a salvage has come.
package enum SalvageProgress: Sendable, Hashable {
    case pages(done: Int, of: Int)
    case events(Position)
}

/// The log of a damaged store, as far as it can be proven.
package final class SalvagedLog {
    /// Where the log ended.
    package enum End: Sendable, Hashable {
        /// There: the store says so in a place that is whole.
        case known(Position)
        /// There or later.
        case atLeast(Position)

        package var position: Position {
            switch self {
            case .known(let position), .atLeast(let position): position
            }
        }
    }

    /// Events that were not taken.
    package struct Gap: Sendable, Hashable {
        package enum Reason: Sendable, Hashable {
            /// No frame with a right checksum was found.
            case missing
            /// Frames with right checksums are there, but no root proves them.
            case unproven
            /// The body of its first event is not there, or not what the event says.
            case body(BodyReference)
        }
        package var first: Position
        package var last: Position
        package var reason: Reason
    }

    /// What was found: pages, and how large each is.
    package let (pages, pageBytes): (Int, Int)
    /// The last event that a root proves, and that root.
    package let (proven, root): (Position, Hash)
    /// The last event of those that follow without a hole, with right checksums and one frame each.
    package let unproven: Position
    package let end: End
    /// What lies behind ``proven``, up to where the log is known to have ended.
    package let gaps: [Gap]
    /// Events of which one bit was turned back, and which a root proves so.
    package let mended: [Position]
    /// How many commits are not as they were recorded, because their records are lost.
    package let unrecorded: Int
    /// The id of the store; nil where it isn't known, or more than one was found.
    package let storeID: String?
    /// What identity.json says.
    package let identity: StoreIdentity?
    /// Frames of a format that this version does not know.
    package let newer: Int

    /// How many bodies are whole once one bit is turned back, as their hashes say.
    package var mendedBodies: Int { bodies.mended.count }

    private let found: FoundRecords
    private let file: DataPages
    private let way: PrefixSearch.Way
    private var bodies: FoundBodies

    /// Whether all of the log is proven, as far as it was ever known.
    package var isWhole: Bool {
        if case .known(proven) = end { newer == 0 } else { false }
    }

    /// Reads the file of the store in a directory, whatever is in it.
    ///
    /// - Throws: ``StoreError``: `missing`, `busy`, or what the system says; ``LogError`` `dropped`
    ///   where the log was truncated.
    package init(
        in directory: String, progress: (SalvageProgress) throws -> Void = { _ in }
    ) throws {
        let lock = try DirectoryLock(directory)
        defer { lock.release() }
        let file = try DataPages(in: directory)
        let bases = [file.value(of: .base), file.oldValue(of: .base)].compactMap(\.self)
        if let base = bases.lazy.compactMap({ try? LogBase(parsing: $0) }).first {
            throw LogError(
                .dropped, at: base.position.next,
                "the log begins there, on views that lie in tables: a log whose first events were "
                    + "dropped is not salvaged; restore a copy of the store")
        }
        identity = (try? StoreIdentity.find(in: directory))?.identity
        found = try Self.scan(file, progress)
        self.file = file
        (pages, pageBytes) = (file.pageCount, file.pageBytes)
        newer = found.newer
        let storeID = Self.storeID(identity, found)
        self.storeID = storeID

        let live = Self.liveEdge(file)
        let known = identity.flatMap { identity in
            identity.position == .start || storeID != identity.storeID ? nil : identity
        }
        var anchors: [PrefixSearch.Anchor] = []
        if let known { anchors.append(.init(position: known.position, root: known.root)) }
        if let live { anchors.append(.init(position: Position(live.size), root: live.root)) }
        // A commit behind the edge that counts was never finished.
        let limit = live.flatMap { live in
            live.size >= known?.position.rawValue ?? 0 ? Position(live.size) : nil
        }
        var bodies = FoundBodies(found, in: file)
        let way = try Self.search(found, file, &bodies, anchors, limit, progress)
        self.way = way
        (proven, root) = (way.proven, way.root)
        unrecorded = way.unrecorded
        mended = Self.mended(way, found, file, &bodies)
        unproven = Self.lastUnproven(after: way.proven, found, file, &bodies, limit)
        end = Self.end(way, live, known, limit, found)
        gaps = Self.gaps(after: way.proven, end.position, limit, found, file, &bodies)
        self.bodies = bodies
    }

    // MARK: What is taken

    /// An event, and the bodies that it refers to.
    package typealias Taken = (frame: EventFrame, event: Event, bodies: [[UInt8]])

    /// The event at a position up to ``proven``, or ``unproven``.
    package func event(at position: Position) throws -> Taken {
        let name = position <= proven ? way.choice(at: position) : nil
        let frame =
            if let name { Self.frame(name, of: found, file) } else {
                Self.usable(
                    at: position, found, file, &bodies, withMended: position <= proven
                ).first?.frame
            }
        guard let frame, let found = bodies.bodies(of: frame) else {
            throw LogError(.missingEvent, at: position, "it can't be read any more")
        }
        do {
            var event = try Event(header: frame.header, payload: [])
            switch frame.payload {
            case .inline(let payload): event.payload = payload
            case .body: event.payload = found.first ?? []
            }
            return (frame, event, found)
        } catch { throw LogError(damage: error, at: position) }
    }

    /// The commits to make of it, up to ``proven`` or also of what follows.
    package func commits(
        withUnproven: Bool, eventsMax: UInt64 = 256
    ) -> [(first: Position, last: Position)] {
        var spans = way.spans(eventsMax: eventsMax)
        guard withUnproven else { return spans }
        var next = proven.next
        while next <= unproven {
            let last = min(unproven, Position(next.rawValue + eventsMax - 1))
            spans.append((next, last))
            next = last.next
        }
        return spans
    }
}

// MARK: - Looking

extension SalvagedLog {
    private static let chunkBytes = 1 << 20

    private static func scan(
        _ file: DataPages, _ progress: (SalvageProgress) throws -> Void
    ) throws -> FoundRecords {
        var scan = PageScan(pageBytes: file.pageBytes) { file.bytes(at: $0, count: $1) }
        let step = max(1, chunkBytes / file.pageBytes)
        for first in stride(from: 0, to: file.pageCount, by: step) {
            let count = min(step, file.pageCount - first)
            let bytes = file.page(first, count: count).bytes
            for index in 0..<count {
                let start = index * file.pageBytes
                scan.look(
                    at: PageImage(Array(bytes[start..<start + file.pageBytes])),
                    number: first + index)
            }
            try progress(.pages(done: first + count, of: file.pageCount))
        }
        var found = scan.found
        found.openBlocks { file.bytes(at: Int($0.offset), count: Int($0.bytes)) }
        found.settle()
        return found
    }

    /// The right edge by the meta page that counts.
    private static func liveEdge(_ file: DataPages) -> MerkleEdge? {
        file.value(of: .edge).flatMap { try? MerkleEdge(parsing: $0) }
    }

    private static func storeID(_ identity: StoreIdentity?, _ found: FoundRecords) -> String? {
        if found.storeIDs.count == 1 { return found.storeIDs.first }
        guard let known = identity?.storeID else { return nil }
        return found.storeIDs.isEmpty || found.storeIDs.contains(known) ? known : nil
    }

    private static func frame(
        _ name: Int, of found: FoundRecords, _ file: DataPages
    ) -> EventFrame? {
        let frame = found.frames[name]
        if FoundBlocks.holds(frame) {
            return found.blocks.bytes(frame).flatMap { try? EventFrame(parsing: $0.span) }
        }
        var bytes = file.bytes(at: Int(frame.offset), count: Int(frame.bytes))
        if let bit = frame.mendedBit, Int(bit) < 8 * bytes.count { bytes.turn(bit: Int(bit)) }
        return try? EventFrame(parsing: bytes.span)
    }

    /// The frames of a position that can be read, with their bodies, and the places of them.
    private static func usable(
        at position: Position, _ found: FoundRecords, _ file: DataPages,
        _ bodies: inout FoundBodies, withMended: Bool = true
    ) -> [(name: Int, frame: EventFrame)] {
        var usable: [(name: Int, frame: EventFrame)] = []
        for name in found.frameIndex(position)..<found.frames.count {
            guard found.frames[name].position == position else { break }
            guard withMended || found.frames[name].isAsFound,
                let frame = frame(name, of: found, file),
                (try? Event(header: frame.header, payload: [])) != nil,
                bodies.missing(of: frame) == nil
            else { continue }
            usable.append((name, frame))
        }
        return usable
    }

    private static func search(
        _ found: FoundRecords, _ file: DataPages, _ bodies: inout FoundBodies,
        _ anchors: [PrefixSearch.Anchor], _ limit: Position?,
        _ progress: (SalvageProgress) throws -> Void
    ) throws -> PrefixSearch.Way {
        var search = PrefixSearch(commits: found.commits, anchors: anchors)
        let pageBytes = UInt64(file.pageBytes)
        while limit.map({ search.position < $0 }) ?? true {
            let position = search.position.next
            let leaves = usable(at: position, found, file, &bodies).map { name, frame in
                PrefixSearch.Leaf(
                    hash: MerkleEdge.leaf(
                        position: position, header: frame.header, payloadHash: frame.payload.hash),
                    page: found.frames[name].offset / pageBytes, name: name)
            }
            guard !leaves.isEmpty else { break }
            search.meet(leaves)
            if position.rawValue % 1000 == 0 { try progress(.events(position)) }
        }
        return search.best
    }

    private static func mended(
        _ way: PrefixSearch.Way, _ found: FoundRecords, _ file: DataPages,
        _ bodies: inout FoundBodies
    ) -> [Position] {
        let doubted = found.frames.lazy.filter { !$0.isAsFound && $0.position <= way.proven }
        return Set(doubted.map(\.position)).sorted().filter { position in
            let name =
                way.choice(at: position) ?? usable(at: position, found, file, &bodies).first?.name
            return name.map { !found.frames[$0].isAsFound } ?? false
        }
    }

    private static func lastUnproven(
        after proven: Position, _ found: FoundRecords, _ file: DataPages,
        _ bodies: inout FoundBodies, _ limit: Position?
    ) -> Position {
        var last = proven
        while limit.map({ last < $0 }) ?? true,
            usable(at: last.next, found, file, &bodies, withMended: false).count == 1
        { last = last.next }
        return last
    }

    private static func end(
        _ way: PrefixSearch.Way, _ live: MerkleEdge?, _ known: StoreIdentity?, _ limit: Position?,
        _ found: FoundRecords
    ) -> End {
        if let limit { return .known(limit) }
        let furthest = max(
            way.proven, Position(max(found.edgeSize, live?.size ?? 0)), known?.position ?? .start)
        // A store that was closed says where it ended.
        if let known, known.opening == nil, known.position == furthest { return .known(furthest) }
        return .atLeast(furthest)
    }

    private static func gaps(
        after proven: Position, _ end: Position, _ limit: Position?, _ found: FoundRecords,
        _ file: DataPages, _ bodies: inout FoundBodies
    ) -> [Gap] {
        var gaps: [Gap] = []
        func add(_ first: Position, _ last: Position, _ reason: Gap.Reason) {
            guard first <= last else { return }
            if let before = gaps.last, before.reason == reason, before.last.next == first {
                gaps[gaps.count - 1].last = last
            } else {
                gaps.append(Gap(first: first, last: last, reason: reason))
            }
        }
        // Without an end, frames far behind tell of nothing but a damaged key.
        let bound = limit ?? max(end, Position(UInt64(found.frames.count)))
        var next = proven.next
        var index = found.frameIndex(next)
        while index < found.frames.count, found.frames[index].position <= bound {
            let position = found.frames[index].position
            add(next, Position(position.rawValue - 1), .missing)
            var reason = Gap.Reason.missing
            while index < found.frames.count, found.frames[index].position == position {
                if found.frames[index].isAsFound, reason != .unproven,
                    let frame = frame(index, of: found, file)
                {
                    reason = bodies.missing(of: frame).map { .body($0) } ?? .unproven
                }
                index += 1
            }
            add(position, position, reason)
            next = position.next
        }
        add(next, end, .missing)
        return gaps
    }
}
