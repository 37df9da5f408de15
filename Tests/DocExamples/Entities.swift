// Entities.swift — the code of the article of that name.

import Foundation
import Tidemark

enum Entities {
    struct Project: Entity {
        static let collection: CollectionName = "projects"
        let id: ID<Project>
        var name: String
    }

    struct TimeEntry: Entity {
        static let collection: CollectionName = "time_entries"
        let id: ID<TimeEntry>
        var project: ID<Project>?
        var note: String
        var startedAt: Date
        var billing: Billing

        enum CodingKeys: String, CodingKey {
            case id, project = "project_id", note = "description", startedAt, billing
        }
    }

    enum Billing: Codable, Sendable, Hashable {
        case free, hourly
        case other(String)

        init(from decoder: any Decoder) throws {
            let text = try decoder.singleValueContainer().decode(String.self)
            self =
                switch text {
                case "free": .free
                case "hourly": .hourly
                default: .other(text)
                }
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            switch self {
            case .free: try container.encode("free")
            case .hourly: try container.encode("hourly")
            case .other(let text): try container.encode(text)
            }
        }
    }

    struct Day: RawRepresentable, Codable, Hashable, Comparable, QueryValue {
        let rawValue: String  // 2026-05-01

        static func < (left: Day, right: Day) -> Bool { left.rawValue < right.rawValue }
    }

    static func close(_ replica: Replica, _ edited: TimeEntry, _ shown: TimeEntry) throws {
        try replica.write { tx in try tx.save(edited, editedFrom: shown) }
    }

    static func add(
        _ line: String, to id: ID<TimeEntry>, _ replica: Replica, _ kept: String?,
        _ keep: (String) throws -> Void
    ) throws {
        let key = kept.flatMap { IdempotencyKey($0) } ?? replica.makeIdempotencyKey()
        try keep(key.description)
        try replica.write(once: key) { tx in
            try tx.update(TimeEntry.self, id) { $0.note += line }
        }
    }

    static func problems(_ replica: Replica) throws {
        let (entries, problems) = try replica.read { store in
            (try store.decodable(TimeEntry.self), try store.undecodable(TimeEntry.self))
        }
        print(entries.count, problems)
    }
}
