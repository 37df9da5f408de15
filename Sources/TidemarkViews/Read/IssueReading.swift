// IssueReading.swift — the open issues.
//
//   rejected    entities whose mutations the server refused         rows of the outbox
//   warned      entities of which the server says something else    'W'
//   conflict    conflicts that the local side lost                  'i', both sides 'c'
//   absent      entities that a whole list did not name, too many   'h'
//   unreadable  what the server sent as an entity, and is none      'q'
//   unsettled   entities whose calls fail again and again           'z', of files 'A' 'p'
//   dangling    entities whose reference can't be had, hidden       'D'
//   unfetched   entities whose file can't be had                    'A' 'f'

package import TidemarkEvents
import TidemarkRules

/// An open issue.
package struct IssueRow: Sendable, Hashable {
    package var kind: IssueKind
    /// The event that raised it, and the index of its conflict.
    package var position: Position
    package var index = 0
    package var collection: CollectionName
    package var entity: String?
    /// The fields of the mutation that was refused or given up; empty for a whole entity.
    package var fields: [String] = []
    /// The fields that both sides changed; empty for a whole entity.
    package var conflicting: [String] = []
    /// The losing mutation.
    package var mutation: Position?
    /// The reason, in the server's words or ours.
    package var message = ""
    /// What the server says of each part of the entity; see ``ViewReader/inFull(_:)``.
    package var details: [ServerIssue] = []
    /// The name of an unreadable record.
    package var name = ""
    /// How many entities it is about, and how many the collection had.
    package var count = 1
    package var known = 0
    /// Whether a conflict is not decided yet: what is pending waits for the answer.
    package var isAsked = false
    /// Whether both sides can stay; see ``ViewReader/inFull(_:)``.
    package var keepsBoth = false

    package var key: EntityKey? { entity.map { EntityKey(collection, $0) } }
}

extension ViewReader {
    /// The open issues, in the order in which they were raised, with all that the server says of
    /// each entity.
    package func issuesInFull() throws -> [IssueRow] { try issues().map(inFull) }

    /// An open issue by the event that raised it and its index among those of that event; nil where
    /// there is no such issue.
    package func issue(at position: Position, index: Int) throws -> IssueRow? {
        guard let event = try? event(at: position) else {
            // What was dropped, or is damaged, says no more which entity it was about.
            return try issues().first { $0.position == position && $0.index == index }
        }
        return try issue(at: position, index: index, about: event.key)
    }

    /// An issue with all that the server says of its entity in the answer that raised it.
    package func inFull(_ issue: IssueRow) throws -> IssueRow {
        var issue = issue
        if issue.kind == .rejected || issue.kind == .conflict {
            issue.keepsBoth = try canKeepBoth(issue)
        }
        guard issue.kind == .rejected || issue.kind == .warned else { return issue }
        issue.details = try serverIssues(at: issue.position)
        if issue.kind == .warned { issue.message = issue.details.words }
        return issue
    }

    /// What the server says of an entity in an answer to a write.
    private func serverIssues(at position: Position) throws -> [ServerIssue] {
        guard let event = try event(at: position) else { return [] }
        if let push = event.read(PushRejected.self) { return push.issues }
        if let push = event.read(PushAccepted.self) { return push.issues }
        guard event.kind == .requestAnswered else { return [] }
        return RequestAnswered(stored: event.payload).issues
    }
}

extension RowReading {
    /// Whether an issue is still open: neither answered nor overtaken.
    package func isOpen(_ issue: IssueRow) throws -> Bool {
        switch issue.kind {
        case .conflict where issue.isAsked, .rejected:
            try issue.key.flatMap { try entity(at: .entity($0)).refusal?.position }
                == issue.position
        case .warned:
            try issue.key.flatMap { try entity(at: .entity($0)).issuesAt } == issue.position
        case .conflict: try get(.lost(issue.position, issue.index)) != nil
        case .absent: try heldPlace(of: issue.collection, since: issue.position) != nil
        case .unsettled:
            try issue.key.flatMap { try failing($0)?.first } == issue.position
                || unsentIssues().contains { $0.position == issue.position }
        case .dangling: try issue.key.flatMap { try dangling($0)?.position } == issue.position
        case .unfetched: try get(.unfetched(issue.position)) != nil
        case .unreadable:
            try get(.unreadable(issue.collection, issue.name)).map {
                let row = try UnreadableRow(parsing: $0)
                return row.position == issue.position && !row.isDismissed
            } ?? false
        }
    }

    /// The open issues, in the order in which they were raised.
    package func issues() throws -> [IssueRow] {
        let all =
            try refusals() + warnings() + lostConflicts() + heldBack() + unreadable()
            + unsettled() + danglingIssues() + unfetchedIssues()
        return all.sorted { ($0.position, $0.index) < ($1.position, $1.index) }
    }

    /// The first of ``issues()`` by the event that raised it and its index there.
    ///
    /// What is about the entity of that event is found without a look at all the outbox.
    ///
    /// - Parameter named: the entity of the event; nil where it has none.
    package func issue(
        at position: Position, index: Int, about named: EntityKey?
    ) throws -> IssueRow? {
        func isIt(_ issue: IssueRow) -> Bool { issue.position == position && issue.index == index }
        if index == 0, let key = try named.map(resolve) {
            if let issue = try refusal(of: key), isIt(issue) { return issue }
            if let issue = try warning(of: key), isIt(issue) { return issue }
        }
        if let issue = try lostConflict(position, index) { return issue }
        let others =
            try heldBack() + unreadable() + unsettled() + danglingIssues() + unfetchedIssues()
        return others.first(where: isIt)
    }

    private func refusal(of key: EntityKey) throws -> IssueRow? {
        let row = try entity(at: .entity(key))
        guard let refusal = row.refusal, let item = row.pending.first(where: \.isRefused),
            let mutation = try mutation(of: item, key)
        else { return nil }
        return try issue(of: row, refusal, item.position, mutation)
    }

    private func issue(
        of row: EntityRow, _ refusal: EntityRow.Refusal, _ position: Position,
        _ mutation: MutationRow
    ) throws -> IssueRow {
        var issue = IssueRow(
            kind: .rejected, position: refusal.position, collection: mutation.key.collection,
            entity: mutation.key.id)
        issue.mutation = position
        issue.fields = mutation.fields
        if refusal.isAsked {
            (issue.kind, issue.isAsked) = (.conflict, true)
            try issue.take(askedFields(row))
        }
        issue.message =
            refusal.status == 0 ? refusal.message : "\(refusal.status) \(refusal.message)"
        return issue
    }

    private func refusals() throws -> [IssueRow] {
        var issues: [IssueRow] = []
        var seen: Set<EntityKey> = []
        try forEachMutation(openOnly: true) { position, mutation in
            guard mutation.outcome == .rejected, seen.insert(mutation.key).inserted,
                let row = try found(mutation.key)?.row, let refusal = row.refusal
            else { return true }
            issues.append(try issue(of: row, refusal, position, mutation))
            return true
        }
        return issues
    }

    /// What the server says of entities whose writes it did not refuse.
    private func warnings() throws -> [IssueRow] {
        try ledgerRows(Ledger.warned).compactMap { place, value in
            try EntityKey(bytes: place.bytes.dropFirst()).flatMap { try warning(of: $0, value) }
        }
    }

    private func warning(of key: EntityKey) throws -> IssueRow? {
        try get(.warned(key)).flatMap { try warning(of: key, $0) }
    }

    private func warning(of key: EntityKey, _ value: [UInt8]) throws -> IssueRow? {
        guard let position = Position(bigEndianBytes: value[...]) else { return nil }
        let row = try entity(at: .entity(key))
        guard row.issuesAt == position, row.status != .error else { return nil }
        return IssueRow(
            kind: .warned, position: position, collection: key.collection, entity: key.id)
    }

    /// A conflict that the local side lost, by the place of its decision; nil where it is answered.
    func lostConflict(_ position: Position, _ index: Int) throws -> IssueRow? {
        guard (0...RowKey.indexMax).contains(index), try get(.lost(position, index)) != nil,
            let decision = try decision(position, index)
        else { return nil }
        var issue = IssueRow(
            kind: .conflict, position: position, index: index,
            collection: decision.key.collection, entity: decision.key.id)
        issue.fields = decision.superseded
        issue.conflicting = decision.fields
        issue.mutation = decision.inputs.first
        issue.message = "the server won by \(decision.rule)"
        if decision.result == Conflict.Result.merged.rawValue {
            // What both sides changed was the rule's to decide. Of an edit in no conflict the
            // decision names all that was given up.
            let decided = Set(decision.fields.map(ExactString.init))
            issue.fields.removeAll { decided.contains(ExactString($0)) }
            if issue.fields.isEmpty { (issue.fields, issue.conflicting) = (decision.fields, []) }
            issue.message = "given up by \(decision.rule)"
        }
        return issue
    }

    private func lostConflicts() throws -> [IssueRow] {
        var issues: [IssueRow] = []
        for (place, _) in try ledgerRows(Ledger.lost) {
            let key = place.bytes
            guard let position = Position(bigEndianBytes: key.dropFirst().prefix(8)),
                key.count == 11
            else { continue }
            let index = Int(key[9]) << 8 | Int(key[10])
            if let issue = try lostConflict(position, index) { issues.append(issue) }
        }
        return issues
    }

    /// Both sides of the open conflicts that an event of the server won.
    package func sides(_ position: Position) throws -> ConflictRow? {
        try get(.sides(position)).map { try ConflictRow(parsing: $0) }
    }

    /// Where the entities are held that a list of a collection, or of a part of it, did not name.
    ///
    /// - Parameter position: the event that held them.
    func heldPlace(
        of collection: CollectionName, since position: Position
    ) throws -> RowKey? {
        try ledgerRows(Ledger.held + EntityKey.prefix(of: collection)).first { row in
            try HeldRow(parsing: row.value)?.position == position
        }?.key
    }

    private func heldBack() throws -> [IssueRow] {
        var issues: [IssueRow] = []
        for (place, value) in try ledgerRows(Ledger.held) {
            guard let target = PullTarget(bytes: place.bytes.dropFirst()),
                let held = try HeldRow(parsing: value)
            else { continue }
            var issue = IssueRow(
                kind: .absent, position: held.position, collection: target.collection)
            issue.count = held.ids.count
            issue.known = held.knownCount
            issue.message =
                "a whole list did not name \(issue.count) of \(issue.known) entities"
            issues.append(issue)
        }
        return issues
    }

    private func unreadable() throws -> [IssueRow] {
        var issues: [IssueRow] = []
        for (key, value) in try ledgerRows(Ledger.unreadable) {
            let row = try UnreadableRow(parsing: value)
            guard !row.isDismissed, let place = EntityKey(bytes: key.bytes.dropFirst()) else {
                continue
            }
            var issue = IssueRow(
                kind: .unreadable, position: row.position, collection: place.collection)
            issue.name = place.id
            issue.message =
                row.problem.hasPrefix("record \(place.id) ")
                ? row.problem : "\(place.id): \(row.problem)"
            issues.append(issue)
        }
        return issues
    }

    private func unsettled() throws -> [IssueRow] {
        let calls = try failingCalls().filter {
            !$0.isList && $0.row.gate.failures >= FailingRow.failuresTold
        }
        .map { call -> IssueRow in
            var issue = IssueRow(
                kind: .unsettled, position: call.row.first, collection: call.key.collection,
                entity: call.key.id)
            issue.message = call.row.sentence
            issue.count = call.row.gate.failures
            return issue
        }
        return try calls + unsentIssues()
    }
}

extension RowReading {
    /// The server's words because of which a person is asked about an entity, without those of
    /// which nothing is in question any more.
    package func openQuestions(of row: EntityRow) throws -> [Position] {
        try (row.refusal?.questions ?? []).filter { try askedFields(row, at: $0) != nil }
    }

    /// The first decision at a position by which a person is asked; nil for none.
    package func question(at position: Position) throws -> DecisionRow? {
        try decisions(at: position).first {
            $0.decision.result == Conflict.Result.asked.rawValue
        }?.decision
    }

    /// The fields of an entity about which a person is asked because of the server's word, by the
    /// mutations that still wait; empty for the whole entity, nil where nothing is asked.
    func askedFields(_ row: EntityRow, at position: Position) throws -> [String]? {
        let waiting = Set(row.pending.filter(\.isRefused).map(\.position))
        var asked: [[String]] = []
        for (_, decision) in try decisions(at: position) {
            guard decision.result == Conflict.Result.asked.rawValue,
                decision.inputs.first.map(waiting.contains) ?? false
            else { continue }
            asked.append(decision.fields)
        }
        if asked.isEmpty { return nil }
        return asked.contains([]) ? [] : asked.flatMap(\.self)
    }

    /// All fields of an entity about which a person is asked; none for the whole entity.
    private func askedFields(_ row: EntityRow) throws -> [String] {
        var asked = try row.refusal?.questions.compactMap { try askedFields(row, at: $0) }
        if asked?.last?.isEmpty == true { asked = nil }
        var seen: Set<ExactString> = []
        return (asked ?? []).flatMap(\.self).filter { seen.insert(ExactString($0)).inserted }
    }
}

extension IssueRow {
    /// Takes in the fields about which a person is asked.
    fileprivate mutating func take(_ asked: [String]) {
        conflicting = asked
        for field in asked where !fields.contains(field) { fields.append(field) }
    }
}
