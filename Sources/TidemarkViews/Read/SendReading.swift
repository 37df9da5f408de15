// SendReading.swift — which file of the user's is sent next, and which of them hold a write back.

package import TidemarkEvents
import TidemarkRules

/// A request that sends a file, before it is made.
package struct SendPlan: Sendable, Hashable {
    package var collection: CollectionName
    /// The SHA-256 of the file, and its length.
    package var digest: String
    package var bytes: UInt64
    /// The entity that came to name it last; nil where it does not any more.
    package var key: EntityKey?
    package var method: String
    package var path: String
}

/// A file of the user's that a write names, and that the server does not have.
package struct UnsentFile: Sendable, Hashable {
    /// How it stands.
    package enum Standing: Sendable, Hashable {
        /// It is sent first.
        case waits
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
}

extension RowReading {
    /// How a file of the user's is to be sent; nil where it isn't.
    package func send(_ source: ContentSource) throws -> SendRow? {
        try get(.send(source)).map { try SendRow(parsing: $0) }
    }

    /// The request with a file that is to be made next; nil where none is due, or enough are open.
    ///
    /// - Parameter now: by the device's clock.
    package func nextSend(at now: Timestamp) throws -> SendPlan? {
        let model = try model()
        let farthest = farthestPause(from: now, model)
        var open = 0
        var found: SendPlan?
        try forEachSend { source, row in
            if row.call != nil { open += 1 }
            guard open < model.settings.budgets.uploads else {
                found = nil
                return false
            }
            let due = row.pausedUntil ?? now
            if found == nil, due <= now || due > farthest { found = try plan(source, row, model) }
            return true
        }
        return found
    }

    /// What a request sends that has no answer yet; nil where no such request is open.
    package func sendPlan(of call: Position) throws -> SendPlan? {
        guard let open = try openTransfers().first(where: { $0.call == call && $0.isSend }),
            var row = try send(open.source), row.call == call
        else { return nil }
        row.call = nil
        return try plan(open.source, row, model())
    }

    /// When the next request with a file is due, by the device's clock; nil for never.
    func nextSendTime(at now: Timestamp) throws -> Timestamp? {
        let model = try model()
        guard model.settings.budgets.uploads > 0 else { return nil }
        let farthest = farthestPause(from: now, model)
        var next: Timestamp?
        try forEachSend { source, row in
            guard try plan(source, row, model) != nil else { return true }
            var due = row.pausedUntil ?? Timestamp(rawValue: 0)
            if due > farthest { due = now }
            next = min(due, next ?? due)
            return true
        }
        return next
    }

    /// Nil for a file that is on its way, was sent, or is not here.
    private func plan(
        _ source: ContentSource, _ row: SendRow, _ model: SyncModel
    ) throws -> SendPlan? {
        guard row.call == nil, row.name == nil,
            let content = try get(.content(source.text)).map({ try ContentRow(parsing: $0) }),
            let stored = content.stored,
            let rule = model[source.collection]?.contents.first(where: { rule in
                rule.upload != nil
                    && content.own.contains {
                        $0.field == ContentField(source.collection, rule.field)
                    }
            }), let place = rule.sending(source.text)
        else { return nil }
        return SendPlan(
            collection: source.collection, digest: source.text, bytes: stored.bytes,
            key: row.entity.isEmpty ? nil : EntityKey(source.collection, row.entity),
            method: place.method, path: place.path)
    }

    private func forEachSend(
        _ body: (ContentSource, SendRow) throws -> Bool
    ) throws {
        try walk(.ledger, Ledger.sends) { key, value in
            guard let name = EntityKey(bytes: key.dropFirst(Ledger.sends.count)) else {
                return true
            }
            return try body(ContentSource(name.collection, name.id), SendRow(parsing: value))
        }
    }

    // MARK: What waits for a file

    /// The files of the user's that what is pending names and the server does not have, but for
    /// those that the server's own document names.
    package func unsentFiles(
        of row: EntityRow, _ collection: CollectionModel, _ model: SyncModel
    ) throws -> [UnsentFile] {
        guard collection.sendsFiles,
            case .document(let bytes) = try Current(
                row.changes(in: collection), on: row.baseValue(in: collection))
        else { return [] }
        let fields = collection.contents.filter { $0.upload != nil }.map(\.field)
        let body = try referenceNames(collection, model).named(bytes)
        let known = try row.baseValue(in: collection).document.map {
            collection.contentNames(in: $0.bytes).map(\.name)
        }
        return try collection.contentNames(in: body).compactMap { field, name in
            guard fields.contains(field), case .file(let digest, _) = name,
                !(known ?? []).contains(name)
            else { return nil }
            let source = ContentSource(collection.name, digest)
            let content = try get(.content(digest)).map { try ContentRow(parsing: $0) }
            let standing: UnsentFile.Standing =
                if content?.stored == nil {
                    .missing
                } else {
                    try send(source)?.refusal.map { .refused($0) } ?? .waits
                }
            return UnsentFile(field: field, digest: digest, standing)
        }
    }
}
