// PushRuleTests.swift — what is seen of an entity, what is sent of it, and what a status proves.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `the current entity` {
    private func current(_ pending: [PendingChange], on base: Base) throws -> String? {
        guard case .document(let bytes) = try Current(pending, on: base) else { return nil }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `without changes it is the base`() throws {
        #expect(try current([], on: .live(#"{ "a": 1 }"#)) == #"{ "a": 1 }"#)
        #expect(try current([], on: .absent) == nil)
        #expect(try current([], on: .deleted(last: JSONDocument("{}"))) == nil)
    }

    @Test func `changes are applied in order`() throws {
        let pending: [PendingChange] = [
            .update(1, #"{"a":2}"#), .update(2, #"{"a":3,"c":1}"#, unset: ["b"]),
        ]

        #expect(
            try current(pending, on: .live(#"{"a":1,"b":1,"z":1.0}"#)) == #"{"a":3,"z":1.0,"c":1}"#)
    }

    @Test func `a creation on nothing is its document`() throws {
        #expect(try current([.create(1, #"{"a":1}"#)], on: .absent) == #"{"a":1}"#)
        #expect(
            try current(
                [.create(1, #"{"a":1}"#)], on: .deleted(last: JSONDocument(#"{"b":1}"#)))
                == #"{"a":1}"#)
    }

    @Test func `a creation on a live base keeps the base's other fields`() throws {
        #expect(
            try current([.create(1, #"{"a":1}"#)], on: .live(#"{"a":0,"b":2}"#))
                == #"{"a":1,"b":2}"#)
    }

    @Test func `an update of a deleted entity goes on from what it last was`() throws {
        #expect(
            try current(
                [.update(1, #"{"a":2}"#)], on: .deleted(last: JSONDocument(#"{"a":1,"b":1}"#)))
                == #"{"a":2,"b":1}"#)
        #expect(try current([.update(1, #"{"a":2}"#)], on: .deleted(last: nil)) == nil)
    }

    @Test func `a deletion leaves nothing, until it is made anew`() throws {
        #expect(try current([.delete(1)], on: .live("{}")) == nil)
        #expect(
            try current([.delete(1), .create(2, #"{"b":1}"#)], on: .live(#"{"a":1}"#))
                == #"{"b":1}"#)
    }
}

@Suite struct `what is sent` {
    private let collection = CollectionModel("t", lastChangeField: "last_modified")
    private let revision = Revision("\"5\"")

    private func write(
        _ pending: [PendingChange], on base: Base, revision: Revision? = nil
    ) throws -> PushWrite? {
        try PushWrite(pending, on: base, revision: revision, id: "7", collection: collection)
    }

    @Test func `without pending changes nothing is sent`() throws {
        #expect(try write([], on: .live("{}"), revision: revision) == nil)
    }

    @Test func `a new entity is created with its id`() throws {
        #expect(
            try write([.create(1, #"{"a":1}"#), .update(2, #"{"b":2}"#)], on: .absent)
                == .create(body: Array(#"{"a":1,"b":2,"id":"7"}"#.utf8)))
        #expect(
            try write([.create(1, #"{"id":"7","a":1}"#)], on: .absent)
                == .create(body: Array(#"{"id":"7","a":1}"#.utf8)))
    }

    @Test func `a document that names another id is sent with the right one`() throws {
        #expect(
            try write([.create(1, #"{"id":7,"a":1}"#)], on: .absent)
                == .create(body: Array(#"{"id":"7","a":1}"#.utf8)))
    }

    @Test func `an id that the server said as a number stays one`() throws {
        let said = Array(#"{"id":7,"a":1}"#.utf8)
        let base = Base.live(#"{"id":7,"a":1}"#)
        func body(_ set: String, asIn said: [UInt8]?) throws -> String? {
            let write = try PushWrite(
                [.update(1, set)], on: base, revision: revision, id: "7", asIn: said,
                collection: collection)
            guard case .update(let body, _, _)? = write else { return nil }
            return String(decoding: body, as: UTF8.self)
        }

        #expect(try body(#"{"a":2}"#, asIn: said) == #"{"id":7,"a":2}"#)
        #expect(try body(#"{"id":"7","a":2}"#, asIn: said) == #"{"id":7,"a":2}"#)
        #expect(try body(#"{"a":2}"#, asIn: Array(#"{"id":"7"}"#.utf8)) == #"{"id":"7","a":2}"#)
        #expect(try body(#"{"a":2}"#, asIn: nil) == #"{"id":"7","a":2}"#)
    }

    @Test func `a reference that the server said as a text stays one`() throws {
        let collection = CollectionModel(
            "tasks", references: [Reference("list", to: "lists"), Reference("tag", to: "tags")])
        let names = ReferenceNames(
            collection, serverID: { .number(JSONNumber(Int($0.id) ?? 0)) }, fileName: { _ in nil })
        let base = try JSONDocument(parsing: Array(#"{"list":"8","tag":null}"#.utf8))
        func sent(_ body: String) throws -> String {
            let write = PushWrite.update(
                body: Array(body.utf8), changes: Array("{}".utf8), revision: revision)
            guard case .update(let named, _, _) = try write.naming(names, asIn: base) else {
                return ""
            }
            return String(decoding: named, as: UTF8.self)
        }

        #expect(try sent(#"{"list":"8","tag":"1"}"#) == #"{"list":"8","tag":1}"#)
        #expect(try sent(#"{"list":"9","tag":1}"#) == #"{"list":"9","tag":1}"#)
    }

    @Test func `a change names the version it was made on and leaves the last change out`() throws {
        let base = Base.live(#"{"id":"7","last_modified":5,"a":1, "b" : 2}"#)

        #expect(
            try write([.update(1, #"{"a":3}"#)], on: base, revision: revision)
                == .update(
                    body: Array(#"{"id":"7","a":3,"b":2}"#.utf8),
                    changes: Array(#"{"a":3}"#.utf8), revision: revision))
    }

    @Test func `what changed is told by itself, with null for what is gone`() throws {
        let base = Base.live(#"{"id":"7","last_modified":5,"a":1,"b":2,"c":[1],"d":1.0}"#)

        let write = try write(
            [.update(1, #"{"a":3,"c":[2]}"#), .update(2, #"{"a":1,"d":1}"#, unset: ["b"])],
            on: base, revision: revision)

        guard case .update(_, let changes, _)? = write else {
            Issue.record("no update")
            return
        }
        #expect(String(decoding: changes, as: UTF8.self) == #"{"c":[2],"b":null}"#)
    }

    @Test func `what an earlier write may have changed is told, also where it is as before`()
        throws
    {
        let base = Base.live(#"{"id":"7","title":"a","n":1}"#)
        func changes(_ pending: [PendingChange]) throws -> String? {
            let write = try write(pending, on: base, revision: revision)
            guard case .update(_, let changes, _)? = write else { return nil }
            return String(decoding: changes, as: UTF8.self)
        }
        let sent = PendingChange.update(1, #"{"title":"b","new":1}"#, unset: ["n"], sent: true)
        let back = PendingChange.update(2, #"{"title":"a","n":1}"#, unset: ["new"])

        #expect(try changes([sent, back]) == #"{"title":"a","n":1,"new":null}"#)
        // Also where the second one was turned away, too: either may have been done.
        let again = PendingChange.update(2, #"{"title":"a","n":1}"#, unset: ["new"], sent: true)
        let other = PendingChange.update(3, #"{"x":1}"#)
        #expect(
            try changes([sent, again, other]) == #"{"x":1,"title":"a","n":1,"new":null}"#)
        #expect(try changes([.update(1, #"{"title":"b"}"#), back]) == "{}")
    }

    @Test func `fields are sent in the form that the server writes`() throws {
        var entries = CollectionModel("e", nullable: ["n"])
        entries.forms = [
            .negativeIsNull("n", sent: .minusSeconds(of: "start")), .wholeSeconds("start"),
        ]
        func write(_ pending: PendingChange, on base: Base) throws -> PushWrite? {
            let (pending, base) = (try pending.read(by: entries), try base.read(by: entries))
            return try PushWrite(
                [pending], on: base, revision: revision, id: "7", collection: entries)
        }
        let started = #"{"id":"7","start":"1970-01-01T00:00:10.5Z","n":null}"#
        let running = Base.live(#"{"id":"7","start":"1970-01-01T00:00:10+00:00","n":-1}"#)

        #expect(
            try write(.create(1, started), on: .absent)
                == .create(
                    body: Array(#"{"id":"7","start":"1970-01-01T00:00:10Z","n":-10}"#.utf8)))
        #expect(
            try write(.update(1, #"{"start":"1970-01-01T00:00:10.9Z","a":1}"#), on: running)
                == .update(
                    body: Array(#"{"id":"7","start":"1970-01-01T00:00:10Z","n":-10,"a":1}"#.utf8),
                    changes: Array(#"{"a":1}"#.utf8), revision: revision))
        #expect(
            try write(
                .update(1, #"{"n":null}"#),
                on: .live(#"{"id":"7","start":"1970-01-01T00:00:10Z","n":5}"#))
                == .update(
                    body: Array(#"{"id":"7","start":"1970-01-01T00:00:10Z","n":-10}"#.utf8),
                    changes: Array(#"{"n":-10}"#.utf8), revision: revision))
    }

    @Test func `a deletion names the version it was made on`() throws {
        #expect(
            try write([.update(1, #"{"a":3}"#), .delete(2)], on: .live("{}"), revision: revision)
                == .delete(revision: revision))
    }

    @Test func `what the server does not have needs no deletion`() throws {
        #expect(try write([.create(1, "{}"), .delete(2)], on: .absent) == nil)
        #expect(try write([.delete(1)], on: .deleted(last: nil), revision: revision) == nil)
    }

    @Test func `what the server deleted is created`() throws {
        #expect(
            try write([.create(1, #"{"id":"7"}"#)], on: .deleted(last: nil), revision: revision)
                == .create(body: Array(#"{"id":"7"}"#.utf8)))
    }
}

@Suite struct `what went together` {
    @Test func `a change whose every field was changed again left no trace`() {
        let changes: [PendingChange] = [
            .create(1, #"{"a":1}"#), .update(2, #"{"a":2}"#), .update(3, #"{"b":3}"#),
            .update(4, "{}", unset: ["a"]),
        ]

        #expect(PendingChange.overtaken(changes) == [false, true, false, false])
    }

    @Test func `a deletion leaves no trace of what was before it`() {
        let changes: [PendingChange] = [.create(1, "{}"), .update(2, #"{"a":2}"#), .delete(3)]

        #expect(PendingChange.overtaken(changes) == [true, true, false])
    }

    @Test func `names that differ only in composition don't overtake each other`() {
        let changes: [PendingChange] = [
            .update(1, "{\"\u{E9}\":1}"), .update(2, "{\"e\u{301}\":1}"),
        ]

        #expect(PendingChange.overtaken(changes) == [false, false])
    }

    @Test func `of nothing nothing is overtaken`() {
        #expect(PendingChange.overtaken([PendingChange]()) == [])
    }
}
