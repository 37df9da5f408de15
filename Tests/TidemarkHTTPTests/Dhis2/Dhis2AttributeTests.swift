// Dhis2AttributeTests.swift — which attributes of a tracked entity are gone that an answer lacks.

import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

@Suite struct `attributes that DHIS2 does not tell` {
    private static let known = document("A1", "A2", "A3")

    private static func document(_ attributes: String...) -> String {
        let list = attributes.map { #"{"attribute":"\#($0)","value":"x"}"# }
        return #"{"trackedEntityType":"Person","attributes":["# + list.joined(separator: ",")
            + "]}"
    }

    /// The ids of the attributes that a tracked entity has after an answer; nil for those that the
    /// answer tells.
    private func whole(
        _ told: String, in list: ListParameters, _ version: String = "2.41", hasModel: Bool = true
    ) throws -> [String]? {
        let adapter = try #require(Dhis2Adapter(version: version))
        let entities = CollectionModel("trackedEntities", idField: "trackedEntity")
        func parsed(_ text: String) throws -> JSONDocument {
            try JSONDocument(parsing: Array(text.utf8))
        }
        let bytes = adapter.completed(
            try parsed(told), of: entities, by: try parsed(Self.known), in: list
        ) { key in
            let text =
                switch "\(key)" {
                case "trackedEntityTypes/Person":
                    #"{"trackedEntityTypeAttributes":[{"trackedEntityAttribute":{"id":"A1"}}]}"#
                case "programs/P":
                    #"{"programTrackedEntityAttributes":[{"trackedEntityAttribute":{"id":"A2"}}]}"#
                default: "none"
                }
            return hasModel ? try? parsed(text) : nil
        }
        return try bytes.map { bytes in
            let value = try JSONDocument(parsing: bytes).value("attributes")
            return (value?.array ?? []).compactMap { $0["attribute"]?.stringValue }
        }
    }

    @Test func `one is gone where its type, or the program that is asked for, has it`() throws {
        #expect(try whole(Self.document(), in: ["program": "P"]) == ["A3"])
        #expect(try whole(Self.document("A1"), in: ["program": "Q"]) == ["A1", "A2", "A3"])
        #expect(try whole(Self.document("A2"), in: [:]) == ["A2", "A3"])
        #expect(try whole(Self.document("A3", "A1", "A2"), in: [:]) == nil)
        #expect(try whole(Self.document("A2", "A3"), in: ["program": "P"]) == nil)
    }

    @Test func `they stay in their order, and new ones come behind them`() throws {
        #expect(
            try whole(Self.document("A4", "A3", "A1"), in: [:]) == ["A1", "A2", "A3", "A4"])
    }

    @Test func `none is gone where neither type nor program is here`() throws {
        let found = try whole(Self.document("A1"), in: ["program": "P"], hasModel: false)
        #expect(found == ["A1", "A2", "A3"])
        #expect(try whole("{}", in: [:], hasModel: false) == ["A1", "A2", "A3"])
    }

    @Test func `that were removed are sent with null up to 2.39, as missing ones stay there`()
        throws
    {
        func sent(_ version: String, _ body: String) throws -> String? {
            let adapter = try #require(Dhis2Adapter(version: version))
            let entities = CollectionModel("trackedEntities", idField: "trackedEntityInstance")
            let call = ServerCall.update(
                entities, id: "T1", body: Array(body.utf8), changes: Array("{}".utf8),
                revision: Revision(""))
            let base = try JSONDocument(parsing: Array(Self.known.utf8))
            let part = adapter.part(of: call, on: base, { _ in nil })
            guard let bytes = part?.call.write?.body else { return nil }
            return String(decoding: bytes, as: UTF8.self)
        }
        func gone(_ id: String) -> String { #"{"attribute":"\#(id)","value":null}"# }
        let kept = #"{"attribute":"A2","value":"x"}"#

        #expect(
            try sent("2.39", Self.document("A2"))
                == #"{"trackedEntityType":"Person","attributes":["#
                + [kept, gone("A1"), gone("A3")].joined(separator: ",") + "]}")
        #expect(
            try sent("2.39", #"{"trackedEntityType":"Person"}"#)
                == #"{"trackedEntityType":"Person","attributes":["#
                + ["A1", "A2", "A3"].map(gone).joined(separator: ",") + "]}")
        #expect(try sent("2.39", Self.document("A1", "A2", "A3", "A4")) == nil)
        #expect(try sent("2.40", Self.document("A2")) == nil)
        for (version, isThere) in [("2.39", true), ("2.40", false)] {
            let traits = try #require(Dhis2Adapter(version: version)).traits
            #expect(traits.sentInPart.contains("trackedEntities") == isThere)
        }
    }

    @Test func `lists of an older server tell all, and other answers do not`() throws {
        let told = Self.document("A1")
        #expect(try whole(told, in: ["program": "P"], "2.39") == nil)
        #expect(try whole(told, in: [:], "2.39") == ["A1", "A2", "A3"])
        #expect(
            try whole(told, in: ["program": "P", "trackedEntity": "T1"], "2.39") == ["A1", "A3"])
    }
}
