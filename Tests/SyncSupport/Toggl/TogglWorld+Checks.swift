// TogglWorld+Checks.swift — what must hold after each sync, and when everything is at rest.

import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

extension TogglWorld {
    /// What must hold after a run, however it ended.
    func check(_ device: TogglDevice, _ outcome: SyncOutcome, _ scope: SyncScope) throws {
        try checkWires()
        let findings = try device.replica.journal.verify(.deep).findings
        if !findings.isEmpty { throw fail("\(device.name): \(findings.prefix(3))") }
        try checkOutbox(device)
        let isPulled =
            switch scope {
            case .all, .pull: true
            case .push, .fetch, .select, .folders, .reserve, .cleanUp: false
            }
        guard isPulled, outcome.failure == nil else { return }
        let running = try device.seen("time_entries").filter {
            $0.document.value("duration") == .null
        }
        if running.count > 1 {
            throw fail("\(device.name) has \(running.map(\.key)) running together")
        }
    }

    private func checkWires() throws {
        let (problems, twice) = ledger.with { state in
            let tainted = state.tainted
            let twice = state.made.filter { $0.value > 1 && !tainted.contains($0.key) }.keys
            return (state.problems, twice.sorted())
        }
        if let problem = problems.first { throw fail(problem) }
        if let mark = twice.first { throw fail("\(mark) was made twice") }
    }

    /// Every mutation is open or has one outcome, which stays.
    private func checkOutbox(_ device: TogglDevice) throws {
        let known = device.server.outcomes.withLock { $0 }
        let from = device.server.counted.withLock { $0 }
        let (now, problem, last) = try device.replica.journal.read { views in
            var now: [String: String] = [:]
            var open: Set<String> = []
            var problem: String?
            func name(_ position: Position, _ row: MutationRow) -> String {
                "\(position)" + (row.isDerived ? " \(row.key) \(row.rule)" : "")
            }
            try views.forEachMutation { position, row in
                now[name(position, row)] = row.outcome?.rawValue ?? ""
                return true
            }
            try views.forEachMutation(openOnly: true) { position, row in
                open.insert(name(position, row))
                return true
            }
            for (mutation, outcome) in now.sorted(by: { $0.key < $1.key }) {
                let isOpen = open.contains(mutation)
                if outcome.isEmpty && !isOpen { problem = "\(mutation) is lost" }
                if isOpen && !["", "rejected"].contains(outcome) {
                    problem = "\(mutation) is open and \(outcome)"
                }
            }
            for (mutation, outcome) in known where !["", "rejected"].contains(outcome) {
                if now[mutation] != outcome {
                    problem = "\(mutation) was \(outcome), is \(now[mutation] ?? "gone")"
                }
            }
            var at = from
            while at < views.last {
                at = Position(rawValue: at.rawValue + 1)
                guard let event = try views.event(at: at) else { continue }
                let isMutation = [EventKind.localCreated, .localUpdated, .localDeleted].contains(
                    event.kind)
                if isMutation, now["\(at)"] == nil { problem = "\(at) is no mutation" }
            }
            return (now, problem, views.last)
        }
        if let problem { throw fail("\(device.name): mutation \(problem)") }
        device.server.outcomes.withLock { $0 = now }
        device.server.counted.withLock { $0 = last }
    }

    // MARK: At rest

    private static let compared: [CollectionName] = [
        "workspaces", "preferences", "tags", "clients", "projects", "tasks", "time_entries",
    ]

    /// What is seen is what the server has, and nothing waits but for the user.
    func checkAtRest(_ device: TogglDevice) throws {
        try checkPending(device)
        for collection in Self.compared {
            let seen = try device.seen(collection)
            let theirs = server.records(in: collection)
            for entity in seen { try compare(device, entity, theirs[entity.serverID]) }
            let ids = Dictionary(grouping: seen, by: \.serverID)
            if let twin = ids.first(where: { $0.value.count > 1 }) {
                throw fail("\(device.name) has \(collection)/\(twin.key) twice")
            }
            for (id, json) in theirs.sorted(by: { $0.key < $1.key }) where ids[id] == nil {
                try lacks(device, EntityKey(collection, id), json)
            }
        }
    }

    /// A run without news is one small event, but for the first one after a day.
    func checkIdle(_ device: TogglDevice) async throws {
        _ = try await device.engine.sync()
        let before = try device.replica.journal.read { $0.last }
        _ = try await device.engine.sync()
        let kinds = try device.replica.journal.read { views in
            try ((before.rawValue + 1)...views.last.rawValue).compactMap {
                try views.event(at: Position(rawValue: $0))
            }
        }
        guard kinds.map(\.kind) != [.syncFinished] else { return }
        let last = kinds.suffix(3).map {
            "\($0.kind) \($0.collection?.rawValue ?? "") "
                + String(decoding: $0.payload, as: UTF8.self)
        }
        throw fail("\(device.name): an idle run logs \(last)")
    }

    private func checkPending(_ device: TogglDevice) throws {
        let open = try device.replica.journal.read { views in
            try views.outbox(all: false).filter { entry in
                let row = try views.entity(entry.mutation.key)
                return entry.state != .blocked && row?.status != .error && row?.isHidden != true
            }
        }
        if let entry = open.first {
            throw fail("\(device.name): \(entry.mutation.key) \(entry.word) at rest")
        }
    }

    private func compare(
        _ device: TogglDevice, _ entity: TogglSeen, _ theirs: String?
    ) throws {
        let key = EntityKey(entity.key.collection, entity.serverID)
        let place = "\(device.name): \(entity.key) (\(key))"
        let row = entity.row
        guard !row.isPlaceholder, row.pending.isEmpty, !vanished.contains("\(key)") else { return }
        let owner = Self.workspace(of: entity.document)
        if let owner, lost[owner] != nil { throw fail("\(place) is seen out of reach") }
        guard let theirs else {
            // What was deleted before a list of everything was asked for is told by no list.
            let deleted = ledger.with { $0.deleted["\(key)"] }
            if let deleted, let whole = device.wire.whole(key.collection.rawValue),
                deleted.milliseconds <= whole.milliseconds + 2000
            {
                return
            }
            throw fail("\(place) is on the device alone: \(text(entity.document))")
        }
        // What a list of everything left out stays as it was known before.
        if key.collection == "time_entries", let whole = device.wire.whole("time_entries"),
            isOutside(entity.document, at: whole)
        {
            return
        }
        let mine = text(entity.document)
        let (here, there) = (meaning(mine, key), meaning(theirs, key))
        if here != there { throw fail("\(place) is\n\(here), there\n\(there)") }
    }

    /// The workspace that a row belongs to; of clients it has another name.
    private static func workspace(of document: JSONDocument) -> String? {
        document.ids(in: "workspace_id").first ?? document.ids(in: "wid").first
    }

    private func text(_ document: JSONDocument) -> String {
        String(decoding: document.applying(set: [], unset: ["id", "at"]), as: UTF8.self)
    }

    /// What a document says, whether a list had it or an answer to a write, and without what the
    /// server works out or changes without a new time of change.
    private func meaning(_ text: String, _ key: EntityKey) -> JSONValue {
        guard let model = SyncModel.toggl[key.collection],
            let read = try? model.read(Array(text.utf8)),
            var row = (try? JSONValue(parsing: read))?.object
        else { return .null }
        for name in model.drops { row[name] = nil }
        for name in [
            "wid", "pid", "tid", "uid", "cid", "stop", "tags", "status", "last_modified",
            "active_project_count", "created_with",
        ] {
            row[name] = nil
        }
        guard key.collection == "time_entries" else { return .object(row) }
        let ids = row["tag_ids"]?.array?.compactMap(\.idText) ?? []
        let live = server.records(in: "tags")
        row["tag_ids"] = .array(ids.filter { live[$0] != nil }.map { .string($0) })
        return .object(row)
    }

    /// Whether an entry began too long ago to be listed or kept at a time, or about.
    private func isOutside(_ document: JSONDocument, at time: Timestamp) -> Bool {
        let limit = time.adding(months: -2).adding(seconds: 86_400)
        return document.rawValue("start").flatMap { DateFormat.iso8601.timestamp($0) }
            .map { $0 < limit } ?? false
    }

    /// Finds the reason why a row of the server is not seen here.
    private func lacks(_ device: TogglDevice, _ key: EntityKey, _ json: String) throws {
        let document = try JSONDocument(parsing: Array(json.utf8))
        if let owner = Self.workspace(of: document), lost[owner] != nil { return }
        guard !vanished.contains("\(key)") else { return }
        let row = try device.replica.journal.read { try $0.entity(key) }
        if let row, !row.pending.isEmpty { return }
        if key.collection == "time_entries", isOutside(document, at: now) { return }
        throw fail("\(device.name) lacks \(key) \(json): \(row.map { "\($0)" } ?? "no row")")
    }
}
