// StoreSummary.swift — the output of `tidemark status`.

import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkRules
import TidemarkViews

/// The state of a store and of its sync.
struct StoreSummary {
    /// How the log differs from what it is known to have held; nil where it does not.
    var rollBack: String?
    private var position: Position
    private var origin: String?
    private var collections: [Entry] = []
    private var waiting: OutboxCounts

    /// The summary of a collection.
    private struct Entry {
        var name: CollectionName
        var isLocalOnly: Bool
        var counts: [EntityStatus: Int]
        var cursor: String?
        /// The number of stored pages of an unfinished whole list; nil where there is none.
        var pages: Int?
        /// Whether a whole list was requested and is still to be made.
        var isOwed: Bool
        /// Whether something changed in a folder whose version stayed.
        var isUnmoved = false
        /// Where the parts of a feed go on.
        var feed: [(part: String, cursor: String)] = []
    }
    private var lastRun: (position: Position, row: SyncRunRow)?
    private let schedule: ScheduleSummary
    private let pools: PoolSummary
    private let clock: ServerClock?
    /// The calls that fail by themselves, each with the seconds until it is repeated.
    private var failing: [(call: FailingCall, seconds: Int64)] = []
    /// What was found out of the server's preconditions.
    private let preconditions: KnownPreconditions?
    /// How often the tables were rebuilt because of damage, and the damage found last.
    private let mendings: (count: Int, found: String)
    /// Damage that the tables have now.
    private let damage: String?
    /// Whether another version made the tables.
    private let isOutdated: Bool
    private let isNewer: Bool
    /// How many failing calls are listed individually.
    private static let failingShown = 10

    init(_ views: ViewReader, at now: Moment) throws {
        position = views.last
        schedule = try ScheduleSummary(views, at: now)
        clock = try views.serverClock()
        failing = try views.failingCalls().map {
            ($0, $0.row.gate.left(at: now).inWholeSeconds)
        }
        let registration = try views.registration()
        pools = try PoolSummary(views, registration?.model, at: now)
        origin = registration?.remote?.origin
        let isSaid = registration?.remote?.parameters[Remote.preconditions] != nil
        preconditions = isSaid ? nil : try views.preconditions()
        for collection in registration?.model.collections ?? [] {
            var counts: [EntityStatus: Int] = [:]
            try views.forEachEntity(in: collection.name) { _, row in
                if row.document != nil || !row.pending.isEmpty {
                    counts[row.status, default: 0] += 1
                }
                return true
            }
            let mark = try views.watermark(PullTarget(collection.name))
            let cursor = mark?.cursor?.description ?? mark?.since?.description
            let feed = try [PullTarget.forward, PullTarget.back].compactMap { part in
                try views.feedCursor(PullTarget(collection.name, scope: part))
                    .map { (part, "\($0)") }
            }
            let list = try views.listing(PullTarget(collection.name))
            collections.append(
                Entry(
                    name: collection.name, isLocalOnly: collection.localOnly, counts: counts,
                    cursor: cursor,
                    pages: list.flatMap { $0.isOfChanges ? nil : $0.page },
                    isOwed: try views.isOwed(PullTarget(collection.name)),
                    isUnmoved: mark?.isUnmoved ?? false, feed: feed))
        }
        waiting = try OutboxCounts(views)
        lastRun = try views.lastSyncRun()
        mendings = (views.mendings, views.lastFound)
        damage = views.damage
        isOutdated = views.isOutdated
        isNewer = views.madeByNewer != nil
    }

    private var lastOutcome: String {
        guard let lastRun else { return "never synced" }
        guard lastRun.row.finished != nil else { return "not ended: cut off, or under way" }
        return SyncFinished(stored: lastRun.row.summary).outcome?.word ?? "finished"
    }

    /// Collections whose interrupted list the last run had to begin again.
    private var restarted: [String] {
        lastRun.map { SyncFinished(stored: $0.row.summary).restarted } ?? []
    }

    var lines: [String] {
        var lines = ["log       \(position)"]
        if let rollBack { lines.append("older     \(rollBack)") }
        lines.append("server    \(origin ?? "none")")
        var last = lastOutcome
        if let run = lastRun {
            last += " (\(run.position), \(run.row.finishedAt ?? run.row.startedAt))"
        }
        lines.append("last run  \(last)")
        if !restarted.isEmpty {
            let names = restarted.joined(separator: ", ")
            lines.append("          listed from the beginning: \(names)")
        }
        lines.append("outbox    \(waiting.pending) pending, \(waiting.refused) refused")
        for (collection, count) in waiting.held.sorted(by: { $0.key < $1.key }) {
            lines.append("held      \(count) of \(collection), see tidemark issues")
        }
        if let doubt = clock?.doubt {
            lines.append(
                "clock     in doubt: the server says \(doubt.said.toTheSecond) (\(doubt.since)),")
            lines.append(
                "          \(doubt.expected.toTheSecond) was expected; nothing is removed meanwhile"
            )
        }
        if let preconditions, !preconditions.areHeeded {
            let time = preconditions.triedAt.toTheSecond
            lines.append("server    ignores preconditions (found \(time)): each write goes")
            lines.append("          after a read, and may replace what is changed in between")
        }
        if let damage {
            lines.append("damaged   \(damage)")
            lines.append("          the log is read instead; the next write makes the tables anew")
        }
        if isOutdated {
            lines.append("outdated  another version made the tables, and the log is read instead;")
            lines.append(
                isNewer
                    ? "          it is newer: only that one can open the store for writing"
                    : "          the next opening for writing makes them anew")
        }
        if mendings.count > 0 {
            let times = mendings.count == 1 ? "time" : "times"
            lines.append("mended    the tables, \(mendings.count) \(times); the last one:")
            lines.append("          \(mendings.found)")
        }
        for (call, seconds) in failing.prefix(Self.failingShown) {
            let name = call.isList ? "\(call.key.collection)" : "\(call.key)"
            let next = seconds > 0 ? "again in \(seconds) s" : "again with the next run"
            lines.append("failing   \(name): \(call.sentence); \(next)")
        }
        if failing.count > Self.failingShown {
            lines.append("          and \(failing.count - Self.failingShown) more")
        }
        lines += schedule.lines + pools.lines
        let width = max(9, collections.map(\.name.rawValue.count).max() ?? 0)
        for collection in collections {
            let counts = EntityStatus.allCases.compactMap { status in
                collection.counts[status].map { "\($0) \(status.rawValue)" }
            }
            var list = counts.isEmpty ? "empty" : counts.joined(separator: ", ")
            if collection.isLocalOnly, !counts.isEmpty {
                let count = collection.counts.values.reduce(0, +)
                list = "\(count) on this device alone"
            }
            if let pages = collection.pages {
                list += "; a list of everything goes on after page \(pages)"
            } else if collection.isOwed {
                list += "; to be listed whole"
            }
            if collection.isUnmoved {
                list += "; all folders are listed, as something changed in one whose version stayed"
            }
            lines.append(collection.name.rawValue.padded(to: width) + " " + list)
            let parts = [PullTarget.forward: "changes", PullTarget.back: "backfill"]
            for (part, cursor) in collection.feed {
                lines.append("".padded(to: width) + " \(parts[part] ?? part) \(cursor)")
            }
        }
        return lines
    }

    var json: [UInt8] {
        var object: JSONObject = ["position": .number(JSONNumber(position.rawValue))]
        object["rolledBack"] = rollBack.map(JSONValue.string)
        object["origin"] = origin.map(JSONValue.string) ?? .some(.null)
        object["lastRun"] = .string(lastOutcome)
        object["pending"] = .number(JSONNumber(waiting.pending))
        object["refused"] = .number(JSONNumber(waiting.refused))
        object["held"] = .object(
            waiting.held.sorted { $0.key < $1.key }.reduce(into: JSONObject()) { held, entry in
                held[entry.key.rawValue] = .number(JSONNumber(entry.value))
            })
        if !restarted.isEmpty {
            object["restarted"] = .array(restarted.map(JSONValue.string))
        }
        object["unsettled"] = .number(JSONNumber(failing.count { !$0.call.isList }))
        object["failing"] = .array(
            failing.map { call, seconds in
                var entry: JSONObject = ["collection": .string(call.key.collection.rawValue)]
                if !call.isList { entry["entity"] = .string(call.key.id) }
                entry["failures"] = .number(JSONNumber(call.row.gate.failures))
                entry["reason"] = .string(call.row.gate.reason)
                entry["position"] = .number(JSONNumber(call.row.gate.position.rawValue))
                entry["secondsLeft"] = .number(JSONNumber(Int(seconds)))
                return .object(entry)
            })
        if let doubt = clock?.doubt {
            object["timeInDoubt"] = [
                "said": .string(doubt.said.toTheSecond),
                "expected": .string(doubt.expected.toTheSecond),
                "position": .number(JSONNumber(doubt.since.rawValue)),
            ]
        }
        if let preconditions, !preconditions.areHeeded {
            object["ignoresPreconditions"] = [
                "found": .string(preconditions.triedAt.toTheSecond)
            ]
        }
        if let damage { object["damage"] = .string(damage) }
        if isOutdated { object["outdated"] = true }
        if mendings.count > 0 {
            object["mended"] = [
                "times": .number(JSONNumber(mendings.count)), "found": .string(mendings.found),
            ]
        }
        object["automatic"] = .string(schedule.automatic)
        object["gates"] = .array(schedule.json)
        if !pools.json.isEmpty { object["pools"] = .array(pools.json) }
        if !schedule.triggers.isEmpty { object["triggers"] = .object(schedule.triggers) }
        var list: [JSONValue] = []
        for collection in collections {
            var entry: JSONObject = ["name": .string(collection.name.rawValue)]
            for status in EntityStatus.allCases {
                entry[status.rawValue] = .number(JSONNumber(collection.counts[status] ?? 0))
            }
            entry["cursor"] = collection.cursor.map(JSONValue.string) ?? .some(.null)
            if !collection.feed.isEmpty {
                var feed = JSONObject()
                for (part, cursor) in collection.feed { feed[part] = .string(cursor) }
                entry["feed"] = .object(feed)
            }
            if let pages = collection.pages {
                entry["pagesListed"] = .number(JSONNumber(pages))
            }
            if collection.isOwed { entry["owesWholeList"] = true }
            if collection.isUnmoved { entry["listsAllFolders"] = true }
            list.append(.object(entry))
        }
        object["collections"] = .array(list)
        return JSONValue.object(object).encoded()
    }
}
