// ConflictCaseTests.swift — what a rule of the app is given to begin with: both sides, merged.

import Testing
import TidemarkEvents

/// The merge of both sides; `-` for none.
private func merged(
    _ base: String?, _ local: String?, _ server: String?,
    in collection: CollectionModel = CollectionModel("notes")
) -> String {
    var question = ConflictCase(
        key: EntityKey("notes", "a"), base: base.map { Array($0.utf8) },
        local: local.map { Array($0.utf8) }, server: server.map { Array($0.utf8) }, fields: [])
    question.collection = collection
    return question.merged.map { String(decoding: $0, as: UTF8.self) } ?? "-"
}

@Suite struct `both sides of a case for a rule` {
    @Test func `are merged: the server's, with what only the local side changed`() {
        let base = #"{"a":1,"b":1,"c":1,"d":1}"#

        #expect(
            merged(base, #"{"a":2,"b":2,"c":1,"e":2}"#, #"{"a":1.0,"b":3,"c":3,"d":1}"#)
                == #"{"a":2,"b":3,"c":3,"e":2}"#)
        #expect(merged(base, base, #"{"a":3}"#) == #"{"a":3}"#)
        // Where both made the entity, all fields are somebody's.
        #expect(merged(nil, #"{"a":2,"b":2}"#, #"{"b":3,"c":3}"#) == #"{"b":3,"c":3,"a":2}"#)
    }

    @Test func `are merged without what only the server sets`() {
        let collection = CollectionModel("notes", lastChangeField: "changed")

        #expect(
            merged(
                #"{"id":1,"changed":1,"a":1}"#, #"{"id":9,"a":2}"#, #"{"id":1,"changed":1,"a":1}"#,
                in: collection) == #"{"id":1,"changed":1,"a":2}"#)
    }

    @Test func `are merged element by element where the model tells them by keys`() {
        let surveys = CollectionModel("surveys", keyed: [.init("answers", by: "q")])
        func survey(_ answers: [(String, Int)]) -> String {
            let elements = answers.map { #"{"q":"\#($0.0)","v":\#($0.1)}"# }
            return #"{"answers":[\#(elements.joined(separator: ","))]}"#
        }

        #expect(
            merged(
                survey([("x", 1), ("y", 1), ("z", 1)]), survey([("x", 2), ("y", 2), ("w", 2)]),
                survey([("x", 1), ("y", 3), ("z", 1), ("u", 3)]), in: surveys)
                == survey([("x", 2), ("y", 3), ("u", 3), ("w", 2)]))
    }

    @Test func `are not merged where one of them deleted the entity`() {
        #expect(merged(#"{"a":1}"#, nil, #"{"a":2}"#) == "-")
        #expect(merged(#"{"a":1}"#, #"{"a":2}"#, nil) == "-")
    }
}
