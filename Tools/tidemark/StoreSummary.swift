// StoreSummary.swift — what `tidemark status` says.

import Tidemark
import TidemarkInspect
import TidemarkRules
import TidemarkViews

/// How a store stands with its server.
struct StoreSummary {
    private var position: Position
    private var origin: String?
    private var collections:
        [(name: CollectionName, counts: [EntityStatus: Int], cursor: String?)] =
            []
    private var pending = 0
    private var refused = 0
    private var lastRun: (position: Position, row: SyncRunRow)?
    private let schedule: ScheduleSummary

    init(_ views: ViewReader, at now: Moment) throws {
        position = views.last
        schedule = ScheduleSummary(try views.gates(), at: now)
        let registration = try views.registration()
        origin = registration?.remote?.origin
        for collection in registration?.model.collections ?? [] {
            var counts: [EntityStatus: Int] = [:]
            try views.forEachEntity(in: collection.name) { _, row in
                if row.document != nil || !row.pending.isEmpty {
                    counts[row.status, default: 0] += 1
                }
                return true
            }
            let mark = try views.watermark(collection.name)
            let cursor = mark?.cursor?.description ?? mark?.since?.description
            collections.append((collection.name, counts, cursor))
        }
        let counts = try OutboxCounts(views)
        (pending, refused) = (counts.pending, counts.refused)
        var last: (position: Position, row: SyncRunRow)?
        try views.forEachSyncRun { position, row in
            last = (position, row)
            return false
        }
        lastRun = last
    }

    private var lastOutcome: String {
        guard let lastRun else { return "never synced" }
        guard lastRun.row.finished != nil else { return "cut off" }
        let summary = try? JSONDocument(parsing: lastRun.row.summary)
        return summary?.value("outcome")?.stringValue ?? "finished"
    }

    var lines: [String] {
        var lines = ["log       \(position)"]
        lines.append("server    \(origin ?? "none")")
        var last = lastOutcome
        if let run = lastRun {
            last += " (\(run.position), \(run.row.finishedAt ?? run.row.startedAt))"
        }
        lines.append("last run  \(last)")
        lines.append("outbox    \(pending) pending, \(refused) refused")
        lines += schedule.lines
        let width = max(9, collections.map(\.name.rawValue.count).max() ?? 0)
        for collection in collections {
            let counts = EntityStatus.allCases.compactMap { status in
                collection.counts[status].map { "\($0) \(status.rawValue)" }
            }
            let list = counts.isEmpty ? "empty" : counts.joined(separator: ", ")
            lines.append(collection.name.rawValue.padded(to: width) + " " + list)
        }
        return lines
    }

    var json: [UInt8] {
        var object: JSONObject = ["position": .number(JSONNumber(position.rawValue))]
        object["origin"] = origin.map(JSONValue.string) ?? .some(.null)
        object["lastRun"] = .string(lastOutcome)
        object["pending"] = .number(JSONNumber(pending))
        object["refused"] = .number(JSONNumber(refused))
        object["automatic"] = .string(schedule.automatic)
        object["gates"] = .array(schedule.json)
        var list: [JSONValue] = []
        for collection in collections {
            var entry: JSONObject = ["name": .string(collection.name.rawValue)]
            for status in EntityStatus.allCases {
                entry[status.rawValue] = .number(JSONNumber(collection.counts[status] ?? 0))
            }
            entry["cursor"] = collection.cursor.map(JSONValue.string) ?? .some(.null)
            list.append(.object(entry))
        }
        object["collections"] = .array(list)
        return JSONValue.object(object).encoded()
    }
}
