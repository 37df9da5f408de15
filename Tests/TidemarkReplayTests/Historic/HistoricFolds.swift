// HistoricFolds.swift — bugs in what an engine made of its log: the same events, other rows.

import HTTPTypes
import Testing
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkHTTP
import TidemarkLog
import TidemarkReplay
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import CapsuleSupport

extension HistoricBug {
    /// The answer to a write counted for an edit that was made while it was under way.
    static let editLost = HistoricBug(
        name: "edit-lost-during-push", found: .folding,
        log: {
            try await NotesDay.log { day in
                try day.put("notes/n1", #"{"title":"tea"}"#)
                day.wire.whileAnswering { request in
                    guard request.method == .put else { return }
                    day.wire.whileAnswering(nil)
                    try day.put("notes/n1", #"{"title":"green tea"}"#)
                }
                try await day.sync()
            }
        },
        recorded: { log in
            try log.refolded { fold, event, position in
                var event = event
                if event.kind == .pushAccepted, let key = event.key {
                    // Everything that is pending by now is taken for what was sent.
                    event.mutation = try fold.entity(key).pending.last?.position ?? event.mutation
                }
                try fold.apply(event, at: position)
            }
        },
        isCulprit: { $0.kind == .pushAccepted && $0.entity == "n1" })

    /// A write whose answer was lost was taken for one that never left, and was sent again.
    static let doubledCreation = HistoricBug(
        name: "doubled-creation", found: .folding,
        log: {
            try await NotesDay.log { day in
                try day.put("notes/n2", #"{"title":"once"}"#)
                day.server.faults = FaultPlan([
                    FaultRule(.dropAfterHandling, method: .put, pathContains: "n2", nth: 1)
                ])
                try await day.sync()
                day.server.faults = FaultPlan()
                try await day.sync()
            }
        },
        recorded: { log in
            try log.refolded { fold, event, position in
                var event = event
                if event.kind == .requestFailed {
                    event.payload = Array(#"{"error":"offline","mayHaveArrived":false}"#.utf8)
                }
                try fold.apply(event, at: position)
            }
        },
        isCulprit: { $0.kind == .requestFailed })

    /// A rebuild ended in the middle of the log, and what it had made was served.
    static let cutShort = HistoricBug(
        name: "rebuild-cut-short", found: .folding,
        log: {
            try await NotesDay.log { day in
                try day.put("notes/n3", #"{"title":"written before the rebuild"}"#)
                // The rebuild, which came as far as the event before.
                try day.put("tags/rebuilt", #"{"name":"a new version"}"#)
                try day.put("notes/n3", #"{"title":"written after the rebuild"}"#)
            }
        },
        recorded: { log in
            var log = log
            var fold = CapsuleFold(log.base)
            var before = fold
            for index in log.commits.indices {
                let commit = log.commits[index]
                if commit.entries.contains(where: { $0.event.entity == "rebuilt" }) {
                    fold = before
                }
                before = fold
                let changes = try fold.fold(commit.entries)
                log.commits[index].views = ViewDigest.of(changes)
            }
            return log
        },
        isCulprit: { $0.kind == .localUpdated && $0.entity == "n3" })

    /// A list of everything removed what it did not name, also what the server had refused.
    static let orphanRemoved = HistoricBug(
        name: "orphan-removal-of-an-errored-row", found: .folding,
        log: {
            try await NotesDay.log { day in
                try day.put("notes/n4", #"{"title":"refused"}"#)
                day.server.faults = FaultPlan([
                    FaultRule(.answer(status: 400), method: .put, pathContains: "n4")
                ])
                try await day.sync()
                try await day.sync(full: true)
                day.server.faults = FaultPlan()
            }
        },
        recorded: { log in
            try log.refolded { fold, event, position in
                try fold.apply(event, at: position)
                guard event.kind == .pullCompleted, let name = event.collection,
                    JSONDocument.says("full", event.payload)
                else { return }
                var refused: [EntityKey] = []
                try fold.forEachEntity(in: name) { key, row in
                    if row.refusal != nil { refused.append(key) }
                    return true
                }
                for key in refused {
                    try fold.apply(
                        Event(.localDiscarded, recordedAt: event.recordedAt, key: key),
                        at: position)
                }
            }
        },
        isCulprit: {
            $0.kind == .pullCompleted && $0.collection == "notes"
                && JSONDocument.says("full", $0.payload)
        })

    /// Of two timers with the same start the one that arrived first went on.
    static let tieByArrival = HistoricBug(
        name: "rival-tie-by-arrival-order", found: .folding,
        log: {
            try await TogglDay.log { day in
                day.timer(102, at: "2026-11-18T11:30:00Z")
                try await day.sync()
                day.timer(101, at: "2026-11-18T11:30:00Z")
                day.timer(103, at: "2026-11-18T11:30:00Z")
                try await day.sync()
            }
        },
        recorded: { log in
            // The rule is the model's: the engine with the bug folds by another one, and keeps the
            // model as it was registered.
            var log = log
            var fold = CapsuleFold(log.base)
            for index in log.commits.indices {
                let entries = log.commits[index].entries
                var registered: [UInt8]?
                let changes = try fold.fold(entries) { fold, event, position in
                    try fold.apply(event, at: position)
                    guard event.kind == .modelRegistered else { return }
                    registered = try fold.get(.store("model"))
                    var event = event
                    event.payload = try ModelRegistration.withTiesByArrival(event.payload)
                    try fold.apply(event, at: position)
                }
                log.commits[index].views = ViewDigest.of(
                    changes.map { ($0.key, $0.key == .store("model") ? registered : $0.value) })
            }
            return log
        },
        isCulprit: { $0.kind == .serverUpserted && $0.entity == "103" })

    /// A page that was asked for before a deletion, and came after it, brought the row back.
    static let tombstoneUndone = HistoricBug(
        name: "tombstone-undone-by-a-late-page", found: .folding,
        log: {
            try await NotesDay.log { day in
                day.server.put("notes/n5", #"{"title":"here"}"#)
                let asked = try day.replica.read(\.position)
                try await day.sync()
                let row = try day.replica.journal.read { try $0.entity(.of("notes/n5")) }
                day.server.delete("notes/n5")
                try await day.sync()
                try day.latePage(.of("notes/n5"), try #require(row), asked)
            }
        },
        recorded: { log in
            try log.refolded { fold, event, position in
                var event = event
                if event.kind == .serverUpserted, let key = event.key, let asOf = event.asOf,
                    let known = try fold.entity(key).asOf, asOf < known
                {
                    // As if an answer were as new as its arrival.
                    event.asOf = nil
                }
                try fold.apply(event, at: position)
            }
        },
        isCulprit: { $0.kind == .serverUpserted && $0.entity == "n5" && $0.sync == nil })
}

extension JSONDocument {
    /// Whether a payload has a member that is true.
    fileprivate static func says(_ name: String, _ payload: [UInt8]) -> Bool {
        (try? JSONDocument(parsing: payload))?.value(name) == .bool(true)
    }
}

extension ModelRegistration {
    /// A registration in which ties of timers end by their order of arrival.
    fileprivate static func withTiesByArrival(_ payload: [UInt8]) throws -> [UInt8] {
        var registration = try ModelRegistration(parsing: payload, isLogged: true)
        for index in registration.model.collections.indices {
            registration.model.collections[index].rivals?.ties = .arrival
        }
        return registration.encoded
    }
}

extension NotesDay {
    /// Logs a page as the engine with the bug did: in the belief that it is as new as its arrival.
    fileprivate func latePage(_ key: EntityKey, _ row: EntityRow, _ asked: Position) throws {
        let (document, revision) = (row.base, row.revision)
        try replica.journal.write(at: clock.now) { draft in
            let call = try draft.append(
                Event(
                    .requestSent, recordedAt: draft.now, collection: key.collection, asOf: asked,
                    json: Array(#"{"method":"GET","path":"/late"}"#.utf8)))
            try draft.append(
                Event(
                    .requestAnswered, recordedAt: draft.now, collection: key.collection,
                    call: call, json: Array(#"{"status":200}"#.utf8)))
            try draft.append(
                Event(
                    .serverUpserted, recordedAt: draft.now, key: key, call: call, asOf: asked,
                    revision: revision, json: document))
        }
    }
}
