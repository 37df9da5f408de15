// KeptCopyTests.swift — who applies what changed since its last position to a copy has what a full
// read has, on seeded random logs.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkRules
import TidemarkViews

@testable import ViewsSupport

/// What an app shows of a store, kept in step by what changed.
private struct KeptCopy {
    struct Shown: Equatable {
        var document: [UInt8]
        var status: EntityStatus

        var words: String { "\(status) \(String(decoding: document, as: UTF8.self))" }
    }

    var shown: [EntityKey: Shown] = [:]
    private var position = Position.start
    private(set) var (told, expired) = (0, 0)

    /// Takes in what changed; all where that can't be told.
    mutating func follow(_ journal: Journal, _ place: Comment) throws {
        do {
            let changes = try journal.changes(since: position, in: .all)
            position = changes.last
            #expect(changes.appeared == [], place)
            try journal.read { views in
                let model = try views.model()
                for key in changes.changed {
                    let row = try #require(try views.entity(key), place)
                    let now = try #require(try Self.shown(key, row, model, views), place)
                    shown[key] = now
                }
                for key in changes.went {
                    let row = try views.entity(at: .entity(key))
                    #expect(try Self.shown(key, row, model, views) == nil, place)
                    shown[key] = nil
                }
            }
            told += changes.changed.count
        } catch let error as ChangesSinceError {
            guard case .expired(let first) = error.reason else { throw error }
            #expect(first > position, place)
            expired += 1
            (shown, position) = try Self.all(journal)
        }
    }

    /// What the store shows otherwise.
    func differences(from journal: Journal) throws -> [String] {
        let (all, _) = try Self.all(journal)
        return Set(all.keys).union(shown.keys).sorted().filter { all[$0] != shown[$0] }.map {
            "\($0): \(shown[$0]?.words ?? "nothing"), and it is \(all[$0]?.words ?? "nothing")"
        }
    }

    static func all(_ journal: Journal) throws -> ([EntityKey: Shown], Position) {
        try journal.read { views in
            var all: [EntityKey: Shown] = [:]
            let model = try views.model()
            try views.forEachEntity(in: nil) { key, row in
                if model[key.collection] != nil { all[key] = try shown(key, row, model, views) }
                return true
            }
            return (all, views.last)
        }
    }

    private static func shown(
        _ key: EntityKey, _ row: EntityRow, _ model: SyncModel, _ views: ViewReader
    ) throws -> Shown? {
        guard let collection = model[key.collection],
            let document = try row.document(in: collection)
        else { return nil }
        let named = try views.localNames(collection).flatMap { try? $0.named(checked: document) }
        return Shown(document: named ?? document, status: row.status)
    }
}

@Suite struct `a copy that is kept by what changed` {
    static let seeds = TestSeeds.named("TIDEMARK_COPY_SEEDS", else: 1...24)

    @Test(arguments: seeds, [false, true])
    func `is what the store shows, whatever was logged`(_ seed: UInt64, isHostile: Bool) throws {
        let store = try ScratchStore()
        var maker = LogMaker(seed: 0xC0B1_0000 + seed, isHostile: isHostile)
        var copy = KeptCopy()
        for step in 1...40 {
            try maker.write(about: 1 + maker.random.below(8), to: store.journal)
            if step.isMultiple(of: 17) { try store.journal.rebuild() }
            let place: Comment = "seed \(seed), hostile \(isHostile), step \(step)"
            try copy.follow(store.journal, place)
            let differences = try copy.differences(from: store.journal)
            #expect(differences == [], place)
        }
        // Before a model there is nothing to show.
        #expect(isHostile || copy.told > 0 || copy.shown.isEmpty)
        let place: Comment = "seed \(seed), hostile \(isHostile)"
        try LogChecks(store: store, place: place).rowsAreThoseOfANewFold()
    }

    /// Entities of two collections of which one refers to the other: edited, pushed, listed, and
    /// found to be what was listed under another id.
    @Test(arguments: seeds)
    func `is what the store shows where a server gives the ids`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: 0xC0B2_0000 + seed)
        let store = try ScratchStore()
        var projects = CollectionModel("projects")
        projects.ids = .serverText
        let hiding = Reference("project", to: "projects", missing: .hides)
        let entries = CollectionModel(
            "entries", references: [hiding, Reference("also", to: "projects")])
        try store.write(
            .registered(SyncModel(name: "work", collections: [projects, entries])))
        var copy = KeptCopy()
        var bound = 0
        for step in 1...200 {
            let (local, server) = ("p\(random.below(5))", "s\(random.below(5))")
            let project = random.once(in: 2) ? local : server
            let document =
                #"{"project":"\#(project)","also":["\#(server)"],"n":\#(random.below(3))}"#
            let key = EntityKey("entries", "e\(random.below(8))")
            let entry = "\(key)"
            switch random.below(9) {
            case 0:
                if try store.entity(EntityKey("projects", local)) == nil {
                    try store.write(.about(.localCreated, "projects/\(local)", "{}"))
                }
            case 1:
                let isHere = try store.entity(key)?.document != nil
                let kind: EventKind = isHere ? .localUpdated : .localCreated
                let patch = #"{"set":{"project":"\#(project)"},"unset":[]}"#
                try store.write(.about(kind, entry, kind == .localCreated ? document : patch))
            case 2: try store.write(.about(.localDiscarded, entry))
            case 3: try store.write(.about(.localDeleted, entry))
            case 4, 5: try store.write(.about(.serverUpserted, entry, document))
            case 6: try store.write(.about(.serverUpserted, "projects/\(server)", #"{"n":1}"#))
            case 7:
                let kind: EventKind = random.once(in: 3) ? .serverDeleted : .serverUpserted
                let text: String? = kind == .serverDeleted ? nil : "{}"
                try store.write(.about(kind, "projects/\(server)", text))
            default:
                // The server has made one, under the same number.
                let key = EntityKey("projects", local)
                guard let made = try store.entity(key)?.pending.first, made.kind == .create
                else { continue }
                let mutation = made.position.rawValue
                try store.write(.about(.requestSent, "\(key)", "{}", mutation: mutation))
                let call = try store.journal.read { $0.last.rawValue }
                let answer = #"{"serverID":"s\#(local.dropFirst())"}"#
                try store.write(
                    .about(.pushAccepted, "\(key)", answer, mutation: mutation, call: call))
                bound += 1
            }
            guard random.once(in: 2) else { continue }
            let place: Comment = "seed \(seed), step \(step)"
            try copy.follow(store.journal, place)
            let differences = try copy.differences(from: store.journal)
            #expect(differences == [], place)
        }
        #expect(bound > 0 && copy.told > 0 && copy.expired == 0, "seed \(seed)")
        try LogChecks(store: store, place: "seed \(seed)").rowsAreThoseOfANewFold()
    }
}
