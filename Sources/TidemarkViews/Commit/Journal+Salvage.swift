// Journal+Salvage.swift — a new store of the events that were salvaged from a damaged one.
//
// The frames are the same bytes. The rows, and what each commit says of them, are made anew: no
// root proves what a damaged file says of those.

import TidemarkEvents
package import TidemarkLog
import TidemarkStore

extension Journal {
    /// How much goes into one transaction.
    private enum Most {
        static let events: UInt64 = 1024
    }

    /// How far a fold of salvaged events has come.
    private struct Salvaged: Sendable {
        var edge = MerkleEdge()
        var hasBindings = false
        var recordedAt = Timestamp(rawValue: 0)
        var account: String?
    }

    /// Makes a store in a directory that is empty, and closes it.
    ///
    /// It keeps the old store's id where all of that store's log is there. Else it gets an id of
    /// its own and says whose log it begins with: a store that lost events is not what it was.
    ///
    /// - Parameters:
    ///   - withUnproven: whether to take also what follows the proven events.
    ///   - opening: which device this is, and the id of a store that lost events.
    package static func make(
        of salvaged: SalvagedLog, withUnproven: Bool, in directory: String, _ opening: StoreOpening,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws {
        var opening = opening
        let keepsID = salvaged.isWhole ? salvaged.storeID : nil
        if let keepsID { opening.makeID = { keepsID } }
        opening.account = salvaged.identity?.account
        let journal = try open(at: directory, create: true, opening: opening)
        do {
            let account = try journal.fill(
                salvaged, withUnproven: withUnproven, progress)
            if keepsID == nil {
                let origin = LogOrigin(
                    storeID: salvaged.storeID ?? "unknown", proven: salvaged.proven)
                try journal.environment.write { transaction in
                    try journal.log.setOrigin(origin, transaction)
                }
            }
            try journal.close()
            guard opening.account == nil, let account,
                var identity = try StoreIdentity.find(in: directory).identity
            else { return }
            identity.account = account
            try identity.write(to: directory, isDurable: true)
        } catch {
            try? journal.close()
            throw error
        }
    }

    /// Appends the events as they are; returns the account that they name last.
    private func fill(
        _ salvaged: SalvagedLog, withUnproven: Bool,
        _ progress: (RebuildProgress) throws -> Void
    ) throws -> String? {
        var state = Salvaged()
        let commits = salvaged.commits(withUnproven: withUnproven)
        let last = commits.last?.last ?? .start
        var rest = commits[...]
        while let first = rest.first {
            let count = rest.prefix {
                $0.last.rawValue - first.first.rawValue < Most.events
            }.count
            let batch = try rest.prefix(max(1, count)).map { commit in
                try (commit.first.rawValue...commit.last.rawValue).map {
                    try salvaged.event(at: Position($0))
                }
            }
            rest = rest.dropFirst(batch.count)
            state = try append(batch, after: state)
            try progress(RebuildProgress(done: Position(state.edge.size), last: last))
        }
        let root = state.edge.root
        if salvaged.proven == last, root != salvaged.root {
            throw LogError(.rootMismatch, at: last, "what was read twice differs")
        }
        try environment.write { transaction in
            var views = ViewTables.State()
            let plan = try self.views.indexPlan(models, views.generation, transaction)
            views = try self.views.settleIndexes(plan, views, transaction)
            views.indexedTo = last
            views.toldSince = last
            try self.views.setState(views, transaction)
        }
        guardian?.committed(last: last, root: root, at: state.recordedAt)
        return state.account
    }

    /// Appends some commits in one transaction, each folded for itself.
    private func append(
        _ commits: [[SalvagedLog.Taken]], after before: Salvaged
    ) throws -> Salvaged {
        // Run again where the store has to grow, so it works on a copy.
        try environment.write { transaction in
            var state = before
            let generation = ViewTables.State().generation
            for commit in commits {
                let first = state.edge.size + 1
                let changes = try views.withFold(
                    models, hasBindings: state.hasBindings, generation, transaction
                ) { fold in
                    for (index, taken) in commit.enumerated() {
                        try fold.apply(taken.event, at: Position(first + UInt64(index)))
                    }
                    state.hasBindings = fold.hasBindings
                    return fold.sortedChanges
                }
                let frames = PreparedEvents(frames: commit.map(\.frame), after: state.edge)
                try log.begin(
                    frames, bodies: commit.flatMap(\.bodies), after: state.edge, transaction)
                try views.write(changes, generation, transaction)
                _ = try log.end(
                    frames, views: ViewDigest.of(changes), edge: &state.edge, transaction)
                for taken in commit {
                    state.recordedAt = taken.event.recordedAt
                    let opened = taken.event.read(StoreOpened.self)
                    state.account = opened?.account ?? state.account
                }
            }
            return state
        }
    }
}
