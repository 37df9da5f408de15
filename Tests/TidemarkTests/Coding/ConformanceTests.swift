// ConformanceTests.swift — what Foundation and SwiftUI ask of the library's values: dates, texts of
// errors, and Codable.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@Suite struct `values of the library in Foundation` {
    @Test func `a moment is a date and back, to the microsecond`() {
        for raw in [0, -1, 1, 1_795_305_600_123_456, -62_135_596_800_000_000] as [Int64] {
            let time = Timestamp(rawValue: raw)

            #expect(Timestamp(Date(time)) == time)
        }
        #expect(Timestamp(Date(timeIntervalSince1970: 1.5)) == Timestamp(rawValue: 1_500_000))
        #expect(Timestamp(Date(timeIntervalSince1970: .nan)) == nil)
        #expect(Timestamp(Date(timeIntervalSince1970: .infinity)) == nil)
        #expect(Timestamp(Date(timeIntervalSince1970: 1e15)) == nil)
    }

    @Test func `an error's localized text is its own sentence`() {
        let errors: [any Error & CustomStringConvertible] = [
            TidemarkError(.notFound, "There is no such task."), SyncFailure.unauthorized,
            TransportError(.offline, detail: "no route"),
        ]
        for error in errors {
            #expect(error.localizedDescription == error.description)
            #expect(!error.description.isEmpty)
        }
    }

    @Test func `keys, positions and ids of issues are coded as texts and numbers`() throws {
        struct Screen: Codable, Equatable {
            var key = EntityKey("tasks", "a/b")
            var position = Position(41)
            var collection: CollectionName = "tasks"
            var issue = SyncIssue.ID(Position(41), index: 1)
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]

        let bytes = try encoder.encode(Screen())

        #expect(
            String(decoding: bytes, as: UTF8.self)
                == #"{"collection":"tasks","issue":"@41.1","key":"tasks/a/b","position":41}"#)
        #expect(try JSONDecoder().decode(Screen.self, from: bytes) == Screen())
        for text in [#""tasks""#, #""/a""#, "1"] {
            #expect(throws: DecodingError.self) {
                try JSONDecoder().decode(EntityKey.self, from: Data(text.utf8))
            }
        }
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(SyncIssue.ID.self, from: Data(#""task""#.utf8))
        }
    }
}
