// ReplayLog.swift — small recorded logs, made by hand.

import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay
import TidemarkViews

@testable import CapsuleSupport

/// A log that is written commit by commit, and its capsule with the digests of today's fold.
struct ReplayLog {
    private(set) var commits: [Capsule.Commit] = []
    private var last = Position.start
    private let at = Timestamp(milliseconds: 1_795_000_000_000)

    /// Begins with a model of `tasks`.
    init(_ conflict: ConflictPolicy = .serverWins) {
        let model = SyncModel(
            name: "m",
            collections: [CollectionModel("tasks", lastChangeField: "at", conflict: conflict)])
        let payload = ModelRegistration(model: model).encoded
        commit([Event(.modelRegistered, recordedAt: at, json: payload)])
    }

    /// Writes a commit; answers the position of its last event.
    @discardableResult
    mutating func commit(_ events: [Event]) -> Position {
        let entries = events.map { event in
            last = last.next
            return Capsule.Entry(position: last, event: event)
        }
        commits.append(Capsule.Commit(entries: entries, views: []))
        return last
    }

    /// An edit of `tasks/t1`, or of another one.
    @discardableResult
    mutating func edit(_ kind: EventKind, _ json: String? = nil, id: String = "t1") -> Position {
        commit([event(kind, json, id: id)])
    }

    /// An event about `tasks/t1`, or another one.
    func event(
        _ kind: EventKind, _ json: String? = nil, id: String = "t1", mutation: Position? = nil,
        call: Position? = nil, sync: Position? = nil, asOf: Position? = nil
    ) -> Event {
        Event(
            kind, recordedAt: at, key: EntityKey("tasks", id), sync: sync, mutation: mutation,
            call: call, asOf: asOf, json: json.map { Array($0.utf8) })
    }

    /// What has no entity.
    func plain(_ kind: EventKind, _ json: String, sync: Position? = nil) -> Event {
        Event(kind, recordedAt: at, sync: sync, json: Array(json.utf8))
    }

    /// The capsule, with digests as the rules of then made them.
    ///
    /// - Parameter apply: how an event was folded then: as today, unless said otherwise.
    func capsule(
        apply: (Fold, Event, Position) throws -> Void = { try $0.apply($1, at: $2) }
    ) throws -> Capsule {
        try Capsule(
            provenance: Capsule.Provenance(build: "test", last: last, root: []),
            base: Capsule.Base(), commits: commits
        ).refolded(apply: apply)
    }

    /// An edit that is made while an earlier one is pushed, and the answer to that:
    /// @2 made, @3 the run, @4 sent, @5 edited meanwhile, @6 and @7 answered, @8 the end.
    static func editDuringPush(_ conflict: ConflictPolicy = .serverWins) -> ReplayLog {
        var log = ReplayLog(conflict)
        let made = log.edit(.localCreated, #"{"title":"tea"}"#)
        let run = log.commit([log.plain(.syncStarted, #"{"trigger":"userRequested"}"#)])
        let sent = log.commit([
            log.event(
                .requestSent, #"{"method":"PUT","path":"/tasks/t1","covers":[2]}"#, mutation: made,
                sync: run, asOf: run)
        ])
        log.edit(.localUpdated, #"{"set":{"title":"milk"},"unset":[]}"#)
        log.commit([
            log.event(.requestAnswered, #"{"status":200}"#, call: sent, sync: run),
            log.event(.pushAccepted, mutation: made, call: sent, sync: run),
        ])
        log.commit([log.plain(.syncFinished, #"{"outcome":"synced"}"#, sync: run)])
        return log
    }

    /// A task of the server that was edited here, and then there:
    /// @2 pulled, @3 edited, @4 pulled again.
    static func conflict(_ policy: ConflictPolicy = .serverWins) -> ReplayLog {
        var log = ReplayLog(policy)
        log.commit([log.event(.serverUpserted, #"{"id":"t1","title":"tea","n":1}"#)])
        log.edit(.localUpdated, #"{"set":{"title":"milk"},"unset":[]}"#)
        log.commit([
            log.event(.serverUpserted, #"{"id":"t1","title":"beer","n":2}"#, asOf: Position(3))
        ])
        return log
    }
}
