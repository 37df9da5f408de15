// Truncating.swift — the options of `tidemark compact` by which the first events are dropped.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkSync
import TidemarkViews

struct TruncateOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Drop the events up to this one, where a commit ends.", valueName: "@P"))
    var truncate: String?
    @Option(
        help: ArgumentHelp(
            "Drop what is older than a duration, P90D, or more than so many bytes.",
            valueName: "SPAN|BYTES"))
    var keep: String?
    @Option(
        help: ArgumentHelp("First write what is dropped to this file.", valueName: "FILE"))
    var archive: String?
    @Flag(help: "Drop it; else it is only said what would go.")
    var force = false

    /// Up to where the log is to be dropped.
    enum Place {
        case position(Position)
        case keep(SyncSettings.KeptLog)
    }

    func validate() throws {
        guard truncate == nil || keep == nil else {
            throw ValidationError("--truncate and --keep say the same in two ways: leave one out")
        }
        guard truncate != nil || keep != nil || !force && archive == nil else {
            throw ValidationError("what is to be dropped? --truncate @P or --keep P90D says it")
        }
    }

    /// Nil where nothing is to be dropped.
    var place: Place? {
        get throws {
            if let truncate { return .position(try Name.position(truncate)) }
            guard let keep else { return nil }
            if let bytes = Int(keep), bytes > 0 { return .keep(.bytes(bytes)) }
            guard let span = TimeSpan(keep), span != .zero else {
                throw UsageError(
                    "\"\(keep)\" is neither a duration, as in P90D, nor a number of bytes")
            }
            return .keep(.span(span))
        }
    }

    func run(
        _ place: Place, _ store: StoreArgument, _ patience: WaitOption, keeping kept: UInt64
    ) throws {
        defer { Terminal.endProgress() }
        guard force else {
            return try store.read { journal in
                guard let last = try end(place, journal, keeping: kept) else { return }
                let first = try journal.firstEvent()?.position ?? Position(1)
                Terminal.write(
                    "would drop \(first) to \(last), \(last.rawValue - first.rawValue + 1) events"
                )
                Terminal.write("nothing was changed; with --force they are dropped")
            }
        }
        if let archive, FileManager.default.fileExists(atPath: archive) {
            throw UsageError("\(archive) is there already; name a new file")
        }
        let replica = try store.open(patience)
        let journal = replica.journal
        do {
            if let last = try end(place, journal, keeping: kept) {
                try drop(through: last, journal, keeping: kept)
            }
        } catch {
            try? replica.close()
            throw error
        }
        try replica.close()
    }

    /// The last event to drop; nil, said, where there is none.
    private func end(_ place: Place, _ journal: Journal, keeping kept: UInt64) throws -> Position? {
        let wanted: Position?
        switch place {
        case .position(let position): wanted = position
        case .keep(let keep): wanted = try journal.lastBeyond(keep)
        }
        if let wanted { try journal.noteNewerEvents(through: wanted) }
        let limit = try journal.truncationLimit(withRuns: false)
        let end = try wanted.flatMap { try journal.truncationEnd(upTo: $0, limit, keeping: kept) }
        let isHeld = wanted.map { $0 >= limit.first } ?? false
        let reason = isHeld && !limit.reason.isEmpty ? "\(limit.first) stays: \(limit.reason)" : nil
        if case .position(let position) = place, end != position {
            if let first = try journal.firstEvent()?.position, position < first {
                throw UsageError("\(position) was dropped before: the log begins at \(first)")
            }
            throw UsageError(
                "the events up to \(position) can't be dropped: "
                    + (reason ?? "no commit ends there that may be")
                    + (end.map { "; those up to \($0) can be" } ?? ""))
        }
        if let reason { Terminal.say(reason) }
        if end == nil { Terminal.write("nothing to drop") }
        return end
    }

    private func drop(through last: Position, _ journal: Journal, keeping kept: UInt64) throws {
        try journal.seal(keeping: kept) { done, last in
            Terminal.progress("sealing \(done) of \(last)")
        }
        if let archive {
            let written = try ScratchDirectory.with(nil) { scratch in
                try Capsule.archive(
                    of: journal, through: last, to: archive, build: Replica.version,
                    scratch: scratch
                ) { Terminal.progress("folding \($0.done) of \($0.last)") }
            }
            Terminal.endProgress()
            let events = written.commits.reduce(0) { $0 + $1.entries.count }
            Terminal.write("archived   \(events) events in \(archive), read again and proven")
        }
        let made = try ScratchDirectory.withLazily { scratch in
            try journal.truncate(
                through: last, at: Dependencies.live.now(), in: scratch
            ) { Terminal.progress("proving \($0.done) of \($0.last)") }
        }
        Terminal.endProgress()
        let commits = made.commits == 1 ? "1 commit" : "\(made.commits) commits"
        Terminal.write(
            "dropped    \(made.first) to \(made.last), \(made.events) events in \(commits)")
        Terminal.write(
            "bytes      \(made.blockBytes) of blocks, \(made.bodyBytes) of \(made.bodies) bodies")
        Terminal.write("the log    begins at \(made.last.next)")
    }
}
