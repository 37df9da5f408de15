// SyncCutListTests.swift — lists of everything that are cut off, and go on in a later run.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite(.serialized) struct `a list of everything that is cut off` {
    /// The pages of lists of all tasks that were asked for, in order, each by its whole address.
    private func pages(_ world: SyncWorld) -> [String] {
        world.server.requestLog.map(\.path).filter {
            $0.contains("/tasks/records?") && $0.contains("_since=0")
        }
    }

    /// How many pages were asked for that had been asked for before.
    private func repeats(_ world: SyncWorld) -> Int {
        let asked = pages(world)
        return asked.count - Set(asked).count
    }

    /// The repeats of a list that is whole, and held because most tasks were absent from it; the
    /// next run looks at the server anew, with a list of its own.
    private func repeatsOfHeldList(_ device: SyncDevice, _ world: SyncWorld) throws -> Int {
        guard try device.replica.journal.read({ try $0.held("tasks") }) != nil else { return 0 }
        defer { world.server.clearRequestLog() }
        return repeats(world)
    }

    private func world(_ count: Int, pageSize: Int) -> SyncWorld {
        let world = SyncWorld.paging(pageSize)
        for number in 0..<count { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        return world
    }

    @Test func `goes on after the page that was the last, when the process died`() async throws {
        let world = world(40, pageSize: 1)
        try await SyncDevice.with(world) { device async throws in
            // The collections, the lists' page and twenty pages of the tasks, a commit each.
            #expect(try await device.run(dyingAfter: 22) == nil)
            #expect(try device.replica.journal.read { try $0.listing("tasks")?.page } == 20)
            let asked = pages(world)

            #expect(try await device.sync().isSynced)

            let all = pages(world)
            #expect(all.count == 41)
            #expect(Set(all).count == 40, "only the page whose commit was lost came twice")
            #expect(all[asked.count] == asked.last)
            try await SyncDevice.with(world, seed: 2) { twin async throws in
                try await twin.sync()
                #expect(try device.knowledge() == twin.knowledge())
            }
            world.server.clearRequestLog()
            #expect(try await device.sync().counts.hasNews == false)
            #expect(world.requests == ["GET lists?_since 304", "GET tasks?_since 304"])
            try device.verify()
        }
    }

    @Test func `goes on where a page could not be fetched`() async throws {
        let world = world(10, pageSize: 2)
        try await SyncDevice.with(world) { device async throws in
            device.fail(after: 4) { .failure(TransportError(.timeout)) }
            #expect(try await device.sync().failed["tasks"]?.name == "timeout")
            #expect(pages(world).count == 3)

            device.wire.tap(nil)
            #expect(try await device.sync().isSynced)

            #expect(pages(world).count == 5 && Set(pages(world)).count == 5)
            #expect(try device.document("tasks/t0") == #"{"n":0}"#)
            try device.verify()
        }
    }

    @Test func `concludes nothing from what changed between the runs`() async throws {
        let world = world(12, pageSize: 2)
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            world.rivalDeletes("tasks/t5")
            world.server.withModel { $0.purgeTombstones() }
            #expect(try await device.run(dyingAfter: 4, isFull: true) == nil)
            // Pages come from the newest on: these move from one that is still to come to the
            // first, and away.
            world.rivalPuts("tasks/t0", #"{"n":100}"#)
            world.rivalPuts("tasks/new", "{}")
            world.rivalDeletes("tasks/t1")
            try device.patch("tasks/t2", #"{"mine":true}"#)

            #expect(try await device.sync().isSynced)

            #expect(try device.document("tasks/t0") == #"{"n":100}"#)
            #expect(try device.document("tasks/new") == "{}")
            #expect(try device.document("tasks/t1") == nil)
            #expect(try device.document("tasks/t5") == nil)
            #expect(world.record("tasks/t2") == #"{"n":2,"mine":true}"#)
            #expect(try device.kinds(of: "tasks/t0").contains("server.deleted") == false)
            try await SyncDevice.with(world, seed: 2) { twin async throws in
                try await twin.sync()
                try await device.sync()
                let known = try device.knowledge().filter { !$0.value.hasPrefix("deleted") }
                #expect(try known == twin.knowledge().filter { !$0.value.hasPrefix("deleted") })
            }
            try device.verify()
        }
    }

    @Test func `fetches what it only named, once`() async throws {
        let world = world(8, pageSize: 2)
        let adapter = HookedAdapter(takesSeveral: false, onlyNames: true)
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            // The collections, the lists' page, four of the tasks, three of their entities.
            #expect(try await device.run(dyingAfter: 9, adapter: adapter) == nil)

            #expect(try await device.sync().isSynced)

            #expect(pages(world).count == 4)
            let reads = world.requests.filter { $0.hasPrefix("GET tasks/") }
            #expect(reads.count == 9 && Set(reads).count == 8)
            #expect(try device.document("tasks/t0") == #"{"n":0}"#)
            try device.verify()
        }
    }

    @Test(arguments: [400, 403, 404, 410])
    func `begins anew and says so where its next page is refused`(_ status: Int) async throws {
        let world = world(10, pageSize: 2)
        let adapter = HookedAdapter()
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            _ = try await device.run(dyingAfter: 5)
            device.wire.tap { _, number, pass in
                // The lists are first.
                guard number == 2 else { return await pass() }
                return .success(
                    TransportResponse(
                        response: HTTPResponse(status: .init(code: status)),
                        body: Array(#"{"code":\#(status)}"#.utf8)))
            }

            let outcome = try await device.sync()

            if status == 410 {
                // Kinto says so of an API that has ended.
                #expect(outcome.failure == .apiDeprecated)
                return
            }
            #expect(outcome.isSynced && outcome.restarted == ["tasks"])
            let end = try #require(try device.events().last)
            #expect(end.event.kind == .syncFinished)
            #expect(
                String(decoding: end.event.payload, as: UTF8.self)
                    .contains(#""restarted":["tasks"]"#))
            #expect(try device.document("tasks/t0") == #"{"n":0}"#)
            #expect(try device.replica.journal.read { try $0.failingCalls() } == [])
            #expect(try await device.sync().restarted == [])
            try device.verify()
        }
    }

    @Test func `begins anew where its next page fails in three runs`() async throws {
        let world = world(10, pageSize: 2)
        try await SyncDevice.with(world) { device async throws in
            _ = try await device.run(dyingAfter: 5)
            let next = SyncBox<String>()
            device.wire.tap { request, _, pass in
                guard let path = request.path, path.contains("_token") else { return await pass() }
                // The page after the last one that was kept.
                next.value = next.value ?? path
                guard path == next.value else { return await pass() }
                return .success(
                    TransportResponse(response: HTTPResponse(status: .init(code: 500)), body: []))
            }
            for _ in 1...2 {
                #expect(try await device.sync().failed["tasks"]?.name == "server")
            }
            world.rivalPuts("tasks/new", "{}")

            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.restarted == ["tasks"])
            #expect(try device.replica.journal.read { try $0.failingCalls() } == [])
            #expect(try device.document("tasks/t0") == #"{"n":0}"#)
            try device.verify()
        }
    }

    @Test func `begins anew where what could not be read of it is to be read again`() async throws {
        let world = world(6, pageSize: 2)
        try await SyncDevice.with(world) { device async throws in
            device.wire.tap { request, number, pass in
                // The lists, and two pages of the tasks.
                guard number < 4 else { return .failure(TransportError(.offline)) }
                // Pages come from the newest on.
                return await pass().map {
                    $0.with(body: $0.text.replacing(#""n":5,"id""#, with: #""id":0,"was""#))
                }
            }
            try await device.sync()
            #expect(try device.replica.journal.read { try $0.listing("tasks") } != nil)
            let issue = try #require(try device.replica.issues().first)
            device.wire.tap(nil)
            try await device.replica.answer(issue.id, .retry)

            #expect(try await device.sync().isSynced)

            #expect(try device.document("tasks/t5") == #"{"n":5}"#)
            try device.verify()
        }
    }

    @Test func `begins anew where its next page is forgotten`() async throws {
        let world = world(10, pageSize: 2)
        let calls = SyncCounter()
        let adapter = HookedAdapter(forgets: { call in
            guard case .list(let collection, nil, _?) = call, collection.name == "tasks" else {
                return false
            }
            return calls.count() == 0
        })
        try await SyncDevice.with(world, adapter: adapter) { device async throws in
            _ = try await device.run(dyingAfter: 5)

            let outcome = try await device.sync()

            #expect(outcome.isSynced && outcome.restarted == ["tasks"])
            #expect(try device.document("tasks/t0") == #"{"n":0}"#)
            try device.verify()
        }
    }

    @Test func `begins anew after a week, and when the collection is another one`() async throws {
        for isDropped in [false, true] {
            let world = world(6, pageSize: 1)
            try await SyncDevice.with(world) { device async throws in
                _ = try await device.run(dyingAfter: 5)
                if isDropped {
                    world.server.request(.delete, "/v1/buckets/b/collections/tasks")
                    world.clock.advance(by: .seconds(1))
                    world.server.request(.put, "/v1/buckets/b/collections/tasks")
                    world.rivalPuts("tasks/t9", "{}")
                } else {
                    world.clock.advance(by: .seconds(8 * 86_400))
                }
                world.server.clearRequestLog()

                let outcome = try await device.sync()

                #expect(pages(world).first?.contains("_token") == false)
                if isDropped {
                    // What was pulled before is absent now, all of it: the user is asked.
                    #expect(outcome.held == ["tasks": 3])
                } else {
                    #expect(outcome.isSynced)
                }
                try device.verify()
            }
        }
    }

    @Test func `begins anew where a new model takes what it does not name for deleted`()
        async throws
    {
        var model = SyncWorld.usualModel
        model.collections[1].pageSize = 2
        model.collections[1].absence = .keeps
        let world = SyncWorld(model: model)
        for number in 0..<14 { world.rivalPuts("tasks/t\(number)", #"{"n":\#(number)}"#) }
        try await SyncDevice.with(world) { device async throws in
            try await device.sync()
            // The lists, and the first page of the tasks: the newest ones.
            device.fail(after: 2) { .failure(TransportError(.timeout)) }
            _ = try await device.engine.sync(full: true)
            #expect(try device.replica.journal.read { try $0.listing("tasks")?.page } == 1)
            device.wire.tap(nil)
            for number in 0..<12 { world.rivalDeletes("tasks/t\(number)") }
            world.server.withModel { $0.purgeTombstones() }
            let known = try #require(try device.replica.registration)
            var next = known.model
            next.collections[1].absence = .deletes
            try device.replica.register(ModelRegistration(model: next, remote: known.remote))
            #expect(try device.replica.journal.read { try $0.listing("tasks") } == nil)

            #expect(try await device.sync().held == ["tasks": 12])

            #expect(try device.document("tasks/t0") == #"{"n":0}"#)
            try device.verify()
        }
    }

    @Test func `is made from its first page on by a run that is asked for everything`()
        async throws
    {
        for overwrites in [false, true] {
            let world = world(10, pageSize: 2)
            try await SyncDevice.with(world) { device async throws in
                // The collections, the lists' page and two of the tasks: the newest ones.
                #expect(try await device.run(dyingAfter: 4) == nil)
                if overwrites {
                    try device.patch("tasks/t9", #"{"mine":true}"#)
                } else {
                    world.rivalDeletes("tasks/t9")
                    world.server.withModel { $0.purgeTombstones() }
                }

                let outcome = try await device.engine.sync(
                    full: !overwrites, overwriting: overwrites)

                #expect(outcome.isSynced, "\(outcome)")
                #expect(try device.document("tasks/t9") == (overwrites ? #"{"n":9}"# : nil))
                #expect(try device.outbox() == [] && world.writes == [])
                #expect(try device.document("tasks/t0") == #"{"n":0}"#)
                try device.verify()
            }
        }
    }

    @Test func `begins anew where pages with numbers have another size by now`() async throws {
        let clock = ManualClock()
        var model = Dhis2ServerModel(.v41)
        model.acceptsAnyID = true
        let server = Dhis2Server(model, clock: clock)
        for number in 1...12 { server.put("organisationUnits/u\(number)", #"{"name":"Unit"}"#) }
        let device = try Dhis2Device(
            of: server, over: server,
            model: SyncModel(
                name: "units",
                collections: [CollectionModel("organisationUnits", pageSize: 2, pushes: [])]),
            dependencies: .seeded(1, clock: clock, movesClock: true))
        try await device.lendAndVerify { device async throws in
            server.faults = FaultPlan([FaultRule(.offline, pathContains: "page=4&")])
            #expect(try await device.sync().failure != nil)
            server.faults = FaultPlan([])
            let known = try #require(try device.replica.registration)
            var next = known.model
            next.collections[0].pageSize = 4
            try device.replica.register(ModelRegistration(model: next, remote: known.remote))
            clock.advance(by: .seconds(3_600))

            #expect(try await device.sync().isSynced)

            #expect(try device.documents("organisationUnits").count == 12)
        }
    }

    @Test func `is in the making until it is whole`() async throws {
        let world = world(6, pageSize: 1)
        try await SyncDevice.with(world) { device async throws in
            _ = try await device.run(dyingAfter: 5)
            #expect(try device.knowledge()["listing tasks"] == "3")
            try await device.sync()
            #expect(try device.knowledge()["listing tasks"] == "0")
        }
    }

    // MARK: By chance

    @Test(.enabled(if: TestRun.isWhole), arguments: 1...60 as ClosedRange<UInt64>)
    func `comes out as one that was never cut, and asks for no page twice`(_ seed: UInt64)
        async throws
    {
        let random = SyncRandom(seed: seed)
        let world = world(random.below(24), pageSize: 1 + random.below(4))
        let names = random.chance(30)
        let adapter = HookedAdapter(takesSeveral: !names, onlyNames: names)
        try await SyncDevice.with(world, seed: seed, adapter: adapter) { device in
            try await SyncDevice.with(world, seed: seed + 1000, adapter: adapter) { twin in
                let isFirst = random.chance(50)
                if !isFirst {
                    for one in [device, twin] { try await one.sync() }
                    for number in 0..<24 where random.chance(20) {
                        world.rivalDeletes("tasks/t\(number)")
                    }
                    world.server.withModel { $0.purgeTombstones() }
                }
                world.server.clearRequestLog()
                let before = try device.position()
                // Who was asked once to list everything remembers it.
                var isToAsk = !isFirst
                var (cuts, twice) = (0, 0)
                while cuts < 4 {
                    twice += try repeatsOfHeldList(device, world)
                    guard try await cut(device, random, adapter, isFull: isToAsk) else { break }
                    cuts += 1
                    if try device.kinds(after: before).contains("sync.started") { isToAsk = false }
                }
                if cuts < 4 { isToAsk = false }
                device.wire.tap(nil)
                twice += try repeatsOfHeldList(device, world)
                let last = try await device.engine.sync(full: isToAsk)
                #expect(last.failure == nil && last.failed.isEmpty, "seed \(seed)")
                twice += repeats(world)
                #expect(twice <= cuts, "seed \(seed): \(twice) pages came twice, \(cuts) cuts")

                _ = try await twin.engine.sync(full: !isFirst)

                #expect(try device.knowledge() == twin.knowledge(), "seed \(seed)")
                try device.verify()
            }
        }
    }

    @Test(.enabled(if: TestRun.isWhole), arguments: 1...40 as ClosedRange<UInt64>)
    func `is right about what changed between the runs`(_ seed: UInt64) async throws {
        let random = SyncRandom(seed: seed)
        let world = world(random.below(24), pageSize: 1 + random.below(4))
        let names = random.chance(30)
        let adapter = HookedAdapter(takesSeveral: !names, onlyNames: names)
        try await SyncDevice.with(world, seed: seed, adapter: adapter) { device async throws in
            if random.chance(60) { try await device.sync() }
            for _ in 0..<5 {
                _ = try await cut(device, random, adapter, isFull: random.chance(50))
                for number in 0..<24 where random.chance(10) {
                    switch random.below(3) {
                    case 0: world.rivalDeletes("tasks/t\(number)")
                    case 1: world.rivalPuts("tasks/t\(number)", #"{"n":\#(random.below(99))}"#)
                    default:
                        let key = "tasks/t\(number)"
                        if try device.document(key) == nil {
                            try device.put(key, #"{"mine":1}"#)
                        } else {
                            try device.patch(key, #"{"mine":\#(random.below(99))}"#)
                        }
                    }
                }
                world.clock.advance(by: .seconds(random.below(90)))
            }
            device.wire.tap(nil)
            for _ in 0..<3 { try await device.sync() }

            #expect(try device.outbox() == [], "seed \(seed)")
            for number in 0..<24 {
                let key = "tasks/t\(number)"
                let (here, there) = (try device.document(key), world.record(key))
                #expect(here == there, "seed \(seed), \(key)")
            }
            try device.verify()
        }
    }

    /// A run that is cut off by a death or a failing network; false when it was done before.
    private func cut(
        _ device: SyncDevice, _ random: SyncRandom, _ adapter: HookedAdapter, isFull: Bool
    ) async throws -> Bool {
        let place = random.below(12)
        device.wire.tap(nil)
        if random.chance(50) {
            return try await device.run(dyingAfter: place, isFull: isFull, adapter: adapter) == nil
        }
        let failures: [SyncWire.Answer] = [
            .failure(TransportError(.offline)), .failure(TransportError(.timeout)),
            .success(TransportResponse(response: HTTPResponse(status: .init(code: 503)), body: [])),
        ]
        let failure = random.pick(failures)
        device.fail(after: place) { failure }
        let outcome = try await device.run(isFull: isFull, adapter: adapter)
        return outcome.map { $0.failure != nil || !$0.failed.isEmpty } ?? false
    }
}
