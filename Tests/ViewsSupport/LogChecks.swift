// LogChecks.swift — what must hold of every store, whatever was written into it.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkRules
import TidemarkStore
import TidemarkViews

extension ScratchStore {
    /// The keys of the entities that are seen, where all is as a new fold makes it.
    func seen() throws -> [String] {
        #expect(try differences().isEmpty)
        #expect(try journal.verify(.full).findings == [])
        return try journal.read { views in
            var keys: [String] = []
            try views.forEachEntity { key, row in
                if row.document != nil { keys.append("\(key)") }
                return true
            }
            return keys
        }
    }
}

/// Checks of one store; each failure is reported with `place`, which says how to make it again.
struct LogChecks {
    let store: ScratchStore
    let place: Comment

    /// The log and all rows, before and after a rebuild.
    func all() throws {
        try rowsAreThoseOfANewFold()
        try noMutationDisappears()
        try entitiesAreConsistent()
        try issuesAreFoundByTheirEvents()
        try everyCommitMeetsItsDigests()
        try rebuildingChangesNothing()
    }

    func rowsAreThoseOfANewFold() throws {
        let differences = try store.differences()
        #expect(differences.map(\.description) == [], place)
        #expect(try store.indexDifferences().map(\.description) == [], place)
        let findings = try store.journal.verify(.full).findings.map { "\($0)" }
        #expect(findings == [], place)
    }

    func rebuildingChangesNothing() throws {
        let before = try (rows: store.rows(), generation: store.generation)
        try store.journal.rebuild(eventsPerStep: 37)

        #expect(try store.generation == before.generation.other, place)
        // What was replaced is gone.
        #expect(try store.rows(before.generation).isEmpty, place)
        #expect(try store.rows() == before.rows, place)
        try rowsAreThoseOfANewFold()
    }

    /// Every mutation has an outcome and its proof, or waits where its entity lists it.
    func noMutationDisappears() throws {
        try store.journal.read { views in
            var waiting: [EntityKey: Set<Position>] = [:]
            var positions: Set<Position> = []
            var last = Position.start
            try views.forEachMutation { position, mutation in
                #expect(last <= position, place)
                last = position
                if !mutation.isDerived { positions.insert(position) }
                if mutation.outcome == nil || mutation.outcome == .rejected {
                    waiting[mutation.key, default: []].insert(position)
                }
                if mutation.outcome == nil {
                    #expect(mutation.proof == nil, place)
                } else if let proof = mutation.proof {
                    #expect(
                        proof >= position && proof <= views.last, "\(position) \(proof) \(place)")
                    let event = try views.event(at: proof)
                    #expect(event != nil, place)
                } else {
                    Issue.record("\(position) has an outcome and no proof, \(place)")
                }
                return true
            }
            var listed: Set<Position> = []
            try views.forEachMutation(openOnly: true) { position, _ in
                listed.insert(position)
                return true
            }
            #expect(listed == waiting.values.reduce(into: []) { $0.formUnion($1) }, place)
            #expect(try positions == understoodEdits(views), place)
            try views.forEachEntity { key, row in
                let pending = row.pending.map(\.position)
                #expect(pending == pending.sorted(), place)
                #expect(Set(pending) == waiting.removeValue(forKey: key) ?? [], "\(key) \(place)")
                for item in row.pending {
                    let outcome = try views.mutation(of: item, key)?.outcome
                    #expect(item.isRefused == (outcome == .rejected), "\(item.position) \(place)")
                }
                return true
            }
            #expect(waiting.isEmpty, place)
        }
    }

    /// The positions of all edits that have an entity and a payload of the right shape.
    private func understoodEdits(_ views: ViewReader) throws -> Set<Position> {
        var positions: Set<Position> = []
        var position = Position(1)
        while let event = try views.event(at: position) {
            let isUnderstood =
                switch event.kind {
                case .localCreated: (try? JSONDocument(parsing: event.payload)) != nil
                case .localUpdated: (try? Patch(parsing: event.payload)) != nil
                case .localDeleted: true
                case .localRequested: event.isObject && event.read(LocalRequested.self) != nil
                default: false
                }
            if isUnderstood, event.key != nil { positions.insert(position) }
            position = position.next
        }
        return positions
    }

    /// Each open issue is found by its place as in the list of all.
    func issuesAreFoundByTheirEvents() throws {
        try store.journal.read { views in
            let issues = try views.issues()
            for issue in issues {
                let (position, index) = (issue.position, issue.index)
                let first = issues.first { $0.position == position && $0.index == index }
                #expect(try views.issue(at: position, index: index) == first, place)
                #expect(try views.issue(at: position, index: index + 1000) == nil, place)
            }
        }
    }

    func entitiesAreConsistent() throws {
        try store.journal.read { views in
            var attempted: [EntityKey] = []
            try views.forEachEntity { key, row in
                if row.attempt != nil { attempted.append(key) }
                let readBack = try EntityRow(parsing: row.encoded)
                let current = try Current(try row.changes, on: try row.baseValue)
                let shown = row.content.map { Current.document($0) } ?? .none
                let skimmed = try EntityRow.visibleDocument(in: row.encoded).map { Array($0) }
                #expect(skimmed == row.document, place)
                #expect(readBack == row, place)
                #expect(!row.isEmpty, place)
                #expect(shown == current, place)
                #expect(row.current.isEmpty || !row.pending.isEmpty, place)
                return true
            }
            let unknown = try views.unknownAttempts()
            #expect(unknown == attempted, place)
        }
    }

    /// Whatever is pending and was not refused can be sent.
    func nothingIsStuck() throws {
        try store.journal.read { views in
            try views.forEachEntity { key, row in
                guard row.attempt == nil, row.status != .error, !row.pending.isEmpty else {
                    return true
                }
                let write = try PushWrite(
                    try row.changes, on: try row.baseValue, revision: row.revision, id: key.id,
                    collection: CollectionModel(key.collection))
                #expect(write != nil, "\(key) \(row) \(place)")
                return true
            }
        }
    }

    func everyCommitMeetsItsDigests() throws {
        let fold = MemoryFold()
        for record in try store.commits() {
            let events = try store.journal.read { views in
                try (record.first.rawValue...record.last.rawValue).compactMap {
                    try views.event(at: Position($0))
                }
            }
            #expect(ViewDigest.of(try fold.apply(events)) == record.views, place)
        }
        #expect(try store.rows().count == fold.rows.count, place)
    }
}
