// TogglWorld+Steps.swift — what people do on their devices, what others do, and the network.

import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

extension TogglWorld {
    /// One thing happens.
    func step() async throws {
        let device = random.pick(devices)
        switch random.below(100) {
        case 0..<16: try makeEntry(device)
        case 16..<26: try editEntry(device)
        case 26..<30: try deleteEntry(device)
        case 30..<37: try makeOther(device)
        case 37..<40: try editOther(device)
        case 40..<44: try answerRefusals(device)
        case 44..<58: try elsewhere()
        case 58..<61: access()
        case 61:
            let seconds = random.pick([-3600, -90, 3, 90, 3600])
            tell("the devices' clocks are set by \(seconds) s")
            clock.adjust(by: .seconds(seconds))
        case 62..<64:
            tell("\(device.name) restarts")
            try device.restart()
        case 64..<68:
            let days = isWild ? [1, 7, 25, 40, 59, 70, 90, 200] : [1, 3, 20]
            let seconds = random.pick([30, 600, 7200] + days.map { $0 * 86_400 })
            tell("\(seconds) s pass")
            clock.advance(by: .seconds(seconds))
        default: try await syncSomehow(device)
        }
    }

    private func syncSomehow(_ device: TogglDevice) async throws {
        let scope: SyncScope =
            switch random.below(20) {
            case 0...2: .push
            case 3...5: .pull(["time_entries"])
            case 6: .cleanUp
            default: .all
            }
        let percent = random.chance(isWild ? 75 : 40) ? random.pick([5, 15, 30, 60]) : 0
        let full = random.chance(4)
        guard random.chance(40) else {
            try await sync(device, scope, failing: percent, full: full)
            return
        }
        let (server, isAlone) = (server, isAlone)
        try await sync(device, scope, failing: percent, full: full) { chance in
            guard chance % 100 < (isAlone ? 8 : 25) else { return }
            let entries = try device.seen("time_entries").filter { !$0.row.isPlaceholder }
            guard !entries.isEmpty else { return }
            let entry = entries[Int(chance / 100) % entries.count]
            let json = "{\"note\":\(chance / 1000 % 50)}"
            if chance / 7 % 2 == 0 {
                try device.patch(entry.key, json)
            } else if chance / 11 % 4 == 0, entry.row.baseState != .live {
                try device.delete(entry.key)
            } else if Int64(entry.serverID) != nil {
                Self.patch(server, "time_entries/\(entry.serverID)", json)
            }
        }
    }

    // MARK: On a device

    /// One of the ids of what is seen in a collection, as a JSON value.
    private func anyID(_ device: TogglDevice, _ collection: CollectionName) throws -> String? {
        let seen = try device.seen(collection)
        guard !seen.isEmpty else { return nil }
        let one = random.pick(seen)
        let id = random.chance(50) ? one.key.id : one.serverID
        return Int64(id).map { "\($0)" } ?? "\"\(id)\""
    }

    private func references(_ device: TogglDevice) throws -> String {
        var json = ""
        if random.chance(50), let id = try anyID(device, "projects") {
            json += ",\"project_id\":\(id)"
        }
        if random.chance(40) {
            let ids = try (0..<random.below(3)).compactMap { _ in try anyID(device, "tags") }
            json += ",\"tag_ids\":[\(ids.joined(separator: ","))]"
        }
        if random.chance(10), let id = try anyID(device, "tasks") { json += ",\"task_id\":\(id)" }
        return json
    }

    /// A moment back from now, as a JSON text.
    private func time(back seconds: Int) -> String {
        String(
            decoding: DateFormat.iso8601.encoded(clock.now.adding(seconds: -Int64(seconds))),
            as: UTF8.self)
    }

    private func makeEntry(_ device: TogglDevice) throws {
        guard let workspace = try anyID(device, "workspaces") else { return }
        let name = "\(device.name)-\(name())"
        let isRunning = random.chance(40)
        let back = isRunning ? 0 : random.pick([60, 3600, 86_400, 86_400 * 20, 86_400 * 58])
        var json =
            "{\"mark\":\"\(name)\",\"description\":\"d\(name)\",\"workspace_id\":\(workspace)"
        json += ",\"created_with\":\"tests\",\"start\":\(time(back: back)),\"duration\":"
        json += isRunning ? "null" : "\(random.below(3600))"
        json += try references(device) + "}"
        tell("\(device.name) makes time_entries/loc-\(name) \(json)")
        try device.put(EntityKey("time_entries", "loc-\(name)"), json)
    }

    private func anyEntry(_ device: TogglDevice) throws -> TogglSeen? {
        let entries = try device.seen("time_entries").filter { !$0.row.isPlaceholder }
        return entries.isEmpty ? nil : random.pick(entries)
    }

    private func editEntry(_ device: TogglDevice) throws {
        guard let entry = try anyEntry(device) else { return }
        var json = "{\"note\":\(random.below(50))"
        switch random.below(6) {
        case 0: json += ",\"duration\":\(random.below(5000))"
        case 1: json += ",\"duration\":null"
        case 4 where random.chance(30):
            if let id = try anyID(device, "workspaces") {
                json += ",\"workspace_id\":\(id)"
                taint(entry.document)
            }
        case 2: json += try references(device)
        case 3 where entry.key.id.hasPrefix("loc-\(device.name)"):
            json += ",\"description\":\"e\(name())\""
        default: break
        }
        json += "}"
        let id = random.chance(50) ? entry.key.id : entry.serverID
        tell("\(device.name) edits time_entries/\(id) \(json)")
        try device.patch(EntityKey("time_entries", id), json)
    }

    private func deleteEntry(_ device: TogglDevice) throws {
        guard let entry = try anyEntry(device) else { return }
        tell("\(device.name) deletes \(entry.key)")
        try device.delete(entry.key)
        taint(entry.document)
    }

    private func makeOther(_ device: TogglDevice) throws {
        let type: CollectionName = random.pick(
            ["tags", "tags", "clients", "projects", "projects", "projects"])
        let name = "\(device.name)-\(name())"
        var json = "{\"mark\":\"\(name)\",\"name\":\"n\(name)\""
        guard let workspace = try anyID(device, "workspaces") else { return }
        json += ",\"workspace_id\":\(workspace)"
        if type == "projects" {
            json += ",\"active\":true"
            if random.chance(50), let id = try anyID(device, "clients") {
                json += ",\"client_id\":\(id)"
            }
        }
        tell("\(device.name) makes \(type)/loc-\(name) \(json)}")
        try device.put(EntityKey(type, "loc-\(name)"), json + "}")
    }

    /// What the model lets be changed, and what it does not.
    private func editOther(_ device: TogglDevice) throws {
        if random.chance(60) {
            guard let one = try device.seen("preferences").first else { return }
            tell("\(device.name) edits preferences")
            try device.patch(one.key, "{\"date_format\":\"\(dateFormat())\"}")
        } else {
            let type: CollectionName = random.pick(["tags", "projects", "clients"])
            let seen = try device.seen(type).filter { !$0.row.isPlaceholder }
            guard !seen.isEmpty else { return }
            let key = random.pick(seen).key
            tell("\(device.name) edits \(key)")
            try device.patch(key, "{\"note\":\(random.below(9))}")
        }
    }

    private func dateFormat() -> String {
        random.pick(["MM/DD/YYYY", "DD-MM-YYYY", "YYYY-MM-DD", "DD.MM.YYYY"])
    }

    private func answerRefusals(_ device: TogglDevice) throws {
        for issue in try device.replica.issues() where issue.kind == .rejected {
            guard let key = issue.key, random.chance(60) else { continue }
            let isRetry = random.chance(60)
            tell("\(device.name) \(isRetry ? "retries" : "discards") \(key)")
            try device.replica.write { tx in
                if isRetry { try tx.retry(key) } else { try tx.discard(key) }
            }
        }
    }

    // MARK: Elsewhere

    /// What has a mark and was touched by others is not recognised by who made it.
    func taint(_ document: JSONDocument) {
        guard let mark = document.value("mark")?.stringValue else { return }
        ledger.with { _ = $0.tainted.insert(mark) }
    }

    private func taint(_ json: String?) {
        if let document = try? JSONDocument(parsing: Array((json ?? "{}").utf8)) { taint(document) }
    }

    private func anyRow(_ type: CollectionName) -> String? {
        let ids = server.records(in: type).keys.sorted()
        return ids.isEmpty ? nil : "\(type)/\(random.pick(ids))"
    }

    /// Changes members of a row that is there.
    static func patch(_ server: TogglServer, _ key: String, _ json: String) {
        guard let old = server.record(key),
            let document = try? JSONDocument(parsing: Array(old.utf8)),
            let given = try? JSONDocument(parsing: Array(json.utf8))
        else { return }
        let bytes = Patch(settingAllOf: given).applied(to: document)
        server.put(key, String(decoding: bytes, as: UTF8.self))
    }

    /// What a third client does.
    private func elsewhere() throws {
        switch random.below(15) {
        case 0..<4: makeElsewhere()
        case 4..<8:
            guard let key = anyRow("time_entries") else { return }
            var json = "{\"note\":\(random.below(50))"
            if random.chance(30) { json += ",\"duration\":\(random.below(5000))" }
            if random.chance(15) { json += ",\"duration\":-1" }
            if random.chance(20), let project = anyRow("projects") {
                json += ",\"project_id\":\(project.dropFirst(9))"
            }
            tell("elsewhere \(key) \(json)}")
            Self.patch(server, key, json + "}")
        case 8:
            guard let key = anyRow("time_entries") else { return }
            deleteElsewhere(key)
        case 9:
            let type: CollectionName = random.pick(["tags", "projects", "clients", "tasks"])
            guard let key = anyRow(type) else { return }
            deleteElsewhere(key)
        case 10:
            guard let key = anyRow(random.pick(["tags", "clients", "projects"])) else { return }
            tell("elsewhere \(key) edited")
            if !vanished.contains(key) { Self.patch(server, key, "{\"note\":\(random.below(9))}") }
        case 11:
            guard let key = anyRow("projects") else { return }
            tell("elsewhere archives \(key)")
            taint(server.record(key))
            server.archive(key)
            vanished.insert(key)
        case 12:
            guard let key = anyRow(random.pick(["tags", "projects", "time_entries"])) else {
                return
            }
            tell("elsewhere \(key) vanishes")
            taint(server.record(key))
            server.forget(key)
            vanished.insert(key)
        case 13 where losesAll:
            let id = random.pick(["null", "1", "2"])
            tell("elsewhere the default workspace is \(id)")
            server.put("user/1", "{\"fullname\":\"User\",\"default_workspace_id\":\(id)}")
        default:
            tell("elsewhere preferences")
            server.put(
                "preferences/preferences",
                "{\"timeofday_format\":\"h:mm A\",\"date_format\":\"\(dateFormat())\"}")
        }
    }

    private func deleteElsewhere(_ key: String) {
        tell("elsewhere deletes \(key)")
        taint(server.record(key))
        taintEntries(naming: key)
        server.delete(key)
        let now = clock.trueNow
        ledger.with { $0.deleted[key] = now }
    }

    /// Entries lose a project or a tag that is deleted.
    private func taintEntries(naming key: String) {
        for record in server.records(in: "time_entries").values {
            guard let document = try? JSONDocument(parsing: Array(record.utf8)) else { continue }
            let names =
                document.ids(in: "project_id").map { "projects/\($0)" }
                + document.ids(in: "tag_ids").map { "tags/\($0)" }
            if names.contains(key) { taint(document) }
        }
    }

    private func newID() -> Int64 {
        server.withModel { model in
            defer { model.nextID += 1 }
            return model.nextID
        }
    }

    private func makeElsewhere() {
        let type = random.pick([
            "time_entries", "time_entries", "tags", "projects", "tasks", "clients",
        ])
        guard let workspace = anyRow("workspaces") else { return }
        var json = "{\"name\":\"x\(name())\",\"workspace_id\":\(workspace.dropFirst(11))"
        if type == "time_entries" {
            let isRunning = random.chance(30)
            let back = isRunning ? 0 : random.pick([60, 86_400, 86_400 * 40, 86_400 * 70])
            json += ",\"description\":\"x\(name())\",\"start\":\(time(back: back))"
            json += ",\"duration\":" + (isRunning ? "-1" : "77")
            if let key = anyRow("projects") { json += ",\"project_id\":\(key.dropFirst(9))" }
            if let key = anyRow("tags") { json += ",\"tag_ids\":[\(key.dropFirst(5))]" }
        }
        if type == "tasks", let key = anyRow("projects") {
            json += ",\"project_id\":\(key.dropFirst(9))"
        }
        let key = "\(type)/\(newID())"
        tell("elsewhere makes \(key) \(json)}")
        server.put(key, json + "}")
    }

    /// A workspace gets out of reach, comes back, or is new.
    private func access() {
        if random.chance(15) {
            let key = "workspaces/\(newID())"
            tell("elsewhere makes \(key)")
            server.put(key, "{\"name\":\"w\(name())\"}")
        } else if let id = lost.keys.sorted().first, random.chance(70) {
            tell("elsewhere workspaces/\(id) is given back")
            server.put("workspaces/\(id)", lost[id] ?? "{}")
            lost[id] = nil
        } else {
            let ids = server.records(in: "workspaces").keys.filter { losesAll || $0 != "1" }
                .sorted()
            guard !ids.isEmpty else { return }
            let id = random.pick(ids)
            tell("elsewhere workspaces/\(id) is out of reach")
            let row = server.record("workspaces/\(id)")
            taint(row)
            lost[id] = row
            server.forget("workspaces/\(id)")
        }
    }
}
