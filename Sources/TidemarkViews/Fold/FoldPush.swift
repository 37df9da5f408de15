// FoldPush.swift — requests, and what their answers mean for the mutations they carried.

import TidemarkEvents
import TidemarkRules

extension Fold {
    func sent(_ event: Event, _ request: RequestSent, _ position: Position) throws {
        try noteRequest(event, request)
        if !request.remedies.isEmpty { try note(remedy: request, event, position) }
        guard let (key, covers) = try pushed(by: event) else { return }
        var row = try entity(key)
        try noteUnanswered(key)
        // Earlier versions sent again what the server had promised to answer.
        if let attempt = row.attempt, try isPromised(attempt.call) {
            row.noteArrivalPossible()
            try endAttempt(&row, key)
        }
        row.attempt = EntityRow.Attempt(call: position, covers: covers)
        put(.attempt(key), position.bigEndianBytes)
        if let collection = try known(key.collection)?.model {
            try row.noteLeftOut(through: covers, in: collection)
        }
        // What was refused before and is sent again has no outcome any more.
        if row.pending.contains(where: { $0.isRefused && $0.position <= covers }) {
            try rearm(&row, key)
        }
        try loseRemoved(
            row.pending.lazy.filter { $0.position <= covers }, of: row, key, position)
        for item in row.pending where row.isCarried(item) {
            try updateMutation(item, of: key) { mutation in
                mutation.attempts += 1
                mutation.call = position
            }
        }
        try put(row, key)
    }

    /// The entity that an event of a push is about, and up to which of its mutations; nil where it
    /// names none, or one from before a wipe.
    private func pushed(by event: Event) throws -> (key: EntityKey, covers: Position)? {
        guard let named = event.key, let covers = event.mutation,
            try !isWiped(named.collection, after: covers)
        else { return nil }
        return (try resolve(named), covers)
    }

    func answered(
        _ event: Event, _ answer: RequestAnswered, _ position: Position
    ) throws {
        try noteGates(event, answer, position)
        try noteClock(event, answer, position)
        if answer.concern == .pool {
            return try noteEnd(
                of: event, answer.place, answer.failure?.rawValue, uptime: answer.uptime, position)
        }
        if let name = event.collection, try isWiped(name, after: event.call) { return }
        let end = CallEnd(
            concern: answer.concern, failure: answer.failure?.rawValue, status: answer.status,
            uptime: answer.uptime)
        guard let named = event.key else {
            if end.concern != nil { try noteEnd(of: event, end, isWrite: false, position) }
            return
        }
        let key = try resolve(named)
        var row = try entity(key)
        let isWrite = row.attempt != nil && row.attempt?.call == event.call
        try noteEnd(of: event, end, isWrite: isWrite, position)
        guard let attempt = row.attempt else { return }
        if attempt.call == event.call {
            // A success is settled by the event that says what was accepted.
            let effect = answer.effect
            guard effect.isNothing else { return }
            if !answer.mayHaveArrived, !effect.mayHaveArrived { row.forgetGivenUp(attempt) }
            if row.baseState != .live, effect == .turnedAway, try namesEntities(key.collection) {
                // Sent again it would be made twice: the next list tells.
                return
            }
            if answer.mayHaveArrived || effect.mayHaveArrived { row.noteArrivalPossible() }
            try endAttempt(&row, key)
            if answer.isIgnored { noteIssues(answer.issues, of: &row, key, position) }
            // Of one that stands otherwise the server tells how, unless the call failed by it.
            if effect != .precondition || answer.failure != nil {
                try annihilate(&row, key, proof: position)
            }
        } else if attempt.call == event.cause {
            // The server was asked how the entity stands: that settles the attempt by inference,
            // but the write itself may still be under way.
            guard answer.failure == nil, (200..<300).contains(answer.status) || answer.isGone
            else { return }
            row.noteArrivalPossible()
            try endAttempt(&row, key)
            if answer.isGone { try annihilate(&row, key, proof: position, isKnown: true) }
        } else {
            return
        }
        try forgetAnswered(key, row)
        try refresh(&row, key)
        try put(row, key)
    }

    func failed(_ event: Event, _ failure: RequestFailed, _ position: Position) throws {
        if failure.concern == .pool {
            return try noteEnd(
                of: event, failure.place, failure.error, uptime: failure.uptime, position)
        }
        if let name = event.collection, try isWiped(name, after: event.call) { return }
        let end = CallEnd(
            concern: failure.concern, failure: failure.error, uptime: failure.uptime)
        if end.concern != nil {
            let attempt = try event.key.flatMap { try entity(resolve($0)).attempt?.call }
            let isWrite = attempt != nil && attempt == event.call
            try noteEnd(of: event, end, isWrite: isWrite, position)
        }
        guard let named = event.key, failure.neverArrived else { return }
        let key = try resolve(named)
        var row = try entity(key)
        guard let attempt = row.attempt, attempt.call == event.call else { return }
        row.forgetGivenUp(attempt)
        try endAttempt(&row, key)
        try annihilate(&row, key, proof: position)
        try forgetAnswered(key, row)
        try refresh(&row, key)
        try put(row, key)
    }

    func accepted(_ event: Event, _ push: PushAccepted, _ position: Position) throws {
        guard let (key, covers) = try pushed(by: event) else { return }
        var row = try entity(key)
        let collection = try collection(key.collection)
        let endsFolder = try row.hasDeletion && row.isFolder(in: collection)
        for item in row.pending where item.position <= covers && item.isAction {
            try settle(item, of: key, .accepted, proof: position, revision: nil)
            try note(granted: item, of: key, collection, event, position)
        }
        let covered = row.pending.filter { $0.position <= covers && !$0.isAction }
        let whole = try row.changes(covered, in: collection)
        let fields = collection.fields(reading: covered.flatMap(\.leftOut))
        let changes = fields.isEmpty ? whole : try whole.map { try $0.leavingOut(fields) }
        let base = try row.baseValue(in: collection)
        var left: [EntityRow.Pending] = []
        for (index, isOvertaken) in PendingChange.overtaken(whole).enumerated() {
            let item = covered[index]
            if let patch = whole[index].only(collection.fields(reading: item.leftOut)) {
                left.append(try stay(item.leftOut(as: patch), of: key))
                continue
            }
            var outcome: MutationOutcome = isOvertaken ? .coalesced : .accepted
            if try isAllRemoved(item, in: collection) { outcome = .superseded }
            try settle(item, of: key, outcome, proof: position, revision: event.revision)
        }
        let isFresh = row.asOf.map { known in event.call.map { $0 >= known } ?? false } ?? true
        if let name = push.content, !isFresh,
            case .document(let bytes) = try Current(changes, on: base)
        {
            // Also where a later word of the server's names the content.
            _ = try naming(name, in: bytes, collection)
        }
        if !changes.isEmpty, isFresh {
            let isUntold = row.baseState != .live || row.isPlaceholder || row.isUntold
            // Until the server's own words follow, its entity is what we sent.
            if case .document(let made) = try Current(changes, on: base) {
                // The last document of a deleted entity may have others in their place.
                let bytes =
                    fields.isEmpty || base.isLive
                    ? made
                    : try JSONDocument(parsing: made).applying(set: [], unset: fields.map(\.text))
                row.baseState = .live
                // A server that knows paths has no ids that could stand in it.
                row.base =
                    try collection.isByPath
                    ? naming(push.content, in: bytes, collection)
                    : referenceNames(of: key, collection).named(bytes)
                row.revision = event.revision
                row.mark = []
            } else {
                row.baseState = .deleted
                row.revision = nil
            }
            (row.isAssumed, row.isUntold) = (true, isUntold && row.baseState == .live)
            row.givenUp = try givenUp(row, key, before: changes, collection, push.content)
            if row.isPlaceholder { put(.placeholder(key), nil) }
            row.isPlaceholder = false
            row.triedAt = nil
            row.basePosition = position
            row.asOf = event.call
        } else if row.baseState == .deleted, row.base.isEmpty,
            case .document(let bytes) = try Current(changes, on: base)
        {
            // Deleted since, as far as is known: what is pending goes on from what was accepted.
            row.base = bytes
        }
        row.pending.removeAll { $0.position <= covers }
        row.pending.insert(contentsOf: left, at: 0)
        // What went another way went without that.
        if !left.isEmpty { row.relay = nil }
        try endAttempt(&row, key)
        // What comes later may be asked about.
        if !row.pending.contains(where: \.isRefused) { row.refusal = nil }
        if !covered.isEmpty { noteIssues(push.issues, of: &row, key, position) }
        try annihilate(&row, key, proof: position)
        try forgetUnanswered(key)
        // A server that names what it took differently. Of what was never here an alias would name
        // nothing.
        if row.baseState != .absent, let id = push.serverID {
            try bind(id, to: key, &row, proof: position)
        }
        try refresh(&row, key)
        try put(row, key)
        if endsFolder, covered.last?.kind == .delete, row.baseState == .deleted {
            try endBelow(key, position)
        }
    }

    /// What the server may have of a write that was given up, after it took changes, written as the
    /// new base is: nothing where each write says the whole entity, or these changed all of it.
    private func givenUp(
        _ row: EntityRow, _ key: EntityKey, before changes: [PendingChange],
        _ collection: CollectionModel, _ content: String?
    ) throws -> [UInt8] {
        guard !row.givenUp.isEmpty, collection.updates == .changes,
            case .document(let bytes) = try Current(
                changes, on: .live(JSONDocument(parsing: row.givenUp)))
        else { return [] }
        let named =
            try collection.isByPath
            ? naming(content, in: bytes, collection)
            : referenceNames(of: key, collection).named(bytes)
        let isBase =
            try row.baseState == .live
            && JSONValue(parsing: named) == JSONValue(parsing: row.base)
        return isBase ? [] : named
    }

    func rejected(_ event: Event, _ refusal: PushRejected, _ position: Position) throws {
        guard let (key, covers) = try pushed(by: event) else { return }
        var row = try entity(key)
        try endAttempt(&row, key)
        try forgetAnswered(key, row)
        noteIssues(refusal.issues, of: &row, key, position)
        // A later edit may have mended what was refused, so all of it is sent again; and what was
        // discarded since is not refused any more. An action mends nothing, and is mended by none.
        let isAction = row.pending.contains { $0.position == covers && $0.isSentAlone }
        let next = row.pending.first { $0.position > covers }
        // In a tree it may also have been held back, and mended nothing.
        let isTree = try known(key.collection)?.model.tree != nil
        let wasThere = isTree && next.map { $0.position < event.call ?? position } ?? false
        // What lies there is another's: of ours, which was deleted since, nothing is left.
        if refusal.isTaken, row.endsDeleted, row.baseState != .live {
            try annihilate(&row, key, proof: position, isKnown: true)
            row.refusal = nil
            try refresh(&row, key)
        } else {
            // What was to be made and is deleted here needs no other answer.
            try annihilate(&row, key, proof: position)
            if row.pending.isEmpty { row.refusal = nil }
            try refresh(&row, key)
        }
        guard row.attempt == nil, row.pending.contains(where: { $0.position <= covers }),
            isAction || wasThere || next?.isAction != false
        else {
            try put(row, key)
            return
        }
        for index in row.pending.indices where row.pending[index].position <= covers {
            row.pending[index].isRefused = true
            try settle(
                row.pending[index], of: key, .rejected, proof: position, revision: nil)
        }
        // What a person is asked about still is in question: no edit answers it.
        let open = try openQuestions(of: row)
        var told = EntityRow.Refusal(
            position: position, status: refusal.status, message: refusal.message,
            isAsked: !open.isEmpty)
        if !open.isEmpty { (told.earlier, told.base) = (open, row.refusal?.base ?? []) }
        row.refusal = told
        try refresh(&row, key)
        try put(row, key)
    }

    /// Notes that what is pending went another way; it stays pending, and is still sent.
    func relayed(_ event: Event, _ relay: PushRelayed, _ position: Position) throws {
        guard let (key, covers) = try pushed(by: event) else { return }
        var row = try entity(key)
        // Of what is settled, or went later, it says nothing.
        guard row.pending.contains(where: { $0.position <= covers }),
            row.relay.map({ $0.covers <= covers }) ?? true
        else { return }
        row.relay = EntityRow.Relay(
            covers: covers, position: position, isConfirmed: relay.isConfirmed)
        try put(row, key)
    }

    /// Notes for what an action is done that nobody asked for.
    private func note(
        remedy request: RequestSent, _ event: Event, _ position: Position
    ) throws {
        guard let named = event.key else { return }
        let decision = DecisionRow(
            key: try resolve(named), rule: RequestSent.remedyRule,
            ruleVersion: RequestSent.remedyVersion, result: "requested", inputs: request.remedies,
            fields: [])
        try note(decision, position)
    }

    /// Notes what the server said of an entity in its last answer to a write; of one that was given
    /// up meanwhile, and is not here, nobody could answer it.
    func noteIssues(
        _ issues: [ServerIssue], of row: inout EntityRow, _ key: EntityKey, _ position: Position
    ) {
        guard !issues.isEmpty, !row.isEmpty else { return forgetIssues(of: &row, key) }
        row.issuesAt = position
        put(.warned(key), position.bigEndianBytes)
    }

    /// Forgets what the server said of an entity.
    func forgetIssues(of row: inout EntityRow, _ key: EntityKey) {
        guard row.issuesAt != nil else { return }
        row.issuesAt = nil
        put(.warned(key), nil)
    }

    /// Forgets the attempt whose outcome is known.
    func endAttempt(_ row: inout EntityRow, _ key: EntityKey) throws {
        guard let attempt = row.attempt else { return }
        row.attempt = nil
        put(.attempt(key), nil)
        try closeTicket(of: attempt.call)
    }
}

extension EntityRow {
    /// Forgets what was given up with the attempt that carried it, as that did not arrive.
    fileprivate mutating func forgetGivenUp(_ attempt: Attempt) {
        if !pending.contains(where: { $0.position <= attempt.covers }) { givenUp = [] }
    }

    /// Remembers of what the attempt carried that it may be on the server.
    mutating func noteArrivalPossible() {
        for index in pending.indices where isCarried(pending[index]) {
            pending[index].mayHaveArrived = true
        }
    }
}
