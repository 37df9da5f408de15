// TransferWorld.swift — a store with a model that names files, and a server that has some.

import Foundation
import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

/// A store with records that name files, and the server of the files.
final class TransferWorld {
    let folder: SyncFolder
    let world: SyncWorld
    let files: InMemoryFiles
    let model: SyncModel
    private(set) var replica: Replica
    private(set) var engine: SyncEngine
    var path: String { folder / "store" }
    static let origin = "http://kinto.test"

    init(
        _ rule: ContentRule = ContentRule("photo", when: .all),
        _ budgets: TransferBudgets = TransferBudgets(downloads: 3, partBytes: 4),
        reach: @escaping @Sendable (Checkpoint) -> Void = { _ in },
        change: (inout SyncModel) -> Void = { _ in }
    ) throws {
        var tasks = CollectionModel("tasks", lastChangeField: "last_modified")
        tasks.contents = [rule]
        var model = SyncModel(name: "m", collections: [tasks])
        model.settings.budgets = budgets
        change(&model)
        self.model = model
        world = SyncWorld(model: model)
        files = InMemoryFiles(beside: world.server)
        folder = try SyncFolder()
        var dependencies = Dependencies.seeded(1, clock: world.clock, movesClock: false)
        dependencies.reach = reach
        replica = try Replica.open(at: folder / "store", model: model, dependencies: dependencies)
        engine = SyncDevice.engine(
            replica, files, adapter: try SyncWorld.remote.makeAdapter())
    }

    deinit { folder.delete() }

    /// The store as a process finds it that comes after this one.
    func reopen() throws {
        try replica.close()
        replica = try Replica.open(
            existing: path, dependencies: .seeded(2, clock: world.clock, movesClock: false))
        engine = SyncDevice.engine(
            replica, files, adapter: try SyncWorld.remote.makeAdapter())
    }

    /// The store as a process with another model finds it.
    func reopen(_ rules: [ContentRule]) throws {
        try replica.close()
        var model = model
        model.collections[0].contents = rules
        replica = try Replica.open(
            at: path, model: model,
            dependencies: .seeded(2, clock: world.clock, movesClock: false))
        engine = SyncDevice.engine(
            replica, files, adapter: try SyncWorld.remote.makeAdapter())
    }

    /// Puts a store that was copied in the place of this one, as a process finds it after one that
    /// died then.
    func reopen(_ copy: String) throws {
        try replica.close()
        try FileManager.default.removeItem(atPath: path)
        try FileManager.default.moveItem(atPath: copy, toPath: path)
        replica = try Replica.open(
            existing: path, dependencies: .seeded(2, clock: world.clock, movesClock: false))
        engine = SyncDevice.engine(
            replica, files, adapter: try SyncWorld.remote.makeAdapter())
    }

    /// Puts a file on the server.
    func serve(_ path: String, _ text: String, tag: String? = nil, hasParts: Bool = true) {
        let address = path.hasPrefix("http") ? path : Self.origin + path
        files[address] = InMemoryFiles.File(Array(text.utf8), tag: tag, hasParts: hasParts)
    }

    /// Has a record name a file.
    func name(_ source: String, by id: String = "1", _ more: JSONObject = [:]) throws {
        var object: JSONObject = ["photo": .string(source)]
        for (name, value) in more { object[name] = value }
        let document = JSONValue.object(object).encoded()
        try replica.write { tx in _ = try tx.put(EntityKey("tasks", id), document) }
    }

    /// What an entity names, and what is known of it.
    func files(of id: String) throws -> [EntityFile] {
        try replica.read { try $0.files(of: EntityKey("tasks", id)) }
    }

    /// What is stored of the file that a record names, as text; nil where it isn't here.
    func text(_ id: String = "1") throws -> String? {
        let files = try replica.read { try $0.files(of: EntityKey("tasks", id)) }
        guard let path = files.first?.stored?.path else { return nil }
        return String(decoding: try Data(contentsOf: URL(filePath: path)), as: UTF8.self)
    }

    /// Waits until the files of all these entities are here: several come at once, in any order.
    func stores(_ ids: ClosedRange<Int>) async throws {
        while try ids.contains(where: { try text("\($0)") == nil }) { await Task.yield() }
    }

    /// What was asked for, as `bytes=0-3 "a"`; `whole` without a range.
    var asked: [String] {
        files.requests.map { request in
            [request.headerFields[.range] ?? "whole", request.headerFields[.ifMatch]]
                .compactMap(\.self).joined(separator: " ")
        }
    }

    /// The events about files, as their kinds and what answers mean.
    var events: [String] {
        get throws {
            var lines: [String] = []
            _ = try replica.journal.dump(EventFilter()) { _, event in
                let answer = event.read(RequestAnswered.self)
                if let result = answer?.file.result { lines.append(result.rawValue) }
                if let failed = event.read(RequestFailed.self) { lines.append(failed.error) }
                if event.kind == .assetStored { lines.append("stored") }
            }
            return lines
        }
    }

    /// What is wrong with the store, after it was closed; it is open again then.
    func problems() throws -> [String] {
        try reopen()
        let found = try Journal.verifyStore(at: path, .deep).problems.map(\.detail)
        return found + (try ContentFiles(of: path).partNames().map { "part \($0)" })
    }

    /// Decides the whole log again.
    func redecided() async throws -> RedecideReport {
        let capsule = try await capsule(of: replica.journal)
        return try await decided(capsule, adapter: try SyncWorld.remote.makeAdapter())
    }
}

/// Has a file hold other bytes than before, as many as there are.
func damage(_ path: String?) throws {
    let place = URL(filePath: try #require(path))
    var bytes = try Data(contentsOf: place)
    bytes[0] ^= 1
    // It can't be written to.
    try FileManager.default.removeItem(at: place)
    try bytes.write(to: place)
}

/// Counts of something, one after another.
final class SeenCounts: Sendable {
    private let seen = Lock<[Int]>([])

    var counts: [Int] { seen.withLock { $0 } }

    func note(_ count: Int?) { seen.withLock { $0.append(count ?? -1) } }
}
