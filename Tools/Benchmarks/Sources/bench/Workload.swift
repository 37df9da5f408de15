// Workload.swift — the data written: time entries of about 300 bytes with 14 fields.

import Foundation

/// One time entry, as a Swift developer would declare it.
struct TimeEntry: Codable, Sendable {
    var id: String
    var workspace_id: Int
    var project_id: Int?
    var task_id: Int?
    var user_id: Int
    var description: String
    var start: String
    var stop: String?
    var duration: Int
    var billable: Bool
    var tags: [String]
    var created_with: String
    var at: String
    var server_deleted_at: String?
}

/// One entity, made before the measurement, in the form that each peer takes.
struct Item: Sendable {
    var id: String
    var document: [UInt8]
    var entry: TimeEntry

    init(_ number: Int, version: Int = 0) {
        id = Workload.id(number)
        document = Workload.document(number, version: version)
        entry = Workload.entry(number, version: version)
    }
}

/// The same entries for every peer, made from a number.
struct Workload {
    /// Keys that sort in the order of their numbers.
    static func id(_ number: Int) -> String { "te-" + padded(number, 9) }

    /// The document of an entity: JSON of about 300 bytes.
    static func document(_ number: Int, version: Int = 0) -> [UInt8] {
        let day = padded(number % 28 + 1, 2)
        let text =
            #"{"id":"\#(id(number))","workspace_id":\#(1_000_000 + number % 7),"#
            + #""project_id":\#(2_000_000 + number % 100),"task_id":null,"#
            + #""user_id":\#(3_000_000 + number % 5),"#
            + #""description":"Work on item \#(number), revision \#(version)","#
            + #""start":"2026-11-\#(day)T08:30:00Z","stop":"2026-11-\#(day)T09:45:00Z","#
            + #""duration":4500,"billable":\#(number % 2 == 0),"tags":["deep work","client"],"#
            + #""created_with":"bench","at":"2026-11-\#(day)T09:45:0\#(version % 10)Z","#
            + #""server_deleted_at":null}"#
        return Array(text.utf8)
    }

    /// The same entry as a value.
    static func entry(_ number: Int, version: Int = 0) -> TimeEntry {
        let day = padded(number % 28 + 1, 2)
        return TimeEntry(
            id: id(number), workspace_id: 1_000_000 + number % 7,
            project_id: 2_000_000 + number % 100, task_id: nil, user_id: 3_000_000 + number % 5,
            description: "Work on item \(number), revision \(version)",
            start: "2026-11-\(day)T08:30:00Z", stop: "2026-11-\(day)T09:45:00Z", duration: 4500,
            billable: number % 2 == 0, tags: ["deep work", "client"], created_with: "bench",
            at: "2026-11-\(day)T09:45:0\(version % 10)Z", server_deleted_at: nil)
    }

    /// The numbers from 0 up to `count` in a pseudo-random order that is the same in every run.
    static func shuffled(_ count: Int) -> [Int] {
        var state: UInt64 = 0x9E37_79B9_7F4A_7C15
        var numbers = Array(0..<count)
        for index in stride(from: count - 1, to: 0, by: -1) {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            numbers.swapAt(index, Int((state >> 33) % UInt64(index + 1)))
        }
        return numbers
    }

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
