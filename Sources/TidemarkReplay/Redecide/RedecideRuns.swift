// RedecideRuns.swift — the sync runs of a capsule: which commits are theirs, what they asked and
// what was answered.

import HTTPTypes
import TidemarkCapsule
import TidemarkEvents
import TidemarkRules
import TidemarkSync

/// A read as it was recorded: the request, and what follows from its answer.
struct RecordedRead: Sendable {
    var sent: Capsule.Entry
    /// What was logged of the answer's head.
    var answered: Capsule.Entry
    /// What follows from it in its commit: entities, pages, and what can't be read.
    var news: [Capsule.Entry] = []
    /// Its commit, by index in the capsule.
    var commit: Int
    var sentAt: Timestamp
    var asOf: Position { sent.event.asOf ?? .start }

    private let request: RequestSent?

    init(_ sent: Capsule.Entry, _ answered: Capsule.Entry, commit: Int) {
        self.sent = sent
        self.answered = answered
        self.commit = commit
        request = sent.event.read(RequestSent.self)
        sentAt = request?.sentAt ?? sent.event.recordedAt
    }

    /// Whether it is the request that today's engine makes.
    func isOf(_ request: ServerRequest) -> Bool {
        RecordedRequest(self.request) == RecordedRequest(request)
    }
}

/// A write as it was recorded.
struct RecordedWrite: Sendable {
    var position: Position
    var sentAt: Timestamp
    /// How long it was waited for the limits before it, in microseconds.
    var waited: Int64
}

/// What the log keeps of a request without a body.
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

/// A sync run as it was recorded.
struct RecordedRun: Sendable {
    /// Its `sync.started`, or the only event of a run without news.
    var first: Capsule.Entry
    /// Its commits, by index in the capsule.
    var commits: [Int] = []
    var reads: [RecordedRead] = []
    /// What was sent to be written, one or several in one request.
    var writes: [RecordedWrite] = []
    /// Its `sync.finished`; nil where it was cut off.
    var finished: Capsule.Entry?
    var begun: Moment
    let triggers: [SyncTrigger]
    let scope: SyncScope
    let isFull: Bool
    let seed: UInt64
    /// Of the rules that it asked, the version.
    var rules: [String: Int] = [:]
    var ruleAnswers: [Capsule.Entry] = []

    init?(_ first: Capsule.Entry) {
        // A run without news has one event, which says what a start says.
        guard let started = try? SyncStarted(reading: first.event.payload),
            !started.run.triggers.isEmpty, let now = started.run.begunAt
        else { return nil }
        self.first = first
        triggers = started.run.triggers
        begun = Moment(
            now: now, bootID: started.run.bootID ?? "", uptime: started.run.uptime ?? 0)
        scope = started.run.scope
        isFull = started.run.isFull
        seed = started.seed ?? 0
    }

    /// The last event before it that it may have seen.
    func begins(in capsule: Capsule) -> Position {
        let first = commits.first.map { capsule.commits[$0].first.rawValue } ?? 0
        let before = first > 0 ? first - 1 : 0
        let asked = reads.map(\.asOf).min()
        return min(Position(before), asked ?? Position(before))
    }

    /// What its end says.
    var ending: SyncFinished? { finished?.event.read(SyncFinished.self) }

    /// Why it ended early; nil where it did not.
    var failure: FailureName? {
        if case .failed(let name)? = ending?.outcome { name } else { nil }
    }

    /// How many requests were made that the log says nothing of, because they brought nothing.
    var quietMax: Int {
        guard failure == nil, let ending else { return 0 }
        return max(0, Int(clamping: max(0, ending.requests)) - reads.count - writes.count)
    }

    /// When those were made, as far as it is told.
    var quietTimes: [Timestamp] { ending?.requestTimes.sorted() ?? [] }

    /// Why today's engine can't be asked to decide it; nil where it can.
    var obstacle: String? {
        let paused = ending?.paused ?? []
        guard paused.contains(where: { [.ruleMissing, .ruleFailed].contains($0.value.kind) })
        else { return nil }
        return "a rule did not answer, and what the server said then is not in the log"
    }
}

/// The runs of a capsule, and which commit belongs to which.
struct RecordedRuns: Sendable {
    var runs: [RecordedRun] = []
    /// Of each commit the index of its run; nil for what is input.
    var owner: [Int?]
    /// Runs whose beginning is not in the capsule.
    var cutOff: [Position] = []

    init(_ capsule: Capsule) {
        owner = Array(repeating: nil, count: capsule.commits.count)
        var known: [Position: Int] = [:]
        for (index, commit) in capsule.commits.enumerated() {
            for entry in commit.entries
            where entry.event.kind == .syncStarted
                || entry.event.kind == .syncFinished && entry.event.sync == nil
            {
                guard let run = RecordedRun(entry) else { continue }
                known[entry.position] = runs.count
                runs.append(run)
            }
            let own = commit.entries.lazy.compactMap { entry -> Position? in
                let isStart = known[entry.position] != nil
                return isStart ? entry.position : entry.event.sync
            }
            guard let start = own.first else { continue }
            guard let number = known[start] else {
                if !cutOff.contains(start) { cutOff.append(start) }
                continue
            }
            owner[index] = number
            runs[number].take(commit, index)
        }
    }
}

extension RecordedRun {
    /// Takes note of one of its commits.
    fileprivate mutating func take(_ commit: Capsule.Commit, _ index: Int) {
        commits.append(index)
        var open: [Position: Capsule.Entry] = [:]
        var places: [Position: Int] = [:]
        for entry in commit.entries {
            let event = entry.event
            switch event.kind {
            case .requestSent:
                open[entry.position] = entry
                // The writes of a batch name it as their cause.
                if let request = event.read(RequestSent.self), request.isWrite, event.cause == nil {
                    writes.append(
                        RecordedWrite(
                            position: entry.position, sentAt: request.sentAt ?? event.recordedAt,
                            waited: request.waited))
                }
            case .requestAnswered, .requestFailed:
                guard let call = event.call, let sent = open[call] else { break }
                places[call] = reads.count
                reads.append(RecordedRead(sent, entry, commit: index))
            case .syncFinished: finished = entry
            case .storeOpened, .modelRegistered, .localCreated, .localUpdated, .localDeleted,
                .localDiscarded, .localRetried, .issueAnswered, .timerFired, .ruleAnswered,
                .syncStarted, .serverUpserted, .serverDeleted, .serverDescribed,
                .serverUnreadable, .pullPage, .pullCompleted, .pushAccepted, .pushRejected,
                .unknown:
                if event.kind == .ruleAnswered { ruleAnswers.append(entry) }
                if let call = event.call, let place = places[call] {
                    reads[place].news.append(entry)
                }
            }
        }
    }
}
