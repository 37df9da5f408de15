// RealDevice.swift — a device of a server that runs beside the tests, in a folder that stays when
// its process ends.

import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

/// A real server, by its address.
struct RealServer: DeviceServer {
    typealias Wire = KintoTransport

    let remote: Remote
}

typealias RealDevice = Device<RealServer>

extension RealDevice {
    /// A device of a user who is called like it; `between` lies between it and the wire.
    convenience init(
        _ name: String, at directory: String, _ model: SyncModel, _ remote: Remote,
        rules: [ConflictRule] = [], between: (any Transport) -> any Transport = { $0 }
    ) throws {
        let wire = KintoTransport()
        try self.init(
            name, of: RealServer(remote: remote), over: wire, model: model, at: directory,
            transport: between(wire), rules: rules, dependencies: .counting(name)
        ) { .basic(user: name, password: "secret") }
    }

    func edit(_ key: String, _ edit: KintoEdit) throws {
        switch edit {
        case .put(let json): try put(key, json)
        case .patch(let json): try patch(key, json)
        case .delete: try delete(key)
        }
    }
}

/// What a user does to an entity.
enum KintoEdit: Sendable {
    case put(String)
    case patch(String)
    case delete
}

extension Dependencies {
    /// A clock that begins with the server's and moves a millisecond with each look, and as a test
    /// has time pass; ids that are numbers.
    static func counting(
        _ name: String, hoursAhead: @escaping @Sendable () -> Int = { 0 }
    ) -> Dependencies {
        let counter = Counter()
        let begun = Dependencies.live.now()
        return Dependencies(
            now: {
                let passed = counter.next() * 1000 + Int64(hoursAhead()) * 3_600_000_000
                return Timestamp(microseconds: begun.rawValue + passed)
            },
            makeID: { "\(name)-\(counter.next())" },
            random: { UInt64(counter.next()) },
            uptime: { Uptime(bootID: "test", microseconds: counter.next()) },
            sleep: { _ in })
    }

    private final class Counter: Sendable {
        private let value = Atomic<Int64>(0)

        func next() -> Int64 { value.add(1, ordering: .relaxed).newValue }
    }
}
