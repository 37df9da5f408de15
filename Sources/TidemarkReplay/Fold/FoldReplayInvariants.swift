// FoldReplayInvariants.swift — invariants of the views that hold whatever was folded, even with an
// event twice or missing: above all, no mutation is lost.

import TidemarkCapsule
package import TidemarkEvents
import TidemarkInspect
import TidemarkViews

/// A broken invariant, and its place.
package struct ViewsFault: Sendable, Hashable, CustomStringConvertible {
    /// The mutation or event at which it is broken.
    package var position: Position
    /// What is wrong.
    package var problem: String

    package var description: String { "\(position): \(problem)" }
}

extension FoldReplay {
    /// The broken invariants of the views; empty where all hold.
    ///
    /// Every edit has a mutation, unless its row went with its event. Every mutation either has an
    /// outcome with its proof, or is pending and listed in both the outbox and its entity.
    package func faults() throws -> [ViewsFault] {
        try fold.read { views in try faults(views) }
    }

    private func faults(_ views: ViewReader) throws -> [ViewsFault] {
        var faults: [ViewsFault] = []
        func expect(_ isSo: Bool, _ position: Position, _ problem: @autoclosure () -> String) {
            if !isSo { faults.append(ViewsFault(position: position, problem: problem())) }
        }
        var waiting: [EntityKey: Set<Position>] = [:]
        var known: Set<Position> = []
        try views.forEachMutation { position, mutation in
            if !mutation.isDerived { known.insert(position) }
            if mutation.outcome == nil || mutation.outcome == .rejected {
                waiting[mutation.key, default: []].insert(position)
            }
            if let outcome = mutation.outcome {
                expect(mutation.proof != nil, position, "\(outcome), and no event proves it")
            }
            return true
        }
        let dropped = try views.droppedRows()?.last ?? .start
        for commit in applied {
            for entry in commit.entries
            where entry.position > dropped && entry.event.isUnderstoodEdit {
                expect(known.contains(entry.position), entry.position, "an edit without a mutation")
            }
        }
        var listed: Set<Position> = []
        try views.forEachMutation(openOnly: true) { position, _ in
            listed.insert(position)
            return true
        }
        let open = waiting.values.reduce(into: Set<Position>()) { $0.formUnion($1) }
        for position in open.subtracting(listed).sorted() {
            expect(false, position, "it waits, and the outbox does not list it")
        }
        for position in listed.subtracting(open).sorted() {
            expect(false, position, "it is settled, and the outbox still lists it")
        }
        try views.forEachEntity { key, row in
            let pending = Set(row.pending.map(\.position))
            let expected = waiting.removeValue(forKey: key) ?? []
            let name = EventText.printable("\(key)")
            for position in expected.subtracting(pending).sorted() {
                expect(false, position, "it waits, and is not pending on \(name)")
            }
            for position in pending.subtracting(expected).sorted() {
                expect(false, position, "it is settled, and still pending on \(name)")
            }
            let positions = row.pending.map(\.position)
            expect(
                Set(positions).count == positions.count || row.pending.contains(where: \.isDerived),
                positions.first ?? .start, "it is pending on \(name) more than once")
            return true
        }
        for (key, positions) in waiting.sorted(by: { $0.key < $1.key }) {
            for position in positions.sorted() {
                expect(false, position, EventText.printable("it waits, and there is no \(key)"))
            }
        }
        return faults.sorted { $0.position < $1.position }
    }
}

extension Event {
    /// Whether it is an edit of an entity whose payload can be read.
    fileprivate var isUnderstoodEdit: Bool {
        guard key != nil, isOfKnownShape else { return false }
        return switch kind.family {
        case .local(.created): isObject && (try? JSONDocument(parsing: payload)) != nil
        case .local(.updated): (try? Patch(parsing: payload)) != nil
        case .local(.deleted): true
        case .local(.requested): read(LocalRequested.self) != nil
        case .store, .model, .local(.discarded), .local(.retried), .local(.wiped), .app, .runStart,
            .runEnd, .request, .answer, .word, .notice, .list, .push, .asset, .unknown:
            false
        }
    }
}
