// Soak.swift — random edits, syncs and lost answers on two replicas and a plain client of one
// server, from one seed.

import HTTPTypes
import Synchronization
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkSync
import TidemarkViews

@testable import SyncSupport

/// A server on which long runs are made.
protocol SoakWorld: RealWorld {
    /// A replica whose network has that weather.
    func device(_ name: String, in weather: Weather) throws -> RealDevice

    /// An edit on one of the devices, or by a plain client, by chance.
    func edit(_ devices: [RealDevice], by random: inout SplitMix64, round: Int) async throws
}

/// Loses requests and answers at random, and lets some requests arrive long after they were given
/// up.
final class Weather: Sendable {
    typealias Act = @Sendable (inout SplitMix64) throws -> Void

    private struct State {
        var random: SplitMix64
        var isFine = false
    }
    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SplitMix64(seed: seed))) }

    /// From now on nothing is lost, or again as before.
    func set(isFine: Bool) { state.withLock { $0.isFine = isFine } }

    private func dice() -> Int { state.withLock { $0.isFine ? 99 : $0.random.below(100) } }

    /// A wire that answers some requests itself, with 503.
    func refusing(_ next: any Transport) -> any Transport {
        let wire = SyncWire(next)
        wire.tap { _, _, pass in
            guard self.dice() < 5 else { return await pass() }
            return .success(
                TransportResponse(
                    response: HTTPResponse(status: .serviceUnavailable), body: []))
        }
        return wire
    }

    /// - Parameters:
    ///   - lost: of a hundred requests, how many don't arrive at once.
    ///   - meanwhile: done now and then while a request is under way.
    func hook(_ device: RealDevice, lost: Int, meanwhile: Act? = nil) {
        let transport = device.wire
        transport.hook { [weak transport] moment, line in
            switch (moment, self.dice()) {
            case (.leaving, ..<3): throw TransportError(.offline)
            case (.leaving, ..<lost): throw TransportError(.connectionLost)
            case (.leaving, ..<12) where line.isWrite:
                transport?.delayLast()
                throw TransportError(.timeout)
            case (.answered, ..<6): throw TransportError(.timeout)
            case (.leaving, 12..<40): try await transport?.deliverDelayed()
            case (_, 40..<50):
                guard let meanwhile else { break }
                var random = self.state.withLock { SplitMix64(seed: $0.random.next()) }
                try meanwhile(&random)
            default: break
            }
        }
    }
}

/// A long run.
struct Soak<World: SoakWorld> {
    let world: World
    let seed: UInt64
    private let devices: [RealDevice]
    private let weather: Weather
    private var random: SplitMix64

    init(_ world: World, seed: UInt64) throws {
        self.world = world
        self.seed = seed
        random = SplitMix64(seed: seed)
        let weather = Weather(seed: random.next())
        self.weather = weather
        devices = try ["a", "b"].map { try world.device($0, in: weather) }
    }

    /// So many rounds; after each ten everything is looked at.
    mutating func run(rounds: Int) async throws {
        for number in 1...rounds {
            try await round(number)
            if number.isMultiple(of: 10) { try await check("seed \(seed) round \(number)") }
        }
    }

    /// A few edits anywhere, then a sync somewhere.
    private mutating func round(_ number: Int) async throws {
        for _ in 0...random.below(4) {
            try await world.edit(devices, by: &random, round: number)
        }
        let first = random.below(2)
        try await devices[first].sync()
        if random.below(3) == 0 { try await devices[1 - first].sync() }
    }

    /// Lets what was delayed arrive, syncs until nobody has anything new, and compares all three.
    private func check(_ note: String) async throws {
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
