// LogMaker.swift — seeded random logs: edits, sync runs, a server with a mind of its own, and, when
// asked for, events that no one should ever have written.

import TestSupport
import TidemarkEvents
import TidemarkViews

@testable import RulesSupport

/// Writes a log as a device and a server might bring it about.
struct LogMaker {
    /// A write that was sent and not answered yet.
    struct Call {
        var key: EntityKey
        var position: Position
        var covers: Position
        var document: [UInt8]?
    }

    /// What the server has of an entity.
    struct Record {
        var document: [UInt8]?
        var revision = 0
    }

    var random: SplitMix64
    /// Whether there are malformed and senseless events as well.
    let isHostile: Bool
    /// Whether there are events of kinds that only a newer version knows.
    var writesNewer = true
    private var calls: [Call] = []
    private var server: [EntityKey: Record] = [:]
    private var run: Position?
    private var hasModel = false
    /// The last event by which everything here was dropped, but for the lists.
    private var wiped = Position.start
    private let keys = ["lists/1", "lists/2", "tasks/1", "tasks/2", "tasks/a/b", "other/é"]
        .compactMap { EntityKey($0) }

    init(seed: UInt64, isHostile: Bool) {
        random = SplitMix64(seed: seed)
        self.isHostile = isHostile
    }

    /// Writes about `count` events in commits of random sizes.
    mutating func write(about count: Int, to journal: Journal) throws {
        if !hasModel {
            hasModel = true
            var random = random
            let rules = random.pick(Self.rules)
            let model = Event.model(
                random.pick(ConflictPolicy.examples), rivals: rules.0, choices: rules.1)
            _ = try journal.write(at: Timestamp(rawValue: 1)) { draft in try draft.append(model) }
        }
        var written = 0
        while written < count {
            let steps = 1 + random.below(random.once(in: 3) ? 12 : 3)
            // Taken out and put back: a write may begin anew.
            let before = self
            let (after, added) = try journal.write(at: Timestamp(rawValue: Int64(written + 1))) {
                draft in
                var maker = before
                for _ in 0..<steps { try maker.step(draft) }
                return (maker, draft.events.count)
            }
            self = after
            written += max(1, added)
        }
    }

    mutating func step(_ draft: Draft) throws {
        if isHostile, random.once(in: 4) { return try nonsense(draft) }
        let key = random.pick(keys)
        switch random.below(53) / 2 {
        case 0...4: try edit(key, draft)
        case 5: try giveUpOrRetry(key, draft)
        case 6...10: try send(key, draft)
        case 11...16: try answer(draft)
        case 17: try readBack(key, draft)
        case 18...20: try pull(draft)
        case 21: changeOnServer(key)
        case 22: try sync(draft)
        case 24: try wipe(draft)
        case 25, 26: try relay(key, draft)
        default: try registerOrElse(draft)
        }
    }

    // MARK: The user

    private mutating func edit(_ key: EntityKey, _ draft: Draft) throws {
        let row = try draft.fold.entity(key)
        // What is not here can't be edited.
        if row.isPlaceholder, !isHostile { return }
        guard let document = row.document else {
            try append(.localCreated, key, fields(key), draft)
            return
        }
        if random.once(in: 5) {
            try append(.localDeleted, key, nil, draft)
        } else {
            let patch = Patch(
                from: try JSONDocument(parsing: document),
                to: try JSONDocument(parsing: fields(key)), except: ["id", "last_modified"])
            if !patch.isEmpty { try append(.localUpdated, key, patch.encoded, draft) }
        }
    }

    private mutating func giveUpOrRetry(_ key: EntityKey, _ draft: Draft) throws {
        let row = try draft.fold.entity(key)
        if row.status == .error, random.once(in: 2) {
            try append(.localRetried, key, nil, draft)
        } else if !row.pending.isEmpty {
            try append(.localDiscarded, key, nil, draft)
        }
    }

    private mutating func relay(_ key: EntityKey, _ draft: Draft) throws {
        let pending = try draft.fold.entity(key).pending
        guard !pending.isEmpty else { return }
        let relay = PushRelayed(via: nil, isConfirmed: random.once(in: 2))
        try draft.append(
            Event(
                .pushRelayed, recordedAt: draft.now, key: key,
                mutation: random.pick(pending).position, json: relay.encoded))
    }

    private mutating func wipe(_ draft: Draft) throws {
        let kept: [CollectionName] = random.once(in: 2) ? ["lists"] : []
        wiped = try draft.append(
            Event(
                .localWiped, recordedAt: draft.now, json: LocalWiped(keeping: kept).encoded))
    }

    // MARK: Writes to the server

    private mutating func send(_ key: EntityKey, _ draft: Draft) throws {
        let row = try draft.fold.entity(key)
        guard row.attempt == nil, row.status != .error, let last = row.pending.last else { return }
        var event = Event(
            .requestSent, recordedAt: draft.now, key: key, sync: run, mutation: last.position,
            asOf: Position(draft.nextPosition.rawValue - 1), json: Array(#"{"method":"PUT"}"#.utf8))
        event.sync = run
        let position = try draft.append(event)
        calls.append(
            Call(key: key, position: position, covers: last.position, document: row.document))
    }

    private mutating func answer(_ draft: Draft) throws {
        guard !calls.isEmpty else { return }
        let call = calls.remove(at: random.below(calls.count))
        // A later call of the same entity makes this one history.
        let attempt = try draft.fold.entity(call.key).attempt
        // So does a wipe, but of that the server knows nothing.
        guard attempt?.call == call.position || attempt == nil && call.position < wiped else {
            return
        }
        switch random.below(10) {
        case 0...3:
            take(call)
            try answered(call, 200, draft)
            var accepted = event(.pushAccepted, call, draft)
            accepted.mutation = call.covers
            accepted.revision = revision(call.key)
            if call.position.rawValue.isMultiple(of: 5) {
                accepted.payload = Array(
                    #"{"issues":[{"severity":"warning","code":"W1","message":"odd"}]}"#.utf8)
            }
            try draft.append(accepted)
            try says(call.key, asOf: call.position, call, draft) { $0.mutation = call.covers }
        case 4:
            try answered(call, 412, draft)
            try says(call.key, asOf: call.position, call, draft)
        case 5:
            try answered(call, 400, draft)
            var rejected = event(.pushRejected, call, draft)
            rejected.mutation = call.covers
            rejected.payload = Array(
                call.position.rawValue.isMultiple(of: 3)
                    ? #"{"status":400,"message":"no","issues":[{"message":"no"}]}"#.utf8
                    : #"{"status":400,"message":"no"}"#.utf8)
            try draft.append(rejected)
        case 6:
            if random.once(in: 2) { take(call) }
            try answered(call, random.pick([500, 502]), draft)
        case 7:
            try answered(call, random.pick([429, 503]), draft, #","retryAfter":7"#)
        case 8:
            if random.once(in: 2) { take(call) }
            try failed(call, mayHaveArrived: true, draft)
        default: try failed(call, mayHaveArrived: false, draft)
        }
    }

    /// An attempt without a known outcome is asked after.
    private mutating func readBack(_ key: EntityKey, _ draft: Draft) throws {
        guard let attempt = try draft.fold.entity(key).attempt else { return }
        calls.removeAll { $0.position == attempt.call }
        let asOf = Position(draft.nextPosition.rawValue - 1)
        let sent = try draft.append(
            Event(.requestSent, recordedAt: draft.now, key: key, sync: run, asOf: asOf))
        let isThere = server[key]?.document != nil
        try draft.append(
            Event(
                .requestAnswered, recordedAt: draft.now, key: key, cause: attempt.call, sync: run,
                call: sent, json: Array("{\"status\":\(isThere ? 200 : 404)}".utf8)))
        let row = try draft.fold.entity(key)
        if isThere || row.baseState == .live { try says(key, asOf: asOf, nil, draft) }
    }

    private func event(_ kind: EventKind, _ call: Call, _ draft: Draft) -> Event {
        Event(kind, recordedAt: draft.now, key: call.key, sync: run, call: call.position)
    }

    private func answered(
        _ call: Call, _ status: Int, _ draft: Draft, _ more: String = ""
    ) throws {
        var event = event(.requestAnswered, call, draft)
        let date = "Sat, 21 Nov 2026 12:05:4\(call.position.rawValue % 10) GMT"
        event.payload = Array(
            "{\"status\":\(status),\"Date\":\"\(date)\",\"uptime\":9\(more)}".utf8)
        try draft.append(event)
    }

    private func failed(_ call: Call, mayHaveArrived: Bool, _ draft: Draft) throws {
        var event = event(.requestFailed, call, draft)
        event.payload = Array("{\"error\":\"offline\",\"mayHaveArrived\":\(mayHaveArrived)}".utf8)
        try draft.append(event)
    }
}

// MARK: - The server

extension LogMaker {
    private mutating func take(_ call: Call) { store(call.document, call.key) }

    private mutating func store(_ document: [UInt8]?, _ key: EntityKey) {
        var record = server[key] ?? Record()
        record.document = document
        record.revision += 1
        server[key] = record
    }

    private mutating func changeOnServer(_ key: EntityKey) {
        store(random.once(in: 4) ? nil : fields(key), key)
    }

    private func revision(_ key: EntityKey) -> Revision {
        Revision("\(server[key]?.revision ?? 0)")
    }

    private func says(
        _ key: EntityKey, asOf: Position, _ call: Call?, _ draft: Draft,
        _ change: (inout Event) -> Void = { _ in }
    ) throws {
        let document = server[key]?.document
        var event = Event(
            document == nil ? .serverDeleted : .serverUpserted, recordedAt: draft.now, key: key,
            sync: run, call: call?.position, asOf: asOf, revision: revision(key), json: document)
        change(&event)
        // Where a rule of the app is to decide, it did.
        if try draft.fold.conflict(event, at: draft.nextPosition) != nil {
            let answers = [
                #""server""#, #""local""#, #"{"document":{"a":7,"m":1}}"#,
                String(decoding: document ?? Array("null".utf8), as: UTF8.self),
            ]
            let answer = answers[Int(draft.nextPosition.rawValue) % answers.count]
            event.cause = try draft.append(
                Event(
                    .ruleAnswered, recordedAt: draft.now, key: key, sync: run,
                    json: Array("{\"rule\":\"rule\",\"version\":2,\"answer\":\(answer)}".utf8)))
        }
        try draft.append(event)
    }

    private mutating func pull(_ draft: Draft) throws {
        let last = draft.nextPosition.rawValue - 1
        // A page that was long under way.
        let age = random.once(in: 4) ? UInt64(random.below(20)) : 0
        let asOf = Position(last - min(last, age))
        var tasks: [String] = []
        for key in keys where server[key] != nil && random.once(in: 2) {
            try says(key, asOf: asOf, nil, draft)
            if key.collection == "tasks" { tasks.append("\"\(key.id)\"") }
        }
        if !tasks.isEmpty { try page("tasks", "", tasks, tasks.map { _ in #""=""# }, draft) }
        if random.once(in: 4) {
            try page("lists", "refetch", [#""1""#, #""9""#], [#""=""#, #""absent""#], draft)
        }
        if last % 5 == 0 {
            let part = try draft.append(
                Event(
                    .serverUpserted, recordedAt: draft.now, key: EntityKey("lists", "part"),
                    sync: run, json: Array(#"{"id":"part"}"#.utf8)))
            try page("lists", "refetch", [#""part""#], ["\(part.rawValue)"], draft, isPartial: true)
        }
        if last % 3 == 0 {
            try draft.append(
                Event(
                    .pullPage, recordedAt: draft.now, collection: last % 2 == 0 ? "lists" : "tasks",
                    sync: run))
        }
        if random.once(in: 2) {
            try draft.append(
                Event(
                    .pullCompleted, recordedAt: draft.now, collection: "tasks", sync: run,
                    revision: Revision("\(random.below(100))")))
        }
    }

    private func page(
        _ collection: CollectionName, _ scope: String, _ ids: [String], _ places: [String],
        _ draft: Draft, isPartial: Bool = false
    ) throws {
        let payload =
            "{\"scope\":\"\(scope)\",\"ids\":[\(ids.joined(separator: ","))],"
            + "\"at\":[\(places.joined(separator: ","))]\(isPartial ? ",\"partial\":true" : "")}"
        try draft.append(
            Event(
                .pullPage, recordedAt: draft.now, collection: collection, sync: run,
                json: Array(payload.utf8)))
    }

    private mutating func sync(_ draft: Draft) throws {
        let kind: EventKind = run == nil ? .syncStarted : .syncFinished
        let position = try draft.append(
            Event(
                kind, recordedAt: draft.now, sync: run,
                json: Array(#"{"begunAt":5,"bootID":"a","uptime":3}"#.utf8)))
        run = run == nil ? position : nil
    }

    private static let rules: [(RivalRule?, [ChoiceRule])] = [
        (nil, []), (RivalRule(whileNull: "c", start: "b"), []),
        (
            RivalRule(whileNull: "c", start: "b", among: ["a"], stop: .nextStartNotOlder),
            [ChoiceRule("a", of: "tasks", missing: "noTask")]
        ),
        (nil, [ChoiceRule("a", of: "tasks", missing: "noTask")]),
    ]

    private static let indexes: [[IndexModel]] = [[], [["a"]], [["a"], ["b", "c"]]]

    private mutating func registerOrElse(_ draft: Draft) throws {
        switch random.below(3) {
        case 0:
            let indexes = Self.indexes[Int(draft.nextPosition.rawValue % 3)]
            let rules = Self.rules[Int(draft.nextPosition.rawValue / 3 % 4)]
            try draft.append(
                .model(
                    random.pick(ConflictPolicy.examples), indexes, hasPlaceholders: true,
                    rivals: rules.0, choices: rules.1))
        case 1:
            guard writesNewer else { return }
            try draft.append(Event(EventKind(rawValue: 9_000), recordedAt: draft.now, json: []))
        default: try draft.append(Event(.storeOpened, recordedAt: draft.now, json: []))
        }
    }
}

// MARK: - Payloads and nonsense

extension LogMaker {
    private mutating func fields(_ key: EntityKey) -> [UInt8] {
        var members = ["\"id\":\"\(key.id)\""]
        for field in ["a", "b", "c"] where !random.once(in: 3) {
            // Often enough two that may not be null together are, with a time that is known.
            let value = random.below(3)
            let text = field == "c" && value < 2 ? "null" : "\(field == "b" ? value + 1 : value)"
            members.append("\"\(field)\":\(text)")
        }
        if key.collection == "tasks" { members.append("\"list\":\"\(random.pick([1, 2, 9]))\"") }
        return Array("{\(members.joined(separator: ","))}".utf8)
    }

    private func append(
        _ kind: EventKind, _ key: EntityKey, _ json: [UInt8]?, _ draft: Draft
    ) throws {
        var event = Event(kind, recordedAt: draft.now, key: key, json: json)
        let now = try draft.fold.serverNow(draft.now, bootID: "a", uptime: 10)
        if draft.nextPosition.rawValue % 2 == 0 { event.serverTime = now }
        try draft.append(event)
    }

    private static let payloads = [
        "", "{", "[]", "null", "{}", #"{"a":1}"#, #"{"set":{"a":2},"unset":["b"]}"#,
        #"{"set":1}"#, #"{"set":{},"unset":[]}"#, #"{"status":404}"#, #"{"status":"x"}"#,
        #"{"status":412,"retryAfter":-9223372036854775808}"#, #"{"mayHaveArrived":false}"#,
        #"{"serverID":"tasks"}"#, #"{"serverID":"1"}"#, #"{"serverID":""}"#, #"{"a":1,"a":2}"#,
        #"{"scope":"refetch","ids":["1","a/b"],"at":["absent"]}"#, #"{"ids":["2",7],"at":7}"#,
        #"{"list":["9","","1"]}"#, #"{"answer":"local"}"#, #"{"keeps":["tasks","tasks"]}"#,
        #"{"version":-1,"answer":{"document":{"a":1}}}"#,
        #"{"begunAt":-9223372036854775808,"bootID":"","uptime":9223372036854775807}"#,
        #"{"status":200,"Date":"Sat, 21 Nov 2026 12:05:44 GMT","uptime":-9223372036854775808}"#,
    ]

    /// An event of any kind, about anything, with references to anywhere.
    private mutating func nonsense(_ draft: Draft) throws {
        let last = draft.nextPosition.rawValue
        func somewhere() -> Position? {
            random.once(in: 3) ? nil : Position(UInt64(random.below(Int(last) + 3)))
        }
        var event = Event(random.pick(EventKind.all), recordedAt: draft.now)
        if !random.once(in: 8) {
            let key = random.pick(keys)
            event.collection = random.once(in: 12) ? "" : key.collection
            event.entity = random.once(in: 12) ? "" : key.id
        }
        event.cause = somewhere()
        event.sync = somewhere()
        event.mutation = somewhere()
        event.call = somewhere()
        event.asOf = somewhere()
        event.serverTime = random.once(in: 2) ? nil : Timestamp(rawValue: Int64(random.below(3)))
        event.revision =
            random.once(in: 2) ? nil : Revision(rawValue: random.once(in: 3) ? [] : [0xFF])
        event.payload =
            random.once(in: 6) ? [0xC3, 0x28] : Array(random.pick(Self.payloads).utf8)
        if !writesNewer, event.isOfNewerVersion { return }
        try draft.append(event)
    }
}
