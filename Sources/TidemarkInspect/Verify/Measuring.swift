// Measuring.swift — entry points for Tools/Benchmarks, a package of its own that sees only public
// API.

@_spi(Measuring) public import Tidemark
package import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkSync
import TidemarkViews

/// Functions that the benchmarks call and no app does.
@_spi(Measuring) public enum Measuring {
    /// Appends one commit to the log alone, with events that no view reads; their payloads must be
    /// JSON.
    public static func append(_ payloads: [[UInt8]], to replica: Replica) throws {
        let journal = replica.journal
        let now = replica.dependencies.now()
        try journal.environment.write { transaction in
            var edge = try journal.log.edge(transaction)
            let events = payloads.map { Event(.serverDescribed, recordedAt: now, json: $0) }
            _ = try journal.log.append(events, views: [], edge: &edge, transaction)
        }
    }

    /// How many bytes of kept answers a store has beside its log.
    public static func keptBytes(of replica: Replica) -> Int {
        let journal = replica.journal
        let bytes = try? journal.environment.read { transaction in
            let kept = journal.log.kept
            return try kept.runs(transaction).reduce(0) { sum, run in
                guard try !kept.hasTooMuch(run, transaction) else { return sum }
                return try sum + Int(clamping: kept.bytes(of: run, transaction) ?? 0)
            }
        }
        return bytes ?? 0
    }

    /// How many commits and events the log has, and the bytes of their frames.
    public static func log(
        of replica: Replica
    ) throws -> (commits: Int, events: Int, bytes: Int) {
        let stats = try replica.journal.stats()
        return (stats.commits, stats.events, stats.logBytes)
    }

    /// Finds what is to be pushed next, as many entities as a sync run looks for at a time; returns
    /// how many it found and how many are left.
    public static func nextToPush(_ replica: Replica) throws -> (found: Int, left: Int) {
        try replica.journal.read { views in
            var queue = try PushQueue(views, try views.model())
            let found = try queue.next(upTo: PushPlanner.candidatesAtOnce, views)
            return (found.count, queue.left)
        }
    }

    /// Does what is done at the end of a sync run, while the caller waits.
    public static func tidy(_ replica: Replica) {
        replica.journal.keepTidy(at: replica.dependencies.now())
    }

    /// Looks for files that need not be kept, as often as the caller asks; returns how many went.
    public static func sweep(_ replica: Replica) throws -> Int {
        try replica.journal.sweepContents(at: replica.dependencies.now()).removed
    }

    /// How many bytes of a store's file are in use, and how many commits the oldest reader is
    /// behind.
    public static func space(of replica: Replica) throws -> (used: Int, lag: UInt64) {
        let environment = replica.journal.environment
        return (try environment.usedBytes(), try environment.info().oldestReaderLag)
    }

    /// Appends one commit of entities as a server sent them.
    public static func pull(
        _ entities: [(id: String, document: [UInt8])], of collection: CollectionName,
        into replica: Replica
    ) throws {
        try replica.journal.write(at: replica.dependencies.now()) { draft in
            for entity in entities {
                try draft.append(
                    Event(
                        .serverUpserted, recordedAt: draft.now,
                        key: EntityKey(collection, entity.id), json: entity.document))
            }
        }
    }

    /// Decodes documents as entities of a type; returns the number of entities.
    public static func decode<T: Entity>(
        _ type: T.Type, _ documents: [(id: String, document: [UInt8])]
    ) throws -> Int {
        let reader = EntityReader(type, in: CollectionModel(T.collection))
        return try documents.map { try reader.entity(EntityKey(T.collection, $0.id), $0.document) }
            .count
    }

    /// Folds the log again; returns the number of events.
    public static func rebuild(_ replica: Replica) throws -> UInt64 {
        var last = Position.start
        try replica.journal.rebuild { last = $0.last }
        return last.rawValue
    }

    /// Makes the JSON line of every event; returns the bytes of all lines.
    public static func dump(_ replica: Replica) throws -> Int {
        var bytes = 0
        _ = try replica.journal.dump(EventFilter()) { position, event in
            bytes += EventLine.json(position, event).count + 1
        }
        return bytes
    }

    /// Seals all events but the last; returns the bytes of their headers and payloads, and those of
    /// the blocks.
    public static func seal(_ replica: Replica) throws -> (bytes: Int, stored: Int) {
        let journal = replica.journal
        let stats = try journal.stats()
        let sealing = try journal.seal(keeping: 1)
        return (stats.logBytes - stats.events * EventFrame.prefixBytes, sealing?.storedBytes ?? 0)
    }

    /// The headers and payloads of the log, some hundred together, as they are sealed.
    public static func blocks(of replica: Replica) throws -> [[UInt8]] {
        let journal = replica.journal
        var blocks: [[UInt8]] = []
        var count = 0
        try journal.environment.read { transaction in
            try journal.log.forEach(transaction) { _, event in
                if count % EventLog.sealedEventsMax == 0 { blocks.append([]) }
                count += 1
                blocks[blocks.count - 1] += event.headerBytes
                blocks[blocks.count - 1] += event.payload
                return true
            }
        }
        return blocks
    }

    /// Compresses each block by itself; returns the bytes of all.
    public static func compress(_ blocks: [[UInt8]]) throws -> Int {
        try blocks.reduce(0) { try $0 + Zstd.compress($1).count }
    }

    /// Reads an event that is sealed.
    public static func event(at position: UInt64, of replica: Replica) throws {
        let journal = replica.journal
        try journal.environment.read { transaction in
            _ = try journal.log.event(at: Position(position), transaction)
        }
    }

    /// Verifies in full; returns the bytes of the log, and whether all is fine.
    public static func verify(_ replica: Replica) throws -> (bytes: UInt64, isFine: Bool) {
        let result = try replica.journal.verify()
        return (result.log.bytes, result.isFine)
    }
}
