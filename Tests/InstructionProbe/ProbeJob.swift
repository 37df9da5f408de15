// ProbeJob.swift — what is counted: a job does one thing, on a store that was made before.

import Dispatch
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
@_spi(Measuring) import TidemarkInspect
import TidemarkSync
import TidemarkViews

/// A job of the library on a fixed input.
enum ProbeJob: String, CaseIterable, Sendable {
    /// Local edits in large commits: events, rows, the outbox and an index.
    case append
    /// One local edit a commit.
    case edit
    /// The same while a thousand others observe other ranges of a field.
    case observed
    /// The log folded again into new views.
    case fold
    /// Pages that are pulled: from the bytes of the answers to commits.
    case page
    /// All events as lines of JSON.
    case dump
    /// Entities found by an index and by their ids, and decoded.
    case query
    /// What is pushed next, found in an outbox.
    case push

    /// What it works on.
    enum Store: String, CaseIterable, Sendable {
        /// A store with a model and nothing else.
        case new
        /// A store with entities of the server, some of them edited.
        case filled
    }

    var store: Store {
        switch self {
        case .append, .edit, .observed, .page: .new
        case .fold, .dump, .query, .push: .filled
        }
    }

    /// How many of its ``things`` it does.
    var count: Int {
        switch self {
        case .append, .page: 5000
        case .edit, .observed: 300
        case .fold, .dump: ProbeJob.filledEvents
        case .query: 4000
        case .push: 50
        }
    }

    /// What is counted, each of it.
    var things: String {
        switch self {
        case .append, .fold, .dump: "event"
        case .edit, .observed: "commit"
        case .page, .query: "entity"
        case .push: "look"
        }
    }

    private static let filledEntities = 3000
    private static let filledEdits = 1000
    /// With those by which the store was opened and its model registered.
    private static let filledEvents = filledEntities + filledEdits + 2

    /// Makes a store that jobs work on.
    static func make(_ store: Store, at directory: String) throws {
        let replica = try Replica.open(
            at: directory, model: ProbeInput.model, remote: ProbeInput.remote,
            dependencies: ProbeInput.dependencies())
        if store == .filled {
            for start in stride(from: 0, to: filledEntities, by: 500) {
                try replica.journal.write(at: replica.dependencies.now()) { draft in
                    for number in start..<start + 500 {
                        try draft.append(
                            Event(
                                .serverUpserted, recordedAt: draft.now,
                                key: EntityKey(ProbeInput.collection, ProbeInput.id(number)),
                                json: ProbeInput.document(number)))
                    }
                }
            }
            for start in stride(from: 0, to: filledEdits, by: 50) {
                try replica.write { tx in
                    for number in start..<start + 50 {
                        // Each third one, here and there.
                        let id = ProbeInput.id(number * 7 % filledEntities)
                        let patch = Patch(set: [
                            Patch.Field("description", Array(#""Changed \#(number)""#.utf8))
                        ])
                        try tx.patch(EntityKey(ProbeInput.collection, id), patch)
                    }
                }
            }
        }
        try replica.close()
    }

    /// Opens the store, does the job unless only the opening is counted, and leaves the store open:
    /// what a close does is no part of any.
    func run(at directory: String, doesJob: Bool) throws {
        let replica = try Replica.open(
            at: directory, model: ProbeInput.model, remote: ProbeInput.remote,
            dependencies: ProbeInput.dependencies())
        // Made in either case, as it is no part of the job.
        let edits = [.append, .edit, .observed].contains(self) ? count : 0
        let documents = (0..<edits).map { ProbeInput.document($0) }
        let server = ProbeServer(entities: self == .page ? count : 0)
        if self == .observed { try observe(replica) }
        guard doesJob else { return }
        switch self {
        case .append: try create(documents, upTo: count, atOnce: 500, replica)
        case .edit, .observed: try create(documents, upTo: count, atOnce: 1, replica)
        case .fold: try expect(Int(Measuring.rebuild(replica)), "events")
        case .page: try expect(pull(replica, server), "entities")
        case .dump: try expect(Measuring.dump(replica) > 1_000_000 ? count : 0, "events")
        case .query: try expect(query(replica), "entities")
        case .push:
            var looks = 0
            for _ in 0..<count {
                let next = try Measuring.nextToPush(replica)
                if next.found + next.left == Self.filledEdits { looks += 1 }
            }
            try expect(looks, "looks")
        }
    }

    private func create(
        _ documents: [[UInt8]], upTo count: Int, atOnce: Int, _ replica: Replica
    ) throws {
        for start in stride(from: 0, to: count, by: atOnce) {
            try replica.write { tx in
                for number in start..<start + atOnce {
                    let key = EntityKey(ProbeInput.collection, ProbeInput.id(number))
                    try tx.create(key, documents[number])
                }
            }
        }
    }

    /// Observes ranges that begin and end at many places, none of which an entry's project is in.
    private func observe(_ replica: Replica) throws {
        for number in 0..<1000 {
            let middle = number.isMultiple(of: 2) ? 1_000_000 : 3_000_000
            let query = ProbeEntry.where(
                \.project >= middle - 900 * number && \.project <= middle + 900 * number)
            let interest = try replica.journal.read { try Interest(query, $0) }
            _ = replica.journal.shared.feed.watch(interest, for: replica.journal) {}
        }
    }

    /// Pulls, while the main thread waits: valgrind can't follow one that has become a thread of
    /// Dispatch, as that of an async main function does.
    private func pull(_ replica: Replica, _ server: ProbeServer) throws -> Int {
        let engine = try SyncEngine(replica, remote: ProbeInput.remote, transport: server) {
            .bearer("a-token-of-the-probe")
        }
        let result = Mutex<Result<Int, any Error>>(.success(0))
        let isDone = DispatchSemaphore(value: 0)
        Task {
            do {
                let pulled = try await engine.sync().counts.pulled
                result.withLock { $0 = .success(pulled) }
            } catch {
                result.withLock { $0 = .failure(error) }
            }
            await engine.stop()
            isDone.signal()
        }
        isDone.wait()
        return try result.withLock { try $0.get() }
    }

    /// All, in pieces by the index's field, and each third one again by its id.
    private func query(_ replica: Replica) throws -> Int {
        try replica.read { tx in
            var found = 0
            for project in 2_000_000..<2_000_100 {
                found += try tx.all(ProbeEntry.where(\.project == project)).count
            }
            for number in stride(from: 0, to: Self.filledEntities, by: 3) {
                found += try tx.get(ProbeEntry.self, ID(ProbeInput.id(number))) == nil ? 0 : 1
            }
            return found
        }
    }

    private func expect(_ done: Int, _ what: String) throws {
        guard done == count else {
            throw ProbeFailure("\(rawValue) did \(done) \(what) instead of \(count)")
        }
    }
}

/// Why the probe can't go on.
struct ProbeFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
