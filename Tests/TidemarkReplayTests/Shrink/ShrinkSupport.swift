// ShrinkSupport.swift — histories to look for mistakes in: edits, pushes, pulls and runs as a
// device and a server might bring them about, from a seed.

import Foundation
import TestSupport
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkReplay
import TidemarkViews

@testable import CapsuleSupport

/// A store in a folder of its own, which goes with it.
final class HistoryStore {
    let journal: Journal
    private let folder: URL

    init(_ policy: ConflictPolicy = .serverWins) throws {
        folder = FileManager.default.temporaryDirectory.appending(
            path: "tidemark-history-\(UUID().uuidString)")
        journal = try Journal.open(at: folder.path, create: true)
        let collections = ["lists", "tasks"].map {
            CollectionModel(CollectionName($0), conflict: policy)
        }
        let model = ModelRegistration(model: SyncModel(name: "test", collections: collections))
        try commit(
            Event(.storeOpened, recordedAt: Timestamp(rawValue: 1), json: Array("{}".utf8)),
            Event(.modelRegistered, recordedAt: Timestamp(rawValue: 1), json: model.encoded))
    }

    deinit {
        try? journal.close()
        try? FileManager.default.removeItem(at: folder)
    }

    /// A folder within the store's, which goes with it.
    func scratch(_ name: String) -> String { folder.path + "/" + name }

    @discardableResult
    func commit(_ events: Event...) throws -> Position {
        try journal.write(at: Timestamp(rawValue: 1)) { draft in
            var last = Position.start
            for event in events { last = try draft.append(event) }
            return last
        }
    }

    func capsule(last: UInt64? = nil) throws -> Capsule {
        try Capsule(
            of: journal, last: last, build: "test", scratch: scratch("past-\(last ?? 0)"))
    }
}

extension Event {
    /// An event about an entity.
    static func of(
        _ kind: EventKind, _ key: EntityKey, _ json: String? = nil, call: Position? = nil,
        mutation: Position? = nil, asOf: Position? = nil
    ) -> Event {
        Event(
            kind, recordedAt: Timestamp(rawValue: 2), key: key, mutation: mutation, call: call,
            asOf: asOf, json: json.map { Array($0.utf8) })
    }
}

extension EntityKey {
    static func task(_ id: String) -> EntityKey { EntityKey("tasks", id) }
}

/// Writes a history step by step; nothing is in it that could not happen.
struct HistoryMaker {
    private struct Call {
        var key: EntityKey
        var position: Position
        var covers: Position
        var document: [UInt8]?
    }

    private var random: SplitMix64
    private var calls: [Call] = []
    private var run: Position?
    private let keys: [EntityKey]

    init(seed: UInt64, entities: Int = 8) {
        random = SplitMix64(seed: seed)
        keys = (0..<entities).map { EntityKey($0 % 3 == 0 ? "lists" : "tasks", "e\($0)") }
    }

    /// Writes some commits.
    mutating func write(_ count: Int, to store: HistoryStore) throws {
        for number in 0..<count {
            let before = self
            let steps = 1 + random.below(3)
            self = try store.journal.write(at: Timestamp(rawValue: Int64(number + 2))) { draft in
                var maker = before
                maker.random = SplitMix64(seed: maker.random.next())
                for _ in 0..<steps { try maker.step(draft) }
                return maker
            }
        }
    }

    private mutating func step(_ draft: Draft) throws {
        let key = random.pick(keys)
        switch random.below(10) {
        case 0...3: try edit(key, draft)
        case 4...5: try send(key, draft)
        case 6...7: try answer(draft)
        case 8: try pull(draft)
        default: try sync(draft)
        }
    }

    private func document(_ key: EntityKey, _ number: Int) -> [UInt8] {
        Array(#"{"id":"\#(key.id)","n":\#(number),"title":"title \#(number)"}"#.utf8)
    }

    private func event(
        _ kind: EventKind, _ key: EntityKey? = nil, _ draft: Draft, json: [UInt8]? = nil
    ) -> Event {
        Event(kind, recordedAt: draft.now, key: key, sync: run, json: json)
    }

    private mutating func edit(_ key: EntityKey, _ draft: Draft) throws {
        let row = try draft.fold.entity(key)
        let number = random.below(4)
        var event = event(.localCreated, key, draft, json: document(key, number))
        event.sync = nil
        if row.content != nil {
            if random.once(in: 6) {
                event = Event(.localDeleted, recordedAt: draft.now, key: key)
            } else {
                event.kind = .localUpdated
                event.payload = Array(#"{"set":{"n":\#(number)},"unset":[]}"#.utf8)
            }
        } else if row.status == .deleted {
            return
        }
        try draft.append(event)
    }

    private mutating func send(_ key: EntityKey, _ draft: Draft) throws {
        let row = try draft.fold.entity(key)
        guard row.attempt == nil, row.status != .error, let last = row.pending.last else { return }
        let covers = row.pending.map { "\($0.position.rawValue)" }.joined(separator: ",")
        var sent = event(
            .requestSent, key, draft, json: Array(#"{"method":"PUT","covers":[\#(covers)]}"#.utf8))
        sent.mutation = last.position
        sent.asOf = Position(draft.nextPosition.rawValue - 1)
        calls.append(
            Call(
                key: key, position: try draft.append(sent), covers: last.position,
                document: row.document))
    }

    private mutating func answer(_ draft: Draft) throws {
        guard !calls.isEmpty else { return }
        let call = calls.remove(at: random.below(calls.count))
        guard try draft.fold.entity(call.key).attempt?.call == call.position else { return }
        func append(_ kind: EventKind, _ json: String?, _ change: (inout Event) -> Void) throws {
            var event = event(kind, call.key, draft, json: json.map { Array($0.utf8) })
            event.call = call.position
            change(&event)
            try draft.append(event)
        }
        switch random.below(4) {
        case 0, 1:
            try append(.requestAnswered, #"{"status":200}"#) { _ in }
            try append(.pushAccepted, nil) { $0.mutation = call.covers }
        case 2:
            try append(.requestAnswered, #"{"status":400}"#) { _ in }
            try append(.pushRejected, #"{"status":400,"message":"no"}"#) {
                $0.mutation = call.covers
            }
        default:
            try append(.requestFailed, #"{"error":"offline","mayHaveArrived":false}"#) { _ in }
        }
    }

    private mutating func pull(_ draft: Draft) throws {
        let asOf = Position(draft.nextPosition.rawValue - 1)
        var sent = event(.requestSent, nil, draft, json: Array(#"{"method":"GET"}"#.utf8))
        sent.asOf = asOf
        let call = try draft.append(sent)
        var answered = event(.requestAnswered, nil, draft, json: Array(#"{"status":200}"#.utf8))
        answered.call = call
        try draft.append(answered)
        var (ids, places): ([String], [String]) = ([], [])
        let tasks = keys.filter { $0.collection == "tasks" }
        for key in Set((0..<random.below(4)).map { _ in random.pick(tasks) }).sorted() {
            var said = event(.serverUpserted, key, draft, json: document(key, random.below(9)))
            if random.once(in: 8) { said = event(.serverDeleted, key, draft) }
            said.call = call
            said.asOf = asOf
            ids.append("\"\(key.id)\"")
            places.append("\(try draft.append(said).rawValue)")
        }
        let json =
            #"{"scope":"","ids":[\#(ids.joined(separator: ","))],"#
            + #""at":[\#(places.joined(separator: ","))]}"#
        var page = event(.pullPage, nil, draft, json: Array(json.utf8))
        page.collection = "tasks"
        page.call = call
        if !ids.isEmpty { try draft.append(page) }
    }

    private mutating func sync(_ draft: Draft) throws {
        if run == nil {
            run = try draft.append(
                Event(
                    .syncStarted, recordedAt: draft.now, json: Array(#"{"trigger":"user"}"#.utf8)))
        } else {
            try draft.append(
                event(.syncFinished, nil, draft, json: Array(#"{"outcome":"synced"}"#.utf8)))
            run = nil
        }
    }
}

/// What is wrong with a history, found out another way than the rules do it: by names alone.
func contradictions(in capsule: Capsule, of whole: Capsule) -> [String] {
    let all = Set(whole.commits.flatMap(\.entries).map(\.position))
    var known: Set<Position> = []
    var answered: Set<Position> = []
    var found: [String] = []
    for entry in capsule.commits.flatMap(\.entries) {
        let event = entry.event
        func expect(_ isSo: Bool, _ what: String) {
            if !isSo { found.append("\(entry.position) \(event.kind): \(what)") }
        }
        for name in [event.cause, event.call, event.mutation, event.sync].compactMap(\.self) {
            expect(known.contains(name) || !all.contains(name), "\(name) is missing")
        }
        let document = try? JSONValue(parsing: event.payload)
        for name in (document?["covers"]?.array ?? []) + (document?["at"]?.array ?? []) {
            guard let number = name.int64Value else { continue }
            let name = Position(UInt64(number))
            expect(known.contains(name) || !all.contains(name), "\(name) is missing")
        }
        if [.pushAccepted, .pushRejected].contains(event.kind) {
            expect(event.call.map { answered.contains($0) } ?? true, "there is no answer")
        }
        if event.kind == .requestAnswered, let call = event.call { answered.insert(call) }
        if event.kind == .localUpdated || event.kind == .localDeleted {
            let isMade = capsule.commits.flatMap(\.entries).contains {
                $0.position < entry.position && $0.event.key == event.key
                    && [.localCreated, .serverUpserted].contains($0.event.kind)
            }
            let isBased = event.key.map { key in
                capsule.base.rows.contains { $0.key == .entity(key) }
            }
            expect(isMade || isBased == true, "there is no \(event.key.map { "\($0)" } ?? "")")
        }
        known.insert(entry.position)
    }
    return found
}
