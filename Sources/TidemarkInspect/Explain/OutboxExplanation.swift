// OutboxExplanation.swift — why each mutation is pending, how often it was sent and with which
// answer, and when it is tried next.

package import TidemarkEvents
package import TidemarkRules
package import TidemarkViews

/// One mutation of the outbox, and why it is pending.
package struct OutboxExplanation: Sendable {
    /// When it is tried next.
    package enum Next: Sendable, Hashable {
        /// With the next run.
        case run
        /// With the next run, after another entity, or after what makes the entity itself.
        case after(EntityKey)
        /// The next run reads it back first.
        case asked
        /// With the next run after its files were sent, none of which is tried again before; nil
        /// where one is at once.
        case files(until: Timestamp?)
        /// The next run asks for the answer that the server promised.
        case promised
        /// Only after the user or the app has done something.
        case never
    }

    package var entry: OutboxEntry
    /// The first mutation of the same entity, with which this one is sent; nil for the first one
    /// itself, for an action, which is sent alone, and for the first edit behind it, and for the
    /// first one that waits for files which are sent below the entity.
    package var leader: Position?
    package var holds: [PushHold]
    /// The answer to its last request, or the event that none came; of one that was refused, the
    /// answer that refused it.
    package var answer: (position: Position, event: Event)?
    package var next: Next
    /// The event that it went another way, or arrived by it; nil where it did not.
    package var relay: (position: Position, event: Event)?

    /// Explains the outbox, in its order.
    package static func all(_ views: ViewReader) throws -> [OutboxExplanation] {
        let model = try views.model()
        // An entity may have thousands of edits, and what holds them back is asked of all of them.
        var standings: [EntityKey: Standing] = [:]
        var leaders: [EntityKey: Leaders] = [:]
        return try views.outbox(all: false).map { entry in
            let (key, position) = (entry.mutation.key, entry.position)
            let standing = try standings[key] ?? Standing(of: key, model, views)
            standings[key] = standing
            let isLater = standing.isLater(position)
            let first = standing.starts.last { $0 <= position } ?? .start
            let leader = leaders[key]?[isLater].flatMap { $0 >= first ? $0 : nil }
            if leader == nil { leaders[key, default: Leaders()][isLater] = position }
            let (holds, next) = isLater ? standing.later : standing.next
            let relay = standing.relay.flatMap { $0.covers >= position ? $0.position : nil }
            return OutboxExplanation(
                entry: entry, leader: leader, holds: holds,
                answer: try entry.mutation.call.flatMap {
                    try views.answer(to: $0, refusal: standing.refusal)
                },
                next: next,
                relay: try relay.flatMap { place in
                    try views.event(at: place).map { (place, $0) }
                })
        }
    }

    /// Of an entity's mutations the last one so far that leads others.
    private struct Leaders {
        private var now: Position?
        private var later: Position?

        subscript(_ isLater: Bool) -> Position? {
            get { isLater ? later : now }
            set { if isLater { later = newValue } else { now = newValue } }
        }
    }

    /// How what is pending on an entity stands.
    private struct Standing {
        /// From where on a write begins anew, in order: at an action, which is sent by itself, and
        /// behind it.
        let starts: [Position]
        /// The last mutation of what goes as the next write, and those that it leaves out; nil
        /// where nothing is pending.
        private let end: Position?
        private let leftOut: Set<Position>
        /// What holds the next write back, and when it is tried.
        let next: (holds: [PushHold], next: Next)
        /// The same of what goes after that.
        let later: (holds: [PushHold], next: Next)
        let relay: EntityRow.Relay?
        let refusal: Position?

        init(of key: EntityKey, _ model: SyncModel, _ views: ViewReader) throws {
            let row = try views.entity(key) ?? EntityRow()
            let collection = model[key.collection]
            let actions = row.pending.filter { $0.requested != nil }.map(\.position)
            starts = actions.flatMap { [$0, $0.next] }
            end = row.next.last?.position
            leftOut = try collection.map { try views.leftOut(of: key, row, in: $0) } ?? []
            (relay, refusal) = (row.relay, row.refusal?.position)
            var part = row
            part.pending = Array(row.next)
            if let collection, part.pending.count < row.pending.count {
                part = try views.whole(part, key)
                part.current = try part.made(in: collection)
            }
            let own = try views.holds(of: key, part, model)
            next = (own, try views.next(of: key, own, collection))
            guard part.pending.count < row.pending.count || !leftOut.isEmpty else {
                later = next
                return
            }
            var all = own
            if part.pending.count < row.pending.count {
                all += try views.holds(of: key, row, model).filter { !own.contains($0) }
            }
            all +=
                try collection.map { try views.filesBelow(row, in: $0) }?
                .map { .fileBelow(field: $0.field, digest: $0.name.text) } ?? []
            later = (all, try views.next(of: key, all, collection))
        }

        /// Whether a mutation goes after the next write.
        func isLater(_ position: Position) -> Bool {
            end.map { position > $0 } == true || leftOut.contains(position)
        }
    }
}

extension ViewReader {
    /// When what is pending on an entity is tried next.
    fileprivate func next(
        of key: EntityKey, _ holds: [PushHold], _ collection: CollectionModel?
    ) throws -> OutboxExplanation.Next {
        if holds.contains(where: \.isLasting) { return .never }
        for case .reference(let key, _) in holds { return .after(key) }
        for case .unanswered in holds { return .asked }
        for case .promised in holds { return .promised }
        if holds.contains(where: \.isOfFileBelow) { return .after(key) }
        var pauses: [Timestamp?] = []
        for case .file(let file) in holds {
            let source = ContentSource(sending: file.digest, for: key, collection)
            pauses.append(try send(source)?.pause?.until)
        }
        guard !pauses.isEmpty else { return .run }
        return .files(until: pauses.contains(nil) ? nil : pauses.compactMap(\.self).min())
    }
}

/// When the next run may begin by itself.
package struct NextRun: Sendable, Hashable {
    private let hold: SyncGates.Hold?
    private let now: Moment
    private let positions: [SyncGate.Name: Position]
    /// Of an entity whose calls fail: what keeps them from being repeated for longer than any run.
    private var failing: SyncGate?

    package init(_ gates: SyncGates, at now: Moment) {
        hold = gates.hold(.timer, at: now)
        self.now = now
        var positions: [SyncGate.Name: Position] = [:]
        for name in SyncGate.Name.allCases {
            guard let gate = gates[name] else { continue }
            if name == .frozen || gate.left(at: now) > 0 { positions[name] = gate.position }
        }
        self.positions = positions
    }

    /// The next run that sends for an entity with these holds: its calls that fail wait for
    /// themselves, except in a run that the user asks for.
    fileprivate func sending(_ holds: [PushHold]) -> NextRun {
        var run = self
        for case .failing(let failing) in holds where failing.gate.left(at: now) > runLeft {
            run.failing = failing.gate
        }
        return run
    }

    /// The microseconds until a run may begin by itself; the most where none may.
    private var runLeft: Int64 {
        switch hold {
        case nil: 0
        case .wait(let left, _): left
        case .frozen: .max
        }
    }

    private var secondsLeft: Int64? {
        guard case .wait(let left, _) = hold else { return nil }
        return left.inWholeSeconds
    }

    /// `the next run`, and when it may begin.
    package var words: String {
        let places = SyncGate.Name.allCases.compactMap { positions[$0]?.description }
        let proof = places.isEmpty ? "" : " (\(places.joined(separator: ", ")))"
        if let failing {
            return "the first run from \(failing.due.toTheSecond) on, or one that the user asks for"
        }
        switch hold {
        case nil: return "the next run, which may begin at once"
        case .frozen(let reason):
            return "a run that the user asks for; others wait: \(reason.rawValue)" + proof
        case .wait(let left, let reason):
            let until = now.now.adding(seconds: secondsLeft ?? left / 1_000_000)
            return "the next run, in \(secondsLeft ?? 0) s, \(until.toTheSecond): "
                + reason.words + proof
        }
    }

    /// When files are tried again that are not before a moment; nil for none.
    fileprivate func words(ofFiles until: Timestamp?) -> String {
        guard let until, until > now.now else { return "at once" }
        return "again at \(until.toTheSecond)"
    }

    package var json: JSONValue {
        var object = JSONObject()
        if let failing {
            let seconds = failing.left(at: now).inWholeSeconds
            object["when"] = "later"
            object["secondsLeft"] = .number(JSONNumber(seconds))
            object["at"] = .number(JSONNumber(failing.due.rawValue))
            object["positions"] = .array([.number(JSONNumber(failing.position.rawValue))])
            return .object(object)
        }
        switch hold {
        case nil: object["when"] = "now"
        case .frozen(let reason):
            object["when"] = "asked"
            object["reason"] = .string(reason.rawValue)
        case .wait:
            let seconds = secondsLeft ?? 0
            object["when"] = "later"
            object["secondsLeft"] = .number(JSONNumber(seconds))
            object["at"] = .number(JSONNumber(now.now.adding(seconds: seconds).rawValue))
        }
        let places = SyncGate.Name.allCases.compactMap { positions[$0]?.rawValue }
        if !places.isEmpty {
            object["positions"] = .array(places.map { .number(JSONNumber($0)) })
        }
        return .object(object)
    }
}

extension SyncWaitReason {
    fileprivate var words: String {
        switch self {
        case .serverAsked: "the server asked for a pause"
        case .failures(let count): count == 1 ? "a run failed" : "\(count) runs in a row failed"
        case .serverBusy: "the server is busy"
        case .quiet, .timer: "it is not time yet"
        }
    }
}

extension OutboxExplanation {
    /// The explanation below the mutation's own line, for people.
    package func lines(_ run: NextRun) -> [String] {
        let run = run.sending(holds)
        if let leader { return ["  goes with \(leader)"] + relayLines }
        var lines: [String] = []
        for hold in holds { lines.append("  " + hold.words) }
        let mutation = entry.mutation
        if let call = mutation.call, mutation.attempts > 0 {
            let count = mutation.attempts == 1 ? "once" : "\(mutation.attempts) times"
            lines.append("  sent \(count), last at \(call)" + answerWords)
        } else {
            lines.append("  never sent")
        }
        lines += relayLines
        let isRefused = holds.contains { if case .refused = $0 { true } else { false } }
        let isInTree = holds.contains { if case .tree = $0 { true } else { false } }
        switch next {
        case .run: lines.append("  next: with \(run.words)")
        case .after(let key): lines.append("  next: after \(key), with \(run.words)")
        case .asked: lines.append("  next: \(run.words), asks what became of it")
        case .files(let until):
            let when = run.words(ofFiles: until)
            lines.append("  next: once that was sent, which is tried \(when)")
        case .promised: lines.append("  next: \(run.words), asks for that answer")
        case .never where isRefused:
            lines.append("  next: when it is edited, retried or discarded")
        case .never where isInTree: lines.append("  next: when its tree is settled")
        case .never: lines.append("  next: when that is settled")
        }
        return lines
    }

    /// That it went another way; it is sent all the same.
    private var relayLines: [String] {
        guard let relay, let words = relay.event.words else { return [] }
        let date = EventLine.time(relay.event.recordedAt)
        return ["  \(EventText.printable(words)) (\(relay.position), \(date))"]
    }

    private var answerWords: String {
        guard let answer else {
            return next == .promised ? "; the answer is promised" : "; no answer is known"
        }
        let words = EventText.printable(answer.event.words ?? "")
        let date = EventLine.time(answer.event.recordedAt)
        return "; \(words) (\(answer.position), \(date))"
    }

    /// The members for programs besides those of the mutation itself.
    package func json(_ run: NextRun) -> JSONObject {
        let run = run.sending(holds)
        var object = JSONObject()
        object["waits"] = .array(holds.map(\.json))
        object["goesWith"] = leader.map { .number(JSONNumber($0.rawValue)) }
        object["sent"] = entry.mutation.call.map { .number(JSONNumber($0.rawValue)) }
        if let answer {
            var said: JSONObject = ["position": .number(JSONNumber(answer.position.rawValue))]
            said["recordedAt"] = .number(JSONNumber(answer.event.recordedAt.rawValue))
            if let answered = answer.event.read(RequestAnswered.self) {
                said["status"] = .number(JSONNumber(answered.status))
                said["failure"] = answered.failure.map { .string($0.rawValue) }
                said["retryAfter"] = answered.retryAfter.map { .number(JSONNumber($0)) }
                if answered.mayHaveArrived { said["mayHaveArrived"] = true }
            } else if let failed = answer.event.read(RequestFailed.self) {
                said["error"] = .string(failed.error)
                said["mayHaveArrived"] = failed.mayHaveArrived.map(JSONValue.bool)
            }
            object["answer"] = .object(said)
        }
        if let relay, let relayed = relay.event.read(PushRelayed.self) {
            var said: JSONObject = [
                "position": .number(JSONNumber(relay.position.rawValue)),
                "confirmed": .bool(relayed.isConfirmed),
            ]
            said["via"] = relayed.channel.map(JSONValue.string)
            object["relayed"] = .object(said)
        }
        switch next {
        case .run, .after, .asked, .promised:
            object["next"] = run.json
            if next == .asked || next == .promised { object["asksFirst"] = .bool(true) }
        case .files(let until):
            var said: JSONObject = ["when": "sent"]
            said["at"] = until.map { .number(JSONNumber($0.rawValue)) }
            object["next"] = .object(said)
        case .never: object["next"] = .object(["when": "unblocked"])
        }
        return object
    }
}
