// FoldServer.swift — what the server says of an entity, and what becomes of what is pending on it.

package import TidemarkEvents
import TidemarkRules

extension Fold {
    func serverSays(_ event: Event, _ position: Position, isDeletion: Bool) throws {
        guard let named = event.key, isDeletion || event.isObject,
            try !isWiped(named.collection, after: event.asOf)
        else { return }
        let key = try resolve(named)
        let asOf = event.asOf ?? position
        try wasRead(named, asOf: asOf)
        if !isDeletion, try claim(key, event, position) { return }
        if event.mutation == nil { try takeWithheld(key) }
        let place = rowKey(of: key)
        let ruled = try event.cause.flatMap { try takeAnswer(key, $0) }
        let effects = try hear(event, of: key, position)
        var (wasPlaceholder, wasWarned) = (false, false)
        let kept = try isDeletion ? known(key.collection)?.model : nil
        if try !hidesAny(),
            try changeUnpending(
                place,
                { row in
                    wasPlaceholder = row.isPlaceholder
                    guard row.take(event, position, asOf, isDeletion, kept) else { return false }
                    wasWarned = isDeletion && row.issuesAt != nil
                    if wasWarned { row.issuesAt = nil }
                    return true
                })
        {
            if wasPlaceholder { put(.placeholder(key), nil) }
            if wasWarned { put(.warned(key), nil) }
            for effect in effects { try effect() }
            return
        }
        var row = try entity(at: place)
        // What is less fresh never changes the base, in whatever order it arrives.
        guard row.isFresher(event, asOf) else { return }
        let endsFolder =
            try isDeletion && row.endsDeleted && row.isFolder(in: collection(key.collection))
        // The answer to our own write is not another side's change: what is pending stays on it,
        // unless nothing is to stay.
        if event.mutation == nil, !row.pending.isEmpty,
            try !isOwnWrite(event, row, collection(key.collection)) || overwrites(event)
        {
            if isDeletion, row.isMadeForOthers {
                row.noteArrivalPossible()
                try endAttempt(&row, key)
            } else {
                try rebase(&row, onto: event, key, position, ruled)
            }
        }
        if row.isPlaceholder { put(.placeholder(key), nil) }
        row.set(event, position, asOf, isDeletion)
        if isDeletion, row.pending.isEmpty { forgetIssues(of: &row, key) }
        try refresh(&row, key)
        try put(row, at: place)
        for effect in effects { try effect() }
        if endsFolder, row.pending.isEmpty { try endBelow(key, position) }
    }

    /// The conflict that an event of the server would bring about, for a collection whose conflicts
    /// a rule of the app decides; nil when there is none.
    ///
    /// - Parameter position: where the event will stand, at the earliest.
    package func conflict(_ event: Event, at position: Position) throws -> RuledConflict? {
        seesOvertaken = true
        defer { seesOvertaken = false }
        // What can't be understood changes nothing, and is in no conflict.
        do { return try understoodConflict(event, position) } catch is JSONError { return nil }
    }

    private func understoodConflict(_ event: Event, _ position: Position) throws -> RuledConflict? {
        guard event.mutation == nil, let named = event.key,
            try !isWiped(named.collection, after: event.asOf)
        else { return nil }
        guard let known = try known(named.collection), let rule = known.conflictRule else {
            return nil
        }
        let collection = known.model
        let isDeletion = event.kind == .serverDeleted
        var key = try resolve(named)
        var row = try entity(key)
        var leftOut: Set<ExactString> = []
        if !isDeletion, event.checked.isObject, let claim = try claim(of: key, event, position) {
            (key, row, leftOut) = (claim.key, claim.rest, claim.leftOut)
        }
        let asOf = event.asOf ?? position
        guard !row.pending.isEmpty, row.isFresher(event, asOf), !row.isConfirmed(by: asOf),
            isDeletion || event.checked.isObject,
            try !isOwnWrite(event, row, collection) && !overwrites(event)
        else { return nil }
        let changes = try namedChanges(row, key, collection)
        let new = try Base(event, isDeletion).read(by: collection)
        let old = try knownBase(row, beside: new, collection)
        let met = try MetChanges(
            changes, of: row.pending.filter(\.isEdit), row, new, leftOut: leftOut, in: collection)
        let rebase = Rebase(
            met.changes, from: old, to: met.new, policy: collection.conflict,
            serverFields: collection.serverFields, assumed: row.assumed(beside: event, collection),
            setLater: collection.fieldsBelow)
        guard !rebase.conflicts.isEmpty else { return nil }
        var local: [UInt8]?
        if case .document(let bytes) = try Current(changes, on: rebase.base) { local = bytes }
        let question = ConflictCase(
            key: key, base: rebase.base.document?.bytes, local: local, server: new.document?.bytes,
            fields: PendingChange.fields(changes, except: collection.serverFields),
            serverTime: event.serverTime, localTime: changes.last?.editedAt)
        return RuledConflict(rule: rule, collection: collection, question: question)
    }

    /// Has what is pending on an entity meet what the server says of it.
    ///
    /// - Parameters:
    ///   - ruled: what a rule of the app says to it.
    ///   - leftOut: the fields that a write left out whose mutations are settled.
    func rebase(
        _ row: inout EntityRow, onto event: Event, _ key: EntityKey, _ position: Position,
        _ ruled: RuledAnswer?, leftOut: Set<ExactString> = []
    ) throws {
        let collection = try collection(key.collection)
        // What arrived another way: what the server says is what became of it.
        let isConfirmed = row.isConfirmed(by: event.asOf ?? position)
        // What follows from a rule meets the server's word afterwards: FoldDerived.swift.
        let own = row.pending.filter(\.isEdit)
        var changes = try namedChanges(row, key, collection)
        if isConfirmed { for index in changes.indices { changes[index].mayHaveArrived = true } }
        let new = try Base(event, event.kind == .serverDeleted).read(by: collection)
        let isForced = try overwrites(event)
        let policy = isConfirmed || isForced ? .overwriteAlways : collection.conflict
        let met =
            isForced || ruled?.isDocument == true
            ? MetChanges(changes, new)
            : try MetChanges(changes, of: own, row, new, leftOut: leftOut, in: collection)
        let rebase = Rebase(
            met.changes, from: try knownBase(row, beside: new, collection), to: met.new,
            policy: policy,
            serverFields: collection.serverFields, answer: ruled?.answer,
            assumed: row.assumed(beside: event, collection), setLater: collection.fieldsBelow)
        var kept = try met.aside.map { $0.isLeftOut ? try stay($0, of: key) : $0 }
        for (index, verdict) in rebase.verdicts.enumerated() {
            var item = own[met.indexes?[index] ?? index]
            let rest = met.rests[item.position]
            if verdict != .stays, let rest {
                let conflict = rebase.conflicts.first { $0.position == item.position }
                if verdict == .superseded, let conflict {
                    try lose(rebase.superseded(conflict), of: item, key)
                }
                kept.append(try stay(item.leftOut(as: rest), of: key))
                continue
            }
            let verdict =
                verdict != .stays && met.overtaken.contains(item.position) ? .coalesced : verdict
            switch verdict {
            case .stays:
                if let change = rebase.rewritten[index] {
                    try loseRemoved([item], of: row, key, position)
                    item.rewrite(as: try rest.map { try change.with($0) } ?? change)
                }
                try lose(rebase.lost[index], of: item, key)
                kept.append(item)
            case .arrived:
                try settle(item, of: key, .accepted, proof: position, revision: event.revision)
            case .present:
                // In the server's writing it arrived, with all that it changed.
                if rebase.writings.isEmpty { try loseRemoved([item], of: row, key, position) }
                try settle(item, of: key, .merged, proof: position, revision: event.revision)
            case .coalesced:
                try settle(item, of: key, .coalesced, proof: position, revision: event.revision)
            case .superseded:
                try settle(item, of: key, .superseded, proof: position, revision: event.revision)
            }
        }
        for conflict in rebase.conflicts {
            var decision = DecisionRow(
                key: key, rule: isConfirmed ? PushRelayed.ruleName : policy.name,
                ruleVersion: ruled?.version ?? UInt64(Rebase.version),
                result: conflict.result.rawValue,
                inputs: [conflict.position, position] + (ruled.map { [$0.position] } ?? []),
                fields: conflict.fields, base: row.basePosition)
            decision.superseded = rebase.superseded(conflict)
            decision.kept = rebase.kept(conflict)
            let index = try note(decision, position)
            if rebase.isIssue(conflict) { put(.lost(position, index), key.bytes) }
        }
        for writing in rebase.writings {
            var decision = DecisionRow(
                key: key, rule: OtherWriting.name, ruleVersion: UInt64(OtherWriting.version),
                result: Conflict.Result.merged.rawValue, inputs: [writing.position, position],
                fields: writing.fields, base: row.basePosition)
            decision.kept = writing.fields
            try note(decision, position)
        }
        if rebase.conflicts.contains(where: rebase.isIssue) {
            // The event that the base came with may have been dropped, or be dropped.
            let sides = ConflictRow(
                mine: row.content ?? [], base: row.baseState == .live ? row.base : [])
            put(.sides(position), sides.encoded)
        }
        let wasRefused = row.pending.contains(where: \.isRefused)
        let rest = row.pending.filter { $0.isDerived || $0.isAction }
        row.pending = (kept + rest).sorted { $0.precedes($1) }
        // What went another way went without that.
        if !met.aside.isEmpty || !met.rests.isEmpty { row.relay = nil }
        // What the server said against changes that are gone is said of nothing.
        if wasRefused, row.pending.isEmpty { forgetIssues(of: &row, key) }
        // Of an attempt that carried nothing but what is settled now, nothing is left to learn.
        if !row.pending.contains(where: row.isCarried) {
            try endAttempt(&row, key)
        }
        if !row.pending.contains(where: \.isRefused) { row.refusal = nil }
        try ask(about: rebase, &row, key, position)
        try endQuestions(&row, key)
    }

    /// Where nothing is in question any more, nothing waits for a person's answer; what the server
    /// refused does.
    func endQuestions(_ row: inout EntityRow, _ key: EntityKey) throws {
        guard var refusal = row.refusal, refusal.isAsked,
            try openQuestions(of: row).isEmpty
        else { return }
        if refusal.status == 0 {
            try rearm(&row, key)
        } else {
            (refusal.isAsked, refusal.earlier, refusal.base) = (false, [], [])
            row.refusal = refusal
        }
    }

    /// Has what is pending, up to the last mutation about which a person is asked, wait for the
    /// answer.
    private func ask(
        about rebase: Rebase, _ row: inout EntityRow, _ key: EntityKey, _ position: Position
    ) throws {
        let asked = rebase.conflicts.filter { $0.result == .asked }
        guard let last = asked.last?.position else { return }
        var refusal = EntityRow.Refusal(
            position: position, status: 0, message: EntityRow.Refusal.asked, isAsked: true)
        refusal.earlier = try questionsLeft(of: row, besides: asked.flatMap(\.fields))
        if let before = row.refusal, let first = refusal.earlier.first,
            first == before.questions.first
        {
            // Both sides changed the entity since the first question.
            refusal.base = before.base
        } else if row.isAssumed {
            refusal.base = rebase.base.document?.bytes ?? []
        }
        for index in row.pending.indices
        where row.pending[index].position <= last && !row.pending[index].isDerived {
            row.pending[index].isRefused = true
            try settle(row.pending[index], of: key, .rejected, proof: position, revision: nil)
        }
        row.refusal = refusal
    }

    /// The questions about an entity that are about a field besides those that it is asked about
    /// anew; one about the whole entity is asked anew with any.
    private func questionsLeft(
        of row: EntityRow, besides fields: [String]
    ) throws -> [Position] {
        let names = Set(fields.map(ExactString.init))
        return try (row.refusal?.questions ?? []).filter { question in
            let asked = try askedFields(row, at: question) ?? []
            return asked.contains { !names.contains(ExactString($0)) }
        }
    }

    /// The base that the server's word is compared with: where it took a write and told no version
    /// of the file, what it calls the content first is the content that it has known.
    ///
    /// That is known by the bytes, where these were compared: what else it tells of a file, as its
    /// size, another content may have, too.
    private func knownBase(
        _ row: EntityRow, beside new: Base, _ collection: CollectionModel
    ) throws -> Base {
        let base = try arrivedBase(row, beside: new, collection)
        guard let field = collection.tree?.content, row.revision == nil, base.isLive,
            let known = base.document,
            let document = new.document, let told = document.rawValue(field),
            try isSameContent(document, known, in: collection)
        else { return base }
        let bytes = known.applying(set: [(key: field, value: Array(told))])
        return .live(try JSONDocument(parsing: bytes))
    }

    /// Whether the run of an event was asked to take the server's word against everything that is
    /// pending.
    func overwrites(_ event: Event) throws -> Bool {
        try started(event)?.run.mode.overwrites ?? false
    }

    /// What the user left pending, its references by the ids that the server uses, and its files by
    /// the names that they have there.
    ///
    /// So they are compared.
    private func namedChanges(
        _ row: EntityRow, _ key: EntityKey, _ collection: CollectionModel
    ) throws -> [PendingChange] {
        let changes = try row.ownChanges(in: collection)
        guard !collection.references.isEmpty || collection.sendsFiles else { return changes }
        let names = try referenceNames(of: key, collection)
        return try changes.map { try names.named($0) }
    }

    /// How references and files are written in what is sent of an entity.
    func referenceNames(
        of key: EntityKey, _ collection: CollectionModel
    ) throws -> ReferenceNames {
        try referenceNames(of: key, collection, model())
    }

    // MARK: What rules of the app answered

    /// Keeps an answer until the server's word that it is about, which comes next.
    func ruleAnswered(_ event: Event, _ rule: RuleAnswered, _ position: Position) throws {
        guard let named = event.key, rule.answer != nil else { return }
        let row = StoreFactRow(position: position, payload: event.payload)
        put(.ruleAnswer(try resolve(named)), row.encoded)
    }

    func takeAnswer(_ key: EntityKey, _ cause: Position) throws -> RuledAnswer? {
        guard let bytes = try get(.ruleAnswer(key)) else { return nil }
        put(.ruleAnswer(key), nil)
        let row = try StoreFactRow(parsing: bytes)
        let rule = RuleAnswered(stored: row.payload)
        guard row.position == cause, let answer = rule.answer else { return nil }
        return RuledAnswer(
            position: row.position, version: UInt64(max(0, rule.version)), answer: answer)
    }
}

extension EntityRow.Pending {
    /// Whether it changes something here, and was not derived.
    fileprivate var isEdit: Bool { !isDerived && !isAction }
}

extension RuledAnswer {
    /// Whether it takes the place of all that is pending.
    fileprivate var isDocument: Bool { if case .document = answer { true } else { false } }
}

/// A conflict, and the rule that is to decide it.
package struct RuledConflict: Sendable, Hashable {
    package var rule: String
    package var collection: CollectionModel
    package var question: ConflictCase
}

/// What a rule answered, and where the log says so.
struct RuledAnswer {
    var position: Position
    /// Of the rule.
    var version: UInt64
    var answer: ConflictAnswer
}

extension Base {
    /// What an event of the server says.
    fileprivate init(_ event: Event, _ isDeletion: Bool) throws(JSONError) {
        self =
            isDeletion ? .deleted(last: nil) : .live(try JSONDocument(parsing: event.payload))
    }
}

extension Fold {
    /// Whether an event says in the server's words what our write, taken without any, made of the
    /// entity.
    ///
    /// A move leaves many versions as they were: in a tree by paths it is ours only where it lies
    /// as ours does.
    func isOwnWrite(
        _ event: Event, _ row: EntityRow, _ collection: CollectionModel
    ) throws -> Bool {
        guard row.isAssumed, row.revision != nil, row.revision == event.revision else {
            return false
        }
        guard collection.isByPath, let tree = collection.tree, event.kind == .serverUpserted,
            let known = try row.baseValue(in: collection).document
        else { return true }
        let told = try collection.read(JSONDocument(parsing: event.payload))
        return try treeSpot(known, in: collection.name, tree)
            == treeSpot(told, in: collection.name, tree)
    }
}

extension EntityRow {
    /// What its base is where it is only what was sent, beside what the server says.
    ///
    /// Of a tree by paths the revision also changes with what lies in a folder.
    fileprivate func assumed(beside event: Event, _ collection: CollectionModel) -> AssumedBase? {
        guard isAssumed else { return nil }
        // What was sent since without an answer may be what made the revision.
        let mayBeOurs =
            !givenUp.isEmpty || pending.contains { $0.mayHaveArrived || isCarried($0) }
        if !mayBeOurs, !collection.isByPath, let known = revision, let told = event.revision,
            known != told
        {
            return .overwritten
        }
        return isUntold ? .made : .edited
    }

    /// Whether what a server said is to change what is known: it is not older than that.
    func isFresher(_ event: Event, _ asOf: Position) -> Bool {
        if let known = self.asOf, asOf < known { return false }
        if asOf == self.asOf, let known = serverTime, let time = event.serverTime, time < known {
            return false
        }
        return true
    }

    /// Makes what the server said the base.
    mutating func set(
        _ event: Event, _ position: Position, _ asOf: Position, _ isDeletion: Bool
    ) {
        if isDeletion {
            baseState = .deleted
            revision = nil
        } else {
            baseState = .live
            base = event.payload
            revision = event.revision
            mark = []
        }
        serverTime = event.serverTime
        isAssumed = false
        basePosition = position
        self.asOf = asOf
        isPlaceholder = false
        triedAt = nil
        (prunedDigest, prunedAt) = ([], nil)
        givenUp = []
    }

    /// The whole of it for an entity on which nothing is pending; false when nothing changed.
    ///
    /// - Parameter collection: of what is deleted.
    fileprivate mutating func take(
        _ event: Event, _ position: Position, _ asOf: Position, _ isDeletion: Bool,
        _ collection: CollectionModel?
    ) -> Bool {
        guard isFresher(event, asOf) else { return false }
        set(event, position, asOf, isDeletion)
        current = []
        if isDeletion { forgetBase(in: collection) }
        return true
    }

    /// Forgets what the server had of a deleted entity, but for its own id of it, by which a list
    /// of a tree knows it where it is there again.
    mutating func forgetBase(in collection: CollectionModel?) {
        defer { base = [] }
        guard !base.isEmpty, let collection, collection.isByPath, let tree = collection.tree,
            let document = try? collection.read(JSONDocument(parsing: base)),
            let field = tree.serverID, tree.serverID(in: document) != nil
        else { return }
        var kept = JSONObject()
        kept[field] = document.value(field)
        mark = JSONValue.object(kept).encoded()
    }
}
