// ModelServerTests.swift — every policy against a model of a server: whatever happens on both
// sides, they are equal in the end, and every mutation has exactly one outcome.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import RulesSupport
@testable import ViewsSupport

/// A device of one entity, and a server that it is pulled from and pushed to.
private struct ModelServer {
    let fold = MemoryFold()
    let policy: ConflictPolicy
    var random: SplitMix64
    var document: [UInt8]?
    var revision = 0
    /// How often the device was asked by a conflict, and how often a rule answered.
    var answers = 0
    let key = EntityKey("tasks", "1")

    init(_ policy: ConflictPolicy, _ random: SplitMix64) throws {
        self.policy = policy
        self.random = random
        try fold.apply([.model(policy)])
    }

    var row: EntityRow { get throws { try fold.entity(key) ?? EntityRow() } }

    private mutating func fields() -> String {
        let members = ["a", "b", "c"].filter { _ in !random.once(in: 3) }
            .map { "\"\($0)\":\(random.below(3))" }
        return (["\"id\":\"1\""] + members).joined(separator: ",")
    }

    private mutating func set(_ body: [UInt8]?) {
        revision += 1
        document = body.map { bytes in
            guard let document = try? JSONDocument(parsing: bytes) else { return bytes }
            return document.applying(
                set: [(key: "last_modified", value: Array("\(revision)".utf8))], unset: [])
        }
    }

    mutating func changeThere() {
        set(random.once(in: 5) ? nil : Array("{\(fields())}".utf8))
    }

    mutating func editHere() throws {
        let row = try row
        var event: Event
        if let bytes = row.document {
            let patch = Patch(
                from: try JSONDocument(parsing: bytes),
                to: try JSONDocument(parsing: Array("{\(fields())}".utf8)),
                except: ["id", "last_modified"])
            if patch.isEmpty { return }
            event = .about(.localUpdated, "tasks/1")
            event.payload = patch.encoded
            event.payloadType = .json
            if random.once(in: 5) { event = .about(.localDeleted, "tasks/1") }
        } else {
            event = .about(.localCreated, "tasks/1", "{\(fields())}")
        }
        if random.once(in: 2) { event.serverTime = Timestamp(microseconds: 1 + Int64(revision)) }
        try fold.apply([event])
    }

    /// The device hears what the server has, as of now; a rule is asked first, if there is one.
    mutating func say() throws {
        guard revision > 0 else { return }
        var word = Event.about(
            document == nil ? .serverDeleted : .serverUpserted, "tasks/1",
            asOf: fold.last.rawValue, revision: "\(revision)")
        if let document { (word.payload, word.payloadType) = (document, .json) }
        if try fold.fold.conflict(word, at: fold.last.next) != nil {
            let answer = [
                #""server""#, #""local""#, #"{"document":{"id":"1","m":\#(random.below(3))}}"#,
            ]
            let json = random.pick(answer)
            try fold.apply([
                .about(.ruleAnswered, "tasks/1", #"{"version":1,"answer":\#(json)}"#)
            ])
            word.cause = fold.last
            answers += 1
        }
        try fold.apply([word])
    }

    /// Sends what is pending; its answer may be lost.
    mutating func push() throws {
        let row = try row
        guard row.status != .error, let covers = row.pending.last?.position.rawValue,
            let write = try PushWrite(
                row.changes, on: row.baseValue, revision: row.revision, id: "1",
                collection: CollectionModel("tasks", lastChangeField: "last_modified"))
        else { return }
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: covers)])
        let call = fold.last.rawValue
        let isTaken: Bool
        switch write {
        case .create(let body):
            isTaken = document == nil
            if isTaken { set(body) }
        case .update(let body, _, let known):
            isTaken = document != nil && known == Revision("\(revision)")
            if isTaken { set(body) }
        case .delete(let known):
            isTaken = document != nil && known == Revision("\(revision)")
            if isTaken { set(nil) }
        }
        if random.once(in: 4) {
            // Asked after, and found as it is.
            try fold.apply([
                .about(
                    .requestAnswered, "tasks/1",
                    "{\"status\":\(document == nil ? 404 : 200)}", cause: call)
            ])
            return try say()
        }
        guard isTaken else {
            try fold.apply([.about(.requestAnswered, "tasks/1", #"{"status":412}"#, call: call)])
            return try say()
        }
        var word = Event.about(
            document == nil ? .serverDeleted : .serverUpserted, "tasks/1", mutation: covers,
            call: call, asOf: call, revision: "\(revision)")
        if let document { (word.payload, word.payloadType) = (document, .json) }
        try fold.apply([
            .about(
                .pushAccepted, "tasks/1", mutation: covers, call: call, revision: "\(revision)"),
            word,
        ])
    }

    /// The server refuses what is pending.
    mutating func refuse() throws {
        guard let covers = try row.pending.last?.position.rawValue, try row.status != .error else {
            return
        }
        try fold.apply([.about(.requestSent, "tasks/1", "{}", mutation: covers)])
        let call = fold.last.rawValue
        try fold.apply([
            .about(.requestAnswered, "tasks/1", #"{"status":400}"#, call: call),
            .about(
                .pushRejected, "tasks/1", #"{"status":400}"#, mutation: covers, call: call),
        ])
    }
}

@Suite struct `every policy against a server` {
    @Test(.enabled(if: TestRun.isWhole), arguments: ConflictPolicy.examples)
    func `ends with both sides equal and one outcome for each mutation`(
        _ policy: ConflictPolicy
    ) throws {
        let seed: UInt64 = 0x5EED_0601
        var outcomes: Set<MutationOutcome> = []
        var answers = 0
        for round in 0..<400 {
            let place: Comment = "seed \(seed), round \(round), \(policy)"
            var server = try ModelServer(policy, SplitMix64(seed: seed + UInt64(round)))
            for _ in 0..<12 {
                switch server.random.below(9) {
                case 0...3: try server.editHere()
                case 4, 5: server.changeThere()
                case 6: try server.say()
                case 7: try server.push()
                default: try server.refuse()
                }
            }
            if try server.row.status == .error {
                try server.fold.apply([.about(.localRetried, "tasks/1")])
            }
            for _ in 0..<6 {
                try server.say()
                try server.push()
            }

            let row = try server.row
            #expect(row.pending == [] && row.attempt == nil && row.refusal == nil, place)
            #expect(text(row.document) == text(server.document), place)
            for position in 1...server.fold.last.rawValue {
                guard let mutation = try server.fold.mutation(position) else { continue }
                #expect(mutation.outcome != nil && mutation.proof != nil, place)
                if let outcome = mutation.outcome { outcomes.insert(outcome) }
            }
            answers += server.answers
        }
        #expect(
            outcomes.isSuperset(of: [.accepted, .superseded, .coalesced, .annihilated])
                || policy == .localWins || policy == .mergeFields(.localWins))
        #expect((answers > 0) == (policy == .custom("rule")))
    }
}
