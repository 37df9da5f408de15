// StoreSupport.swift — a store in a directory of its own, and small makers of bytes.

import Foundation
import Testing
import TidemarkStore

/// A directory that goes with the test.
final class Scratch {
    let path: String

    init() throws {
        let url = FileManager.default.temporaryDirectory
            .appendingPathComponent("tidemark-store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
        path = url.path
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Where the store lies; not made yet.
    var store: String { path + "/store" }
    var dataFile: String { store + "/data.mdb" }
    var lockFile: String { store + "/lock.mdb" }

    func open(_ options: Environment.Options = .small) throws -> Environment {
        try Environment.open(at: store, options)
    }

    func dataBytes() throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(fileURLWithPath: dataFile)))
    }

    /// Cuts or lengthens the data file.
    func setDataLength(_ bytes: Int) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: dataFile))
        try file.truncate(atOffset: UInt64(bytes))
        try file.close()
    }

    func overwriteData(at offset: Int, _ bytes: [UInt8]) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: dataFile))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: bytes)
        try file.close()
    }
}

extension Environment.Options {
    /// Two tables and a map that doesn't grow in most tests.
    static let small = Environment.Options(tables: ["events", "rows"], mapBytes: 64 << 20)

    func with(_ change: (inout Self) -> Void) -> Self {
        var options = self
        change(&options)
        return options
    }
}

extension Environment {
    var events: Table { table("events") }
    var rows: Table { table("rows") }

    func value(_ table: Table, _ key: [UInt8]) throws -> [UInt8]? {
        try read { try $0.get(table, key) }
    }

    func store(_ table: Table, _ key: [UInt8], _ value: [UInt8]) throws {
        try write { try $0.put(table, key, value) }
    }
}

/// A file or folder is open in this process, and in none that it starts.
func expectOpenHereAlone(_ path: String) throws {
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    let inode = try #require(attributes[.systemFileNumber] as? UInt64)
    var found = 0
    for descriptor in Int32(0)..<4096 {
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0, status.st_ino == inode else { continue }
        found += 1
        #expect(fcntl(descriptor, F_GETFD) & FD_CLOEXEC != 0)
    }
    #expect(found >= 1)
}

/// Eight bytes, so that byte order is number order.
func bigEndian(_ number: Int) -> [UInt8] {
    (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
}

/// `count` bytes that differ from place to place and from salt to salt.
func pattern(_ count: Int, salt: Int = 0) -> [UInt8] {
    var bytes = [UInt8](repeating: UInt8(truncatingIfNeeded: salt &* 31), count: count)
    for index in stride(from: 0, to: count, by: 61) {
        bytes[index] = UInt8(truncatingIfNeeded: index / 61 &+ salt)
    }
    return bytes
}
