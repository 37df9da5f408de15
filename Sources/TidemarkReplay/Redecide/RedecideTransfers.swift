// RedecideTransfers.swift — requests about files, decided again by today's rules: in their logged
// order, from the rows before each of them, and without the bytes of the files.
//
// The time of a request and whether its part file was gone are inputs, and so are status and header
// fields of an answer, and how many bytes came.

import TidemarkCapsule
import TidemarkEvents
import TidemarkRules
import TidemarkSync
import TidemarkViews

/// Compares the recorded events about fetching and sending files with what today's rules decide.
struct TransferComparison {
    let comparison: CommitComparison
    let adapter: any ServerAdapter

    init(_ comparison: CommitComparison, _ adapter: any ServerAdapter) {
        self.comparison = comparison
        self.adapter = adapter
    }

    /// The first difference of a commit that is not in the store yet, and how many of its events
    /// were compared.
    func compare(
        _ commit: Capsule.Commit, in journal: Journal
    ) throws -> (acts: Int, divergence: Divergence?) {
        var acts = 0
        guard let entry = commit.entries.first else { return (0, nil) }
        if let request = entry.event.read(RequestSent.self), request.file.isAny {
            acts += 1
            if let found = try difference(entry, request, journal) { return (acts, found) }
        }
        if let answer = entry.event.read(RequestAnswered.self), answer.file.result != nil {
            acts += commit.entries.count
            if let found = try difference(commit, entry, answer, journal) { return (acts, found) }
        }
        return (acts, nil)
    }

    private func difference(
        _ entry: Capsule.Entry, _ request: RequestSent, _ journal: Journal
    ) throws -> Divergence? {
        let next = try journal.read { views in
            let (now, last) = (
                request.sentAt ?? entry.event.recordedAt, entry.event.asOf ?? .start
            )
            guard request.file.sentDigest == nil else {
                let next = try views.nextSendEvent(at: now, after: last)?.event
                return next?.sent(to: request.path)
            }
            // Whether somebody waited for it is not logged, nor which other servers could not be
            // had, nor by which version's order: any of these may be what was decided.
            var next: Event?
            for order in TransferOrder.allCases {
                for (isAwaited, isAlone) in [
                    (true, false), (false, false), (true, true), (false, true),
                ] {
                    let event = try views.nextTransferEvent(
                        at: now, after: last, adapter, isAwaited: isAwaited,
                        order: order,
                        isAway: isAlone ? try isOfOther(request, views) : nil,
                        isGone: { _, _ in request.file.isPartGone })?.event
                    let made = comparison.isNameless ? event?.sent(to: request.path) : event
                    if let made, entry.event.difference(from: made) == nil { return made }
                    next = next ?? made
                }
            }
            return next
        }
        guard let next else { return comparison.missing(entry) }
        return different(entry, next)
    }

    /// Whether a file is another server's than the one that a request is sent to; without their
    /// addresses, whether it is another file.
    private func isOfOther(
        _ request: RequestSent, _ views: ViewReader
    ) throws -> (ContentSource, ContentRule) throws -> Bool {
        guard !comparison.isNameless, let path = request.path else {
            return { source, _ in request.file.source != source.text }
        }
        let server = FileAddress(of: path, try views.registration()?.remote)?.server
        let servers = try views.servers(by: adapter)
        return { servers($0, $1) != server }
    }

    private func difference(
        _ commit: Capsule.Commit, _ entry: Capsule.Entry, _ answer: RequestAnswered,
        _ journal: Journal
    ) throws -> Divergence? {
        guard let call = entry.event.call,
            let request = comparison.events[call]?.read(RequestSent.self)
        else { return nil }
        guard request.file.sentDigest == nil else {
            let judged = try journal.read { views in
                try views.sendPlan(of: call, request).map {
                    try views.judged(answer, as: $0, by: adapter)
                }
            }
            guard var judged else { return nil }
            if comparison.isNameless { judged.file.name = answer.file.name }
            var event = entry.event
            event.payload = judged.encoded
            return different(entry, event)
        }
        let open = try journal.read { views -> TransferPlan? in
            guard var plan = try views.transferPlan(of: call, request.file) else { return nil }
            plan.length = try views.listedLength(of: plan, adapter)
            return plan
        }
        guard var plan = open else { return nil }
        // The numbers of a redacted log are others than the one that the length was compared with.
        if comparison.isRedacted {
            let bytes = answer.file.bytes
            plan.length = answer.file.result == .failed ? bytes &+ 1 : bytes
        }
        let judged = answer.judged(as: plan)
        var event = entry.event
        event.payload = judged.encoded
        if let found = different(entry, event) { return found }
        let stored = commit.entries.dropFirst().first
        guard judged.file.result == .whole else {
            return stored.map { comparison.extra($0.event, after: entry) }
        }
        guard let stored, let asset = stored.event.read(AssetStored.self) else {
            return comparison.missing(entry)
        }
        var own = stored.event
        own.collection = plan.source.collection
        own.payload =
            AssetStored(
                digest: plan.digest ?? asset.digest, bytes: judged.file.total ?? asset.bytes,
                .download, source: plan.source.text
            ).encoded
        return different(stored, own)
    }

    private func different(_ entry: Capsule.Entry, _ event: Event) -> Divergence? {
        guard let field = entry.event.difference(from: event) else { return nil }
        return Divergence(
            .different, at: entry.position, recorded: entry.event.line, replayed: event.line,
            field: field, entity: entry.event.key, causes: comparison.causes(of: entry.position))
    }
}

extension Event {
    /// The same request to another path: that of a redacted log is made of other words than the
    /// model's, and without the server's address each whole one is another server's.
    fileprivate func sent(to path: String?) -> Event {
        guard var request = read(RequestSent.self) else { return self }
        request.path = path
        var event = self
        event.payload = request.encoded
        return event
    }
}
