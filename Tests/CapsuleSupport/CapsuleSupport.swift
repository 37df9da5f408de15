// CapsuleSupport.swift — a store in which much has happened, and capsules that no writer writes.

import Foundation
import HTTPTypes
import TestSupport
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A server that fails now and then, under a name that no capsule is to tell.
struct CapsuleWorld: DeviceServer {
    typealias Wire = TellingWire

    static let host = "kinto.secret-host.example"
    static let account = "ada-of-the-secrets"
    static let model = SyncModel(
        name: "todo",
        collections: [
            CollectionModel("lists", lastChangeField: "last_modified", conflict: .serverWins),
            CollectionModel(
                "tasks", lastChangeField: "last_modified", conflict: .localWins,
                references: [Reference("list", to: "lists")], pageSize: 2),
        ], settings: SyncSettings(batchSize: 1))

    let clock: ManualClock
    let server: KintoServer

    var remote: Remote { .kinto(origin: "http://\(Self.host):8888", bucket: "b") }

    private init() {
        let clock = ManualClock()
        self.clock = clock
        server = KintoServer(bucket: "b", model: Self.model, clock: clock)
    }

    /// Runs `body` with a device on which much has happened, and removes its store.
    static func with<R>(_ body: (Device<CapsuleWorld>) async throws -> R) async throws -> R {
        let world = CapsuleWorld()
        let folder = FileManager.default.temporaryDirectory.appending(
            path: "tidemark-temporary-\(UUID().uuidString)")
        let device = try Device(
            of: world, over: TellingWire(world.server), model: model,
            at: folder.path(percentEncoded: false), account: account,
            dependencies: .seeded(7, clock: world.clock))
        return try await device.lend { device in
            try await device.live()
            return try await body(device)
        }
    }
}

extension Device<CapsuleWorld> {
    fileprivate func live() async throws {
        let (clock, server) = (server.clock, server.server)
        try put("lists/l1", #"{"title":"home"}"#)
        for number in 1...5 {
            try put("tasks/t\(number)", #"{"title":"task \#(number)","list":"l1"}"#)
        }
        try await sync()
        server.put("tasks/t1", #"{"title":"theirs"}"#)
        server.put("lists/l1", #"{"title":"their home"}"#)
        try put("tasks/t1", #"{"title":"ours","list":"l1"}"#)
        try put("lists/l1", #"{"title":"our home"}"#)
        try await sync()
        let long = Array(#"{"message":"\#(String(repeating: "so very sorry ", count: 400))"}"#.utf8)
        server.faults = FaultPlan([FaultRule(.answer(status: 500, body: long), method: .put)])
        try put("tasks/t2", #"{"title":"refused for now"}"#)
        try await sync()
        server.faults = FaultPlan([FaultRule(.dropBeforeHandling)])
        clock.advance(by: .seconds(4000))
        try await sync()
        server.faults = FaultPlan()
        clock.advance(by: .seconds(4000))
        server.delete("tasks/t3")
        try await sync()
        try put("tasks/t9", #"{"title":"\#(String(repeating: "long ", count: 900))"}"#)
        try await sync()
        try put("tasks/t4", #"{"title":"pending"}"#)
    }

    /// All of it as a capsule.
    func capsule(last: Int = 100_000) throws -> Capsule {
        try replica.journal.capsule(last: last, note: "", namesRemote: true)
    }
}

/// A wire whose errors name the server.
struct TellingWire: Transport {
    let next: any Transport

    init(_ next: any Transport) { self.next = next }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        do { return try await next.send(request, body: body, limits: limits) } catch {
            throw TransportError(
                error.code, detail: "no connection to \(CapsuleWorld.host):8888 of me")
        }
    }
}

/// A new temporary path.
func scratchPath() -> String {
    FileManager.default.temporaryDirectory.appending(path: "capsule-\(UUID().uuidString)")
        .path(percentEncoded: false)
}

/// The content of a capsule, record by record, as nobody checks it.
struct RawCapsule {
    var records: [(field: UInt32, bytes: [UInt8])] = []
    var format: UInt64 = 1
    var isSealed = true

    init() {}

    /// The records of a good one.
    init(_ capsule: Capsule) throws {
        var reader = ProtoReader(try Self.content(try capsule.encoded))
        while let field = try reader.next() {
            if field.number > 1, field.number < 15 {
                records.append((field.number, try field.bytes()))
            }
        }
    }

    /// What the frames of a file hold together.
    static func content(_ file: [UInt8]) throws -> [UInt8] {
        var content: [UInt8] = []
        var end = 0
        while end < file.count {
            let frame = try Zstd.frame(in: file, at: end)
            content += try Zstd.decompress(Array(file[frame.range]), bytesMax: 1 << 30)
            end = frame.range.upperBound
        }
        return content
    }

    /// Content with a checksum that fits.
    static func sealed(_ content: [UInt8]) -> [UInt8] {
        var trailer = ProtoWriter()
        trailer.bytes(15, SHA256Digest.of(content))
        return content + trailer.bytes
    }

    var content: [UInt8] {
        var writer = ProtoWriter()
        writer.varint(1, format)
        var content = writer.bytes
        for record in records {
            var writer = ProtoWriter()
            writer.message(record.field, record.bytes)
            content += writer.bytes
        }
        return isSealed ? Self.sealed(content) : content
    }

    /// The file in one frame.
    var file: [UInt8] { get throws { try Zstd.compress(content) } }
}

/// A message of fields.
func message(_ body: (inout ProtoWriter) -> Void) -> [UInt8] {
    var writer = ProtoWriter()
    body(&writer)
    return writer.bytes
}

/// Runs `body` with a new folder that is removed afterwards.
func inScratch<R>(_ body: (String) throws -> R) throws -> R {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    return try body(folder.path(percentEncoded: false))
}
