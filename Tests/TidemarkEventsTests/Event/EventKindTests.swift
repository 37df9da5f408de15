// EventKindTests.swift — the kinds are those of the schema that others read the log with.

import Foundation
import TestSupport
import Testing
import TidemarkEvents

/// Number and dotted name of each kind in Schemas/tidemark/v1/event.proto.
private func kindsOfTheSchema() throws -> [UInt32: String] {
    let text = try String(
        contentsOf: Checkout.root.appending(path: "Schemas/tidemark/v1/event.proto"),
        encoding: .utf8)
    let body = try #require(text.components(separatedBy: "enum Kind {").dropFirst().first)
    var kinds: [UInt32: String] = [:]
    for line in body.prefix(while: { $0 != "}" }).split(separator: "\n") {
        let words = line.split(separator: " ").map(String.init)
        guard words.count >= 3, words[1] == "=", let number = UInt32(words[2].dropLast()) else {
            continue
        }
        kinds[number] = words.count >= 5 && words[3] == "//" ? words[4] : ""
        if number > 0 {
            #expect(words[0] == kinds[number]?.uppercased().replacing(".", with: "_"))
        }
    }
    return kinds
}

@Suite struct `event kinds` {
    @Test func `numbers and names are those of the schema`() throws {
        var schema = try kindsOfTheSchema()
        #expect(schema.removeValue(forKey: 0) == "")

        let ours = Dictionary(
            uniqueKeysWithValues: EventKind.all.map { ($0.rawValue, $0.description) })

        #expect(ours == schema)
        #expect(ours.count >= 34)
    }

    @Test func `every name is there once and leads back to its kind`() {
        let names = EventKind.all.map(\.description)

        #expect(Set(names).count == names.count)
        for kind in EventKind.all {
            #expect(EventKind(named: kind.description) == kind)
        }
        let numbers = EventKind.all.map(\.rawValue)
        #expect(numbers.sorted() == numbers)
    }

    @Test func `a kind of a newer version is named by its number`() {
        #expect(EventKind(rawValue: 999).description == "kind-999")
        #expect(EventKind(named: "kind-999") == EventKind(rawValue: 999))
        #expect(EventKind(named: "kind-") == nil)
        #expect(EventKind(named: "kind-x") == nil)
        #expect(EventKind(named: "nothing.known") == nil)
    }

    @Test func `a trigger of the app's is told by its name from those that every app has`() {
        for trigger in SyncTrigger.allCases {
            #expect(trigger.isToldByName)
            #expect(!SyncTrigger.named(trigger.rawValue).isToldByName)
        }
        #expect(SyncTrigger.named("discover").isToldByName)
    }

    @Test func `the outcomes of a mutation have numbers that lead back to them`() {
        for outcome in MutationOutcome.allCases {
            #expect(MutationOutcome(number: outcome.number) == outcome)
        }
        #expect(MutationOutcome(number: 0) == nil)
        #expect(Set(MutationOutcome.allCases.map(\.number)).count == 8)
    }
}
