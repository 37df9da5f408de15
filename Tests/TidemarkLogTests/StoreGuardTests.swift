// StoreGuardTests.swift — identity.json follows the log, and is never ahead of it.

import Dispatch
import Foundation
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore

@Suite struct `the guard of a store` {
    private let folder: ScratchFolder
    private let opened: StoreGuard.Opened
    private let start: Int64 = 1_000_000_000

    init() throws {
        folder = try ScratchFolder()
        opened = try StoreGuard.open(
            folder.store, Environment.Options(tables: EventLog.tableNames),
            StoreOpening(account: "ann", device: "d", bootID: "boot") { "id-1" })
    }

    private func commit(_ number: UInt64, at microseconds: Int64) {
        opened.guardian.committed(
            last: Position(number), root: Array(repeating: UInt8(number), count: 32),
            at: Timestamp(microseconds: microseconds))
    }

    private var written: StoreIdentity? {
        try? StoreIdentity.find(in: folder.store).identity
    }

    @Test func `writes it as sorted JSON that reads back the same`() throws {
        commit(1, at: start)
        let text = try String(contentsOfFile: folder.store + "/identity.json", encoding: .utf8)
        #expect(
            text == """
                {
                  "account": "ann",
                  "boot": "boot",
                  "device": "d",
                  "format": 2,
                  "initialised": true,
                  "open": {"attempts":0,"pid":\(getpid())},
                  "position": 1,
                  "root": "\(String(repeating: "01", count: 32))",
                  "storeID": "id-1"
                }

                """)
        #expect(written == opened.guardian.identity)
        try opened.guardian.close(opened.environment)
        #expect(written?.opening == nil)
        #expect(written?.position == Position(1))
    }

    @Test func `writes at most once a second of recorded time`() throws {
        commit(1, at: start)
        commit(2, at: start + 1)
        commit(3, at: start + 999_999)
        #expect(written?.position == Position(1))
        commit(4, at: start + 1_000_000)
        #expect(written?.position == Position(4))
        commit(5, at: start + 1_999_999)
        #expect(written?.position == Position(4))
        #expect(opened.guardian.identity.position == Position(5))
    }

    @Test func `writes when the clock was set back`() throws {
        commit(1, at: start)
        commit(2, at: start - 1)
        #expect(written?.position == Position(2))
    }

    @Test func `tries again with the next commit when writing failed`() throws {
        let file = folder.store + "/identity.json.new"
        try FileManager.default.createDirectory(
            atPath: file + "/full", withIntermediateDirectories: true)
        commit(1, at: start)
        #expect(written?.position == .start)

        try FileManager.default.removeItem(atPath: file)
        commit(2, at: start + 1)
        #expect(written?.position == Position(2))
    }

    @Test func `writes nothing into another store that lies in its place`() throws {
        commit(1, at: start)
        try FileManager.default.removeItem(atPath: folder.store)
        let other = try StoreGuard.open(
            folder.store, Environment.Options(tables: EventLog.tableNames),
            StoreOpening(account: "ben", device: "d", bootID: "boot") { "id-2" })
        let known = written

        commit(2, at: start + 2_000_000)
        #expect(throws: StoreError.self) { try opened.guardian.writeDown() }
        #expect(throws: StoreError.self) { try opened.guardian.beginLeaving(opened.environment) }
        try opened.guardian.close(opened.environment)

        #expect(known?.storeID == "id-2" && written == known)
        try other.guardian.close(other.environment)
        #expect(written?.storeID == "id-2" && written?.account == "ben")
    }

    @Test func `puts no file into another folder in its place, and takes none away`() throws {
        let files = ContentFiles(of: folder.store, at: opened.guardian.place)
        let source = folder.path + "/source"
        try Data("content".utf8).write(to: URL(filePath: source))
        let content = try files.copy(source, toPart: "one")
        try FileManager.default.moveItem(atPath: folder.store, toPath: folder.path + "/aside")
        try FileManager.default.copyItem(atPath: folder.path + "/aside", toPath: folder.store)

        let error = #expect(throws: StoreError.self) { try files.admit(part: "one", as: content) }
        #expect(error?.code == .lost)
        #expect(throws: StoreError.self) { try files.copy(source, toPart: "two") }
        #expect(throws: StoreError.self) { try files.remove(part: "one") }
        #expect(try files.partNames() == ["one"])
    }

    /// A store with more pages than are looked at between two calls of `checking`, whose next
    /// opening looks at all of them.
    private func makeLarge() throws -> String {
        let path = folder.path + "/large"
        let made = try StoreGuard.open(path, Self.large, Self.opening)
        let rows = made.environment.table("rows")
        let bytes = [UInt8](repeating: 7, count: try made.environment.info().pageBytes / 4 * 3)
        try made.environment.write { transaction in
            for number in 1...4_200 as ClosedRange<UInt64> {
                try transaction.append(rows, Position(number).bigEndianBytes, bytes)
            }
        }
        try made.guardian.close(made.environment)
        var identity = try #require(try StoreIdentity.find(in: path).identity)
        identity.opening = .init(process: 1, attempts: 1)
        try identity.write(to: path, isDurable: false)
        return path
    }

    private static let large = Environment.Options(tables: EventLog.tableNames + ["rows"])
    private static let opening = StoreOpening(account: "ann", device: "d", bootID: "boot") {
        "id-2"
    }

    @Test func `is let go of while the pages of another store are looked at`() throws {
        let path = try makeLarge()
        let (environment, guardian) = opened
        var isLetGo = false

        let large = try StoreGuard.open(path, Self.large, Self.opening) { _, _ in
            guard !isLetGo else { return }
            let closed = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                try? guardian.close(environment)
                closed.signal()
            }
            // For ever, where the closing waits for this opening.
            closed.wait()
            isLetGo = true
        }

        #expect(isLetGo)
        #expect(written?.opening == nil)
        try large.guardian.close(large.environment)
    }

    @Test func `is shared by who begins to read the store while it is being opened`() throws {
        let path = try makeLarge()
        let read = Lock<Environment?>(nil)
        let isRead = DispatchSemaphore(value: 0)
        var isReadEarly: Bool?

        let large = try StoreGuard.open(path, Self.large, Self.opening) { _, _ in
            guard isReadEarly == nil else { return }
            let begun = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                begun.signal()
                let environment = try? StoreGuard.openToRead(
                    path, Environment.Options(tables: EventLog.tableNames, readOnly: true))
                read.withLock { $0 = environment }
                isRead.signal()
            }
            begun.wait()
            // So many threads have come and gone since that it had its turn as well.
            for _ in 0..<200 {
                let other = DispatchSemaphore(value: 0)
                Thread.detachNewThread { other.signal() }
                other.wait()
            }
            isReadEarly = read.withLock { $0 != nil }
        }

        #expect(isReadEarly == false)
        isRead.wait()
        let found = read.withLock(\.self)
        let shared = try #require(found)
        #expect(shared === large.environment)
        try shared.close()
        try large.guardian.close(large.environment)
    }

    @Test func `names the same device by the same hash, and not by its number`() {
        let name = StoreIdentity.device(machine: "0123456789abcdef")
        #expect(name?.count == 32)
        #expect(name != StoreIdentity.device(machine: "0123456789abcdee"))
        #expect(name?.contains("0123456789") == false)
        #expect(StoreIdentity.device(machine: "") == nil)

        func ofSystem(_ text: String?, _ hostID: [UInt8]?) -> String? {
            StoreIdentity.device(systemFile: text, hostID: hostID)
        }
        #expect(ofSystem("0123456789abcdef\n", nil) == name)
        #expect(ofSystem(nil, [0x01, 0x23, 0x45, 0x67, 0x89, 0xAB, 0xCD, 0xEF]) == name)
        #expect(ofSystem("\n", nil) == nil)
        #expect(ofSystem(nil, nil) == nil)
    }
}

/// A folder that goes with the test.
private final class ScratchFolder: Sendable {
    let path = FileManager.default.temporaryDirectory.path + "/tidemark-guard-\(UUID().uuidString)"
    var store: String { path + "/store" }

    init() throws {
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
