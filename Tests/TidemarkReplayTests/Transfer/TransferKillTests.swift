// TransferKillTests.swift — a process that dies while it fetches a file: the next one goes on where
// the log says, with what is on disk.

import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkStore
import TidemarkSync
import TidemarkTesting

/// Copies a store when a place is reached for the nth time: it is as if the process died there.
private final class Death: Sendable {
    private struct State {
        var path = ""
        var left: Int
    }
    private let state: Lock<State>
    let place: Checkpoint

    init(at place: Checkpoint, _ number: Int) {
        self.place = place
        state = Lock(State(left: number))
    }

    /// Where the store lies; nothing is copied before this is set.
    func watch(_ path: String) { state.withLock { $0.path = path } }

    var copy: String { state.withLock { $0.path + "-copy" } }

    func reach(_ place: Checkpoint) {
        state.withLock { state in
            guard place == self.place, !state.path.isEmpty else { return }
            state.left -= 1
            guard state.left == 0 else { return }
            try? FileManager.default.copyItem(atPath: state.path, toPath: state.path + "-copy")
        }
    }
}

@Suite struct `a process that dies while it fetches a file` {
    @Test(
        "leaves a request without an answer, and the next one fetches the rest",
        arguments: [Checkpoint.beforeSend, .afterSend, .beforeAnswer, .afterAnswer], 1...3)
    func rest(_ place: Checkpoint, _ number: Int) async throws {
        let death = Death(at: place, number)
        let world = try TransferWorld(reach: { death.reach($0) })
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        death.watch(world.path)
        #expect(try await world.engine.transfer().stored == 1)
        let before = world.asked.count

        try world.reopen(death.copy)
        let isDone = place == .afterAnswer && number == 3
        #expect(try world.text() == (isDone ? "0123456789" : nil))
        #expect(try await world.engine.transfer().stored == (isDone ? 0 : 1))

        #expect(try world.text() == "0123456789")
        // The last part was given its name, and so is gone: the log does not know of the file.
        let isBegunAnew = place == .beforeAnswer && number == 3
        let known = place == .afterAnswer ? number : number - 1
        let expected = isDone ? 0 : isBegunAnew ? 3 : 3 - known
        #expect(world.asked.count - before == expected)
        try await world.expectSound()
    }

    @Test("begins anew where its part file was taken away")
    func partGone() async throws {
        let death = Death(at: .afterAnswer, 2)
        let world = try TransferWorld(reach: { death.reach($0) })
        world.serve("/files/1", "0123456789", tag: "\"a\"")
        try world.name("/files/1")
        death.watch(world.path)
        _ = try await world.engine.transfer()
        for part in try ContentFiles(of: death.copy).partNames() {
            try ContentFiles(of: death.copy).remove(part: part)
        }

        try world.reopen(death.copy)
        #expect(try await world.engine.transfer().stored == 1)

        #expect(world.asked.suffix(3).first == "bytes=0-3")
        #expect(try world.text() == "0123456789")
        try await world.expectSound()
    }
}
