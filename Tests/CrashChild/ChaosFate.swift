// ChaosFate.swift — what chance and time do to a child: everything follows from a seed.

import Foundation
import Synchronization
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkSync

/// A moment at which a child may die.
enum ChaosPlace: String, CaseIterable {
    case beforeAppend, afterAppend, beforeSend, afterSend, beforeAnswer, afterAnswer
    /// In the transport: the request is about to leave; the server has handled it.
    case leaving, handled
    case betweenRuns
    /// By a timer, about the time of a commit.
    case commit

    init(_ checkpoint: Checkpoint) {
        switch checkpoint {
        case .beforeAppend: self = .beforeAppend
        case .afterAppend: self = .afterAppend
        case .beforeSend: self = .beforeSend
        case .afterSend: self = .afterSend
        case .beforeAnswer: self = .beforeAnswer
        case .afterAnswer: self = .afterAnswer
        }
    }

    /// Whether a commit comes next.
    var isBeforeCommit: Bool { self == .beforeAppend || self == .beforeAnswer }
}

/// The child's clock, its dice, and where it will die.
final class ChaosFate: Sendable {
    private struct State {
        var random = SplitMix64(seed: 0)
        var isFine = true
        var microseconds: Int64 = 0
        /// Until when the server asked not to be called.
        var quietUntil: Int64 = 0
        /// Where to die, after passing by so many times.
        var end: (place: ChaosPlace, passes: Int)?
        var isDying = false
        var editsMade = 0
        var seed: UInt64 = 0
    }
    private let state = Mutex(State())
    /// Held while a request is under way.
    private let exchanging = NSLock()

    // MARK: Commands

    /// Bad weather, and perhaps an end.
    func begin(seed: UInt64, seconds: UInt64) {
        state.withLock { state in
            state.random = SplitMix64(seed: seed)
            state.seed = seed
            state.isFine = false
            state.editsMade = 0
            state.microseconds = Self.time(seconds)
            state.end = nil
            if state.random.once(in: 2) {
                let place = state.random.pick(ChaosPlace.allCases)
                state.end = (place, state.random.below(place == .betweenRuns ? 2 : 3))
            }
        }
    }

    /// Fine weather.
    func calm(seconds: UInt64) {
        state.withLock { state in
            state.isFine = true
            state.microseconds = Self.time(seconds)
            state.end = nil
        }
    }

    private static func time(_ seconds: UInt64) -> Int64 {
        1_800_000_000_000_000 + Int64(seconds) * 1_000_000
    }

    // MARK: Time

    /// The clock moves a millisecond with each look.
    var now: Timestamp {
        state.withLock { state in
            state.microseconds += 1000
            return Timestamp(microseconds: state.microseconds)
        }
    }

    func advance(by duration: Duration) {
        let microseconds = duration.components.seconds * 1_000_000
        state.withLock { $0.microseconds += microseconds }
    }

    /// The server asked for a pause.
    func hush(seconds: Int) {
        state.withLock { state in
            let until = state.microseconds + Int64(seconds) * 1_000_000
            state.quietUntil = max(state.quietUntil, until)
        }
    }

    /// Whether a pause lasts in which nothing may be sent.
    var isQuiet: Bool { state.withLock { $0.microseconds < $0.quietUntil } }

    // MARK: Chance

    func next() -> UInt64 { state.withLock { $0.random.next() } }

    func below(_ bound: Int) -> Int { state.withLock { $0.random.below(bound) } }

    /// Whether nothing goes wrong.
    var isFine: Bool { state.withLock(\.isFine) }

    /// From 0 to 99; 99 in fine weather.
    var dice: Int { state.withLock { $0.isFine ? 99 : $0.random.below(100) } }

    /// Edits anything.
    func edit(_ replica: Replica, _ form: ChaosEdit.Form) throws {
        let (edit, mayDie) = state.withLock { state in
            state.editsMade += 1
            let note = "\(state.seed)-\(state.editsMade)"
            return (
                ChaosEdit(&state.random, note: note, in: form), state.random.once(in: 2)
            )
        }
        if mayDie { reach(.commit) }
        guard let key = EntityKey(edit.key) else { return }
        let json = Array(edit.json.utf8)
        try replica.write { tx in
            let isThere = try tx.document(key) != nil
            switch edit.action {
            case .delete where isThere: try tx.delete(key)
            case .patch where isThere:
                try tx.patch(key, Patch(settingAllOf: try JSONDocument(parsing: json)))
            case .put, .patch, .delete: try tx.put(key, json)
            }
        }
    }

    // MARK: The end

    /// Dies here, if it is to be.
    func reach(_ place: ChaosPlace) {
        let delay = state.withLock { state -> Int? in
            guard let end = state.end else { return nil }
            let isHere = end.place == place || (end.place == .commit && place.isBeforeCommit)
            guard isHere, !state.isDying else { return nil }
            state.end?.passes -= 1
            guard end.passes == 0 else { return nil }
            return end.place == .commit ? 1 + state.random.below(2000) : 0
        }
        guard let delay else { return }
        say("dying \(delay > 0 ? ChaosPlace.commit : place)")
        state.withLock { $0.isDying = true }
        guard delay > 0 else {
            kill(getpid(), SIGKILL)
            return
        }
        Thread.detachNewThread {
            usleep(UInt32(delay))
            self.surviving { _ = kill(getpid(), SIGKILL) }
        }
    }

    /// Does what no timer ends in its middle: so it is known what the server answered.
    ///
    /// To die just before a request or just after its answer is left to places of their own.
    func surviving<Result>(_ body: () throws -> Result) rethrows -> Result {
        exchanging.lock()
        defer { exchanging.unlock() }
        return try body()
    }

    /// Says a line, unless the end is near: then nobody would hear the answer.
    func say(_ line: String) {
        while state.withLock({ $0.isDying }) { pause() }
        CrashChild.say(line)
    }

    /// Lets others do something meanwhile, perhaps to the record that a request is about.
    func yield(about record: String?) {
        say("yield \(record ?? "")")
        if readLine() == nil { exit(0) }
    }
}
