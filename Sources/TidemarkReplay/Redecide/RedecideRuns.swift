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

    private let document: JSONDocument?

    init(_ sent: Capsule.Entry, _ answered: Capsule.Entry, commit: Int) {
        self.sent = sent
        self.answered = answered
        self.commit = commit
        document = try? JSONDocument(parsing: sent.event.payload)
        let time = document?.value("sentAt")?.int64Value
        sentAt = time.map { Timestamp(rawValue: $0) } ?? sent.event.recordedAt
    }

    /// Whether it is the request that today's engine makes.
    func isOf(_ request: ServerRequest) -> Bool {
        RecordedRequest(document) == RecordedRequest(request)
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
    private static let conditions: [HTTPField.Name] = [.ifMatch, .ifNoneMatch]

    var method: String?
    var path: String?
    var conditions: [String?]

    init(_ document: JSONDocument?) {
        method = document?.value("method")?.stringValue
        path = document?.value("path")?.stringValue
        conditions = Self.conditions.map { document?.value($0.rawName)?.stringValue }
    }

    init(_ request: ServerRequest) {
        method = request.method.rawValue
        path = request.path
        conditions = Self.conditions.map { request.headers[$0] }
    }

    var line: String { "\(method ?? "?") \(path ?? "?")" }

    /// The first member that differs; nil where none does.
    func difference(from other: RecordedRequest) -> String? {
        if method != other.method { return "payload.method" }
        if path != other.path { return "payload.path" }
        for (index, name) in Self.conditions.enumerated()
        where conditions[index] != other.conditions[index] {
            return "payload.\(name.rawName)"
        }
        return nil
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
        guard let payload = try? JSONDocument(parsing: first.event.payload) else { return nil }
        self.first = first
        let names = payload.value("triggers")?.array ?? payload.value("trigger").map { [$0] } ?? []
        triggers = names.compactMap(\.stringValue).compactMap(SyncTrigger.init(rawValue:))
        guard !triggers.isEmpty, let now = payload.value("begunAt")?.int64Value else { return nil }
        begun = Moment(
            now: Timestamp(rawValue: now), bootID: payload.value("bootID")?.stringValue ?? "",
            uptime: payload.value("uptime")?.int64Value ?? 0)
        scope = SyncScope(payload.value("scope"))
        isFull = payload.value("full") == .bool(true)
        seed = payload.value("seed")?.stringValue.flatMap(UInt64.init) ?? 0
    }

    /// The last event before it that it may have seen.
    func begins(in capsule: Capsule) -> Position {
        let first = commits.first.map { capsule.commits[$0].first.rawValue } ?? 0
        let before = first > 0 ? first - 1 : 0
        let asked = reads.map(\.asOf).min()
        return min(Position(before), asked ?? Position(before))
    }

    /// What its end says.
    var ending: JSONDocument? {
        finished.flatMap { try? JSONDocument(parsing: $0.event.payload) }
    }

    /// Why it ended early, by name; nil where it did not.
    var failure: String? {
        guard let name = ending?.value("outcome")?.stringValue,
            name != "synced", name != "incomplete"
        else { return nil }
        return name
    }

    /// How many requests were made that the log says nothing of, because they brought nothing.
    var quietMax: Int {
        guard failure == nil, let ending else { return 0 }
        let requests = ending.value("requests")?.int64Value.flatMap(Int.init(exactly:)) ?? 0
        return max(0, max(0, requests) - reads.count - writes.count)
    }

    /// When those were made, as far as it is told.
    var quietTimes: [Timestamp] {
        let times = ending?.value("requestTimes")?.array ?? []
        return times.compactMap(\.int64Value).sorted().map { Timestamp(rawValue: $0) }
    }

    /// Why today's engine can't be asked to decide it; nil where it can.
    var obstacle: String? {
        for (name, value) in ending?.members ?? [:] {
            guard name.hasPrefix("paused "), let failure = value.stringValue,
                failure == "ruleMissing" || failure == "ruleFailed"
            else { continue }
            return "a rule did not answer, and what the server said then is not in the log"
        }
        return nil
    }
}

extension JSONDocument {
    /// All of its members.
    fileprivate var members: JSONObject {
        (try? JSONValue(parsing: bytes))?.object ?? [:]
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
                let payload = try? JSONDocument(parsing: event.payload)
                // The writes of a batch name it as their cause.
                let isWrite = payload?.value("covers") != nil || payload?.value("writes") != nil
                if isWrite, event.cause == nil {
                    let time = payload?.value("sentAt")?.int64Value
                    writes.append(
                        RecordedWrite(
                            position: entry.position,
                            sentAt: time.map { Timestamp(rawValue: $0) } ?? event.recordedAt,
                            waited: payload?.value("waited")?.int64Value ?? 0))
                }
            case .requestAnswered, .requestFailed:
                guard let call = event.call, let sent = open[call] else { break }
                places[call] = reads.count
                reads.append(RecordedRead(sent, entry, commit: index))
            case .syncFinished: finished = entry
            case .ruleAnswered:
                ruleAnswers.append(entry)
                fallthrough
            default:
                if let call = event.call, let place = places[call] {
                    reads[place].news.append(entry)
                }
            }
        }
    }
}
