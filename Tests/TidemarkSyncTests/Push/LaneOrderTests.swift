// LaneOrderTests.swift — changes of a tree that go at the same time, in every order in which their
// requests can be carried out and answered: the server ends with what they give one after another.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A change that a person makes, by paths.
private enum TreeEdit {
    case folder(String)
    case file(String)
    case move(String, to: String)
    case delete(String)
    case copy(String, to: String)
}

/// Changes that were made without a connection, in order.
private struct EditScript: CustomTestStringConvertible {
    var name: String
    /// How many orders it has at least; 1 where each waits for the one before.
    var ordersMin = 2
    var edits: [TreeEdit]

    var testDescription: String { name }

    static let all = [
        EditScript(
            name: "a file is moved out of a folder, which is deleted then",
            edits: [.move("P/a", to: "D/a"), .delete("P"), .file("E/other")]),
        EditScript(
            name: "a file is moved into a folder, which is deleted then",
            edits: [.move("P/a", to: "D/a"), .delete("D"), .file("E/other")]),
        EditScript(
            name: "a folder is moved, and a file made in it",
            edits: [.move("P", to: "E/P"), .file("E/P/new"), .move("E/P/a", to: "D/a")]),
        EditScript(
            name: "two names are swapped by way of a third", ordersMin: 1,
            edits: [.move("P/a", to: "P/t"), .move("P/b", to: "P/a"), .move("P/t", to: "P/b")]),
        EditScript(
            name: "a file is moved away, and another one takes its name",
            edits: [.move("P/a", to: "D/a"), .file("P/a"), .move("P/b", to: "E/b")]),
        EditScript(
            name: "a file is deleted, and another one takes its name", ordersMin: 1,
            edits: [.delete("P/a"), .move("P/b", to: "P/a"), .file("P/b")]),
        EditScript(
            name: "a folder is made, filled, emptied and deleted",
            edits: [
                .folder("N"), .folder("N/M"), .file("N/M/f"), .move("N/M", to: "M"), .delete("N"),
                .move("P/a", to: "M/a"),
            ]),
        EditScript(
            name: "a file is copied, renamed, and its copy moved",
            edits: [
                .copy("P/a", to: "D/c"), .move("P/a", to: "P/z"), .move("D/c", to: "E/c"),
                .file("D/c"),
            ]),
        EditScript(
            name: "a folder goes into another one, which takes its place", ordersMin: 1,
            edits: [.move("P", to: "D/P"), .move("D/P/a", to: "E/a"), .move("D", to: "P")]),
        EditScript(
            name: "files are made in two folders, which change places",
            edits: [
                .file("P/n"), .file("D/m"), .move("P", to: "T"), .move("D", to: "P"),
                .move("T", to: "D"),
            ]),
        EditScript(
            name: "a folder is emptied file by file, deleted and made anew",
            edits: [.move("P/a", to: "D/a"), .move("P/b", to: "E/b"), .delete("P"), .folder("P")]),
        EditScript(
            name: "changes that are no matter of each other", ordersMin: 6,
            edits: [.move("P/a", to: "P/z"), .file("D/f"), .folder("E/g"), .delete("P/b")]),
    ]

    static let start: [(path: String, isFolder: Bool)] = [
        ("P", true), ("P/a", false), ("P/b", false), ("D", true), ("E", true),
    ]

    /// The paths that they give one after another.
    var expected: [String] {
        let server = WebDAVServer(WebDAVServerModel(WebDAVOptions()), clock: ManualClock())
        for (path, isFolder) in Self.start {
            if isFolder { server.makeFolder(path) } else { server.put(path, path) }
        }
        for edit in edits {
            switch edit {
            case .folder(let path): server.makeFolder(path)
            case .file(let path): server.put(path, path)
            case .move(let path, let target): server.move(path, to: target)
            case .delete(let path): server.delete(path)
            case .copy(let path, let target): server.put(target, server.entry(path)?.text ?? "")
            }
        }
        return server.entries.map(\.path).sorted()
    }
}

/// Has the writes that are open at the same time go on in an order that is given: one at a time,
/// once the run sends nothing more before an answer comes, and all that it sent are open.
private final class RequestOrder: Sendable {
    /// Which of those that were open went on.
    struct Choice {
        var index: Int
        var count: Int
    }
    private struct State {
        /// Those that came, by what they ask.
        var open: [(name: String, go: CheckedContinuation<Void, Never>)] = []
        /// How many were sent, and how many of them came.
        var (sent, came) = (0, 0)
        var isAwaited = false
        var taken: [Choice] = []
    }
    private let state = Mutex(State())
    /// What to choose, each time; after that the first one.
    private let plan: [Choice]

    init(_ plan: [Choice]) { self.plan = plan }

    var taken: [Choice] { state.withLock(\.taken) }

    /// Tells it what a run does.
    func watch(_ dependencies: inout Dependencies) {
        dependencies.reach = { [self] in if $0 == .beforeSend { state.withLock { $0.sent += 1 } } }
        dependencies.awaitAnswer = { [self] in advance { $0.isAwaited = true } }
    }

    /// Waits until it is this write's turn.
    func turn(of request: HTTPRequest) async {
        let name = "\(request.method) \(request.path ?? "")"
        await withCheckedContinuation { continuation in
            advance {
                $0.open.append((name, continuation))
                $0.came += 1
            }
        }
    }

    private func advance(_ change: (inout State) -> Void) {
        state.withLock { state -> CheckedContinuation<Void, Never>? in
            change(&state)
            guard state.isAwaited, state.came == state.sent, !state.open.isEmpty else { return nil }
            state.isAwaited = false
            // In which order they came is chance.
            state.open.sort { $0.name < $1.name }
            let index = state.taken.count < plan.count ? plan[state.taken.count].index : 0
            state.taken.append(Choice(index: index, count: state.open.count))
            return state.open.remove(at: index).go
        }?.resume()
    }

    /// The plan of the next order; nil after the last one.
    var next: [Choice]? {
        var plan = taken
        while var last = plan.popLast() {
            last.index += 1
            if last.index < last.count { return plan + [last] }
        }
        return nil
    }
}

@Suite struct `changes of a tree in every order of their answers` {
    /// The most orders of a script.
    private static let ordersMax = 150

    @Test(arguments: EditScript.all, [false, true])
    private func `give what they give one after another`(
        _ script: EditScript, _ areCarriedOutAtOnce: Bool
    ) async throws {
        var plan: [RequestOrder.Choice]? = []
        var orders = 0
        while let given = plan, orders < Self.ordersMax {
            let order = RequestOrder(given)
            try await run(script, order, areCarriedOutAtOnce)
            orders += 1
            plan = order.next
        }
        #expect(script.ordersMin == 1 ? orders == 1 : orders >= script.ordersMin)
    }

    private func run(
        _ script: EditScript, _ order: RequestOrder, _ areCarriedOutAtOnce: Bool
    ) async throws {
        let clock = ManualClock()
        var options = WebDAVOptions()
        options.hasFileIDs = true
        let server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        for (path, isFolder) in EditScript.start {
            if isFolder { server.makeFolder(path) } else { server.put(path, path) }
        }
        let model = SyncModel(
            name: "files",
            collections: [
                CollectionModel(
                    "files", references: [Reference("parent", to: "files")],
                    actions: [.init("copy", source: "of")],
                    tree: .init(
                        parent: "parent", name: "name", kind: "kind", isByPath: true,
                        serverID: "fileId"))
            ],
            settings: SyncSettings(budgets: .init(actions: 10)))
        let remote = Remote.webdav(
            origin: "http://files.test", home: "/", heedsPreconditions: true)
        var dependencies = Dependencies.seeded(1, clock: clock)
        order.watch(&dependencies)
        let replica = try Replica.temporary(
            model: model, remote: remote, dependencies: dependencies)
        let wire = SyncWire(server)
        let engine = try SyncEngine(replica, remote: remote, transport: wire) {
            .basic(user: "me", password: "secret")
        }
        _ = try await engine.sync()
        for edit in script.edits { try await make(edit, replica) }
        wire.tap { request, _, pass in
            guard request.method.rawValue != "PROPFIND" else { return await pass() }
            guard areCarriedOutAtOnce else {
                await order.turn(of: request)
                return await pass()
            }
            let answer = await pass()
            await order.turn(of: request)
            return answer
        }

        let outcome = try await engine.sync()

        let choices = "\(order.taken.map(\.index))"
        #expect(outcome.isSynced, "\(choices): \(outcome)")
        #expect(server.entries.map(\.path).sorted() == script.expected, "\(choices)")
        wire.tap { _, _, pass in await pass() }
        let after = try await engine.sync()
        #expect(after.counts.pushed == 0 && after.isSynced, "\(choices): \(after)")
        #expect(try paths(replica) == script.expected, "\(choices)")
        #expect(try replica.journal.verify(.deep).findings.isEmpty)
        await engine.stop()
        try replica.deleteTemporary()
    }

    private func paths(_ replica: Replica) throws -> [String] {
        try keys(replica).keys.sorted()
    }

    private func keys(_ replica: Replica) throws -> [String: EntityKey] {
        try replica.read { store in
            var keys: [String: EntityKey] = [:]
            try store.forEachDocument(in: "files") { key, _, _ in
                if let path = try store.path(of: key) { keys[path.joined(separator: "/")] = key }
                return true
            }
            return keys
        }
    }

    private func make(_ edit: TreeEdit, _ replica: Replica) async throws {
        let keys = try keys(replica)
        @Sendable func place(_ path: String) -> [Patch.Field] {
            let parts = path.split(separator: "/").map(String.init)
            let folder = parts.dropLast().joined(separator: "/")
            let parent = keys[folder].map { "\"\($0.id)\"" } ?? "null"
            return [
                .init("name", Array("\"\(parts[parts.count - 1])\"".utf8)),
                .init("parent", Array(parent.utf8)),
            ]
        }
        @Sendable func document(_ path: String, _ kind: String) -> [UInt8] {
            let fields = place(path).map {
                "\"\($0.name)\":" + String(decoding: $0.value, as: UTF8.self)
            }
            return Array("{\"kind\":\"\(kind)\",\(fields.joined(separator: ","))}".utf8)
        }
        let new = EntityKey("files", "n\(try replica.read { $0.position }.rawValue)")
        try await replica.write { tx in
            switch edit {
            case .folder(let path): _ = try tx.create(new, document(path, "folder"))
            case .file(let path): _ = try tx.create(new, document(path, "file"))
            case .move(let path, let target):
                _ = try tx.patch(try #require(keys[path]), Patch(set: place(target)))
            case .delete(let path): _ = try tx.delete(try #require(keys[path]))
            case .copy(let path, let target):
                _ = try tx.request(
                    "copy", making: new, document(target, "file"),
                    parameters: ["of": try #require(keys[path]).id])
            }
        }
    }
}
