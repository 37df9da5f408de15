// RadicaleSoak.swift — random edits of items, syncs and a bad network, from one seed.

import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// Loses requests and answers at random, answers some itself with 503, and lets some requests
/// arrive long after they were given up.
final class RadicaleWeather: Sendable {
    private struct State {
        var random: SplitMix64
        var isFine = false
    }
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed))) }

    /// From now on nothing is lost, or again as before.
    func set(isFine: Bool) { state.withLock { $0.isFine = isFine } }

    private func dice() -> Int { state.withLock { $0.isFine ? 99 : $0.random.below(100) } }

    /// A wire that answers some requests itself.
    func wire(_ next: any Transport) -> any Transport {
        let wire = SyncWire(next)
        wire.tap { _, _, pass in
            guard self.dice() < 5 else { return await pass() }
            return .success(
                TransportResponse(
                    response: HTTPResponse(status: .serviceUnavailable), body: []))
        }
        return wire
    }

    func hook(_ device: RealDevice) {
        let transport = device.wire
        transport.hook { [weak transport] moment, line in
            switch (moment, self.dice()) {
            case (.leaving, ..<3): throw TransportError(.offline)
            case (.leaving, ..<6): throw TransportError(.connectionLost)
            case (.leaving, ..<12) where line.isWrite:
                transport?.delayLast()
                throw TransportError(.timeout)
            case (.answered, ..<6): throw TransportError(.timeout)
            case (.leaving, 12..<40): try await transport?.deliverDelayed()
            default: break
            }
        }
    }
}

/// Two replicas and a plain client on one server.
struct RadicaleSoak {
    let world: RadicaleWorld
    let devices: [RealDevice]
    let weather: RadicaleWeather
    var random: SplitMix64

    init(_ world: RadicaleWorld, seed: UInt64) throws {
        self.world = world
        random = SplitMix64(seed: seed)
        let weather = RadicaleWeather(seed: random.next())
        self.weather = weather
        devices = try ["a", "b"].map { try world.device($0) { weather.wire($0) } }
        for device in devices { weather.hook(device) }
    }

    /// A few edits anywhere, then a sync somewhere.
    mutating func round(_ number: Int) async throws {
        for _ in 0...random.below(4) { try await editAnywhere(number) }
        let first = random.below(2)
        try await devices[first].sync()
        if random.below(3) == 0 { try await devices[1 - first].sync() }
    }

    private mutating func editAnywhere(_ number: Int) async throws {
        let key = "\(random.below(2) == 0 ? "lists" : "tasks")/i\(random.below(5))"
        // Few summaries, so that items come back to what they were.
        let summary = "\(random.below(3))"
        let deletes = random.below(10) < 3
        switch random.below(3) {
        case 2:
            let isThere = try await world.summary(key) != nil
            if deletes, isThere {
                try await world.client.remove(key)
            } else {
                try await world.client.write(key, summary)
            }
        case let side:
            let isThere = try devices[side].has(key)
            try devices[side].carryOut(deletes && isThere ? nil : summary, on: key)
        }
    }

    /// Lets what was delayed arrive, syncs until nobody has anything new, and compares all three.
    func check(_ note: String) async throws {
        weather.set(isFine: true)
        for device in devices { try await device.wire.deliverDelayed() }
        try await world.settle(devices[0], devices[1], note: note)
        try await world.expectEqual(devices[0], devices[1], note: note)
        for device in devices {
            let open = try device.entries(all: true).filter { $0.mutation.outcome == nil }
            #expect(open == [], "\(device.name) \(note)")
        }
        weather.set(isFine: false)
    }
}
