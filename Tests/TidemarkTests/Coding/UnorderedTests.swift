// UnorderedTests.swift — lists whose order means nothing to the type: sets, and dictionaries that
// are written as lists.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private struct Mark: Codable, Hashable {
    var qty: Int
    var note: String?
    var product: Tidemark.ID<Box>?
    var at: Date?
}

/// Marks by their number, which the server has as a list.
private struct Marks: Codable, Equatable {
    var byNumber: [Int: Mark]

    init(from decoder: any Decoder) throws {
        byNumber = Dictionary(
            try [Mark](from: decoder).map { ($0.qty, $0) }, uniquingKeysWith: { $1 })
    }

    func encode(to encoder: any Encoder) throws {
        try Array(byNumber.values).encode(to: encoder)
    }
}

private struct Box: Entity {
    static let collection: CollectionName = "boxes"
    var id: Tidemark.ID<Box>
    var labels: Set<String>?
    var marks: Set<Mark>?
    var dates: Set<Date>?
    var counts: [UUID: Int]?
    var inner: Inner?
    var numbered: Marks?

    struct Inner: Codable {
        var labels: Set<String>
    }
}

private let model = SyncModel(name: "boxes", collections: [CollectionModel("boxes")])

private func boxes(_ json: [String], _ body: (Replica, [Tidemark.ID<Box>]) throws -> Void) throws {
    try withReplica(model) { replica in
        let ids = json.indices.map { Tidemark.ID<Box>("b\($0)") }
        try replica.write { tx in
            for (id, json) in zip(ids, json) { _ = try tx.put(Box.key(id), Array(json.utf8)) }
        }
        try body(replica, ids)
    }
}

@Suite struct `a list that the type takes in any order` {
    @Test func `loses the element that is removed from a set, and no other`() throws {
        let labels = ["a", "b", "c", "d", "e", "f"]
        var random = SplitMix64(seed: 1)
        let lists = (0..<50).map { _ in labels.shuffled(using: &random) }
        let json = lists.map { list in
            let text = "[" + list.map { "\"\($0)\"" }.joined(separator: ",") + "]"
            return #"{"labels":\#(text),"inner":{"labels":\#(text)}}"#
        }
        try boxes(json) { replica, ids in
            for (id, list) in zip(ids, lists) {
                try replica.write { tx in
                    try tx.update(Box.self, id) { box in
                        box.labels?.remove("a")
                        box.inner?.labels.remove("b")
                    }
                }
                let text = try #require(try replica.text(Box.key(id)))
                let left = list.filter { $0 != "a" }.map { "\"\($0)\"" }.joined(separator: ",")
                let inner = list.filter { $0 != "b" }.map { "\"\($0)\"" }.joined(separator: ",")
                #expect(text == #"{"labels":[\#(left)],"inner":{"labels":[\#(inner)]}}"#)
            }
        }
    }

    @Test func `does not differ where it is saved in another order`() throws {
        let labels = ["a", "b", "c", "d", "e", "f"]
        let list = labels.map { "\"\($0)\"" }.joined(separator: ",")
        let ids = (0..<4).map { _ in UUID() }
        let pairs = ids.enumerated().map { "\"\($1)\",\($0)" }.joined(separator: ",")
        let json = #"{"labels":[\#(list)],"counts":[\#(pairs)]}"#
        try boxes(Array(repeating: json, count: 20)) { replica, boxes in
            let before = try replica.position
            for id in boxes {
                var box = try #require(try replica.read { try $0.get(Box.self, id) })
                var others = Set<String>(minimumCapacity: 64)
                for label in labels.reversed() { others.insert(label) }
                box.labels = others
                var counts: [UUID: Int] = Dictionary(minimumCapacity: 64)
                for (place, id) in ids.enumerated().reversed() { counts[id] = place }
                box.counts = counts
                try replica.write { tx in try tx.save(box) }
            }
            #expect(try replica.position == before)
        }
    }

    @Test func `changes the value of one key, where keys and values are written in turn`() throws {
        let ids = (0..<6).map { _ in UUID() }
        func pairs(_ values: [Int]) -> String {
            "[" + zip(ids, values).map { "\"\($0)\",\($1)" }.joined(separator: ",") + "]"
        }
        let json = #"{"counts":\#(pairs([0, 1, 2, 3, 4, 5]))}"#
        try boxes(Array(repeating: json, count: 20)) { replica, boxes in
            for id in boxes {
                try replica.write { tx in try tx.update(Box.self, id) { $0.counts?[ids[2]] = 9 } }
                #expect(
                    try replica.text(Box.key(id))
                        == #"{"counts":\#(pairs([0, 1, 9, 3, 4, 5]))}"#)
            }
        }
    }

    @Test func `keeps of its elements what the type does not know`() throws {
        let marks =
            #"[{"sku":"A","qty":1},{"qty":1,"note":"x","sku":"B"},{"qty":2,"sku":"C"},{"qty":3}]"#
        try boxes([#"{"marks":\#(marks)}"#]) { replica, ids in
            try replica.write { tx in
                try tx.update(Box.self, ids[0]) { box in
                    box.marks?.remove(Mark(qty: 1, note: "x"))
                    box.marks?.remove(Mark(qty: 3))
                    box.marks?.insert(Mark(qty: 4))
                }
            }
            #expect(
                try replica.text(Box.key(ids[0]))
                    == #"{"marks":[{"sku":"A","qty":1},{"qty":2,"sku":"C"},{"qty":4}]}"#)
        }
    }

    @Test func `takes a time in another notation for the one that it is`() throws {
        let dates = [
            "2026-11-18T12:06:40+01:00", "2026-11-18T09:00:00+01:00", "2026-11-18T10:00:00+05:00",
        ]
        let list = dates.map { "\"\($0)\"" }.joined(separator: ",")
        try boxes([#"{"dates":[\#(list)]}"#]) { replica, ids in
            let gone = Date(timeIntervalSince1970: 1_795_000_000)
            try replica.write { tx in try tx.update(Box.self, ids[0]) { $0.dates?.remove(gone) } }
            let left = try replica.read { try $0.get(Box.self, ids[0])?.dates }
            #expect(
                left == [
                    Date(timeIntervalSince1970: 1_794_988_800),
                    Date(timeIntervalSince1970: 1_794_978_000),
                ])
        }
    }

    @Test func `keeps each element its own where a type writes a list in its own order`() throws {
        let json = (1...6).map { #"{"qty":\#($0),"sku":"S\#($0)"}"# }.joined(separator: ",")
        try boxes(Array(repeating: #"{"numbered":[\#(json)]}"#, count: 20)) { replica, ids in
            for id in ids {
                try replica.write { tx in
                    try tx.update(Box.self, id) { $0.numbered?.byNumber[3] = nil }
                }
                let text = try #require(try replica.text(Box.key(id)))
                let list = try JSONDocument(parsing: Array(text.utf8)).value("numbered")?.array
                let pairs = (list ?? []).map {
                    "\($0["qty"]?.int64Value ?? 0) \($0["sku"]?.stringValue ?? "")"
                }
                #expect(pairs.sorted() == ["1 S1", "2 S2", "4 S4", "5 S5", "6 S6"])
            }
        }
    }

    @Test(arguments: [#""product":N"#, #""at":"2026-11-18T12:0N:40+01:00""#])
    func `knows its elements by ids that are numbers there, and by times with an offset`(
        _ member: String
    ) throws {
        let json = (1...6).map { number in
            let member = member.replacingOccurrences(of: "N", with: "\(number)")
            return #"{"qty":\#(number),"sku":"S\#(number)",\#(member)}"#
        }
        let list = json.joined(separator: ",")
        try boxes(Array(repeating: #"{"numbered":[\#(list)]}"#, count: 20)) { replica, ids in
            for id in ids {
                try replica.write { tx in
                    try tx.update(Box.self, id) { $0.numbered?.byNumber[3]?.note = "x" }
                }
                let text = try #require(try replica.text(Box.key(id)))
                let list = try JSONDocument(parsing: Array(text.utf8)).value("numbered")?.array
                let notes = (list ?? []).map { mark in
                    "\(mark["qty"]?.int64Value ?? 0) \(mark["sku"]?.stringValue ?? "")"
                        + " \(mark["note"]?.stringValue ?? "")"
                }
                #expect(notes.sorted() == ["1 S1 ", "2 S2 ", "3 S3 x", "4 S4 ", "5 S5 ", "6 S6 "])
            }
        }
    }

    @Test func `keeps of a set's elements whose ids are numbers what the type does not know`()
        throws
    {
        let marks =
            #"[{"qty":2,"product":7,"sku":"A"},{"qty":1,"product":5.0,"sku":"B"},"#
            + #"{"qty":3,"product":9,"sku":"C"}]"#
        try boxes([#"{"marks":\#(marks)}"#]) { replica, ids in
            try replica.write { tx in
                try tx.update(Box.self, ids[0]) { box in
                    box.marks?.remove(Mark(qty: 2, product: Tidemark.ID("7")))
                }
            }
            #expect(
                try replica.text(Box.key(ids[0]))
                    == #"{"marks":[{"qty":1,"product":5.0,"sku":"B"},"#
                    + #"{"qty":3,"product":9,"sku":"C"}]}"#)
        }
    }
}
