// ContentWorld.swift — a day of a tree by paths, by chance from a seed: devices and a plain client
// change it, and in the end each device sees what the server has.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// What did not hold, with the seed that shows it.
struct ContentFailure: Error, CustomStringConvertible {
    var description: String
}

/// A server of files, two devices and a plain client.
final class ContentWorld {
    struct Device {
        var name: String
        var replica: Replica
        var engine: SyncEngine
    }

    private let seed: UInt64
    private let hasFaults: Bool
    let random: SyncRandom
    private let clock = ManualClock()
    let server: WebDAVServer
    private var devices: [Device] = []
    private var made = 0
    var steps: [String] = []
    /// The contents that devices wrote.
    var written: [WrittenContent] = []

    init(seed: UInt64, hasIDs: Bool, hasFaults: Bool) throws {
        (self.seed, self.hasFaults) = (seed, hasFaults)
        random = SyncRandom(seed: seed)
        var options = WebDAVOptions()
        options.hasFileIDs = hasIDs
        options.folderVersions = random.pick([.none, .ownMembers, .allBelow])
        options.tellsETagOfUploads = random.chance(70)
        options.uploadsInPlace = random.chance(50)
        options.hasRanges = random.chance(80)
        options.hasWeakETags = random.chance(10)
        options.changesETagsOfMoved = random.chance(20)
        server = WebDAVServer(WebDAVServerModel(options), clock: clock)
        var files = CollectionModel(
            "files",
            conflict: random.pick([.serverWins, .serverWins, .localWins, .keepBoth, .ask]),
            references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true,
                serverID: hasIDs ? "fileId" : nil, content: "content"))
        files.contents = [.init("content", when: .all)]
        let model = SyncModel(
            name: "files", collections: [files],
            settings: SyncSettings(
                parallel: random.pick([1, 4]),
                budgets: .init(actions: random.pick([1, 2, 10]), uploads: random.pick([1, 3]))))
        let remote = Remote.webdav(origin: "http://files.test", home: "/")
        for number in 0..<2 {
            let replica = try Replica.temporary(
                model: model, remote: remote,
                dependencies: .seeded(seed * 10 + UInt64(number), clock: clock))
            let wire = SyncWire(server)
            wire.mixUp(by: random)
            let engine = try SyncEngine(replica, remote: remote, transport: wire) {
                .basic(user: "me", password: "secret")
            }
            devices.append(Device(name: "device \(number)", replica: replica, engine: engine))
        }
    }

    func run() async throws {
        for _ in 0..<(4 + random.below(6)) {
            for _ in 0..<random.below(4) { serverEdit() }
            let device = random.pick(devices)
            for _ in 0..<random.below(6) { try await edit(device) }
            if hasFaults { server.faults = faults() }
            if random.chance(80) { try await sync(device) }
        }
        server.faults = FaultPlan()
        try await settle()
        try checkContents()
        for device in devices {
            let findings = try device.replica.journal.verify(.deep).findings
            guard findings.isEmpty else { throw failure("\(device.name): \(findings)") }
            await device.engine.stop()
            try device.replica.deleteTemporary()
        }
    }

    func failure(_ what: String) -> ContentFailure {
        ContentFailure(description: "seed \(seed): \(what)\n" + steps.joined(separator: "\n"))
    }

    private func faults() -> FaultPlan {
        let first = 1 + random.below(6)
        return FaultPlan([
            FaultRule(
                random.chance(30)
                    ? .cutOff(afterBytes: 1 + random.below(8))
                    : random.pick([
                        .dropAfterHandling, .dropBeforeHandling, .answer(status: 503),
                        .answer(status: 403), .answer(status: 500), .answer(status: 507),
                    ]),
                occurrences: first...first + random.below(2))
        ])
    }

    // MARK: Edits

    private var name: String { random.pick(["a", "b", "c", "d"]) }

    private func serverEdit() {
        let entries = server.entries
        if random.chance(25), let file = pickFile(entries) {
            made += 1
            steps.append("server: content \(made) of \(file)")
            return server.put(file, "content \(made)")
        }
        let folders = [""] + entries.filter(\.isFolder).map(\.path)
        let folder = random.pick(folders)
        let target = folder.isEmpty ? name : "\(folder)/\(name)"
        let isFree = server.entry(target) == nil
        switch random.below(6) {
        case 0...1 where isFree:
            made += 1
            steps.append("server: file \(target)")
            server.put(target, "content \(made)")
        case 2 where isFree:
            steps.append("server: folder \(target)")
            server.makeFolder(target)
        case 3...4 where isFree && !entries.isEmpty:
            let entry = random.pick(entries)
            guard !(target + "/").hasPrefix(entry.path + "/") else { return }
            steps.append("server: move \(entry.path) to \(target)")
            server.move(entry.path, to: target)
        case 5 where !entries.isEmpty:
            let entry = random.pick(entries)
            steps.append("server: delete \(entry.path)")
            server.delete(entry.path)
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
        let choice = known.isEmpty ? 0 : random.below(8)
        let one = known.isEmpty ? nil : random.pick(known)
        if random.chance(30) {
            return try await editContent(device, parent, name, id, one, "content \(made)")
        }
        do {
            try await device.replica.write { tx in
                let place = parent.map { "\"\($0)\"" } ?? "null"
                switch (choice, one) {
                case (0...2, _), (_, nil):
                    let folder = parent.map { "\"parent\":\"\($0)\"," } ?? ""
                    _ = try tx.create(
                        EntityKey("files", id),
                        Array("{\(folder)\"name\":\"\(name)\",\"kind\":\"\(kind)\"}".utf8))
                case (3...4, let one?):
                    _ = try tx.patch(
                        one.key, Patch(set: [.init("name", Array("\"\(name)\"".utf8))]))
                case (5...6, let one?):
                    _ = try tx.patch(one.key, Patch(set: [.init("parent", Array(place.utf8))]))
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

    // MARK: The end

    private func sync(_ device: Device) async throws {
        clock.advance(by: .seconds(7_200))
        let before = server.requestLog.count
        let outcome = try await device.engine.sync()
        try await device.engine.transfer()
        steps.append("\(device.name): sync \(outcome.word)")
        for request in server.requestLog[before...]
        where request.method.rawValue != "PROPFIND" {
            steps.append("  \(request.method) \(request.path) \(request.status ?? 0)")
        }
    }

    private func settle() async throws {
        for round in 0..<12 {
            for device in devices {
                try await sync(device)
                for issue in try device.replica.issues() {
                    steps.append("\(device.name): \(issue.key?.id ?? "list") \(issue.kind)")
                    try? await device.replica.answer(issue.id, answer(to: issue))
                }
                // What waits for a folder that will never be there.
                guard round > 4 else { continue }
                for entry in try device.replica.read({ try $0.views.outbox(all: false) }) {
                    steps.append("\(device.name): discard \(entry.mutation.key.id)")
                    try? await device.replica.write { _ = try $0.discard(entry.mutation.key) }
                }
            }
            if try devices.allSatisfy({ try isSettled($0) }) { return }
        }
        for device in devices {
            let seen = try device.replica.seenPaths()
            let there = server.entries.map { "\($0.path)\($0.isFolder ? "/" : "")" }.sorted()
            let outbox = try device.replica.read { try $0.views.outbox(all: false) }
            if seen != there || !outbox.isEmpty {
                throw failure(
                    "\(device.name) sees\n\(seen)\nand the server has\n\(there)\nwaiting: "
                        + "\(outbox.map { "\($0.mutation.key.id) \($0.word) \($0.position)" })")
            }
        }
        for device in devices where try !hasContents(device) {
            throw failure("\(device.name) has other contents:\n\(try contents(device))")
        }
        throw failure("it is not quiet")
    }

    private func answer(to issue: SyncIssue) -> IssueAnswer {
        if issue.answers.contains(.keepBoth), random.chance(50) { return .keepBoth }
        if issue.kind == .rejected { return .discard }
        return issue.kind == .conflict && random.chance(20) ? .keepMine : .keepTheirs
    }

    private func isSettled(_ device: Device) throws -> Bool {
        let seen = try device.replica.seenPaths()
        let there = server.entries.map { "\($0.path)\($0.isFolder ? "/" : "")" }.sorted()
        let isQuiet = try device.replica.read { try $0.views.outbox(all: false).isEmpty }
        return try isQuiet && seen == there && hasContents(device)
    }
}
