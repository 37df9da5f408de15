// FoldRivals.swift — the rule `rivals`: entities of which only one may hold a state, as a time
// entry that is running. Who holds it (meet), who keeps it, and when the others stopped (follow).
//
// The rule judges the server's data and the user's edits, without its own changes. A loser remains
// one until the winner is gone or the loser is changed after it. A winner that has stopped does not
// restart the loser.

import TidemarkEvents
import TidemarkRules

/// Lets one entity of a group hold a state.
struct FoldRivals: FoldRule {
    let name = RivalRule.name
    let moments: FoldMoments = [.meet, .follow]

    func isRule(of collection: CollectionModel) -> Bool { collection.rivals != nil }

    /// Notes whether the entity holds the state, once it is seen.
    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let (row, collection) = (entity.row, entity.collection)
        guard let rule = collection.rivals else { return }
        // Most have ended: the server's document says so without being parsed.
        let isOver =
            row.pending.isEmpty && collection.migrations.isEmpty
            && !rule.isHeld(in: row.base, of: collection)
        try fold.noteRunner(
            row, entity.key, collection, isOver ? nil : entity.ownOnceSeen(), event, position)
    }

    func note(_ rows: [(key: RowKey, value: [UInt8]?)], _ fold: Fold) {
        for (key, value) in rows where key.view == .rivals {
            fold.memory(Runners.self).note(key, value)
        }
    }

    func isAsked(
        by event: Event, _ collection: CollectionModel, _ model: SyncModel, _ fold: Fold
    ) throws -> Bool {
        // The stop of a loser is a time.
        guard let rule = collection.rivals, try !fold.isTimeInDoubt() else { return false }
        switch event.kind.family {
        case .model, .runEnd: return true
        case .list:
            // An entity is hidden and shown with its owner, so that a list of owners counts too.
            let owner = collection.ownerReference?.collection
            return event.collection == collection.name || event.collection == owner
        case _ where event.collection != collection.name: return false
        case .push:
            return try event.key.map { try fold.runners(collection.name)[$0] != nil } ?? false
        case .local(.updated):
            // An edit of other fields, of an entity without the state, changes nothing for those
            // that have it; but where the stop depends on when others were changed.
            guard rule.stop != .nextStartNotOlder, let key = event.key,
                try fold.runners(collection.name)[key] == nil,
                let fields = try? Patch(parsing: event.payload).fieldNames
            else { return true }
            let read = rule.fields
            return fields.contains { read.contains($0) }
        case .store, .local, .app, .runStart, .request, .answer, .word, .notice,
            .asset, .unknown:
            return true
        }
    }

    func follow(
        _ collection: CollectionModel, _ model: SyncModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws {
        guard let rule = collection.rivals else { return }
        try fold.judgeRivals(collection, rule, event, position)
    }

    func derives(_ fields: [String], _ collection: CollectionModel) -> Bool {
        fields == collection.rivals.map { [$0.whileNull] }
    }

    /// A field that is left out is open, too, as it counts as null.
    func isOpen(
        _ field: String, in document: JSONDocument, _ collection: CollectionModel
    ) -> Bool { collection.rivals?.isHeld(in: document) ?? false }

    /// Notes again who holds the state, because the rule or its fields changed.
    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {
        let model = try fold.model()
        for (place, _) in try fold.ledgerRows(Ledger.rivals) {
            guard let key = EntityKey(bytes: place.bytes.dropFirst()),
                model[key.collection]?.rivals == nil
            else { continue }
            fold.put(place, nil)
        }
        for collection in model.collections where collection.rivals != nil {
            let known = before[collection.name]
            // Who lost stays so where only another field says that something has stopped.
            var rule = collection.rivals
            rule?.stopped = known?.rivals?.stopped
            let isSame =
                known?.rivals == rule && known?.migrations == collection.migrations
                && known?.forms == collection.forms
                && known?.lastChangeField == collection.lastChangeField
            if isSame, known?.rivals == collection.rivals { continue }
            try fold.forEachEncoded(in: collection.name) { key, value in
                let row = try EntityRow(parsing: value)
                let own = try? row.ownDocumentOnceSeen(in: collection)
                try fold.noteRunner(row, key, collection, own, event, position, isAnew: !isSame)
                return true
            }
        }
    }

    /// Has rivals judged again that were stopped at a wrong time.
    func takeBack(
        _ correction: ServerClock.Correction, _ position: Position, _ fold: Fold
    ) throws {
        for collection in try fold.model().collections where collection.rivals != nil {
            for (key, row) in try fold.runners(collection.name) {
                guard let loss = row.loss, loss.stop.kind == .now, loss.decided >= correction.since
                else { continue }
                var row = row
                row.loss = nil
                fold.put(.rival(key), row.encoded)
            }
        }
    }
}

extension RivalRule {
    /// The rule's name in decisions and derived mutations.
    package static let name = "rivals"

    /// The fields that say whether an entity holds the state.
    fileprivate var stateFields: [String] { [whileNull] + [stopped].compactMap(\.self) }

    /// Whether a document that was checked before holds the state.
    ///
    /// New documents leave out what has no value, so that a field that is left out counts as null.
    func isHeld(in document: [UInt8], of collection: CollectionModel) -> Bool {
        let found = JSON.members(stateFields.map { Array($0.utf8) }, of: document[...])
        if let value = found[0] { return collection.isNull(value, in: whileNull) }
        guard let stopped, let time = found[1] else { return true }
        return collection.isNull(time, in: stopped)
    }

    /// The same of a document as the model reads it.
    fileprivate func isHeld(in document: JSONDocument) -> Bool {
        if let value = document.value(whileNull) { return value == .null }
        guard let stopped, let time = document.value(stopped) else { return true }
        return time == .null
    }
}

/// The entities that hold the state, of the collections that were asked for.
private final class Runners: FoldMemory {
    private var rows: [CollectionName: [EntityKey: RivalRow]] = [:]

    subscript(_ collection: CollectionName) -> [EntityKey: RivalRow]? {
        get { rows[collection] }
        set { rows[collection] = newValue }
    }

    /// Reads a row under ``RowKey/rival(_:)``.
    func note(_ place: RowKey, _ value: [UInt8]?) {
        guard let key = EntityKey(bytes: place.bytes.dropFirst()), rows[key.collection] != nil
        else { return }
        rows[key.collection]?[key] = value.flatMap { try? RivalRow(parsing: $0) }
    }
}

/// An entity that holds the state.
private struct Rival {
    var key: EntityKey
    var row: EntityRow
    var standing: RivalRow
    var runner: RivalRunner
    /// The values of the fields that rivals have in common.
    var group: [JSONValue?]
}

/// A group of rivals, and the values they are compared by.
private struct Contest {
    var collection: CollectionModel
    var rule: RivalRule
    var event: Event
    var position: Position
    var now: Timestamp
    /// The rivals of the group, in the order of their keys.
    var rivals: [Rival]

    func runs(_ key: EntityKey) -> Rival? { rivals.first { $0.key == key } }
}

extension Fold {
    /// The entities of a collection that hold the state.
    fileprivate func runners(_ collection: CollectionName) throws -> [EntityKey: RivalRow] {
        let runners = memory(Runners.self)
        if let known = runners[collection] { return known }
        var rows: [EntityKey: RivalRow] = [:]
        let prefix = Ledger.rivals + EntityKey.prefix(of: collection)
        for (place, value) in try ledgerRows(prefix) {
            guard let key = EntityKey(bytes: place.bytes.dropFirst()) else { continue }
            rows[key] = try RivalRow(parsing: value)
        }
        runners[collection] = rows
        return rows
    }

    /// Notes whether an entity holds the state.
    ///
    /// - Parameters:
    /// - own: the entity without derived changes.
    /// - isAnew: whether to discard what was noted of it before.
    fileprivate func noteRunner(
        _ row: EntityRow, _ key: EntityKey, _ collection: CollectionModel, _ own: JSONDocument?,
        _ event: Event, _ position: Position, isAnew: Bool = false
    ) throws {
        guard let rule = collection.rivals else { return }
        let before = try runners(collection.name)[key]
        guard let own, rule.isHeld(in: own),
            PreferNewer.time(own, field: rule.start) != nil
        else {
            if before != nil { put(.rival(key), nil) }
            return
        }
        var now = (isAnew ? nil : before) ?? RivalRow(at: Timestamp(rawValue: 0))
        now.ignored = row.pending.filter { item in
            if item.isDerived { return false }
            if now.ignored.contains(item.position) { return true }
            return item.position == position && now.loss != nil
                && (try? item.touches(rule.whileNull)) != true
        }.map(\.position)
        let at = try changedAt(row, collection, rule, now.ignored, event, position)
        // An accepted push is as new as what was sent, until the server says the entity; and a list
        // makes nothing older.
        let isOlder = row.isAssumed || (event.kind == .serverUpserted && event.mutation == nil)
        now.at = isOlder ? max(at, now.at) : at
        if now != before { put(.rival(key), now.encoded) }
    }

    /// When an entity was changed last: by an answer of the server, or by a local edit.
    private func changedAt(
        _ row: EntityRow, _ collection: CollectionModel, _ rule: RivalRule,
        _ ignored: [Position] = [], _ event: Event? = nil, _ position: Position = .start
    ) throws -> Timestamp {
        var at = Timestamp(rawValue: 0)
        if row.baseState == .live {
            var time = row.serverTime
            if time == nil, let field = collection.lastChangeField {
                time = (try? row.baseValue(in: collection).document)
                    .flatMap { PreferNewer.time($0, field: field) }
            }
            at = max(at, time ?? at)
        }
        for item in row.pending where !item.isDerived && !ignored.contains(item.position) {
            var time = item.editedAt
            if time == nil, item.position == position { time = event?.recordedAt }
            if time == nil { time = try mutation(item.position)?.recordedAt }
            at = max(at, time ?? at)
        }
        return at
    }

    /// Decides which rival of a collection keeps the state, and when the others lost it.
    fileprivate func judgeRivals(
        _ collection: CollectionModel, _ rule: RivalRule, _ event: Event, _ position: Position
    ) throws {
        let standings = try runners(collection.name)
        guard standings.count > 1 || standings.values.contains(where: { $0.loss != nil }) else {
            return
        }
        var groups: [[Rival]] = []
        for key in standings.keys.sorted() {
            let row = try entity(key)
            guard let standing = standings[key], let own = try? row.ownDocument(in: collection),
                let start = PreferNewer.time(own, field: rule.start)
            else { continue }
            let runner = RivalRunner(
                id: key.id, start: start, at: standing.at, position: row.lastSaid)
            let rival = Rival(
                key: key, row: row, standing: standing, runner: runner,
                group: try rule.among.map { try groupValue($0, own.value($0), collection) })
            if let index = groups.firstIndex(where: { $0[0].group == rival.group }) {
                groups[index].append(rival)
            } else {
                groups.append([rival])
            }
        }
        let now = try ruleTime(event)
        for rivals in groups {
            try judge(
                Contest(
                    collection: collection, rule: rule, event: event, position: position, now: now,
                    rivals: rivals))
        }
    }

    private func judge(_ contest: Contest) throws {
        let runners = contest.rivals.map(\.runner)
        guard let winner = RivalDecision.winner(runners, ties: contest.rule.ties),
            let first = contest.rivals.first(where: { $0.runner == winner })
        else { return }
        let goesOn = try first.standing.loss.map { try !holds($0, first, contest) } ?? true
        var starts: [RivalStart]?
        for rival in contest.rivals {
            let before = rival.standing.loss
            var loss = try before.flatMap { try holds($0, rival, contest) ? $0 : nil }
            // The first of all wins against every loser as long as it holds the state; but one that
            // lost to a local start keeps its winner.
            if rival.key != first.key, loss == nil || goesOn, loss?.stop.kind != .startedHere {
                let isStart = contest.isStart(of: first.key) && before?.winner != first.key
                loss = contest.loss(of: rival, to: first, isStart ? .startedHere : .now)
            }
            // In a sync run a local start keeps the time of the user's edit.
            if let winner = loss.flatMap({ contest.runs($0.winner) }),
                loss?.stop.kind != .startedHere || contest.event.sync == nil
            {
                loss?.winnerAt = winner.runner.at
            }
            loss?.at = rival.runner.at
            if var known = loss, known.stop.kind != .startedHere {
                if starts == nil { starts = try self.starts(contest) }
                known.stop = RivalDecision.stop(
                    rival.runner, starts: starts ?? [], rule: contest.rule.stop,
                    now: contest.now(of: rival, known))
                loss = known
            }
            try settle(rival, loss, first, contest, starts ?? [])
        }
    }

    /// Whether a loss still stands by its winner alone: the winner holds the state and outranks the
    /// loser; or it has stopped, is still there, and the loser was not changed after it.
    private func holds(
        _ loss: RivalRow.Loss, _ rival: Rival, _ contest: Contest
    ) throws -> Bool {
        if let winner = contest.runs(loss.winner) {
            return RivalDecision.outranks(winner.runner, rival.runner, ties: contest.rule.ties)
        }
        let winner = try entity(loss.winner)
        guard rival.runner.at <= loss.winnerAt, winner.document != nil else { return false }
        // The winner may have been ahead only because its stop was listed later in the same run.
        guard loss.stop.kind != .startedHere, let run = contest.event.sync, loss.decided > run
        else { return true }
        return try winner.pending.contains { item in
            try contest.rule.stateFields.contains { try item.touches($0) }
        }
    }

    /// What a field of a group says: of a reference, what it names; null is as if missing.
    private func groupValue(
        _ field: String, _ value: JSONValue?, _ collection: CollectionModel
    ) throws -> JSONValue? {
        guard let value, value != .null else { return nil }
        guard let id = value.idText,
            let reference = collection.references.first(where: { $0.field == field })
        else { return value }
        return .string(try resolve(EntityKey(reference.collection, id)).id)
    }

    /// The starts of visible entities of the group, rivals or not, later than the first rival's.
    private func starts(_ contest: Contest) throws -> [RivalStart] {
        let (rule, collection) = (contest.rule, contest.collection)
        guard rule.stop != .now, let first = contest.rivals.map(\.runner.start).min(),
            let group = contest.rivals.first?.group
        else { return [] }
        let fields = ([rule.start] + rule.among).map { Array($0.utf8) }
        var starts: [RivalStart] = []
        try forEachEncoded(in: collection.name) { key, value in
            guard var document = try EntityRow.visibleDocument(in: value) else { return true }
            if !collection.readsVerbatim {
                document = (try? collection.read(Array(document)))?[...] ?? document
            }
            let values = JSON.members(fields, of: document).map { raw in
                raw.flatMap { try? JSONValue(parsing: $0) }
            }
            guard let start = PreferNewer.time(values[0]), start > first,
                try zip(rule.among, values.dropFirst()).map({ field, value in
                    try groupValue(field, value, collection)
                }) == group
            else { return true }
            var at = Timestamp(rawValue: 0)
            if rule.stop == .nextStartNotOlder {
                at = try changedAt(try EntityRow(parsing: value), collection, rule)
            }
            starts.append(RivalStart(key, start: start, at: at))
            return true
        }
        return starts
    }

    /// Writes what was decided of one rival: its loss, the derived change, the decision.
    private func settle(
        _ rival: Rival, _ loss: RivalRow.Loss?, _ first: Rival, _ contest: Contest,
        _ starts: [RivalStart]
    ) throws {
        var row = rival.row
        let derived = row.pending.last { $0.rule == RivalRule.name }
        // A change that was sent waits for its answer.
        if let derived, row.isCarried(derived) { return }
        if loss != rival.standing.loss {
            var standing = rival.standing
            standing.loss = loss
            put(.rival(rival.key), standing.encoded)
        }
        let patch = loss.map { loss in
            let value = loss.stop.value(
                contest.rule.end, since: rival.runner.start, dates: contest.collection.dates)
            return Patch(set: [Patch.Field(contest.rule.whileNull, value)])
        }
        // The derived change is there already, unless the user changed the field after it.
        let isOverwritten = try row.pending.contains { item in
            try derived.map { try $0.precedes(item) && item.touches(contest.rule.whileNull) }
                ?? false
        }
        guard isOverwritten || derived?.payload != patch?.encoded else { return }
        if let derived { try withdraw(derived, from: &row, rival.key, proof: contest.position) }
        var decision = DecisionRow(
            key: rival.key, rule: RivalRule.name, ruleVersion: RivalDecision.version,
            result: loss == nil ? "kept" : "stopped", inputs: [rival.runner.position],
            fields: [contest.rule.whileNull], base: row.basePosition)
        if let loss {
            let winner = contest.runs(loss.winner) ?? first
            if winner.key != rival.key { decision.inputs.append(winner.runner.position) }
            let next = RivalDecision.next(
                after: rival.runner, starts: starts, rule: contest.rule.stop)
            if loss.stop.kind == .nextStart, let next, next.start != winner.runner.start {
                decision.inputs.append(try entity(next.key).lastSaid)
            }
        }
        try note(decision, contest.position)
        guard let patch else { return }
        try derive(
            RivalRule.name, patch, on: &row, rival.key, contest.event, contest.position,
            now: contest.now)
    }
}

extension Contest {
    /// Whether the event is a local edit of that entity, which may have changed its rank.
    fileprivate func isStart(of key: EntityKey) -> Bool {
        (event.kind == .localCreated || event.kind == .localUpdated) && event.key == key
    }

    fileprivate func loss(
        of rival: Rival, to winner: Rival, _ kind: RivalStop.Kind
    ) -> RivalRow.Loss {
        RivalRow.Loss(
            winner: winner.key, winnerAt: winner.runner.at, stop: RivalStop(kind, at: now),
            at: rival.runner.at,
            decided: rival.standing.loss.flatMap { $0.winner == winner.key ? $0.decided : nil }
                ?? position)
    }

    /// The stop time where no other rule gives one: the earlier one, as long as the winner is the
    /// same.
    ///
    /// In a list it is kept only if the run has brought neither of both, so that the result does
    /// not depend on the order of pages.
    fileprivate func now(of rival: Rival, _ loss: RivalRow.Loss) -> Timestamp {
        guard let before = rival.standing.loss, before.stop.kind == .now,
            before.winner == loss.winner
        else { return now }
        let isPull = event.kind == .pullPage || event.kind == .pullCompleted
        if isPull, let run = event.sync {
            let said = [rival.row.basePosition, runs(loss.winner)?.row.basePosition]
            if said.contains(where: { $0.map { $0 > run } ?? false }) { return now }
        }
        return before.stop.time
    }
}

extension EntityRow {
    /// The event that changed it last: the server's word, or an edit.
    fileprivate var lastSaid: Position {
        let last = pending.last { !$0.isDerived }?.position
        return max(basePosition ?? .start, last ?? .start)
    }
}

extension EntityRow.Pending {
    /// Whether a patch sets or removes a field.
    fileprivate func touches(_ field: String) throws(JSONError) -> Bool {
        guard kind == .update else { return kind != .action }
        let exact = ExactString(field)
        return try Patch(parsing: payload).fieldNames.contains { ExactString($0) == exact }
    }
}
