// EngineActivityTests.swift — what an engine tells of its runs, one thing after another.

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

/// Somebody who listens to an engine.
private struct Listener {
    private let activities: AsyncStream<SyncActivity>

    init(_ engine: SyncEngine) { activities = engine.activities }

    /// Everything that was told until now.
    func all() async -> [SyncActivity] {
        // The stream holds everything; a cancelled reader gets exactly that.
        let activities = activities
        let reader = Task {
            var all: [SyncActivity] = []
            for await activity in activities { all.append(activity) }
            return all
        }
        reader.cancel()
        return await reader.value
    }

    func texts() async -> [String] { await all().map(\.description) }
}

@Suite(.serialized) struct `the activities of an engine` {
    @Test func `tell a run from its beginning to its end, in order`() async throws {
        let world = SyncWorld.paging(2)
        for number in 1...3 { world.rivalPuts("tasks/t\(number)", #"{"n":1}"#) }
        try await SyncDevice.with(world) { device in
            let listener = Listener(device.engine)
            try device.put("lists/l1", "{}")
            _ = try await device.sync()

            let all = await listener.all()
            #expect(all.first == .started([.userRequested]))
            guard case .finished(.success(let outcome))? = all.last else {
                return #expect(Bool(false), "\(all)")
            }
            #expect(outcome.counts.pulled == 3 && outcome.counts.pushed == 1)
            #expect(all.count { if case .finished = $0 { true } else { false } } == 1)
            let pages = all.compactMap { if case .pageApplied(let page) = $0 { page } else { nil } }
            #expect(pages.map(\.collection).contains("tasks"))
            #expect(pages.map(\.count).reduce(0, +) == 3)
            let requests = all.filter {
                switch $0 {
                case .requestBegan, .requestEnded: true
                default: false
                }
            }
            #expect(requests.count == 2 * outcome.counts.requests)
            for pair in 0..<requests.count / 2 {
                #expect(requests[2 * pair] == .requestBegan(open: 1))
                #expect(requests[2 * pair + 1] == .requestEnded(open: 0))
            }
        }
    }

    @Test func `tell of a page when it is on disk`() async throws {
        let world = SyncWorld.paging(1)
        for number in 1...4 { world.rivalPuts("lists/l\(number)", "{}") }
        try await SyncDevice.with(world) { device in
            let activities = device.engine.activities
            let reader = Task {
                var seen: [Int] = []
                for await activity in activities {
                    if case .pageApplied(let page) = activity, page.collection == "lists" {
                        var count = 0
                        try device.replica.read { store in
                            try store.forEachDocument(in: "lists") { _, _, _ in
                                count += 1
                                return true
                            }
                        }
                        seen.append(count)
                    }
                    if case .finished = activity { break }
                }
                return seen
            }
            _ = try await device.sync()
            let seen = try await reader.value

            #expect(seen.count == 4)
            for (index, count) in seen.enumerated() { #expect(count >= index + 1) }
        }
    }

    @Test func `tell of what is seen as a whole when all of it is there`() async throws {
        let collections = ["programs", "stages"].map { name in
            CollectionModel(CollectionName(name), pageSize: 1, pushes: [], allOrNone: "metadata")
        }
        let world = SyncWorld(model: SyncModel(name: "clinic", collections: collections))
        for key in ["programs/a", "programs/b", "stages/a", "stages/b", "stages/c"] {
            world.rivalPuts(key, "{}")
        }
        try await SyncDevice.with(world) { device in
            let listener = Listener(device.engine)
            #expect(try await device.sync().isSynced)

            let all = await listener.all()
            let pages = all.compactMap { if case .pageApplied(let page) = $0 { page } else { nil } }
            #expect(pages.map { "\($0.collection) \($0.count)" } == ["programs 2", "stages 3"])
            let texts = all.map(\.description)
            let told = try #require(texts.firstIndex(of: "pageApplied(programs)"))
            #expect(!texts[told...].contains { $0.hasPrefix("request") }, "\(texts)")

            world.rivalPuts("stages/c", #"{"n":1}"#)
            let later = Listener(device.engine)
            #expect(try await device.sync().isSynced)
            let news = await later.texts().filter { $0.hasPrefix("page") }
            #expect(news == ["pageApplied(stages)"])
        }
    }

    @Test(arguments: [FaultAction.answer(status: 500), .dropBeforeHandling, .offline])
    func `end once where requests fail`(_ fault: FaultAction) async throws {
        try await SyncDevice.with(SyncWorld([FaultRule(fault)])) { device in
            let listener = Listener(device.engine)
            let outcome = try await device.sync()

            let texts = await listener.texts()
            #expect(!outcome.isSynced)
            #expect(texts.first == "started(userRequested)")
            #expect(texts.last == "finished(\(outcome.word))")
            #expect(texts.count { $0.hasPrefix("finished") } == 1)
            #expect(texts.dropLast().last == "requestEnded(0)")
        }
    }

    @Test func `end once where the run is cancelled`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            let listener = Listener(device.engine)
            let task = Mutex<Task<SyncOutcome, any Error>?>(nil)
            device.wire.tap { _, _, pass in
                task.withLock { $0?.cancel() }
                for _ in 1...100 { await Task.yield() }
                return await pass()
            }
            let run = Task { try await device.engine.sync() }
            task.withLock { $0 = run }
            let outcome = try await run.value

            let texts = await listener.texts()
            #expect(texts.count { $0.hasPrefix("finished") } == 1)
            #expect(texts.last == "finished(\(outcome.word))")
            #expect(texts.last { $0.hasPrefix("request") } == "requestEnded(0)")
        }
    }

    @Test func `end once where the store fails`() async throws {
        let world = SyncWorld()
        world.rivalPuts("lists/l1", "{}")
        let device = try SyncDevice.make(world)
        let listener = Listener(device.engine)
        device.wire.tap { _, number, pass in
            let answer = await pass()
            if number == 1 { try await device.replica.close() }
            return answer
        }
        let error = await #expect(throws: TidemarkError.self) { _ = try await device.sync() }

        let all = await listener.all()
        #expect(all.first == .started([.userRequested]))
        #expect(all.last == .finished(.failure(try #require(error))))
        #expect(all.count { if case .finished = $0 { true } else { false } } == 1)
        try await Replica.open(
            existing: device.replica.directory, dependencies: device.replica.dependencies
        ).deleteTemporary()
    }

    @Test func `begin and end where a run can't even begin`() async throws {
        try await SyncDevice.with(SyncWorld()) { device in
            try await device.sync()
            let other = Remote.kinto(origin: "http://elsewhere.test", bucket: "b")
            let engine = SyncDevice.engine(
                device.replica, device.wire, remote: other, adapter: try other.makeAdapter())
            let listener = Listener(engine)
            await #expect(throws: TidemarkError.self) { _ = try await engine.sync() }

            let texts = await listener.texts()
            #expect(texts == ["started(userRequested)", "finished(otherRemote)"])
        }
    }

    @Test func `begin and end where the server asked to wait, so that a refresh ends`()
        async throws
    {
        let pause = FaultAction.answer(status: 503, fields: [.retryAfter: "30"])
        try await SyncDevice.with(SyncWorld([FaultRule(pause, nth: 1)])) { device in
            _ = try await device.sync()
            let listener = Listener(device.engine)
            _ = try await device.sync()

            let texts = await listener.texts()
            #expect(texts == ["started(userRequested)", "finished(tooManyRequests)"])
        }
    }

    @Test func `tell nothing of what a gate of the model holds`() async throws {
        var model = SyncWorld.usualModel
        model.settings.gates = [.init("discover", count: 1, window: .minutes(10))]
        try await SyncDevice.with(SyncWorld(model: model)) { device in
            _ = try await device.sync(.all, .named("discover"))
            let listener = Listener(device.engine)
            #expect(try await device.sync(.all, .named("discover")).failure?.name == "gated")

            #expect(await listener.all() == [])
        }
    }

    @Test func `come to every listener from when it listens on, however slow it is`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            let first = Listener(device.engine)
            _ = try await device.sync()
            let (second, third) = (Listener(device.engine), Listener(device.engine))
            for number in 1...50 {
                world.rivalPuts("lists/l\(number)", "{}")
                _ = try await device.sync()
            }

            let (one, two, three) = (await first.all(), await second.all(), await third.all())
            #expect(two == three && one.suffix(two.count) == two[...])
            #expect(one.count > two.count && two.first == .started([.userRequested]))
            #expect(two.count { if case .finished = $0 { true } else { false } } == 50)
        }
    }

    @Test func `stop for a listener that stops, and for no other`() async throws {
        let world = SyncWorld()
        try await SyncDevice.with(world) { device in
            let stays = Listener(device.engine)
            let activities = device.engine.activities
            let stops = Task {
                for await activity in activities {
                    if case .requestBegan = activity { return true }
                }
                return false
            }
            _ = try await device.sync()
            #expect(await stops.value)
            world.rivalPuts("lists/l1", "{}")
            _ = try await device.sync()

            let texts = await stays.texts()
            #expect(texts.count { $0.hasPrefix("finished") } == 2)
            #expect(texts.contains("pageApplied(lists)"))
        }
    }

    @Test func `count the requests that are open at the same time`() async throws {
        var model = SyncWorld.usualModel
        model.collections[1].references = []
        model.settings.parallel = 2
        let world = SyncWorld(model: model)
        try await SyncDevice.with(world) { device in
            let listener = Listener(device.engine)
            let lists = SyncCounter()
            device.wire.tap { request, _, pass in
                if request.path?.contains("/records") == true { _ = lists.count() }
                // The first list is answered once the second one was asked for.
                for _ in 1...1_000_000 where lists.value == 1 { await Task.yield() }
                return await pass()
            }
            _ = try await device.sync()

            let all = await listener.all()
            #expect(all.contains(.requestBegan(open: 2)))
            #expect(
                all.last {
                    switch $0 {
                    case .requestBegan, .requestEnded: true
                    default: false
                    }
                } == .requestEnded(open: 0))
        }
    }
}
