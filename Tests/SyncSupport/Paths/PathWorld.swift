// PathWorld.swift — two devices and a plain client change the tree of a server that knows only
// paths, by chance from a seed: in the end each device sees what the server has.

import HTTPTypes
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// What did not hold, with the seed that shows it.
struct PathFailure: Error, CustomStringConvertible {
    var description: String
}

/// What a world is made of.
struct PathSetting {
    var seed: UInt64
    var server: any PathServer
    var remote: Remote
    var transport: any Transport
    var tree: CollectionModel.TreeRule
    /// How many folders are listed at the same time.
    var parallel = 1
    /// How many writes are on their way at the same time.
    var actions = 1
    /// Whether some runs list single folders only.
    var listsFolders = false
    /// What becomes of conflicts.
    var conflict = ConflictPolicy.serverWins
    /// Whether files have contents, by the tree's own field.
    var hasContents: Bool { tree.content != nil }
    /// Those of a device, by its number.
    var dependencies: (Int) -> Dependencies
    /// Lets time pass before a run.
    var advance: () -> Void = {}
    /// Has requests fail, where they can.
    var fail: ((FaultPlan) -> Void)?
    /// What the server did with each request of the devices, whatever they heard of it.
    var exchanges: () -> [PathExchange] = { [] }
}

/// A server of files, two devices and a plain client.
final class PathWorld {
    struct Device {
        var name: String
        var replica: Replica
        var engine: SyncEngine
        var wire: SyncWire
        /// The server's ids of what it has or had, by entity.
        var marks: [String: String] = [:]
    }

    let setting: PathSetting
    let random: SyncRandom
    private(set) var devices: [Device] = []
    var made = 0
    var steps: [String] = []
    /// The contents that devices wrote.
    var written: [WrittenContent] = []
    /// What was sent in the run in hand.
    private let sent = SyncList<String>()

    var server: any PathServer { setting.server }

    init(_ setting: PathSetting) throws {
        self.setting = setting
        random = SyncRandom(seed: setting.seed)
        var files = CollectionModel(
            "files", conflict: setting.conflict, references: [Reference("parent", to: "files")],
            actions: [.init("copy", source: "of")], tree: setting.tree)
        if let content = setting.tree.content { files.contents = [.init(content, when: .all)] }
        let model = SyncModel(
            name: "files", collections: [files],
            settings: SyncSettings(
                parallel: setting.parallel, budgets: .init(actions: setting.actions)))
        for number in 0..<2 {
            let replica = try Replica.temporary(
                model: model, remote: setting.remote, dependencies: setting.dependencies(number))
            let wire = SyncWire(setting.transport)
            let engine = try SyncEngine(replica, remote: setting.remote, transport: wire) {
                .basic(user: "me", password: "secret")
            }
            devices.append(
                Device(name: "device \(number)", replica: replica, engine: engine, wire: wire))
        }
    }

    /// Lives some days, and expects that all is equal at the end.
    func run() async throws {
        for _ in 0..<(4 + random.below(6)) {
            for _ in 0..<random.below(4) { try await serverEdit() }
            let device = random.below(devices.count)
            for _ in 0..<random.below(6) { try await edit(devices[device]) }
            if setting.hasContents { try await editContents(devices[device]) }
            setting.fail?(faults())
            if random.chance(80) { try await sync(device, isQuiet: false) }
        }
        setting.fail?(FaultPlan())
        try await settle()
        if setting.hasContents { try checkContents() }
        for device in devices {
            let findings = try device.replica.journal.verify(.deep).findings
            guard findings.isEmpty else { throw failure("\(device.name): \(findings)") }
        }
    }

    /// Stops the devices and removes their stores.
    func end() async throws {
        for device in devices {
            await device.engine.stop()
            try device.replica.deleteTemporary()
        }
    }

    func failure(_ what: String) -> PathFailure {
        PathFailure(description: "seed \(setting.seed): \(what)\n" + steps.joined(separator: "\n"))
    }

    private func faults() -> FaultPlan {
        let first = 1 + random.below(6)
        if setting.hasContents, random.chance(30) {
            let torn = FaultAction.cutOff(afterBytes: 1 + random.below(60))
            return FaultPlan([FaultRule(torn, method: .put)])
        }
        return FaultPlan([
            FaultRule(
                random.pick([
                    .dropAfterHandling, .dropBeforeHandling, .answer(status: 503),
                    .answer(status: 403), .answer(status: 500), .offline,
                ]),
                occurrences: first...first + random.below(2))
        ])
    }

    // MARK: Edits

    private var name: String {
        random.pick(setting.hasContents ? ["a b", "ü%", "c&<", "d\"'"] : ["a", "b", "c", "d"])
    }

    private func serverEdit() async throws {
        let entries = try await server.all()
        let folder = random.pick([""] + entries.filter(\.isFolder).map(\.path))
        let target = folder.isEmpty ? name : "\(folder)/\(name)"
        let isFree = !entries.contains { $0.path == target }
        switch random.below(7) {
        case 0...1 where isFree:
            made += 1
            steps.append("server: file \(target)")
            try await server.put(target, setting.hasContents ? text() : "content \(made)")
        case 2 where isFree:
            steps.append("server: folder \(target)")
            try await server.makeFolder(target)
        case 3...4 where isFree && !entries.isEmpty:
            let entry = random.pick(entries)
            guard !(target + "/").hasPrefix(entry.path + "/") else { return }
            steps.append("server: move \(entry.path) to \(target)")
            try await server.move(entry.path, to: target)
        case 5 where !entries.isEmpty:
            let entry = random.pick(entries)
            steps.append("server: delete \(entry.path)")
            try await server.delete(entry.path)
        case 6 where !entries.isEmpty:
            made += 1
            try await server.note(random.pick(entries).path, "note \(made)")
        default: break
        }
    }

    private func edit(_ device: Device) async throws {
        let known = try device.replica.seenFiles()
        let folders = known.filter(\.isFolder).map(\.key.id)
        let parent = random.chance(30) || folders.isEmpty ? nil : random.pick(folders)
        let name = name
        made += 1
        let id = "\(device.name.suffix(1))n\(made)"
        let kind = random.chance(50) ? "folder" : "file"
        let choice = known.isEmpty ? 0 : random.below(9)
        let one = known.isEmpty ? nil : random.pick(known)
        do {
            try await device.replica.write { tx in
                let place = parent.map { "\"\($0)\"" } ?? "null"
                func document(_ kind: String) -> [UInt8] {
                    let folder = parent.map { "\"parent\":\"\($0)\"," } ?? ""
                    return Array("{\(folder)\"name\":\"\(name)\",\"kind\":\"\(kind)\"}".utf8)
                }
                switch (choice, one) {
                case (0...2, _), (_, nil):
                    _ = try tx.create(EntityKey("files", id), document(kind))
                case (3...4, let one?):
                    _ = try tx.patch(
                        one.key, Patch(set: [.init("name", Array("\"\(name)\"".utf8))]))
                case (5...6, let one?):
                    _ = try tx.patch(one.key, Patch(set: [.init("parent", Array(place.utf8))]))
                case (7, let one?):
                    try tx.request(
                        "copy", making: EntityKey("files", id),
                        document(one.isFolder ? "folder" : "file"),
                        parameters: ["of": one.key.id])
                case (_, let one?): _ = try tx.delete(one.key)
                }
            }
            steps.append(
                "\(device.name): \(choice) \(one.map { "\($0.key.id)=\($0.path)" } ?? id) "
                    + "\(parent ?? "-")/\(name) \(kind)")
        } catch is TidemarkError {
            // It can't lie there.
        }
    }

    // MARK: Runs

    /// A run; the plain client may move something while a request is on its way.
    private func sync(_ number: Int, isQuiet: Bool) async throws {
        setting.advance()
        let device = devices[number]
        let last = try device.replica.read { $0.position }
        try await meddle(with: device, isQuiet: isQuiet)
        let scope = try isQuiet ? .all : scope(device)
        let outcome = try await device.engine.sync(scope: scope)
        steps.append("\(device.name): sync \(scope == .all ? "" : "\(scope) ")\(outcome.word)")
        if setting.hasContents { _ = try await device.engine.transfer() }
        steps += sent.take().filter { !$0.hasPrefix("PROPFIND") }.map { "  " + $0 }
        try await expectNoneTakenForGone(number, after: last)
    }

    /// What a run is to do: mostly everything, else to list some folders.
    private func scope(_ device: Device) throws -> SyncScope {
        guard setting.listsFolders, random.chance(25) else { return .all }
        let folders = try device.replica.seenFiles().filter(\.isFolder)
            .map { SyncScope.Folder($0.key) }
        return .folders(
            (0...random.below(2)).map { _ in
                random.pick(folders + [SyncScope.Folder("files")])
            })
    }

    /// Has the plain client move something while one of the next requests is on its way.
    private func meddle(with device: Device, isQuiet: Bool) async throws {
        let entries = isQuiet ? [] : try await server.all()
        var moved: (path: String, target: String)?
        var moment = 0
        if !entries.isEmpty {
            moment = 1 + random.below(12)
            let path = random.pick(entries).path
            let folder = random.pick([""] + entries.filter(\.isFolder).map(\.path))
            let target = folder.isEmpty ? name : "\(folder)/\(name)"
            let isAside =
                !(target + "/").hasPrefix(path + "/") && !(path + "/").hasPrefix(target + "/")
            if isAside { moved = (path, target) }
        }
        if let moved {
            steps.append("server, at request \(moment): \(moved.path) to \(moved.target)")
        }
        let (server, sent, planned, requestNumber) = (server, sent, moved, moment)
        // Answers come in any order.
        let turns = setting.parallel + setting.actions > 2 ? random : nil
        device.wire.tap { request, number, pass in
            if number == requestNumber, let moved = planned {
                let folder = moved.target.split(separator: "/").dropLast().joined(separator: "/")
                let there = try await server.all()
                let isInFolder =
                    folder.isEmpty || there.contains { $0.path == folder && $0.isFolder }
                let isThere = there.contains { $0.path == moved.path }
                let isFree = !there.contains { $0.path == moved.target }
                if isThere, isFree, isInFolder {
                    try await server.move(moved.path, to: moved.target)
                }
            }
            for _ in 0..<(turns?.below(20) ?? 0) { await Task.yield() }
            let answer = await pass()
            for _ in 0..<(turns?.below(20) ?? 0) { await Task.yield() }
            let status = (try? answer.get()).map { "\($0.response.status.code)" } ?? "no answer"
            sent.append("\(request.method) \(request.path ?? "") \(status)")
            return answer
        }
    }

    /// What a walk took for gone is not on the server.
    private func expectNoneTakenForGone(_ number: Int, after last: Position) async throws {
        let there = Set(try await server.all().compactMap(\.mark))
        let device = devices[number]
        var filter = EventFilter()
        filter.from = last.next
        var gone: [String] = []
        _ = try device.replica.journal.dump(filter) { _, event in
            guard event.kind == .serverDeleted, event.cause != nil, let key = event.key else {
                return
            }
            if let mark = device.marks[key.id], there.contains(mark) { gone.append(key.id) }
        }
        let marks = try device.replica.read { store in
            var marks: [String: String] = [:]
            try store.forEachDocument(in: "files") { key, bytes, _ in
                marks[key.id] = try JSONDocument(parsing: bytes).value("fileId")?.stringValue
                return true
            }
            return marks
        }
        // Two that turn out to be the same on the server become one, which an issue may be about.
        let asked = try device.replica.issues().compactMap { issue in
            issue.key.flatMap { device.marks[$0.id] }
        }
        let held = Set(marks.values).union(asked)
        gone.removeAll { device.marks[$0].map { held.contains($0) } ?? false }
        // So is one of them that waits to be deleted.
        let waiting = try device.replica.read { try $0.views.outbox(all: false) }
        gone.removeAll { id in
            waiting.contains { entry in
                let other = entry.mutation.key.id
                return other != id && device.marks[other] == device.marks[id]
            }
        }
        guard gone.isEmpty else {
            _ = try device.replica.journal.dump(filter) { position, event in
                let payload = String(decoding: event.payload.prefix(120), as: UTF8.self)
                steps.append("\(position) \(event.kind) \(event.key?.id ?? "") \(payload)")
            }
            throw failure("\(device.name) takes \(gone) for gone")
        }
        devices[number].marks.merge(marks) { $1 }
    }

    // MARK: The end

    private func settle() async throws {
        for round in 0..<12 {
            for (number, device) in devices.enumerated() {
                try await sync(number, isQuiet: true)
                for issue in try device.replica.issues() {
                    try answer(issue, device, isAny: round < 5)
                }
                // What waits for a folder that will never be there.
                guard round > 4 else { continue }
                for entry in try device.replica.read({ try $0.views.outbox(all: false) }) {
                    steps.append("\(device.name): discard \(entry.mutation.key.id)")
                    try? await device.replica.write { _ = try $0.discard(entry.mutation.key) }
                }
            }
            let there = try await server.all().map(\.text).sorted()
            let isEqual = try devices.allSatisfy { try isSettled($0, there) }
            if isEqual, try await otherContent() == nil { return }
        }
        let there = try await server.all().map(\.text).sorted()
        for device in devices where try !isSettled(device, there) {
            let seen = try device.replica.seenPaths()
            let outbox = try device.replica.read { try $0.views.outbox(all: false) }
            throw failure(
                "\(device.name) sees\n\(seen)\nand the server has\n\(there)\nwaiting: "
                    + "\(outbox.map { "\($0.mutation.key.id) \($0.word) \($0.position)" })")
        }
        if let other = try await otherContent(tells: true) { throw failure(other) }
    }

    /// Answers an issue; what was answered is asked no more.
    ///
    /// - Parameter isAny: whether by any of the answers that are offered; else by one that waits
    ///   for nobody.
    private func answer(_ issue: SyncIssue, _ device: Device, isAny: Bool) throws {
        let offered = issue.answers
        let answer = isAny && !offered.isEmpty ? random.pick(offered) : answer(to: issue)
        steps.append("\(device.name): \(issue.key?.id ?? "list") \(issue.kind) \(answer)")
        do { try device.replica.answer(issue.id, answer) } catch {
            // An earlier answer may have made it void, or its file is not here.
            steps.append("  \(error)")
            return
        }
        // Of a write without an answer the server has the last word.
        guard
            try issue.kind == .unsettled
                || device.replica.issues().allSatisfy({ $0.id != issue.id })
        else {
            throw failure("\(device.name): \(issue.kind) is asked again after \(answer)")
        }
    }

    private func answer(to issue: SyncIssue) -> IssueAnswer {
        if setting.hasContents, issue.answers.contains(.keepBoth), random.chance(50) {
            return .keepBoth
        }
        return issue.kind == .rejected ? .discard : .keepTheirs
    }

    private func isSettled(_ device: Device, _ there: [String]) throws -> Bool {
        let isQuiet = try device.replica.read { try $0.views.outbox(all: false).isEmpty }
        return try isQuiet && device.replica.seenPaths() == there
    }
}

/// A list that grows from everywhere.
private final class SyncList<Element: Sendable>: Sendable {
    private let state = Mutex<[Element]>([])

    func append(_ element: Element) { state.withLock { $0.append(element) } }

    /// All of it; it is empty afterwards.
    func take() -> [Element] {
        state.withLock { list in
            defer { list = [] }
            return list
        }
    }
}
