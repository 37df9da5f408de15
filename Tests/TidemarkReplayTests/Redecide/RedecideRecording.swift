// RedecideRecording.swift — what a device does becomes a capsule, so that there is something to be
// decided once more.

import HTTPTypes
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkReplay
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport
@testable import SyncSupport

extension SyncDevice {
    /// What a new device records while `body` makes it do something.
    static func capsule(
        model: SyncModel = SyncWorld.usualModel, rules: [ConflictRule] = [],
        adapter: (any ServerAdapter)? = nil, _ body: (SyncDevice) async throws -> Void
    ) async throws -> Capsule {
        try await with(SyncWorld(model: model), adapter: adapter, rules: rules) { device in
            try await body(device)
            let result = try await TidemarkReplayTests.capsule(of: device.replica.journal)
            await device.engine.stop()
            return result
        }
    }

    /// Syncs, and throws why that failed.
    ///
    /// - Parameter fails: whether it is to.
    func mustSync(fails: Bool = false) async throws {
        if let failure = try await sync().failure, !fails { throw failure }
    }
}

/// What is done when the next request of a method passes, and whether its answer is lost.
struct Encounter: Sendable {
    var method: HTTPRequest.Method
    var losesAnswer = false
    var act: @Sendable () async throws -> Void = {}
}

extension SyncWire {
    /// Sets what the next request of a method meets.
    func meet(_ encounter: Encounter) {
        let flag = SyncFlag()
        tap { request, _, pass in
            guard request.method == encounter.method, flag.raise() else { return await pass() }
            try await encounter.act()
            let answer = await pass()
            return encounter.losesAnswer
                ? .failure(TransportError(.connectionLost, detail: "lost")) : answer
        }
    }
}

extension Capsule {
    /// The last event of a kind that something holds for.
    func last(_ kind: EventKind, _ isWanted: (Event) -> Bool = { _ in true }) -> Entry? {
        commits.flatMap(\.entries).last { $0.event.kind == kind && isWanted($0.event) }
    }

    /// It with one event changed.
    func changing(_ position: Position, _ change: (inout Event) -> Void) -> Capsule {
        var capsule = self
        for (index, commit) in commits.enumerated() {
            for (place, entry) in commit.entries.enumerated() where entry.position == position {
                change(&capsule.commits[index].entries[place].event)
            }
        }
        return capsule
    }

    /// It without the commits in which something holds for an event.
    func without(_ isUnwanted: (Entry) -> Bool) -> Capsule {
        var capsule = self
        capsule.commits.removeAll { $0.entries.contains(where: isUnwanted) }
        return capsule
    }

    /// It without what is known of its views.
    var withoutDigests: Capsule {
        var capsule = self
        for index in commits.indices { capsule.commits[index].views = [] }
        return capsule
    }
}

extension Event {
    /// Replaces some bytes of the payload.
    mutating func replace(_ old: String, _ new: String) {
        payload = Array(String(decoding: payload, as: UTF8.self).replacing(old, with: new).utf8)
    }
}
