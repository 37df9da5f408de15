// FoldMatch.swift — writes without an answer to a server that names entities: an entity without a
// server id can't be read back, so the next lists settle them.
//
//   sent → answered                    nothing is left to find out
//        → a list names a new entity   it is the creation, where all fields of `match` agree
//        → a list ends without it      not there as far as can be known: it is sent again, and
//                                      lists are still looked through for it
//        → the answer is promised      lists name it or not: nothing is sent before that is given,
//                                      is lost, or is a day late
//
// Updates and deletions are settled by lists in the same way.

package import TidemarkEvents
import TidemarkRules

/// The entities of a collection with a write that may have reached the server, in the order in
/// which they were sent.
struct UnansweredRow: Sendable, Hashable {
    var ids: [String] = []

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        for id in ids { writer.message(1, id) }
        return writer.bytes
    }

    init() {}

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            if field.number == 1 { ids.append(try field.string()) }
        }
    }
}

/// A creation that was sent without an answer, and that a list names.
struct CreationClaim {
    var key: EntityKey
    var row: EntityRow
    /// How many of its first changes were sent together.
    var count: Int
    /// What was sent.
    var sent: SentCreation
    /// The fields that were left out of it.
    var leftOut: Set<ExactString>

    /// The creation's row once what was sent is settled: on it stands what was changed later.
    var rest: EntityRow {
        var rest = row
        rest.pending.removeFirst(count)
        rest.attempt = nil
        rest.baseState = .live
        rest.base = sent.document
        (rest.isAssumed, rest.isUntold) = (true, true)
        return rest
    }
}

/// A creation as it was sent, beside the record that it is.
struct SentCreation {
    /// What was sent; in the server's writing as far as the record says the same.
    var document: [UInt8]
    /// The fields that the record has otherwise: somebody changed them since.
    var differing: [String]
}

extension Fold {
    // MARK: Writes without an answer

    private func set(_ row: UnansweredRow, _ collection: CollectionName) {
        put(.unanswered(collection), row.ids.isEmpty ? nil : row.encoded)
    }

    /// Notes that a write of an entity was sent to a server that names entities.
    func noteUnanswered(_ key: EntityKey) throws {
        guard try namesEntities(key.collection) else { return }
        var list = try unanswered(key.collection) ?? UnansweredRow()
        guard !list.ids.contains(where: { ExactString($0) == ExactString(key.id) }) else { return }
        list.ids.append(key.id)
        set(list, key.collection)
    }

    /// Forgets an entity whose writes are settled.
    func forgetUnanswered(_ key: EntityKey) throws {
        guard try namesEntities(key.collection), var list = try unanswered(key.collection),
            let index = list.ids.firstIndex(where: { ExactString($0) == ExactString(key.id) })
        else { return }
        list.ids.remove(at: index)
        set(list, key.collection)
    }

    /// Forgets an entity unless one of its writes may still be on the server.
    func forgetAnswered(_ key: EntityKey, _ row: EntityRow) throws {
        if !row.isUnanswered { try forgetUnanswered(key) }
    }

    /// Whether the server names the entities of a collection.
    package func namesEntities(_ collection: CollectionName) throws -> Bool {
        guard let known = try known(collection) else { return false }
        return known.model.ids != .client
    }

    // MARK: Lists that ended

    /// A complete list that began after writes were sent settles those that it did not show: as far
    /// as can be known they did not arrive, and are sent again.
    ///
    /// Those that the server promised to answer may be carried out later, and are left alone.
    func settleUnanswered(_ event: Event, _ position: Position) throws {
        guard let collection = event.collection, let asOf = event.asOf else { return }
        let content = try known(collection)?.model.tree?.content
        for key in try unreadableAttempts(collection) {
            // Of the content of a file by path a list does not tell what was sent: it is compared.
            if let content, try sends(content, key) { continue }
            try settleUnanswered(key, asOf, event, position)
        }
        guard var list = try unanswered(collection) else { return }
        var kept: [String] = []
        for id in list.ids {
            let key = EntityKey(collection, id)
            try settleUnanswered(key, asOf, event, position)
            if try heldRow(at: .entity(key)).isUnanswered { kept.append(id) }
        }
        guard kept != list.ids else { return }
        list.ids = kept
        set(list, collection)
    }

    /// Whether the write of an entity that has no answer sends a field.
    private func sends(_ field: String, _ key: EntityKey) throws -> Bool {
        let row = try entity(key)
        guard let attempt = row.attempt else { return false }
        return try row.pending.contains { item in
            guard item.position <= attempt.covers else { return false }
            switch item.kind {
            case .create: return JSON.value(field, of: item.payload) != nil
            case .update:
                return try Patch(parsing: item.payload).set.contains {
                    ExactString($0.name) == ExactString(field)
                }
            case .delete, .carried, .action: return false
            }
        }
    }

    private func settleUnanswered(
        _ key: EntityKey, _ asOf: Position, _ event: Event, _ position: Position
    ) throws {
        guard let attempt = try heldRow(at: .entity(key)).attempt, attempt.call <= asOf,
            try !isAwaited(attempt.call, event)
        else { return }
        var row = try entity(key)
        row.noteArrivalPossible()
        try endAttempt(&row, key)
        try annihilate(&row, key, proof: position, isKnown: true)
        try refresh(&row, key)
        try put(row, key)
    }

    // MARK: Entities that lists name

    /// Recognises a listed entity as one that was created here and sent without an answer.
    ///
    /// - Returns: whether it is one; its event is then folded.
    func claim(_ named: EntityKey, _ event: Event, _ position: Position) throws -> Bool {
        guard let claim = try claim(of: named, event, position) else { return false }
        try adopt(named, claim, event, position)
        return true
    }

    /// The creation that a listed entity is, if it is one that was sent without an answer.
    func claim(
        of named: EntityKey, _ event: Event, _ position: Position
    ) throws -> CreationClaim? {
        guard event.mutation == nil, try namesEntities(named.collection),
            let list = try unanswered(named.collection)
        else { return nil }
        let collection = try collection(named.collection)
        let known = try heldRow(at: rowKey(of: named))
        guard !collection.match.isEmpty, known.pending.isEmpty,
            known.baseState == .absent || known.isPlaceholder, known.prunedDigest.isEmpty
        else { return nil }
        let record = try collection.read(try JSONDocument(parsing: event.payload))
        let asOf = event.asOf ?? position
        var candidates: [(key: EntityKey, row: EntityRow)] = []
        for id in list.ids {
            let key = EntityKey(named.collection, id)
            guard try heldRow(at: .entity(key)).isUnansweredCreation else { continue }
            candidates.append((key, try entity(key)))
        }
        candidates.sort { $0.row.pending[0].position < $1.row.pending[0].position }
        var like: CreationClaim?
        for (key, row) in candidates where row.isOlder(than: asOf) {
            for count in row.sentCounts {
                let fields = collection.fields(
                    reading: row.pending.prefix(count).flatMap(\.leftOut))
                let changes = try row.changes(in: collection).prefix(count)
                    .map { try $0.leavingOut(fields) }
                guard case .document(let bytes) = try Current(changes, on: .absent) else {
                    continue
                }
                let sent = try JSONDocument(parsing: try namingFiles(bytes, of: key, collection))
                let isSame = try isMatch(record, sent, collection, exactly: true)
                guard try isSame || like == nil && isMatch(record, sent, collection) else {
                    continue
                }
                let claim = try CreationClaim(
                    key: key, row: row, count: count,
                    sent: self.sent(bytes, of: key, beside: record, collection),
                    leftOut: fields)
                if isSame { return claim }
                // Another one may be just the same.
                like = claim
            }
        }
        return like
    }

    /// Binds a listed entity to the creation that was sent.
    private func adopt(
        _ named: EntityKey, _ claim: CreationClaim, _ event: Event, _ position: Position
    ) throws {
        let key = claim.key
        var row = claim.row
        let sent = Array(row.pending.prefix(claim.count))
        let collection = try collection(key.collection)
        let whole = try row.changes(sent, in: collection)
        let changes = try whole.map { try $0.leavingOut(claim.leftOut) }
        let differing = Set(claim.sent.differing.map(ExactString.init))
        var later: Set<ExactString> = []
        let overtaken = PendingChange.overtaken(whole)
        var fates: [(index: Int, isOvertaken: Bool, fields: [String], lost: [String])] = []
        for index in sent.indices.reversed() {
            let all = changes[index].patch(except: collection.serverFields)?.fieldNames ?? []
            // A field that a later change overwrote was neither lost nor kept.
            let fields = all.filter { !later.contains(ExactString($0)) }
            let lost = fields.filter { field in
                let list = collection.keyed.element(field)?.list.field
                return ([field] + [list].compactMap(\.self)).map(ExactString.init)
                    .contains(where: differing.contains)
            }
            later.formUnion(all.map(ExactString.init))
            fates.append((index, overtaken[index], fields, lost))
        }
        var left: [EntityRow.Pending] = []
        for (index, isOvertaken, fields, lost) in fates.reversed() {
            let item = sent[index]
            let rest = whole[index].only(collection.fields(reading: item.leftOut))
            // An entity that was created exists, whatever became of its fields.
            let isLost = Set(lost.map(ExactString.init)).contains
            let isAllLost =
                !lost.isEmpty && lost.count == fields.count && item.kind != .create && rest == nil
            if !isOvertaken, !lost.isEmpty {
                var decision = DecisionRow(
                    key: key, rule: "match", ruleVersion: 2,
                    result: isAllLost ? "superseded" : "merged",
                    inputs: [item.position, position], fields: lost)
                decision.superseded = lost
                decision.kept = fields.filter { !isLost(ExactString($0)) }
                try note(decision, position)
                try lose(lost, of: item, key)
            }
            if let rest {
                left.append(try stay(item.leftOut(as: rest), of: key))
                continue
            }
            let outcome: MutationOutcome =
                isOvertaken ? .coalesced : isAllLost ? .superseded : .accepted
            try settle(item, of: key, outcome, proof: position, revision: event.revision)
        }
        try endAttempt(&row, key)
        row = claim.rest
        // Later changes were made on top of it, and were not refused for their content.
        try rearm(&row, key)
        try forgetUnanswered(key)
        let ruled = try event.cause.flatMap { try takeAnswer(key, $0) }
        // Where nobody changed it, nothing gives way.
        let isNews = try !differing.isEmpty || overwrites(event)
        if !row.pending.isEmpty, isNews || collection.conflict != .overwriteAlways {
            try rebase(&row, onto: event, key, position, ruled, leftOut: claim.leftOut)
        }
        // Of what was left out the server's word does not tell.
        row.pending.insert(contentsOf: left, at: 0)
        if !left.isEmpty { row.relay = nil }
        row.set(event, position, event.asOf ?? position, false)
        try bind(named.id, to: key, &row, proof: position)
        try refresh(&row, key)
        try put(row, key)
    }

    /// What was sent of a document, as far as it names files: by the server's names.
    private func namingFiles(
        _ bytes: [UInt8], of key: EntityKey, _ collection: CollectionModel
    ) throws -> [UInt8] {
        guard collection.sendsFiles else { return bytes }
        return try referenceNames(of: key, collection).named(bytes)
    }

    /// A creation as it was sent, compared with a record.
    private func sent(
        _ bytes: [UInt8], of key: EntityKey, beside record: JSONDocument,
        _ collection: CollectionModel
    ) throws -> SentCreation {
        var record = record
        var sent = try JSONDocument(parsing: try namingFiles(bytes, of: key, collection))
        let lists = collection.keyed.filter { list in
            record.form(of: list).isKeyed && sent.form(of: list).isKeyed
        }
        if !lists.isEmpty {
            (record, sent) = (try record.expanded(lists), try sent.expanded(lists))
        }
        var same = Patch()
        var differing: [String] = []
        for field in sent.keys where lists.list(in: field) == nil {
            let isServers = collection.serverFields.contains(field)
            let isLeftOut = record.value(field).leavesOut(sent.value(field))
            if try !isServers && !isLeftOut && !areSame(record, sent, in: field, collection) {
                differing.append(field)
            } else if let raw = record.rawValue(field) {
                same.set.append(Patch.Field(field, Array(raw)))
            }
        }
        let named = try JSONDocument(parsing: referenceNames(of: key, collection).named(bytes))
        return SentCreation(
            document: same.applied(to: named, collection.keyed), differing: differing)
    }

    /// Whether a record is what was sent, by the fields of `match`.
    private func isMatch(
        _ record: JSONDocument, _ sent: JSONDocument, _ collection: CollectionModel,
        exactly: Bool = false
    ) throws -> Bool {
        try collection.match.allSatisfy {
            try areSame(record, sent, in: $0, collection, exactly: exactly)
        }
    }

    /// Whether a field means the same in both, or names the same entities.
    ///
    /// - Parameter exactly: whether white space at the ends of a text counts.
    private func areSame(
        _ record: JSONDocument, _ sent: JSONDocument, in field: String,
        _ collection: CollectionModel, exactly: Bool = false
    ) throws -> Bool {
        func isMeant() -> Bool {
            record.means(sent, in: field, collection.dates, exactly: exactly)
        }
        guard let reference = collection.references.first(where: { $0.topField == field }) else {
            return isMeant()
        }
        if reference.field != field {
            guard let one = record.rawValue(field), let other = sent.rawValue(field) else {
                return isMeant()
            }
            return try comparedNames(collection).nameTheSame(one, other, in: field)
        }
        func keys(_ document: JSONDocument) throws -> [EntityKey] {
            try document.ids(in: field).map { try resolve(EntityKey(reference.collection, $0)) }
        }
        return try keys(record) == keys(sent)
    }
}

extension RowReading {
    /// The entities of a collection with a write that may have reached the server.
    func unanswered(_ collection: CollectionName) throws -> UnansweredRow? {
        try get(.unanswered(collection)).map { try UnansweredRow(parsing: $0) }
    }

    /// The times in the `match` fields of creations without an answer, or in the one by which a
    /// feed is in order: a list by date has to include them to settle these creations.
    package func unansweredMoments(in collection: CollectionModel) throws -> [Timestamp] {
        let ids = try unanswered(collection.name)?.ids ?? []
        return try ids.flatMap { id -> [Timestamp] in
            guard let row = try found(EntityKey(collection.name, id))?.row,
                row.isUnansweredCreation
            else { return [] }
            return try row.moments(in: collection)
        }
    }
}

extension EntityRow {
    /// Whether one of its writes may have reached the server.
    fileprivate var isUnanswered: Bool { attempt != nil || isUnansweredCreation }

    /// Whether it was created here and sent, and is not known to be on the server.
    fileprivate var isUnansweredCreation: Bool {
        guard baseState == .absent, let first = pending.first, first.kind == .create else {
            return false
        }
        return first.mayHaveArrived || attempt.map { first.position <= $0.covers } ?? false
    }

    /// Whether it was sent before the server was asked for something.
    fileprivate func isOlder(than asOf: Position) -> Bool {
        attempt.map { $0.call <= asOf } ?? true
    }

    /// The times of its creation by which a list has it, and of edits of it, as they are sent.
    fileprivate func moments(in collection: CollectionModel) throws -> [Timestamp] {
        var moments: [Timestamp] = []
        for item in pending where item.kind == .create || item.kind == .update {
            let document = item.kind == .create ? try JSONDocument(parsing: item.payload) : nil
            let patch = item.kind == .update ? try Patch(parsing: item.payload) : Patch()
            for field in collection.feed.map({ [$0.order] }) ?? collection.match {
                let raw = document?.rawValue(field) ?? patch.value(of: field)?[...]
                let read = raw.map { collection.read($0, of: field) }
                if let moment = read.flatMap({ collection.dates.timestamp($0) }) {
                    moments.append(moment)
                }
            }
        }
        return moments
    }

    /// How many of its first changes may have been sent together, largest first.
    fileprivate var sentCounts: [Int] {
        let attempted = attempt.map { attempt in
            pending.count { $0.position <= attempt.covers }
        }
        let before = pending.prefix { $0.mayHaveArrived || $0.isLeftOut }.count
        return Set([attempted ?? 0, before]).filter { $0 > 0 }.sorted(by: >)
    }
}

extension JSONDocument {
    /// Whether a field means what was sent: the same value, the same time, the same text without
    /// white space at its ends, as many servers keep it, or nothing.
    fileprivate func means(
        _ sent: JSONDocument, in field: String, _ dates: DateFormat, exactly: Bool
    ) -> Bool {
        let (left, right) = (value(field), sent.value(field))
        if left == right || (left.isNothing && right.isNothing) { return true }
        if !exactly, (left.isNothing ? .string("") : left).isTrimmed(right) { return true }
        guard let mine = rawValue(field).flatMap({ dates.timestamp($0) }),
            let others = sent.rawValue(field).flatMap({ dates.timestamp($0) })
        else { return false }
        return mine == others
    }
}

extension JSONValue? {
    /// A missing member, null and the empty text mean the same.
    fileprivate var isNothing: Bool { self == nil || self == .null || self == .string("") }
}
