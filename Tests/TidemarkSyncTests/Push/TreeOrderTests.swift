// TreeOrderTests.swift — changes of a tree by chance from a seed: what the requests make of the
// server's tree is what the changes make of it one after another.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkTesting

@testable import SyncSupport

/// `TIDEMARK_TREE_SEEDS=100-400` runs those seeds instead of the few of every day; each is 25
/// scripts.
@Suite struct `changes of a tree` {
    private static let seeds = TestSeeds.named("TIDEMARK_TREE_SEEDS", else: 1...6)

    @Test(arguments: seeds)
    func `make of the server's tree what they make one after another`(_ seed: UInt64) async throws {
        try await TreeWorld(seed: seed, refuses: false).run(scripts: 25)
    }

    @Test(arguments: seeds)
    func `do so too where some are refused at first, or get no answer`(_ seed: UInt64) async throws
    {
        try await TreeWorld(seed: seed, refuses: true).run(scripts: 25)
    }
}

/// What did not hold, with the seed that shows it.
private struct TreeFailure: Error, CustomStringConvertible {
    var description: String
}

/// A tree as a file server has it, by ids: strict about names and folders.
private struct StrictTree: Equatable {
    struct Node: Equatable {
        var parent: String?
        var name: String
        var isFolder: Bool
        var stars: Int
    }

    var nodes: [String: Node] = [:]

    func isInside(_ id: String, _ other: String) -> Bool {
        var next: String? = id
        while let current = next {
            if current == other { return true }
            next = nodes[current]?.parent
        }
        return false
    }

    /// Why a node can't be there; nil where it can.
    func problem(_ id: String, _ node: Node) -> String? {
        if let parent = node.parent {
            guard nodes[parent]?.isFolder == true else {
                return "\(id) in \(parent), which is none"
            }
            if isInside(parent, id) { return "\(id) in itself" }
        }
        let twin = nodes.first { other, known in
            other != id && known.parent == node.parent && known.name == node.name
        }
        return twin.map { "\(id) is called \(node.name), as \($0.key) in the same folder is" }
    }

    /// Removes a node and all that lies in it.
    mutating func remove(_ id: String) {
        for (child, _) in nodes.filter({ $0.value.parent == id }) { remove(child) }
        nodes[id] = nil
    }

    var text: String {
        nodes.sorted { $0.key < $1.key }.map {
            "\($0.key)=\($0.value.parent ?? "")/\($0.value.name)*\($0.value.stars)"
        }.joined(separator: " ")
    }
}

/// A server, a device, and the tree as it should be.
private final class TreeWorld {
    private let seed: UInt64
    private let refuses: Bool
    private let random: SyncRandom
    private let world: SyncWorld
    private let device: SyncDevice
    /// What the changes make one after another.
    private var serial = StrictTree()
    /// What the requests made.
    private var server = StrictTree()
    private var seen = 0
    private var made = 0
    private var steps: [String] = []

    init(seed: UInt64, refuses: Bool) throws {
        (self.seed, self.refuses) = (seed, refuses)
        random = SyncRandom(seed: seed)
        let files = CollectionModel(
            "files", lastChangeField: "last_modified", conflict: .localWins,
            references: [Reference("parent", to: "files")],
            tree: TreeRule(parent: "parent", name: "name", kind: "kind"))
        world = SyncWorld(
            model: SyncModel(
                name: "files", collections: [files],
                settings: SyncSettings(
                    batchSize: random.pick([1, 1, 3, 25]),
                    budgets: .init(actions: random.pick([1, 2, 10])))))
        let wire = SyncWire(world.server)
        wire.mixUp(by: random)
        device = try SyncDevice(
            of: world, over: wire, model: world.model,
            dependencies: .seeded(seed, clock: world.clock), removesStore: true)
    }

    func run(scripts: Int) async throws {
        for _ in 0..<scripts {
            steps = ["from \(serial.text)"]
            for _ in 0...random.below(14) { try edit() }
            try await settle()
            try compare()
        }
        let findings = try device.replica.journal.verify(.deep).findings
        guard findings.isEmpty else { throw failure("\(findings)") }
    }

    private func failure(_ what: String) -> TreeFailure {
        TreeFailure(description: "seed \(seed): \(what)\n" + steps.joined(separator: "\n"))
    }

    // MARK: Changes

    private func edit() throws {
        let ids = serial.nodes.keys.sorted()
        let folders = ids.filter { serial.nodes[$0]?.isFolder == true }
        let place = random.chance(30) || folders.isEmpty ? nil : random.pick(folders)
        let name = random.pick(["a", "b", "c", "d"])
        switch ids.isEmpty ? 0 : random.below(10) {
        case 0...2:
            made += 1
            let node = StrictTree.Node(
                parent: place, name: name, isFolder: random.chance(55), stars: 0)
            try put("n\(made)", node) { id in
                let parent = place.map { "\"parent\":\"\($0)\"," } ?? ""
                let kind = node.isFolder ? "folder" : "file"
                try self.device.create(
                    "files/\(id)",
                    "{\(parent)\"name\":\"\(name)\",\"kind\":\"\(kind)\",\"stars\":0}")
            }
        case 3...4:
            let id = random.pick(ids)
            guard var node = serial.nodes[id] else { return }
            node.name = name
            try put(id, node) { try self.device.patch("files/\($0)", "{\"name\":\"\(name)\"}") }
        case 5...6:
            let id = random.pick(ids)
            guard var node = serial.nodes[id] else { return }
            node.parent = place
            let value = place.map { "\"\($0)\"" } ?? "null"
            try put(id, node) { try self.device.patch("files/\($0)", "{\"parent\":\(value)}") }
        case 7...8:
            let id = random.pick(ids)
            guard var node = serial.nodes[id] else { return }
            node.stars += 1
            let stars = node.stars
            try put(id, node) { try self.device.patch("files/\($0)", "{\"stars\":\(stars)}") }
        default:
            let id = random.pick(ids)
            steps.append("delete \(id)")
            try device.delete("files/\(id)")
            serial.remove(id)
        }
    }

    /// Makes or changes a node on both sides, which both allow it or both don't.
    private func put(
        _ id: String, _ node: StrictTree.Node, _ edit: (String) throws -> Void
    ) throws {
        let problem = serial.problem(id, node)
        steps.append("\(id): \(node.parent ?? "")/\(node.name)*\(node.stars)")
        do {
            try edit(id)
            if let problem { throw failure("allowed here: \(problem)") }
            serial.nodes[id] = node
        } catch let error as TidemarkError {
            steps[steps.count - 1] += " refused"
            if problem == nil { throw failure("refused here: \(error)") }
        }
    }

    // MARK: Requests

    private func settle() async throws {
        for round in 0..<30 {
            if refuses, round < 6 {
                let action: FaultAction = random.pick([
                    .answer(status: 400), .answer(status: 403), .dropAfterHandling,
                    .dropBeforeHandling, .answer(status: 503),
                ])
                let first = 1 + random.below(6)
                world.server.faults = FaultPlan([
                    FaultRule(
                        action, method: random.pick([.put, .delete, nil]),
                        occurrences: first...first + random.below(3))
                ])
            } else {
                world.server.faults = FaultPlan()
            }
            world.clock.advance(by: .seconds(7_200))
            let outcome = try await device.sync(.all)
            try follow()
            for issue in try device.replica.issues() where issue.kind == .rejected {
                try await device.replica.answer(issue.id, .retry)
            }
            if outcome.pending == 0, outcome.refused == 0, outcome.failure == nil { return }
        }
        throw failure("not settled")
    }

    /// Lets the strict tree follow the requests that the server carried out.
    private func follow() throws {
        let log = world.server.requestLog
        for request in log[seen...] where request.isApplied {
            try carryOut(request.method, request.path, request.body)
        }
        seen = log.count
    }

    private func carryOut(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8]?
    ) throws {
        if path.hasSuffix("/batch"), let body {
            let batch = try JSONValue(parsing: body)
            for item in batch["requests"]?.array ?? [] {
                let data = item["body"].map { $0.encoded() }
                try carryOut(
                    HTTPRequest.Method(item["method"]?.stringValue ?? "") ?? .get,
                    item["path"]?.stringValue ?? "", data)
            }
            return
        }
        let id = String(path.split(separator: "/").last ?? "")
        steps.append("\(method) \(id)")
        if method == .delete {
            server.remove(id)
        } else if method == .put, let body {
            let data = try JSONValue(parsing: body)["data"]?.object ?? JSONObject()
            let node = StrictTree.Node(
                parent: data["parent"]?.stringValue, name: data["name"]?.stringValue ?? "",
                isFolder: data["kind"] == "folder", stars: Int(data["stars"]?.int64Value ?? 0))
            steps[steps.count - 1] += " \(node.parent ?? "")/\(node.name)*\(node.stars)"
            if let problem = server.problem(id, node) { throw failure("sent: \(problem)") }
            server.nodes[id] = node
        }
    }

    // MARK: The end

    private func compare() throws {
        guard server == serial else {
            throw failure("the requests made\n\(server.text), and the changes\n\(serial.text)")
        }
        var here = StrictTree()
        for (id, text) in try device.documents("files") {
            let object = try JSONValue(parsing: Array(text.utf8)).object ?? JSONObject()
            here.nodes[id] = StrictTree.Node(
                parent: object["parent"]?.stringValue, name: object["name"]?.stringValue ?? "",
                isFolder: object["kind"] == "folder",
                stars: Int(object["stars"]?.int64Value ?? 0))
        }
        guard here == serial else {
            throw failure("seen are\n\(here.text), and the changes made\n\(serial.text)")
        }
    }
}
