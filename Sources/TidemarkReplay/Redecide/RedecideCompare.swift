// RedecideCompare.swift — compares the events of today's engine with the recorded ones, up to the
// first event and field that differ.

import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkViews

/// Compares a capsule's commits with those of today's engine.
struct CommitComparison: Sendable {
    /// Every event of the capsule, by its position.
    let events: [Position: Event]
    /// Whether texts in it are others than those that the log had.
    let isRedacted: Bool
    /// Whether it lacks the server's address, by which those of files are compared.
    let isNameless: Bool
    private let positions: [Position]

    init(_ capsule: Capsule) {
        var events: [Position: Event] = [:]
        for entry in capsule.commits.lazy.flatMap(\.entries) {
            events[entry.position] = entry.event
        }
        self.events = events
        isRedacted = capsule.provenance.isRedacted
        isNameless = isRedacted || !capsule.provenance.namesRemote
        positions = capsule.commits.flatMap(\.entries).map(\.position)
    }

    /// The first difference of a commit; nil where there is none.
    func difference(_ recorded: [Capsule.Entry], _ replayed: [Event]) -> Divergence? {
        for (index, (entry, event)) in zip(recorded, replayed).enumerated() {
            guard let field = entry.event.difference(from: event) else { continue }
            // One of the two runs ends here.
            if event.kind == .syncFinished, entry.event.kind != .syncFinished {
                let act = recorded[index...].first(where: \.event.isWrite) ?? entry
                return missing(act, replayed: event.line)
            }
            if entry.event.kind == .syncFinished { return extra(event, before: entry) }
            // One missing or extra event shifts all the following ones.
            let rest = recorded.count - replayed.count
            if rest > 0, index + 1 < recorded.count, recorded[index + 1].event.isLike(event) {
                return missing(entry)
            }
            if rest < 0, index + 1 < replayed.count, replayed[index + 1].isLike(entry.event) {
                return extra(event, before: entry)
            }
            return Divergence(
                .different, at: entry.position,
                recorded: EventText.line(entry.event, showing: field),
                replayed: EventText.line(event, showing: field), field: field,
                entity: entry.event.key,
                causes: causes(of: entry.position))
        }
        if recorded.count > replayed.count { return missing(recorded[replayed.count]) }
        if recorded.count < replayed.count, let last = recorded.last {
            return extra(replayed[recorded.count], after: last)
        }
        return nil
    }

    func missing(_ entry: Capsule.Entry, replayed: String? = nil) -> Divergence {
        Divergence(
            .missing, at: entry.position, recorded: entry.event.line, replayed: replayed,
            causes: causes(of: entry.position))
    }

    private func extra(_ event: Event, before entry: Capsule.Entry) -> Divergence {
        let last = positions.last { $0 < entry.position } ?? .start
        return Divergence(
            .extra, at: last, recorded: entry.event.line, replayed: event.line,
            causes: causes(of: last))
    }

    func extra(_ event: Event, after last: Capsule.Entry?) -> Divergence {
        let position = last?.position ?? .start
        return Divergence(
            .extra, at: position, replayed: event.line, causes: causes(of: position))
    }

    /// The first view in which today's rules make other rows of the same events; nil where there is
    /// none.
    func difference(_ commit: Capsule.Commit, _ views: [ViewDigest]) -> Divergence? {
        for recorded in commit.views {
            guard let view = View(rawValue: recorded.view),
                view.fingerprint == recorded.fingerprint
            else { continue }
            // Answers without the server's address have other names, which a run's row has, too; by
            // the recorded events it was compared when they were folded.
            if isNameless, view == .syncRuns, commit.namesAnswersOfEnd { continue }
            let own = views.first { $0.view == recorded.view }
            guard own?.digest != recorded.digest else { continue }
            return Divergence(
                .digest, at: commit.last, recorded: recorded.line, replayed: own?.line,
                field: "\(view)", causes: causes(of: commit.last))
        }
        return nil
    }

    /// The chain of causes of an event.
    func causes(of position: Position) -> [CauseStep] {
        CauseChain.of(position) { events[$0] }
    }
}

extension Capsule.Commit {
    /// Whether the end of a run in it names answers that are kept.
    fileprivate var namesAnswersOfEnd: Bool {
        entries.contains { $0.event.kind == .syncFinished && $0.event.keptName != nil }
    }
}

extension ViewDigest {
    fileprivate var line: String {
        let digits = Hexadecimal.encode(digest.prefix(8))
        return "\(rows.count / 8) rows, digest \(digits)"
    }
}

extension Event {
    /// The first field in which a replayed event differs from this recorded one; the time of
    /// recording is not compared.
    func difference(from other: Event) -> String? {
        if kind != other.kind { return "kind" }
        if collection != other.collection { return "collection" }
        if entity != other.entity { return "entity" }
        if cause != other.cause { return "cause" }
        if sync != other.sync { return "sync" }
        if mutation != other.mutation { return "mutation" }
        if call != other.call { return "call" }
        if asOf != other.asOf { return "asOf" }
        if serverTime != other.serverTime { return "serverTime" }
        if revision != other.revision { return "revision" }
        let replayed = other.withoutProgress(unlike: self).logged(as: self)
        let (own, others) = (withoutKept, replayed.withoutKept)
        if own != others { return own.path(to: others, "payload") }
        if payloadType != other.payloadType { return "payloadType" }
        if schemaVersion != other.schemaVersion { return "schemaVersion" }
        if idempotencyKey != other.idempotencyKey { return "idempotencyKey" }
        return nil
    }

    /// The payload without the name of the kept answer, which has no effect.
    private var withoutKept: [UInt8] {
        if var answered = read(RequestAnswered.self), answered.kept != KeptName() {
            answered.kept = KeptName()
            return answered.encoded
        }
        if var failed = read(RequestFailed.self), failed.kept != KeptName() {
            failed.kept = KeptName()
            return failed.encoded
        }
        if var finished = read(SyncFinished.self), finished.kept != KeptName() {
            finished.kept = KeptName()
            return finished.encoded
        }
        return payload
    }

    /// The page without its list's progress, where the recorded page has none: older engines did
    /// not log it.
    private func withoutProgress(unlike recorded: Event) -> Event {
        guard let old = recorded.read(PullPage.self), old.list == nil,
            var page = read(PullPage.self), page.list != nil
        else { return self }
        page.list = nil
        var event = self
        event.payload = page.encoded
        return event
    }

    /// The write as an older engine logged the recorded one: by an older version of its rule, and
    /// without where it leads.
    private func logged(as recorded: Event) -> Event {
        func version(_ sent: RequestSent) -> Int? {
            sent.rule?.split(separator: "/").last.flatMap { Int($0) }
        }
        guard let old = recorded.read(RequestSent.self), let new = read(RequestSent.self) else {
            return self
        }
        var sent = new
        if let before = version(old), let now = version(sent), before < now { sent.rule = old.rule }
        if old.destination == nil { sent.destination = nil }
        guard sent != new else { return self }
        var event = self
        event.payload = sent.encoded
        return event
    }

    /// Whether the event sends a write.
    fileprivate var isWrite: Bool {
        read(RequestSent.self)?.rule != nil
    }

    /// Whether another event is of the same kind, about the same entity.
    fileprivate func isLike(_ other: Event) -> Bool {
        kind == other.kind && collection == other.collection && entity == other.entity
    }

    /// The event in one line.
    var line: String { EventText.line(self, payloadMax: 160) }
}

extension [UInt8] {
    /// The path to the first member in which two documents differ.
    fileprivate func path(to other: [UInt8], _ name: String) -> String {
        guard let left = try? JSONValue(parsing: self), let right = try? JSONValue(parsing: other)
        else { return name }
        return left.path(to: right, name) ?? name
    }
}

extension JSONValue {
    fileprivate func path(to other: JSONValue, _ name: String) -> String? {
        if case .object(let left) = self, case .object(let right) = other {
            let keys = left.map(\.key) + right.map(\.key).filter { left[$0] == nil }
            for key in keys {
                switch (left[key], right[key]) {
                case (let a?, let b?):
                    if let path = a.path(to: b, "\(name).\(key)") { return path }
                case (nil, nil): break
                default: return "\(name).\(key)"
                }
            }
            return nil
        }
        if case .array(let left) = self, case .array(let right) = other,
            left.count == right.count
        {
            for (index, (a, b)) in zip(left, right).enumerated() {
                if let path = a.path(to: b, "\(name)[\(index)]") { return path }
            }
            return nil
        }
        return self == other ? nil : name
    }
}
