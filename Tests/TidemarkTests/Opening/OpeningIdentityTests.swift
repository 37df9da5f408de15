// OpeningIdentityTests.swift — stores that are whole, but not what they were, or not ours.

import Foundation
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a store that is opened` {
    let store: OpeningStore

    init() throws { store = try OpeningStore() }

    /// Expects a refusal that leaves every byte as it was, and that reading is possible.
    private func expectUntouched(
        _ code: TidemarkError.Code, _ words: String,
        sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Replica
    ) throws {
        let before = try store.contents()
        expectRefusal(code, words, sourceLocation: sourceLocation, body)
        #expect(try store.contents() == before, sourceLocation: sourceLocation)
        let reader = try Journal.open(at: store.path, readOnly: true)
        #expect(try reader.verify().findings == [], sourceLocation: sourceLocation)
        try reader.close()
    }

    @Test func `knows it by the same id, wherever it lies`() throws {
        let identity = try store.identity
        #expect(identity.position == Position(7))
        #expect(identity.opening == nil && identity.isInitialised)
        #expect(identity.device == "device")

        let other = store.folder / "other"
        try FileManager.default.moveItem(atPath: store.path, toPath: other)
        let replica = try store.open(at: other)
        #expect(try replica.read { $0.position } == Position(7))
        try replica.close()
        let moved = try #require(try StoreIdentity.find(in: other).identity)
        #expect(moved.storeID == identity.storeID)
    }

    @Test func `and whose identity.json is gone is refused`() throws {
        try store.remove(OpeningStore.identityName)
        expectRefusal(.unfitIdentity, "is missing", "@7", "adopt") { try store.open() }
        #expect(!FileManager.default.fileExists(atPath: store.file(OpeningStore.identityName)))
    }

    @Test(arguments: [
        "", "{", "[]", "{}", #"{"format":"1"}"#, #"{"format":0}"#, #"{"format":1}"#,
        Self.json(account: "7"), Self.json(position: 1, root: "00"), Self.json(open: "{}"),
    ]) func `whose identity.json is damaged is refused`(_ text: String) throws {
        try store.write(OpeningStore.identityName, Array(text.utf8))
        try expectUntouched(.unfitIdentity, "identity.json") { try store.open() }
    }

    private static func json(
        account: String = "null", position: Int = 0, root: String = "", open: String = "null"
    ) -> String {
        #"{"account":\#(account),"device":null,"format":1,"initialised":true,"open":\#(open),"#
            + #""position":\#(position),"root":"\#(root)","storeID":"a"}"#
    }

    @Test func `whose identity.json was cut anywhere is refused`() throws {
        let whole = try store.bytes(OpeningStore.identityName)
        for length in 0..<whole.count - 2 {
            try store.write(OpeningStore.identityName, Array(whole[..<length]))
            expectRefusal(.unfitIdentity) { try store.open() }
        }
    }

    @Test func `whose identity.json is of another store is refused`() throws {
        try store.changeIdentity { $0.storeID = "another" }
        try expectUntouched(.otherStore, "of the store another") { try store.open() }
    }

    @Test func `whose data was put back to an older copy says what it has and what it wants`()
        throws
    {
        let old = try store.bytes(OpeningStore.dataName)
        let replica = try store.open()
        try OpeningStore.put(replica, 100)
        try replica.close()
        try store.write(OpeningStore.dataName, old)

        try expectUntouched(.rolledBack, "ends at @7, and was known to reach @8") {
            try store.open()
        }
    }

    private static let pool = PoolKey("numbers", ["A1"])

    /// Puts an older copy in its place, from before a reserved value was taken.
    private func putBackValues() throws {
        func append(_ kind: EventKind, _ json: [UInt8], _ replica: Replica) throws {
            try replica.write { tx in
                _ = try tx.draft.append(Event(kind, recordedAt: tx.draft.now, json: json))
            }
        }
        var added = ReservedAdded(Self.pool, pattern: nil)
        (added.values, added.until) = (["1", "2"], [nil, nil])
        let first = try store.open()
        try append(.reservedAdded, added.encoded, first)
        try first.close()
        let old = try store.bytes(OpeningStore.dataName)
        let second = try store.open()
        try append(.reservedTaken, ReservedTaken("1", of: Self.pool).encoded, second)
        try second.close()
        try store.write(OpeningStore.dataName, old)
        expectRefusal(.rolledBack) { try store.open() }
    }

    private func valuesLeft(_ replica: Replica) throws -> Int {
        let now = store.clock.now
        return try replica.journal.read { try $0.countValues(of: Self.pool, at: now) }
    }

    @Test func `whose adoption was cut off is refused as before, and has no value once it is done`()
        throws
    {
        try putBackValues()
        let cut = SyncBox<[[UInt8]]>()
        var dependencies = Dependencies.seeded(1, clock: store.clock)
        dependencies.deviceID = { "device" }
        // Just before it is logged.
        dependencies.now = { [store] in
            cut.value = cut.value ?? (try? store.contents())
            return store.clock.now
        }
        _ = try Replica.adopt(at: store.path, dependencies: dependencies)
        let files = try #require(cut.value)
        try store.write(OpeningStore.dataName, files[0])
        try store.write(OpeningStore.identityName, files[1])

        expectRefusal(.rolledBack) { try store.open() }

        _ = try store.adopt()
        let replica = try store.open()
        #expect(try valuesLeft(replica) == 0)
        try replica.close()
    }

    @Test func `whose older copy was adopted hands out no value that was reserved before`() throws {
        try putBackValues()

        let adoption = try store.adopt()

        let replica = try store.open()
        #expect(try replica.position == adoption.position)
        #expect(try valuesLeft(replica) == 0)
        #expect(try replica.journal.verify(.deep).findings == [])
        try replica.close()
        #expect(try store.adopt().position == adoption.position, "nothing is left")
    }

    @Test func `whose older copy went on differently is refused`() throws {
        let old = try store.contents()
        let replica = try store.open()
        try OpeningStore.put(replica, 100)
        try replica.close()
        let identity = try store.bytes(OpeningStore.identityName)
        try store.write(OpeningStore.dataName, old[0])
        try store.write(OpeningStore.identityName, old[1])
        let other = try store.open()
        for number in 200..<203 { try OpeningStore.put(other, number) }
        try other.close()
        try store.write(OpeningStore.identityName, identity)

        try expectUntouched(.rolledBack, "another one") { try store.open() }
    }

    @Test func `on another device is refused, until it was adopted`() throws {
        try expectUntouched(.otherDevice, "device") { try store.open(device: "other") }
        try store.open(device: nil).close()
        #expect(try store.identity.device == "device", "unknown is not another")

        let adoption = try store.adopt(device: "other")
        #expect(adoption.reasons.count == 1)
        try store.open(device: "other").close()
        expectRefusal(.otherDevice) { try store.open(device: "device") }
    }

    @Test func `adopted on a device that can't be told belongs to the one that opens it next`()
        throws
    {
        expectRefusal(.otherDevice) { try store.open(device: "other") }

        #expect(try store.adopt(device: nil).reasons == [], "no opening without an id is refused")

        #expect(try store.identity.device == nil)
        try store.open(device: "other").close()
        expectRefusal(.otherDevice) { try store.open(device: "device") }
    }

    @Test func `for an account keeps to it, and logs it`() throws {
        let first = try store.open(account: "ann")
        try OpeningStore.put(first, 100)
        let logged = try first.journal.read { try $0.event(at: Position(8)) }
        #expect(logged?.kind == .storeOpened)
        #expect(logged.map { String(decoding: $0.payload, as: UTF8.self) }?.contains("ann") == true)
        expectRefusal(.otherAccount, "ann", "bob") { try store.open(account: "bob") }
        try first.close()

        try expectUntouched(.otherAccount, "ann") { try store.open(account: "bob") }
        try store.open(account: "ann").close()
        try store.open(account: nil).close()
        #expect(try store.identity.account == "ann")
        _ = try store.adopt()
        try store.remove(OpeningStore.identityName)
        #expect(try store.adopt().account == "ann", "the log knows it")
        expectRefusal(.otherAccount) { try store.open(account: "bob") }
    }

    @Test func `keeps its account where the event that names it was dropped`() throws {
        let store = try OpeningStore(commits: 0)
        let replica = try store.open(account: "ann")
        for number in 0..<30 {
            try replica.write { tx in
                _ = try tx.draft.append(
                    Event(
                        .serverUpserted, recordedAt: tx.draft.now,
                        key: EntityKey("tasks", "t\(number)"),
                        json: Array(#"{"n":\#(number)}"#.utf8)))
            }
        }
        try replica.journal.seal(keeping: 1)
        let folder = store.folder
        try replica.journal.truncate(
            through: Position(20), at: Timestamp(rawValue: 1), in: { folder / "scratch" })
        try replica.close()
        try store.remove(OpeningStore.identityName)

        #expect(try store.adopt(isDryRun: true).account == "ann")
        #expect(try store.adopt().account == "ann", "the rows know it")
        expectRefusal(.otherAccount, "ann", "bob") { try store.open(account: "bob") }
        try store.open(account: "ann").close()
    }

    @Test func `of a newer format is refused, and nothing is touched`() async throws {
        let text = String(decoding: try store.bytes(OpeningStore.identityName), as: UTF8.self)
        let newer = text.replacing("\"format\": 2", with: "\"format\": 3")
        try store.write(OpeningStore.identityName, Array(newer.utf8))
        try await expectNewer()
    }

    @Test func `whose tables are of a newer format is refused, and nothing is touched`()
        async throws
    {
        try store.changeTables { transaction, log in
            let bytes = try #require(try log.catalog.value(.identity, transaction))
            try log.catalog.set(.identity, bytes.dropLast() + [3], transaction)
        }
        try await expectNewer()
    }

    private func expectNewer() async throws {
        // The tool runs on this device.
        let text = String(decoding: try store.bytes(OpeningStore.identityName), as: UTF8.self)
        let anywhere = text.replacing(#""device": "device""#, with: #""device": null"#)
        try store.write(OpeningStore.identityName, Array(anywhere.utf8))
        let before = try store.contents()
        expectRefusal(.newerFormat, "format 3", "format 2") { try store.open() }
        #expect { try Journal.open(at: store.path, readOnly: true) } throws: { error in
            (error as? StoreError)?.code == .newerFormat
        }
        expect(.newerFormat) { _ = try store.adopt() }
        if SyncTool.isThere {
            for verb in ["list", "verify", "rebuild", "adopt"] {
                #expect(try await SyncTool.run(verb, store.path).code == 3, "\(verb)")
            }
        }
        #expect(try store.contents() == before)
    }

    @Test func `that killed two processes is refused, until it was adopted`() throws {
        for attempts in [1, 2] {
            try store.changeIdentity { $0.opening = .init(process: 1, attempts: attempts) }
            if attempts == 1 { try store.open().close() }
        }
        let before = try store.contents()
        try expectUntouched(.interrupted, "tidemark verify") { try store.open() }
        #expect(try store.contents() == before, "verifying clears nothing")

        #expect(try store.adopt(isDryRun: true).reasons.count == 1)
        expectRefusal(.interrupted) { try store.open() }
        #expect(try store.adopt().reasons.count == 1)
        try store.open().close()
    }

    @Test func `for which descriptors were wanting is opened once there are some`() async throws {
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            let most = limitDescriptors(to: 64)
            for count in 3..<32 {
                limitDescriptors(to: UInt64(count))
                for _ in 0..<2 { try? OpeningStore.openExisting(path).close() }
            }
            limitDescriptors(to: most)
            try OpeningStore.openExisting(path).close()
        }
        #expect(try store.identity.opening == nil)
    }

    @Test func `for which other threads took the descriptors is opened once there are some`()
        async throws
    {
        await #expect(processExitsWith: .success) { [path = store.path as String] in
            let most = limitDescriptors(to: 48)
            let goesOn = Lock(true)
            let taking = Background<Void> {
                while goesOn.withLock(\.self) {
                    var taken: [Int32] = []
                    var next = unsafe open("/dev/null", O_RDONLY)
                    while next >= 0 {
                        taken.append(next)
                        next = unsafe open("/dev/null", O_RDONLY)
                    }
                    usleep(2000)
                    for descriptor in taken { close(descriptor) }
                    usleep(2000)
                }
            }
            for _ in 0..<30 { try? OpeningStore.openExisting(path).close() }
            goesOn.withLock { $0 = false }
            taking.value
            limitDescriptors(to: most)
            try OpeningStore.openExisting(path).close()
        }
        #expect(try store.identity.opening == nil)
    }

    @Test func `does not count a process that died later`() async throws {
        for _ in 0..<3 {
            await #expect(processExitsWith: .signal(SIGKILL)) { [path = store.path as String] in
                _ = try OpeningStore.openExisting(path)
                kill(getpid(), SIGKILL)
            }
            #expect(try store.identity.opening?.attempts == 0)
            #expect(try store.identity.opening?.process != getpid())
        }
        try await store.open().close()
    }
}
