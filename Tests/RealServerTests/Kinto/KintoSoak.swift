// KintoSoak.swift — random edits, syncs and lost answers, from one seed.

import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// Loses requests and answers at random, and lets some requests arrive long after they were given
/// up.
final class KintoWeather: Sendable {
    private struct State {
        var random: SplitMix64
        var isFine = false
    }
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed))) }

    /// From now on nothing is lost, or again as before.
    func set(isFine: Bool) { state.withLock { $0.isFine = isFine } }

    func hook(_ device: RealDevice) {
        let transport = device.wire
        transport.hook { [weak transport] moment, line in
            let dice = self.state.withLock { $0.isFine ? 99 : $0.random.below(100) }
            switch (moment, dice) {
            case (.leaving, ..<3): throw TransportError(.offline)
            case (.leaving, ..<7): throw TransportError(.connectionLost)
            case (.leaving, ..<12) where line.isWrite:
                transport?.delayLast()
                throw TransportError(.timeout)
            case (.answered, ..<6): throw TransportError(.timeout)
            case (.leaving, 12..<40): try await transport?.deliverDelayed()
            case (_, 40..<50): try self.editMeanwhile(device)
            default: break
            }
        }
    }

    /// Edits while a request is under way.
    private func editMeanwhile(_ device: RealDevice) throws {
        let edit = state.withLock { SplitMix64Edit(&$0.random, note: 0) }
        try edit.carryOut(on: device)
    }
}

/// An edit of anything, by chance.
struct SplitMix64Edit {
    let key: String
    let patch: String
    let document: String
    let action: Int

    init(_ random: inout SplitMix64, note: Int) {
        key = "\(random.below(2) == 0 ? "lists" : "tasks")/i\(random.below(6))"
        let field = ["x", "y", "z"][random.below(3)]
        patch = #"{"\#(field)":\#(random.below(4))}"#
        document = #"{"\#(field)":\#(random.below(4)),"note":\#(note)}"#
        action = random.below(10)
    }

    func carryOut(on device: RealDevice) throws {
        let isThere = try device.has(key)
        switch action {
        case 0...2 where isThere: try device.delete(key)
        case 3...7 where isThere: try device.patch(key, patch)
        default: try device.put(key, document)
        }
    }

    func carryOut(by client: KintoClient, isThere: Bool) async throws {
        if action > 2 {
            try await client.put(key, document)
        } else if isThere {
            try await client.delete(key)
        }
    }
}

/// Two replicas and a plain client on one server.
struct KintoSoak {
    let world: KintoWorld
    let devices: [RealDevice]
    let weather: KintoWeather
    var random: SplitMix64

    init(_ world: KintoWorld, seed: UInt64) throws {
        self.world = world
        random = SplitMix64(seed: seed)
        weather = KintoWeather(seed: random.next())
        devices = try ["a", "b"].map { try world.device($0) }
        for device in devices { weather.hook(device) }
        devices[1].wire.compress()
    }

    /// A few edits anywhere, then a sync somewhere.
    mutating func round(_ number: Int) async throws {
        for _ in 0...random.below(4) { try await editAnywhere(number) }
        let first = random.below(2)
        try await devices[first].sync()
        if random.below(3) == 0 { try await devices[1 - first].sync() }
    }

    private mutating func editAnywhere(_ number: Int) async throws {
        let edit = SplitMix64Edit(&random, note: number)
        switch random.below(3) {
        case 2:
            let isThere = try await world.record(edit.key) != nil
            try await edit.carryOut(by: world.client, isThere: isThere)
        case let side: try edit.carryOut(on: devices[side])
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
