// PushElementTests.swift — what is sent of a list whose elements are told by keys.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `what is sent of a keyed list` {
    private let list = KeyedList("values", by: "de")
    private let base = Base.live(
        #"{"id":"7","n":1,"values":[{"de":"A","v":1},{"de":"B","v":1,"at":5},{"de":"C","v":1}]}"#)

    private func write(
        _ changes: [PendingChange], on base: Base? = nil, mergesLists: Bool = true
    ) throws -> (body: String, changes: String) {
        let collection = CollectionModel("t", updates: .changes, keyed: [list])
        let write = try PushWrite(
            try changes.map { try $0.read(by: collection) }, on: base ?? self.base,
            revision: Revision("1"), id: "7", collection: collection, mergesLists: mergesLists)
        guard case .update(let body, let sent, _)? = write else { return ("", "") }
        return (String(decoding: body, as: UTF8.self), String(decoding: sent, as: UTF8.self))
    }

    private let edits = [
        PendingChange.update(1, #"{"/values/D":{"de":"D","v":4},"n":2}"#, unset: ["/values/B"]),
        .update(2, #"{"/values/A":{"v":3,"de":"A"}}"#),
    ]

    @Test func `is the merged list in a whole document, in the server's order`() throws {
        #expect(
            try write(edits).body
                == #"{"id":"7","n":2,"values":[{"v":3,"de":"A"},{"de":"C","v":1},"#
                + #"{"de":"D","v":4}]}"#
        )
    }

    @Test func `are the elements that changed, where the server tells them, too`() throws {
        #expect(
            try write(edits).changes
                == #"{"n":2,"values":[{"v":3,"de":"A"},{"de":"D","v":4},"#
                + #"{"de":"B","v":null,"at":null}]}"#)
    }

    @Test func `is the whole list where the server replaces it`() throws {
        #expect(
            try write(edits, mergesLists: false).changes
                == #"{"n":2,"values":[{"v":3,"de":"A"},{"de":"C","v":1},{"de":"D","v":4}]}"#)
    }

    @Test func `is nothing where another field changed, and the list where it can't be told`()
        throws
    {
        let other = PendingChange.update(1, #"{"n":2}"#)
        let twice = Base.live(#"{"id":"7","n":1,"values":[{"de":"A"},{"de":"A"}]}"#)
        let whole = PendingChange.update(1, #"{"values":[{"de":"A","v":1}]}"#)

        #expect(try write([other]).changes == #"{"n":2}"#)
        #expect(try write([other], on: twice).changes == #"{"n":2}"#)
        #expect(try write([whole], on: twice).changes == #"{"values":[{"de":"A","v":1}]}"#)
    }

    @Test func `is null where the list was removed`() throws {
        let gone = PendingChange.update(1, "{}", unset: ["values"])

        #expect(try write([gone]).changes == #"{"values":null}"#)
    }

    @Test func `holds what an earlier write may have changed, as it is to be`() throws {
        let sent = PendingChange.update(
            1, #"{"/values/A":{"de":"A","v":3},"/values/D":{"de":"D","v":4}}"#,
            unset: ["/values/C"], sent: true)
        let back = PendingChange.update(
            2, #"{"/values/A":{"de":"A","v":1},"/values/C":{"de":"C","v":1}}"#,
            unset: ["/values/D"])

        #expect(
            try write([sent, back]).changes
                == #"{"values":[{"de":"A","v":1},{"de":"C","v":1},{"de":"D","v":null}]}"#)
        #expect(
            try write([sent, back], mergesLists: false).changes
                == #"{"values":[{"de":"A","v":1},{"de":"B","v":1,"at":5},{"de":"C","v":1}]}"#)
    }
}
