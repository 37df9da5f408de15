// SendReading.swift — which file of the user's is sent next, and which of them hold a write back.

package import TidemarkEvents
import TidemarkRules

/// A request that sends a file, before it is made.
package struct SendPlan: Sendable, Hashable {
    /// What is sent: a file by its SHA-256.
    package var source: ContentSource
    package var bytes: UInt64
    /// How often it failed in a row.
    package var failures = 0
    /// The entity that came to name it last; nil where it does not any more.
    package var key: EntityKey?
    package var method: String
    package var path: String

    package var collection: CollectionName { source.collection }
    package var digest: String { source.text }
}

/// A file of the user's that a write names, and that the server does not have.
package struct UnsentFile: Sendable, Hashable {
    /// How it stands.
    package enum Standing: Sendable, Hashable {
        /// It is sent first; with how often that failed in a row.
        case waits(failures: Int)
        /// It is not here.
        case missing
        /// The server did not take it; with the status of its answer, 0 for none.
        case refused(Int)
    }
    /// The field that names it.
    package var field: String
    package var digest: String
    package var standing: Standing

    package init(field: String, digest: String, _ standing: Standing) {
        self.field = field
        self.digest = digest
        self.standing = standing
    }

    /// Whether it is sent first.
    package var isWaiting: Bool { if case .waits = standing { true } else { false } }
}

extension RowReading {
    /// How a file of the user's is to be sent; nil where it isn't.
    package func send(_ source: ContentSource) throws -> SendRow? {
        guard ContentRow.isNoted(source.text) else { return nil }
        return try get(.send(source)).map { try SendRow(parsing: $0) }
    }

    /// The request with a file that is to be made next; nil where none is due, or enough are open.
    ///
    /// - Parameter now: by the device's clock.
    package func nextSend(at now: Timestamp) throws -> SendPlan? {
        let model = try model()
        let budget = model.settings.budgets.uploads
        guard try openTransfers().count(where: \.isSend) < budget else { return nil }
        var found: SendPlan?
        try forEachSend { source, row in
            if row.pause?.isOver(at: now) ?? true { found = try plan(source, row) }
            return found == nil
        }
        return found
    }

    /// When the next request with a file is due, by the device's clock; nil for never.
    package func nextSendTime(at now: Timestamp) throws -> Timestamp? {
        let model = try model()
        guard model.settings.budgets.uploads > 0 else { return nil }
        var next: Timestamp?
        try forEachSend { source, row in
            let due = row.pause?.end(at: now) ?? Timestamp(rawValue: 0)
            guard due < next ?? due.adding(seconds: 1), try plan(source, row) != nil else {
                return true
            }
            next = due
            return due > now
        }
        return next
    }

    /// Nil for a file that is on its way, was sent, or is not here, and for one that is sent below
    /// an entity which the server does not have.
    private func plan(_ source: ContentSource, _ row: SendRow) throws -> SendPlan? {
        guard row.call == nil, row.name == nil, let stored = try stored(source.text) else {
            return nil
        }
        var id = ""
        if !source.entity.isEmpty {
            guard let known = try serverID(ofHolder: source) else { return nil }
            id = known
        }
        let place = ContentRule.sending(source.text, to: row.place, below: id)
        return SendPlan(
            source: source, bytes: stored.bytes, failures: row.failures,
            key: row.entity.isEmpty ? nil : EntityKey(source.collection, row.entity),
            method: place.method, path: place.path)
    }

    /// The id by which the server has the entity below which a file is sent; nil where it does not
    /// have it, or has told no id of it yet, and where the entity is out of reach.
    private func serverID(ofHolder source: ContentSource) throws -> String? {
        let key = EntityKey(source.collection, source.entity)
        let row = try entity(at: .entity(key))
        guard row.baseState == .live, !row.isHidden, !row.isPlaceholder,
            let collection = try model()[key.collection]
        else { return nil }
        if let id = try serverID(of: key, row, idField: collection.idField) { return id }
        return row.isUntold && collection.ids != .client ? nil : key.id
    }

    /// What a request sends that has no answer yet; nil where no such request is open.
    ///
    /// - Parameter request: as it was logged.
    package func sendPlan(of call: Position, _ request: RequestSent) throws -> SendPlan? {
        guard let open = try openTransfers().first(where: { $0.call == call && $0.isSend }),
            let method = request.method, let path = request.path
        else { return nil }
        return SendPlan(source: open.source, bytes: 0, method: method, path: path)
    }

    private func stored(_ digest: String) throws -> ContentRow.Stored? {
        guard ContentRow.isNoted(digest) else { return nil }
        return try get(.content(digest)).map { try ContentRow(parsing: $0) }?.stored
    }

    /// Calls `body` with each file that is to be sent until that says false.
    func forEachSend(
        _ body: (ContentSource, SendRow) throws -> Bool
    ) throws {
        try walk(.ledger, Ledger.sends) { key, value in
            guard let name = EntityKey(bytes: key.dropFirst(Ledger.sends.count)) else {
                return true
            }
            let row = try SendRow(parsing: value)
            var source = ContentSource(name.collection, name.id)
            if !row.digest.isEmpty { (source.text, source.entity) = (row.digest, row.entity) }
            return try body(source, row)
        }
    }

    // MARK: What waits for a file

    /// A file that a write sends as the content of its entity, where it is not here.
    package func missing(_ file: ContentName, in field: String) throws -> [UnsentFile] {
        try stored(file.text) == nil
            ? [UnsentFile(field: field, digest: file.text, .missing)] : []
    }

    /// The files of the user's that what is pending names, that the server does not have, and that
    /// are sent before it.
    package func unsentFiles(
        of key: EntityKey, _ row: EntityRow, _ collection: CollectionModel
    ) throws -> [UnsentFile] {
        // What makes the entity goes without those that are sent below it.
        if collection.sendsFilesBelow, row.baseState != .live { return [] }
        return try row.namesToBeSent(in: collection).compactMap { field, name in
            let known = try send(ContentSource(sending: name.text, for: key, collection))
            guard known?.name == nil else { return nil }
            let standing: UnsentFile.Standing =
                if try stored(name.text) == nil {
                    .missing
                } else if let status = known?.refusal {
                    .refused(status)
                } else {
                    .waits(failures: known?.failures ?? 0)
                }
            return UnsentFile(field: field, digest: name.text, standing)
        }
    }

    /// The files of the user's that what is pending names, and that are sent below the entity once
    /// the server has that.
    package func filesBelow(
        _ row: EntityRow, in collection: CollectionModel
    ) throws -> [(field: String, name: ContentName)] {
        guard collection.sendsFilesBelow, row.baseState != .live else { return [] }
        return try row.namesToBeSent(in: collection)
    }

    // MARK: What fails

    /// Whether a file of the user's that an entity names failed to be sent, or was refused.
    package func hasFailedSend(_ key: EntityKey) throws -> Bool {
        let collection = try model()[key.collection]
        return try contents(of: key).names.contains { named in
            guard named.isToBeSent else { return false }
            return try send(ContentSource(sending: named.text, for: key, collection))?.hasFailed
                ?? false
        }
    }

    /// The entities of which a file fails to be sent again and again.
    func unsentIssues() throws -> [IssueRow] {
        var failing: [(source: ContentSource, row: SendRow)] = []
        try forEachSend { source, row in
            if row.isTold { failing.append((source, row)) }
            return true
        }
        return try failing.compactMap { source, row in
            guard let first = row.first, try stored(source.text) != nil,
                let (key, field) = try sender(of: source, row)
            else { return nil }
            var issue = IssueRow(
                kind: .unsettled, position: first, collection: key.collection, entity: key.id)
            issue.fields = [field]
            issue.message = "sending its file failed \(row.failures) times in a row (\(field))"
            issue.count = row.failures
            return issue
        }
    }

    /// An entity that waits for a file to be sent, and the field that names it; nil where none
    /// does any more.
    package func sender(of plan: SendPlan) throws -> (key: EntityKey, field: String)? {
        try send(plan.source).flatMap { try sender(of: plan.source, $0) }
    }

    /// The same of a file with its row: that below which it is sent, or the one that came to name
    /// it last, or else any.
    private func sender(
        of source: ContentSource, _ row: SendRow
    ) throws -> (key: EntityKey, field: String)? {
        func field(_ row: EntityContentsRow) -> String? {
            row.names.first { named in
                named.isToBeSent && ExactString(named.text) == ExactString(source.text)
            }?.field
        }
        let last = try resolve(EntityKey(source.collection, row.entity))
        if let field = field(try contents(of: last)) { return (last, field) }
        guard source.entity.isEmpty else { return nil }
        var found: (key: EntityKey, field: String)?
        let prefix = Ledger.contentsOfEntities + EntityKey.prefix(of: source.collection)
        try walk(.ledger, prefix) { bytes, value in
            let name = EntityKey(bytes: bytes.dropFirst(Ledger.contentsOfEntities.count))
            if let name, let field = field(try EntityContentsRow(parsing: value)) {
                found = (name, field)
            }
            return found == nil
        }
        return try found.map { (key: try resolve($0.key), field: $0.field) }
    }

    // MARK: What is only here

    /// Whether an entity without pending changes names a file of the user's that is here, and that
    /// the server does not have: of a tree's file it has the content.
    func holdsFile(_ key: EntityKey) throws -> Bool {
        let names = try contents(of: key).names.filter(\.isFile)
        guard !names.isEmpty else { return false }
        let content = try model()[key.collection]?.tree?.content
        return try names.contains { named in
            try named.field != content && stored(named.text) != nil
        }
    }

    // MARK: What is not here

    /// Whether an entity names a file of the user's that is not stored.
    func misses(_ digest: String) throws -> Bool {
        guard let row = try content(digest) else { return false }
        return row.stored == nil && !row.own.isEmpty
    }

    /// Of entities that name files of the user's the first one for each, by digest.
    func namers(ofFiles digests: Set<String>) throws -> [String: EntityKey] {
        var found: [String: EntityKey] = [:]
        try walk(.ledger, Ledger.contentsOfEntities) { key, value in
            let name = EntityKey(bytes: key.dropFirst(Ledger.contentsOfEntities.count))
            for named in try EntityContentsRow(parsing: value).names
            where named.isFile && digests.contains(named.text) && found[named.text] == nil {
                found[named.text] = name
            }
            return found.count < digests.count
        }
        return found
    }

    /// How long files of the user's are by what names them; of none that nobody tells of, or only
    /// what is pending.
    package func lengths(ofFiles digests: Set<String>) throws -> [String: UInt64] {
        let model = try self.model()
        var lengths: [String: UInt64] = [:]
        for (digest, key) in try namers(ofFiles: digests) {
            guard let collection = model[key.collection] else { continue }
            let row = try entity(at: .entity(key))
            for (_, name) in row.knownContentNames(in: collection) {
                guard case .file(let known, let bytes) = name, known == digest else { continue }
                lengths[digest] = UInt64(exactly: bytes)
            }
        }
        return lengths
    }
}
