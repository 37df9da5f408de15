// KeyedListWriteTests.swift — what an app writes into lists whose elements are told by keys.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Survey: Entity, Equatable {
    static let collection: CollectionName = "surveys"

    struct Answer: Codable, Equatable, Sendable {
        var question: String
        var text: String?
    }

    let id: Tidemark.ID<Survey>
    var title: String?
    var answers: [Answer]?
}

private let model = SyncModel(
    name: "surveys",
    collections: [CollectionModel("surveys", keyed: [KeyedList("answers", by: "question")])])

private let key = EntityKey("surveys", "s1")

private let server =
    #"{"id":"s1","answers":[ {"question":"q1","text":"a", "by":7},{"question":"q2","text":"b"} ]}"#

extension Replica {
    /// The last event, as its payload and its shape.
    fileprivate var last: String {
        get throws {
            let position = try position
            let event = try #require(try journal.read { try $0.event(at: position) })
            return "\(event.schemaVersion) " + String(decoding: event.payload, as: UTF8.self)
        }
    }

    fileprivate func put(_ json: String) throws {
        try write { tx in _ = try tx.put(key, Array(json.utf8)) }
    }

    fileprivate func patch(_ patch: Patch) throws {
        try write { tx in _ = try tx.patch(key, patch) }
    }
}

private func field(_ name: String, _ json: String) -> Patch.Field {
    Patch.Field(name, Array(json.utf8))
}

@Suite struct `what an app writes into keyed lists` {
    @Test func `as a whole document changes the elements that differ`() throws {
        try withReplica(model) { replica in
            try replica.put(server)
            try replica.put(
                #"{"id":"s1","answers":[{"question":"q3"},{"question":"q1","text":"A","by":7}]}"#)

            #expect(
                try replica.last
                    == #"1 {"set":{"/answers/q3":{"question":"q3"},"/answers/q1":"#
                    + #"{"question":"q1","text":"A","by":7}},"unset":["/answers/q2"]}"#)
            #expect(
                try replica.text(key)
                    == #"{"id":"s1","answers":[{"question":"q1","text":"A","by":7},"#
                    + #"{"question":"q3"}]}"#)
        }
    }

    @Test func `as a whole list changes the same, and nothing where only the order differs`() throws
    {
        try withReplica(model) { replica in
            try replica.put(server)
            let before = try replica.position
            try replica.patch(
                Patch(set: [
                    field(
                        "answers",
                        #"[{"text":"b","question":"q2"},{"question":"q1","text":"a","by":7.0}]"#)
                ]))
            #expect(try replica.position == before)

            try replica.patch(
                Patch(set: [
                    field("answers", #"[{"question":"q1","text":"a","by":7}]"#), field("n", "1"),
                ]))

            #expect(try replica.last == #"1 {"set":{"n":1},"unset":["/answers/q2"]}"#)
        }
    }

    @Test func `by the name of an element changes that one`() throws {
        try withReplica(model) { replica in
            try replica.put(server)
            try replica.patch(
                Patch(
                    set: [
                        field("/answers/a~1b", #"{"question":"a/b"}"#),
                        field("/answers/q1", #"{"by":7,"question":"q1","text":"a"}"#),
                    ], unset: ["/answers/q2", "/answers/none"]))

            #expect(
                try replica.last
                    == #"1 {"set":{"/answers/a~1b":{"question":"a/b"}},"unset":["/answers/q2"]}"#)
            #expect(
                try replica.text(key)
                    == #"{"id":"s1","answers":[{"question":"q1","text":"a", "by":7},"#
                    + #"{"question":"a/b"}]}"#)
        }
    }

    @Test func `as other fields keeps the list's bytes and the event's shape`() throws {
        try withReplica(model) { replica in
            try replica.put(server)
            try replica.patch(Patch(set: [field("title", #""T""#)]))

            #expect(try replica.last == #"0 {"set":{"title":"T"},"unset":[]}"#)
            #expect(try replica.text(key) == server.dropLast() + #","title":"T"}"#)
        }
    }

    @Test func `with its type keeps what the type does not know of an element`() throws {
        try withReplica(model) { replica in
            try replica.put(server)
            try replica.write { tx in
                try tx.update(Survey.self, Tidemark.ID("s1")) { survey in
                    survey.answers?[0].text = "A"
                    survey.answers?.append(Survey.Answer(question: "q3"))
                }
            }

            #expect(
                try replica.last
                    == #"1 {"set":{"/answers/q1":{"question":"q1","text":"A","by":7},"#
                    + #""/answers/q3":{"question":"q3"}},"unset":[]}"#)

            try replica.write { tx in
                try tx.update(Survey.self, Tidemark.ID("s1")) { survey in
                    survey.answers?.removeFirst()
                    survey.answers?.reverse()
                }
            }
            #expect(try replica.last == #"1 {"set":{},"unset":["/answers/q1"]}"#)
        }
    }

    @Test func `with its type begins and ends a list`() throws {
        try withReplica(model) { replica in
            let id = Tidemark.ID<Survey>("s1")
            try replica.write { tx in try tx.create(Survey(id: id)) }
            try replica.write { tx in try tx.update(Survey.self, id) { $0.answers = [] } }
            #expect(try replica.last == #"0 {"set":{"answers":[]},"unset":[]}"#)

            try replica.write { tx in
                try tx.update(Survey.self, id) { $0.answers = [Survey.Answer(question: "q1")] }
            }
            #expect(
                try replica.last == #"1 {"set":{"/answers/q1":{"question":"q1"}},"unset":[]}"#)

            try replica.write { tx in try tx.update(Survey.self, id) { $0.answers = nil } }
            #expect(try replica.last == #"0 {"set":{},"unset":["answers"]}"#)
            #expect(try replica.text(key) == #"{"id":"s1"}"#)
        }
    }

    @Test(arguments: [
        #"{"answers":[{"question":"q1"},{"question":"q1"}]}"#, #"{"answers":[{"text":"a"}]}"#,
        #"{"answers":[{"question":null}]}"#, #"{"answers":[{"question":true}]}"#,
        #"{"answers":["q1"]}"#, #"{"answers":"q1"}"#, #"{"answers":{"q1":"a"}}"#,
        #"{"/answers/q1":{"question":"q1"},"answers":[]}"#,
    ])
    func `is refused where the elements can't be told, and names field and key`(
        _ json: String
    ) throws {
        try withReplica(model) { replica in
            let bytes = Array(json.utf8)
            let created = #expect(throws: TidemarkError.self) {
                try replica.write { tx in try tx.create(key, bytes) }
            }
            #expect(created?.code == .invalidDocument)
            #expect(created.map { "\($0)" }?.contains("surveys/s1, field answers: ") ?? false)
            #expect(created.map { "\($0)" }?.contains("told by question") ?? false)
            #expect(throws: TidemarkError.self) { try replica.put(json) }

            try replica.put(server)
            guard !json.contains("/answers") else { return }
            let before = try replica.position
            expect(.invalidDocument) { try replica.put(json) }
            let patch = Patch(settingAllOf: try JSONDocument(parsing: bytes))
            expect(.invalidDocument) { try replica.patch(patch) }
            #expect(try replica.position == before)
            #expect(try replica.text(key) == server)
        }
    }

    @Test(arguments: [
        ("/answers/q1", #"{"question":"q2"}"#), ("/answers/q1", "null"), ("/answers/q1", "[1]"),
        ("/answers/q1", #"{"text":"a"}"#), ("/answers/", #"{"question":"q"}"#),
    ])
    func `is refused where an element has another key than its name says`(
        _ name: String, _ json: String
    ) throws {
        try withReplica(model) { replica in
            try replica.put(server)
            expect(.invalidDocument) { try replica.patch(Patch(set: [field(name, json)])) }
            #expect(try replica.text(key) == server)
        }
    }

    @Test func `may have keys of 400 bytes, empty ones, and numbers`() throws {
        try withReplica(model) { replica in
            let long = String(repeating: "k", count: 400)
            try replica.put(
                #"{"answers":[{"question":"\#(long)"},{"question":""},{"question":1.0}]}"#)
            try replica.patch(
                Patch(
                    set: [field("/answers/", #"{"question":"","text":"x"}"#)],
                    unset: ["/answers/\(long)", "/answers/1"]))

            #expect(try replica.text(key) == #"{"answers":[{"question":"","text":"x"}]}"#)
        }
    }

    @Test func `is refused for a type that holds an element twice`() throws {
        try withReplica(model) { replica in
            try replica.put(server)
            expect(.invalidDocument) {
                try replica.write { tx in
                    try tx.update(Survey.self, Tidemark.ID("s1")) { survey in
                        survey.answers?.append(Survey.Answer(question: "q1"))
                    }
                }
            }
            #expect(try replica.text(key) == server)
        }
    }
}
