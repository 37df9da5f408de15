// RedecideRuns.swift — the sync runs of a capsule: their commits, requests and answers.

import HTTPTypes
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkSync

/// A recorded read: the request, and its verbatim answer.
struct RecordedRead: Sendable {
    let request: RecordedRequest
    /// When it was sent.
    let sentAt: Timestamp
    /// The log's last position when it was decided.
    let asOf: Position
    let answer: KeptAnswer
    /// When its answer came, in microseconds since the device's boot; nil where an older engine
    /// did not log it.
    let cameAt: Int64?
    /// The events that belong to it; for a read without news, the end of its run.
    var events: ClosedRange<Position>
    /// Its `request.sent`; nil where the read was not logged.
    let sent: Capsule.Entry?
    /// Whether the log says that its call fails.
    let isFailing: Bool

    /// A read that was logged.
    init(_ sent: Capsule.Entry, _ answered: Capsule.Entry, _ answer: KeptAnswer) {
        let own = sent.event.read(RequestSent.self)
        request = RecordedRequest(own)
        sentAt = own?.sentAt ?? sent.event.recordedAt
        asOf = sent.event.asOf ?? .start
        self.answer = answer
        cameAt = answered.event.answerUptime ?? answer.uptime
        self.sent = sent
        isFailing = answered.event.isFailing
        events = sent.position...answered.position
    }

    /// A read that is only kept with the end of its run.
    init?(_ answer: KeptAnswer, in end: Position) {
        guard let request = answer.request else { return nil }
        self.request = RecordedRequest(request)
        sentAt = request.sentAt
        asOf = request.asOf
        self.answer = answer
        cameAt = answer.uptime
        sent = nil
        isFailing = false
        events = end...end
    }
}

/// A recorded write.
struct RecordedWrite: Sendable {
    let position: Position
    let sentAt: Timestamp
    /// What of the log was known when it was decided.
    let asOf: Position
    /// How long the run waited before it because of limits, in microseconds.
    let waited: Int64
    /// The verbatim answer; nil where none came before the recording ends.
    var answer: KeptAnswer?
    /// Whether it may have been sent twice.
    var isRepeated = false
}

/// The recorded part of a request without a body.
struct RecordedRequest: Sendable, Hashable {
    var method: String?
    var path: String?
    var ifMatch: String?
    var ifNoneMatch: String?

    init(_ request: RequestSent?) {
        method = request?.method
        path = request?.path
        ifMatch = request?.ifMatch
        ifNoneMatch = request?.ifNoneMatch
    }

    init(_ request: KeptAnswer.Request) {
        method = request.method
        path = request.path
        ifMatch = request.ifMatch
        ifNoneMatch = request.ifNoneMatch
    }

    init(_ request: ServerRequest) {
        method = request.method.rawValue
        path = request.path
        ifMatch = request.headers[.ifMatch]
        ifNoneMatch = request.headers[.ifNoneMatch]
    }

    var line: String { "\(method ?? "?") \(path ?? "?")" }

    /// The first member that differs; nil where none does.
    func difference(from other: RecordedRequest) -> String? {
        if method != other.method { return "payload.method" }
        if path != other.path { return "payload.path" }
        if ifMatch != other.ifMatch { return "payload.If-Match" }
        return ifNoneMatch != other.ifNoneMatch ? "payload.If-None-Match" : nil
    }
}

/// A recorded sync run.
struct RecordedRun: Sendable {
    /// Its `sync.started`.
    let first: Capsule.Entry
    /// Its commits, by index in the capsule.
    var commits: [Int] = []
    var reads: [RecordedRead] = []
    /// Its writes; a batch is one write.
    var writes: [RecordedWrite] = []
    /// Its `sync.finished`; nil where the run was cut off.
    var finished: Capsule.Entry?
    var begun: Moment
    let triggers: [SyncTrigger]
    let scope: SyncScope
    let mode: PullMode
    let seed: UInt64
    /// The answers of its conflict rules.
    var ruleAnswers: [Capsule.Entry] = []
    /// Events whose verbatim answers were not kept.
    private var unkept: [Position] = []

    init?(_ first: Capsule.Entry) {
        guard let started = first.event.read(SyncStarted.self),
            !started.run.triggers.isEmpty, let now = started.run.begunAt
        else { return nil }
        self.first = first
        triggers = started.run.triggers
        begun = Moment(
            now: now, bootID: started.run.bootID ?? "", uptime: started.run.uptime ?? 0)
        scope = started.run.scope
        mode = started.run.mode
        seed = started.seed ?? 0
    }

    /// The last event before the run that it may have seen.
    func begins(in capsule: Capsule) -> Position {
        let first = commits.first.map { capsule.commits[$0].first.rawValue } ?? 0
        let before = Position(first > 0 ? first - 1 : 0)
        return min(before, (reads.map(\.asOf) + writes.map(\.asOf)).min() ?? before)
    }

    /// The first write that is sent by an event in the range.
    func write(in range: ClosedRange<Position>) -> RecordedWrite? {
        var (low, high) = (0, writes.count)
        while low < high {
            let middle = (low + high) / 2
            let isBefore = writes[middle].position < range.lowerBound
            (low, high) = isBefore ? (middle + 1, high) : (low, middle)
        }
        return low < writes.count && range.contains(writes[low].position) ? writes[low] : nil
    }

    /// The payload of its last event.
    var ending: SyncFinished? { finished?.event.read(SyncFinished.self) }

    /// Why it ended early; nil where it was completed.
    var failure: FailureName? {
        if case .failed(let name)? = ending?.outcome { name } else { nil }
    }

    /// Why today's engine can't decide it again; nil where it can.
    ///
    /// - Parameter isRedacted: whether its requests are not as they were sent.
    func obstacle(isRedacted: Bool) -> String? {
        if let first = unkept.first {
            return "the answer at \(first) is not in it as it came; answers are kept of the last "
                + "runs, and in no redacted capsule"
        }
        if isRedacted, let first = writes.first {
            return "the write at \(first.position) is not in it as it was sent: it is redacted"
        }
        guard reads.isEmpty, writes.isEmpty, let ending, ending.requests > 0 else { return nil }
        return "none of its \(ending.requests) answers is in it as it came"
    }
}

/// The runs of a capsule that had news, each with its commits.
struct RecordedRuns: Sendable {
    var runs: [RecordedRun] = []
    /// Runs that begin before the capsule.
    var cutOff: [Position] = []
    /// Runs without news, of which nothing is kept.
    var idle = 0

    init(_ capsule: Capsule) {
        let answers = Dictionary(
            capsule.answers.map { ($0.position, $0.answers) }, uniquingKeysWith: { $1 })
        var known: [Position: Int] = [:]
        for (index, commit) in capsule.commits.enumerated() {
            for entry in commit.entries {
                if entry.event.kind == .syncFinished, entry.event.sync == nil { idle += 1 }
                guard entry.event.kind == .syncStarted, let run = RecordedRun(entry) else {
                    continue
                }
                known[entry.position] = runs.count
                runs.append(run)
            }
            let own = commit.entries.lazy.compactMap { entry -> Position? in
                known[entry.position] != nil ? entry.position : entry.event.sync
            }
            guard let start = own.first else { continue }
            guard let number = known[start] else {
                if !cutOff.contains(start) { cutOff.append(start) }
                continue
            }
            runs[number].take(commit, index, answers)
        }
    }
}

extension RecordedRun {
    /// Adds one of its commits.
    fileprivate mutating func take(
        _ commit: Capsule.Commit, _ index: Int, _ answers: [Position: [KeptAnswer]]
    ) {
        commits.append(index)
        var open: [Position: Capsule.Entry] = [:]
        var places: [Position: Int] = [:]
        for entry in commit.entries {
            let event = entry.event
            if let request = event.read(RequestSent.self) {
                open[entry.position] = entry
                // Each write of a batch names the batch as its cause.
                if request.isWrite, event.cause == nil {
                    writes.append(
                        RecordedWrite(
                            position: entry.position, sentAt: request.sentAt ?? event.recordedAt,
                            asOf: event.asOf ?? entry.position, waited: request.waited))
                }
            } else if event.kind == .requestAnswered || event.kind == .requestFailed {
                take(entry, answers[entry.position]?.first, open, &places)
            } else if event.kind == .syncFinished {
                finished = entry
                let quiet = answers[entry.position]
                let isKept = quiet?.allSatisfy(\.isKnown) ?? (event.keptName == nil)
                if !isKept { unkept.append(entry.position) }
                reads += (quiet ?? []).compactMap { RecordedRead($0, in: entry.position) }
            } else if event.kind == .ruleAnswered {
                ruleAnswers.append(entry)
            }
            // The events that follow from a read belong to it.
            guard let call = event.call, let place = places[call] else { continue }
            reads[place].events = reads[place].events.lowerBound...entry.position
        }
    }

    /// Adds an answer.
    private mutating func take(
        _ entry: Capsule.Entry, _ answer: KeptAnswer?, _ open: [Position: Capsule.Entry],
        _ places: inout [Position: Int]
    ) {
        // What a promised answer says of a write is no answer to its request.
        guard let call = entry.event.call, entry.event.cause == nil || open[call] != nil else {
            return
        }
        if let place = writes.lastIndex(where: { $0.position == call }) {
            writes[place].answer = answer
            let answered = entry.event.read(RequestAnswered.self)
            writes[place].isRepeated = answered?.mayHaveArrived ?? false
            if answer == nil { unkept.append(entry.position) }
            return
        }
        // The single writes of a batch have no answer of their own.
        guard let sent = open[call], places[call] == nil,
            sent.event.read(RequestSent.self)?.isWrite == false
        else {
            return
        }
        guard let answer else { return unkept.append(entry.position) }
        places[call] = reads.count
        reads.append(RecordedRead(sent, entry, answer))
    }
}

extension Event {
    /// Whether it is an answer, or the end of a request without one.
    var isAnswer: Bool { kind == .requestAnswered || kind == .requestFailed }

    /// Whether it tells of nothing but a request, or the beginning of its run.
    var isOfCall: Bool { isAnswer || kind == .requestSent || kind == .syncStarted }

    /// When an answer came, or that none does was known.
    fileprivate var answerUptime: Int64? {
        read(RequestAnswered.self)?.uptime ?? read(RequestFailed.self)?.uptime
    }

    /// Whether it is an answer, or the end of a request without one, by which a call counts as
    /// failing.
    var isFailing: Bool {
        (read(RequestFailed.self)?.concern ?? read(RequestAnswered.self)?.concern) != nil
    }
}

extension Capsule {
    /// Whether it holds a sync run that had news.
    var hasRuns: Bool {
        commits.contains { commit in commit.entries.contains { $0.event.kind == .syncStarted } }
    }
}
