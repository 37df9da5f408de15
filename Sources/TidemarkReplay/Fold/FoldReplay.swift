// FoldReplay.swift — folds the recorded events again by today's rules, and compares each commit
// with its recorded digests, up to the first difference.

package import TidemarkCapsule
package import TidemarkEvents
import TidemarkInspect
import TidemarkLog
package import TidemarkViews

/// A fold of a capsule's events by today's rules.
package struct FoldReplay: Sendable {
    /// What was folded and compared.
    package private(set) var report = ReplayReport(.fold)
    /// The views after the last commit that was folded.
    package private(set) var fold: CapsuleFold
    /// The commits that were folded, in the order of folding.
    package private(set) var applied: [Capsule.Commit] = []

    /// Folds a capsule.
    ///
    /// - Parameters:
    ///   - through: the last event to fold; a commit is folded whole or not at all.
    ///   - inject: what happens otherwise than recorded; then nothing is compared.
    ///   - compares: whether digests are compared; the first difference ends the replay.
    ///   - ignoring: views that are not compared.
    ///   - apply: folds one event; by default as it is.
    ///   - progress: called now and then with the number of commits folded so far.
    /// - Throws: ``ReplayMistake`` for an event that is not in the capsule, and what `progress`
    ///   throws.
    package init(
        _ capsule: Capsule, through: Position? = nil, inject: [Injection] = [],
        compares: Bool = true, ignoring: Set<View> = [],
        apply: (Fold, Event, Position) throws -> Void = { try $0.apply($1, at: $2) },
        progress: (Int) throws -> Void = { _ in }
    ) throws {
        fold = CapsuleFold(capsule.base)
        let injections = try Self.byCommit(inject, capsule)
        var comparison = CapsuleDigests(capsule, ignoring: ignoring)
        let isCompared = compares && inject.isEmpty
        for (index, commit) in capsule.commits.enumerated() {
            if let through, commit.last > through { break }
            let kinds = injections[index] ?? []
            let times = kinds.contains(.drop) ? 0 : kinds.contains(.duplicate) ? 2 : 1
            for _ in 0..<times {
                var reached = commit.first
                let changes: RowChanges
                do {
                    changes = try fold.fold(commit.entries) { fold, event, position in
                        reached = position
                        try apply(fold, event, position)
                    }
                } catch {
                    report.divergence = capsule.divergence(throwing: error, at: reached)
                    return
                }
                applied.append(commit)
                count(commit)
                guard isCompared else { continue }
                if let difference = comparison.difference(commit, changes) {
                    report.divergence = try divergence(difference, at: index, capsule, apply)
                }
            }
            if kinds.contains(.restart) { try restart(capsule.base, apply) }
            report.digests = comparison.compared
            report.undigested = comparison.undigested
            report.skipped = comparison.skipped
            guard report.divergence == nil else { return }
            if index % 512 == 511 { try progress(index + 1) }
        }
    }

    private mutating func count(_ commit: Capsule.Commit) {
        report.events += commit.entries.count
        report.commits += 1
        report.range = (report.range?.lowerBound ?? commit.first)...commit.last
    }

    private static func byCommit(
        _ inject: [Injection], _ capsule: Capsule
    ) throws(ReplayMistake) -> [Int: Set<Injection.Kind>] {
        var found: [Int: Set<Injection.Kind>] = [:]
        for injection in inject {
            found[try capsule.commitIndex(of: injection.position), default: []]
                .insert(injection.kind)
        }
        return found
    }

    /// Discards the views and rebuilds them in one go, instead of commit by commit.
    private mutating func restart(
        _ base: Capsule.Base, _ apply: (Fold, Event, Position) throws -> Void
    ) throws {
        fold = CapsuleFold(base)
        try fold.fold(applied.flatMap(\.entries), apply: apply)
    }

    /// The divergence at a commit whose digests differ.
    private func divergence(
        _ difference: (row: DigestDifference, others: Int), at index: Int, _ capsule: Capsule,
        _ apply: (Fold, Event, Position) throws -> Void
    ) throws -> Divergence {
        let commit = capsule.commits[index]
        var before = CapsuleFold(capsule.base)
        try before.fold(capsule.commits[..<index].flatMap(\.entries), apply: apply)
        let row = NamedRow(difference.row, commit, before: before.rows, after: fold.rows)
        let events = capsule.eventsByPosition
        let causes = CauseChain.of(row.event(in: commit, fold.rows)) { events[$0] }
        return Divergence(
            .digest, at: commit.last, recorded: row.recorded, replayed: row.replayed,
            field: row.place(others: difference.others), entity: row.entity, causes: causes)
    }
}

extension Capsule {
    /// The divergence of a fold that throws an error at an event.
    fileprivate func divergence(throwing error: any Error, at position: Position) -> Divergence {
        let events = eventsByPosition
        return Divergence(
            .threw, at: position, recorded: events[position].map { EventText.line($0) },
            replayed: EventText.printable("\(error)"), entity: events[position]?.key,
            causes: CauseChain.of(position) { events[$0] })
    }
}
