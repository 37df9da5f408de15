// PoolSummary.swift — the part of `tidemark status` about reserved values.

import TidemarkEvents
import TidemarkInspect
import TidemarkRules
import TidemarkViews

/// How many values are left of each key of the model's pools, and until when.
struct PoolSummary {
    private struct Entry {
        var key: PoolKey
        var left: Int
        /// When the first of them can't be used any more; nil where that is never, or none is left.
        var until: Timestamp?
        /// Why no values are asked for, and for how many seconds.
        var waits: (reason: String, seconds: Int64)?
    }

    private var entries: [Entry] = []

    /// The keys that the model names, then those that values were asked for besides.
    init(_ views: ViewReader, _ model: SyncModel?, at now: Moment) throws {
        guard let model else { return }
        var keys = model.pools.flatMap { pool in pool.keys.map { PoolKey(pool.name, $0) } }
        let named = Set(keys)
        keys += try views.poolKeys().filter {
            !named.contains($0) && model.pool($0.pool) != nil
        }
        for key in keys {
            let first = try views.nextValue(of: key, at: now.now)
            var entry = Entry(
                key: key, left: try views.countValues(of: key, at: now.now),
                until: first.flatMap { $0.until == ReservedValueRow.never ? nil : $0.until })
            if let gate = try views.pool(key)?.gate, gate.left(at: now) > 0 {
                entry.waits = (gate.reason, gate.left(at: now).inWholeSeconds)
            }
            entries.append(entry)
        }
    }

    var lines: [String] {
        entries.map { entry in
            var line = "pool      \(EventText.printable("\(entry.key)")): \(entry.left) left"
            if let until = entry.until { line += ", the next until \(until.toTheSecond)" }
            if let waits = entry.waits {
                line += "; \(waits.reason), asked for again in \(waits.seconds) s"
            }
            return line
        }
    }

    var json: [JSONValue] {
        entries.map { entry in
            var object: JSONObject = [
                "pool": .string(entry.key.pool),
                "key": .array(entry.key.texts.map(JSONValue.string)),
                "left": .number(JSONNumber(entry.left)),
            ]
            object["until"] = entry.until.map { .string($0.toTheSecond) }
            if let waits = entry.waits {
                object["reason"] = .string(waits.reason)
                object["secondsLeft"] = .number(JSONNumber(Int(waits.seconds)))
            }
            return .object(object)
        }
    }
}
