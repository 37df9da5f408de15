// PlaceholderSyncTests.swift — what is here only as a placeholder is asked for again.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// Speaks to a Kinto server that lists only some projects, and finds more of them by their ids.
private struct HidingAdapter: ServerAdapter {
    /// What a test sees and changes.
    final class State: Sendable {
        let hidden = Mutex<Set<String>>([])
        let asked = Mutex<[String]>([])
        /// What questions after placeholders are answered with; nil for what the server says.
        let found = Mutex<[ServerRecord]?>(nil)
        /// Why no question after placeholders can be asked.
        let failure = Mutex<SyncFailure?>(nil)
        /// What questions after placeholders with one of these among them are refused with.
        let refused = Mutex<[String: Int]>([:])

        /// The questions since the last time: `w1: 1 2`.
        func takeAsked() -> [String] {
            asked.withLock { asked in
                defer { asked = [] }
                return asked
            }
        }
    }

    let state = State()
    private let kinto = KintoAdapter(origin: SyncWorld.remote.origin, bucket: "b")

    var traits: ServerTraits {
        var traits = kinto.traits
        traits.refetchesPerRequestMax = 100
        return traits
    }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        guard case .refetch(let collection, let ids, let together) = call else {
            return try kinto.request(for: call)
        }
        let question = "\(together ?? "-"): \(ids.joined(separator: " "))"
        state.asked.withLock { $0.append(question) }
        if let failure = state.failure.withLock({ $0 }) { throw failure }
        return try kinto.request(for: .list(collection, after: nil, page: nil))
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        guard case .refetch(let collection, let ids, _) = call else {
            let answer = kinto.answer(to: call, response, body: body)
            guard case .page(var page) = answer, call.collection?.name == "projects" else {
                return answer
            }
            let hidden = state.hidden.withLock { $0 }
            page.records.removeAll { hidden.contains($0.id) }
            return .page(page)
        }
        let statuses = state.refused.withLock { $0 }
        if let status = ids.compactMap({ statuses[$0] }).first {
            guard status == 404, ids.count == 1 else {
                return .failure(SyncFailure(status: status))
            }
            return .records([])
        }
        if let found = state.found.withLock({ $0 }) { return .records(found) }
        let list = ServerCall.list(collection, after: nil, page: nil)
        let answer = kinto.answer(to: list, response, body: body)
        guard case .page(let page) = answer else { return answer }
        return .records(page.records.filter { ids.contains($0.id) && !$0.isDeleted })
    }
}

@Suite(.serialized) struct `placeholders that are asked for` {
    private static let model: SyncModel = {
        var projects = CollectionModel("projects", lastChangeField: "last_modified")
        projects.references = [Reference("workspace", to: "workspaces")]
        projects.placeholder = PlaceholderRule(
            fields: ["name": "Inaccessible project"], copies: ["workspace"],
            refetch: RefetchRule(every: .hours(24), together: "workspace"))
        let entries = CollectionModel(
            "entries", lastChangeField: "last_modified",
            references: [Reference("project", to: "projects", placeholder: .always)])
        return SyncModel(
            name: "office", collections: [CollectionModel("workspaces"), projects, entries],
            settings: SyncSettings(batchSize: 1))
    }()

    private let world = SyncWorld(model: model)
    private let adapter = HidingAdapter()

    /// The store is whole, and a rebuild changes nothing.
    private func expectWhole(_ device: SyncDevice) throws {
        try device.verify()
        let before = try device.rows()
        try device.replica.journal.rebuild(eventsPerStep: 7)
        #expect(try device.rows() == before)
    }

    /// An entry that another client made, of a project that is not listed.
    private func entry(_ id: String, of project: String, in workspace: String) {
        adapter.state.hidden.withLock { _ = $0.insert(project) }
        world.rivalPuts(
            "entries/\(id)", #"{"project":"\#(project)","workspace":"\#(workspace)"}"#)
    }

    private func placeholders(_ device: SyncDevice) throws -> [String] {
        try device.replica.journal.read { try $0.placeholders().map(\.key.id) }
    }

    @Test func `are asked for in groups, in the order of what they belong to`() async throws {
        for (id, workspace) in [("10", "9"), ("2", "9"), ("5", "10"), ("x", "9"), ("1", "w")] {
            entry("e\(id)", of: id, in: workspace)
        }
        try await SyncDevice.with(world, adapter: adapter) { device in
            #expect(try await device.sync().isSynced)

            #expect(adapter.state.takeAsked() == ["9: 2 10 x", "10: 5", "w: 1"])
            #expect(try placeholders(device) == ["1", "10", "2", "5", "x"])
            #expect(try device.status("projects/5") == .placeholder)
            #expect(
                try device.document("projects/5")
                    == #"{"name":"Inaccessible project","workspace":"10"}"#)
            try expectWhole(device)
        }
    }

    @Test func `are asked for again after more than a day`() async throws {
        for (id, workspace) in [("1", "1"), ("2", "1"), ("3", "2"), ("4", "3")] {
            entry("e\(id)", of: id, in: workspace)
        }
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()
            #expect(adapter.state.takeAsked() == ["1: 1 2", "2: 3", "3: 4"])

            world.clock.advance(by: .seconds(12 * 3600))
            entry("e5", of: "5", in: "1")
            entry("e6", of: "6", in: "1")
            try await device.sync()
            #expect(adapter.state.takeAsked() == ["1: 5 6"])

            world.clock.advance(by: .seconds(12 * 3600))
            try await device.sync()
            #expect(adapter.state.takeAsked() == [])

            world.clock.advance(by: .seconds(3600))
            try await device.sync()
            #expect(adapter.state.takeAsked() == ["1: 1 2", "2: 3", "3: 4"])

            let events = try device.events().count
            #expect(try await !device.sync().counts.hasNews)
            #expect(try device.events().count == events + 1)
            try expectWhole(device)
        }
    }

    @Test func `become what the server says once it finds them`() async throws {
        entry("e1", of: "1", in: "1")
        entry("e2", of: "2", in: "1")
        world.rivalPuts("projects/1", #"{"name":"archived"}"#)
        try await SyncDevice.with(world, adapter: adapter) { device in
            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.counts.pulled == 3)
            #expect(try placeholders(device) == ["2"])
            #expect(try device.status("projects/1") == .synced)
            #expect(try device.document("projects/1") == #"{"name":"archived"}"#)
            let page = try #require(
                try device.events().last { $0.event.kind == .pullPage }?.event)
            let upserted = try #require(
                try device.events().last { $0.event.kind == .serverUpserted }?.position)
            #expect(
                String(decoding: page.payload, as: UTF8.self)
                    == #"{"scope":"refetch","ids":["1","2"],"at":["#
                    + #"\#(upserted.rawValue),"absent"]}"#)
            #expect(try device.kinds().suffix(6).contains("request.sent"))

            world.clock.advance(by: .seconds(25 * 3600))
            world.rivalPuts("projects/2", #"{"name":"back"}"#)
            try await device.sync()
            #expect(adapter.state.takeAsked() == ["1: 1 2", "1: 2"])
            #expect(try placeholders(device) == [])
            try expectWhole(device)
        }
    }

    @Test func `are told what is equal to them`() async throws {
        entry("e1", of: "1", in: "1")
        let document = #"{"id":"1","name":"Inaccessible project","workspace":"1"}"#
        adapter.state.found.withLock {
            $0 = [ServerRecord(id: "1", revision: nil, document: Array(document.utf8))]
        }
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()

            #expect(try placeholders(device) == [])
            #expect(try device.status("projects/1") == .synced)
            try expectWhole(device)
        }
    }

    @Test func `go when the server says that they are deleted`() async throws {
        entry("e1", of: "1", in: "1")
        adapter.state.found.withLock { $0 = [ServerRecord(id: "1", revision: nil, document: nil)] }
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()

            #expect(try placeholders(device) == [])
            #expect(try device.document("projects/1") == nil)
            try expectWhole(device)
        }
    }

    @Test func `are made by a new model of what was listed before`() async throws {
        var before = Self.model
        before.collections[1].placeholder = nil
        before.collections[2].references[0].placeholder = nil
        let world = SyncWorld(model: before)
        adapter.state.hidden.withLock { _ = $0.insert("5") }
        world.rivalPuts("entries/e1", #"{"project":"5","workspace":"9"}"#)
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()
            #expect(try placeholders(device) == [])
            let known = try #require(try device.replica.registration)
            try device.replica.register(
                ModelRegistration(model: Self.model, remote: known.remote))

            #expect(try await device.sync().isSynced)

            #expect(try placeholders(device) == ["5"])
            try expectWhole(device)
        }
    }

    @Test func `that can't be asked for hold nothing up`() async throws {
        entry("e1", of: "1", in: "1")
        entry("e2", of: "2", in: "2")
        adapter.state.failure.withLock { $0 = .client(status: 0, "no such call") }
        try await SyncDevice.with(world, adapter: adapter) { device in
            try device.put("entries/mine", #"{"project":"1"}"#)

            #expect(try await device.sync().isSynced)

            #expect(world.record("entries/mine") != nil)
            #expect(try placeholders(device) == ["1", "2"])
            #expect(adapter.state.takeAsked() == ["1: 1", "2: 2"])

            adapter.state.failure.withLock { $0 = nil }
            try await device.sync()
            #expect(adapter.state.takeAsked() == ["1: 1", "2: 2"])
            try expectWhole(device)
        }
    }

    @Test(arguments: [404, 403, 409, 200])
    func `come though one that is asked for with them can't be had`(_ status: Int) async throws {
        for id in ["1", "2", "3"] {
            entry("e\(id)", of: id, in: "9")
            world.rivalPuts("projects/\(id)", #"{"name":"here"}"#)
        }
        adapter.state.refused.withLock { $0 = ["2": status] }
        try await SyncDevice.with(world, adapter: adapter) { device in
            #expect(try await device.sync().isSynced)

            #expect(adapter.state.takeAsked() == ["9: 1 2 3", "9: 1", "9: 2", "9: 3"])
            #expect(try placeholders(device) == ["2"])
            #expect(try device.status("projects/3") == .synced)

            // What the server does not have is asked for a day later.
            try await device.sync()
            #expect(adapter.state.takeAsked() == (status == 404 ? [] : ["9: 2"]))
            try expectWhole(device)
        }
    }

    @Test func `end the run where nothing else can be done`() async throws {
        entry("e1", of: "1", in: "1")
        try await SyncDevice.with(world, adapter: adapter) { device in
            try device.put("entries/mine", "{}")
            // After all lists.
            device.wire.tap { _, number, pass in
                number == 4 ? .failure(TransportError(.offline)) : await pass()
            }

            let outcome = try await device.sync()

            #expect(outcome.failure == .offline(""))
            #expect(world.record("entries/mine") == nil)
            #expect(try placeholders(device) == ["1"])
            try expectWhole(device)
        }
    }

    @Test func `are asked for only once all collections were pulled`() async throws {
        entry("e1", of: "1", in: "1")
        try await SyncDevice.with(world, adapter: adapter) { device in
            device.wire.tap { _, number, pass in
                number == 2
                    ? .success(TransportResponse(response: HTTPResponse(status: 403), body: []))
                    : await pass()
            }

            #expect(try await device.sync().failed["projects"] == .forbidden)

            #expect(adapter.state.takeAsked() == [])
            #expect(try placeholders(device) == ["1"])
            try expectWhole(device)
        }
    }

    @Test func `can't be edited here, and are never sent`() async throws {
        entry("e1", of: "1", in: "1")
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()
            let position = try device.position()

            let edits: [(SyncDevice) throws -> Void] = [
                { try $0.put("projects/1", #"{"name":"mine"}"#) },
                { try $0.patch("projects/1", #"{"name":"mine"}"#) },
                { try $0.delete("projects/1") },
            ]
            for edit in edits {
                let error = #expect(throws: TidemarkError.self) { try edit(device) }
                #expect(error?.code == .notFound && error?.key == EntityKey("projects/1"))
            }

            #expect(try device.position() == position)
            #expect(try await device.sync().isSynced)
            #expect(world.writes == [])
            try expectWhole(device)
        }
    }

    @Test func `can't be deleted here, and take nothing along`() async throws {
        var model = Self.model
        model.collections[2].references[0].onDelete = .cascade
        let world = SyncWorld(model: model)
        adapter.state.hidden.withLock { _ = $0.insert("5") }
        world.rivalPuts("entries/e1", #"{"project":"5","workspace":"9"}"#)
        try await SyncDevice.with(world, adapter: adapter) { device in
            #expect(try await device.sync().isSynced)
            #expect(try device.status("projects/5") == .placeholder)
            let before = try device.replica.position

            try await device.replica.write { tx in
                // The app goes on after the error.
                let error = #expect(throws: TidemarkError.self) {
                    try tx.delete(EntityKey("projects", "5"))
                }
                #expect(error?.code == .notFound)
            }

            #expect(try device.replica.position == before)
            #expect(try device.status("entries/e1") == .synced)
        }
    }

    @Test func `are not taken for deleted by a list of everything`() async throws {
        entry("e1", of: "1", in: "1")
        try await SyncDevice.with(world, adapter: adapter) { device in
            try await device.sync()

            let outcome = try await device.engine.sync(full: true)

            #expect(outcome.isSynced && outcome.held.isEmpty && outcome.counts.readBack == 0)
            #expect(try placeholders(device) == ["1"])
            #expect(try device.kinds(of: "projects/1") == [])
            try expectWhole(device)
        }
    }
}
