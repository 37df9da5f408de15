// KeptBoth.swift — both sides of a conflict about a file stay: the server's under its name, as the
// entity that it is there, and what was made here as a new one beside it. Where the policy says so
// it is done in the commit that learns of the conflict, else when a person answers.
//
//   both changed a content, or one deleted what the other changed   a new file beside it
//   what was made or moved here met another one of its name         it gets another name
//
// A content is named by its hash, so none is copied. The name follows from the server's time in the
// answer: NameBeside.swift.

package import TidemarkEvents
import TidemarkRules

extension RowReading {
    /// The entity as it was here, of a conflict in which the content of a file was changed here;
    /// nil of any other issue.
    package func ownFile(of issue: IssueRow, in collection: CollectionModel) throws -> JSONDocument?
    {
        guard issue.kind == .conflict, let key = issue.key, let field = collection.tree?.content,
            try issue.isAsked || givesUp(field, at: issue.position, of: key)
        else { return nil }
        let bytes =
            issue.isAsked ? try entity(at: .entity(key)).content : try sides(issue.position)?.mine
        guard let bytes, !bytes.isEmpty else { return nil }
        let own = try collection.read(JSONDocument(parsing: bytes))
        return own.value(field).flatMap { ContentName($0) }?.isFile == true ? own : nil
    }

    /// What was edited of a file after a person was asked about its content, with all that the
    /// server is to do, and the file before.
    ///
    /// Edits of other fields than the content are of the server's file, which stays the entity that
    /// it is; the file before them has the content of now. Where the server has no such file any
    /// more they are edits of the one that is made, and so is what the server is to do.
    ///
    /// - Parameter own: the file as it is here.
    package func later(
        than issue: IssueRow, _ own: JSONDocument, in collection: CollectionModel
    ) throws -> (own: JSONDocument, changes: [ChangeAnew]) {
        guard let key = issue.key, let field = collection.tree?.content else { return (own, []) }
        let row = try entity(at: .entity(key))
        let isThere = row.baseState == .live
        let changes = try row.pending.filter { item in
            item.isAction
                || isThere && item.kind == .update && !item.isDerived
                    && item.position > issue.position
        }.compactMap { try $0.anew(on: own, without: [field]) }
        let isEdited = changes.contains { if case .edit = $0 { true } else { false } }
        guard isEdited else { return (own, changes) }
        let before = try JSONDocument(
            parsing: row.made(through: issue.position, in: collection))
        let content = own.rawValue(field).map { [(key: field, value: Array($0))] } ?? []
        return (try JSONDocument(parsing: before.applying(set: content)), changes)
    }

    /// Whether an open conflict of an entity gave up a field.
    private func givesUp(_ field: String, at position: Position, of key: EntityKey) throws -> Bool {
        try openConflicts(at: position, of: key).contains { index in
            let fields = try lostConflict(position, index)?.fields ?? []
            return fields.contains { ExactString($0) == ExactString(field) }
        }
    }

    /// The conflicts of an entity that an event of the server won and nobody has answered yet.
    package func openConflicts(at position: Position, of key: EntityKey) throws -> [Int] {
        try decisions(at: position).filter { index, decision in
            try decision.key == key && get(.lost(position, index)) != nil
        }.map(\.index)
    }

    /// Whether an entity is refused because its name is taken, and not by what it is a copy of.
    package func isTaken(_ key: EntityKey, by event: Event?, in collection: CollectionModel) throws
        -> Bool
    {
        guard collection.tree != nil, event?.read(PushRejected.self)?.isTaken == true else {
            return false
        }
        let row = try entity(at: .entity(key))
        return row.document != nil
            && !row.pending.contains { $0.isRefused && ($0.isAction || !$0.request.isEmpty) }
    }
}

extension Fold {
    /// The document of a new file beside another one: what was made here, under a free name.
    ///
    /// Where its folder is gone, it lies at the root.
    ///
    /// - Parameters:
    ///   - own: the entity as it was here.
    ///   - date: the server's time.
    package func beside(
        _ own: JSONDocument, in collection: CollectionModel, at date: Timestamp
    ) throws -> [UInt8]? {
        guard let tree = collection.tree, let name = own.value(tree.name)?.stringValue else {
            return nil
        }
        let folder = try own.ids(in: tree.parent).first.flatMap { id in
            try self.folder(EntityKey(collection.name, id), tree)
        }
        func isTaken(_ name: String) throws -> Bool {
            try child(of: folder, named: name, in: collection) != nil
        }
        let free = try isTaken(name) ? NameBeside(name).next(at: date, isTaken: isTaken) : name
        var fields: [(key: String, value: [UInt8])] = []
        for field in [tree.kind, tree.content].compactMap(\.self) {
            if let value = own.rawValue(field) { fields.append((key: field, value: Array(value))) }
        }
        fields.append((key: tree.name, value: JSONValue.string(free).encoded()))
        if let folder {
            fields.append((key: tree.parent, value: JSONValue.string(folder.id).encoded()))
        }
        return try JSONDocument(parsing: Array("{}".utf8)).applying(set: fields)
    }

    /// A folder that is here; nil where it is not.
    func folder(_ key: EntityKey, _ tree: TreeRule) throws -> EntityKey? {
        let key = try resolve(key)
        guard let bytes = try document(of: key), try tree.isFolder(JSONDocument(parsing: bytes))
        else { return nil }
        return key
    }

    /// The edit that gives an entity another name, because the one that it has is taken.
    package func otherName(
        for key: EntityKey, in collection: CollectionModel, at date: Timestamp
    ) throws -> Patch? {
        guard let tree = collection.tree, let bytes = try document(of: key) else { return nil }
        let document = try JSONDocument(parsing: bytes)
        guard let name = document.value(tree.name)?.stringValue else { return nil }
        let folder = try document.ids(in: tree.parent).first.map { id in
            try resolve(EntityKey(collection.name, id))
        }
        let other = try NameBeside(name, isFolder: tree.isFolder(document)).next(at: date) {
            try $0 == name || child(of: folder, named: $0, in: collection) != nil
        }
        return Patch(set: [Patch.Field(tree.name, JSONValue.string(other).encoded())])
    }
}

extension ViewReader {
    /// Whether both sides of an issue can stay.
    func canKeepBoth(_ issue: IssueRow) throws -> Bool {
        guard let key = issue.key, let collection = try model()[key.collection],
            collection.tree != nil
        else { return false }
        guard issue.kind == .rejected else {
            return try collection.isByPath && ownFile(of: issue, in: collection) != nil
        }
        return try isTaken(key, by: event(at: issue.position), in: collection)
    }

    /// When the server answered what an event follows from, by its own clock: by the answer's date,
    /// or else as the log has it.
    package func serverTime(of position: Position) throws -> Timestamp? {
        guard let event = try event(at: position) else { return nil }
        var before = position.rawValue
        while let call = event.call ?? event.cause, before > call.rawValue + 1 {
            before -= 1
            guard let other = try self.event(at: Position(before)) else { break }
            if let date = other.date(ofAnswerTo: call) { return date }
        }
        return event.serverTime ?? event.recordedAt
    }
}

extension Patch {
    func without(_ field: String) -> Patch {
        let field = ExactString(field)
        return leavingOut { ExactString($0) == field }
    }
}

extension Event {
    /// The server's date in this answer to a call; nil for anything else.
    fileprivate func date(ofAnswerTo call: Position) -> Timestamp? {
        kind == .requestAnswered && self.call == call
            ? RequestAnswered(stored: payload).serverTime : nil
    }
}

extension Draft {
    /// Keeps both sides of what this commit found in conflict, where the policy says so.
    package func keepBoth(_ model: SyncModel) throws {
        guard model.collections.contains(where: { $0.conflict == .keepBoth }) else { return }
        let said = events
        let first = nextPosition.rawValue - UInt64(said.count)
        for (index, event) in said.enumerated() {
            guard let named = event.key, let collection = model[named.collection],
                collection.conflict == .keepBoth
            else { continue }
            let position = Position(first + UInt64(index))
            if event.kind == .serverUpserted || event.kind == .serverDeleted {
                try keepBoth(event, position, collection, said[..<index])
            } else if event.kind == .pushRejected {
                try rename(event, position, collection, said[..<index])
            }
        }
    }

    private func keepBoth(
        _ event: Event, _ position: Position, _ collection: CollectionModel,
        _ before: ArraySlice<Event>
    ) throws {
        guard try fold.sides(position) != nil, let key = try event.key.map(fold.resolve) else {
            return
        }
        let issue = IssueRow(
            kind: .conflict, position: position, collection: key.collection, entity: key.id)
        let open = try fold.openConflicts(at: position, of: key)
        // In a run that takes the server's word against everything nothing is kept.
        let isOwn = try open.contains { index in
            try fold.decision(position, index)?.rule == collection.conflict.name
        }
        guard isOwn, let own = try fold.ownFile(of: issue, in: collection) else { return }
        try answerBoth(open, at: position, of: key, sync: event.sync)
        let date = date(of: event, before)
        guard let document = try fold.beside(own, in: collection, at: date) else { return }
        try append(
            Event(
                .localCreated, recordedAt: now, key: keptKey(in: collection), cause: position,
                sync: event.sync, json: document))
    }

    /// Notes of conflicts that an event of the server won that both sides stay.
    package func answerBoth(
        _ open: [Int], at position: Position, of key: EntityKey, sync: Position? = nil
    ) throws {
        for index in open {
            let payload = IssueAnswered(.conflict, index: index, answer: "keepBoth")
            try append(
                Event(
                    .issueAnswered, recordedAt: now, key: key, cause: position, sync: sync,
                    json: payload.encoded))
        }
    }

    /// When the server answered what an event of this commit follows from, by its own clock.
    private func date(of event: Event, _ before: ArraySlice<Event>) -> Timestamp {
        let call = event.call ?? event.cause
        let dates = before.reversed().lazy.compactMap { other in
            call.flatMap { other.date(ofAnswerTo: $0) }
        }
        return dates.first ?? event.serverTime ?? now
    }

    /// The key of a file that is kept beside another one: no other event has this position.
    package func keptKey(in collection: CollectionModel) -> EntityKey {
        EntityKey(collection.name, "\(nextPosition)")
    }

    /// Gives what is refused another name; only once, as a server may refuse any.
    private func rename(
        _ event: Event, _ position: Position, _ collection: CollectionModel,
        _ before: ArraySlice<Event>
    ) throws {
        guard let key = try event.key.map(fold.resolve), let tree = collection.tree,
            try fold.entity(key).refusal?.position == position,
            try fold.isTaken(key, by: event, in: collection),
            let bytes = try fold.document(of: key),
            let name = try JSONDocument(parsing: bytes).value(tree.name)?.stringValue,
            !NameBeside(name, isFolder: true).isMade, !NameBeside(name).isMade,
            let patch = try fold.otherName(
                for: key, in: collection, at: date(of: event, before))
        else { return }
        try append(
            Event(
                .localUpdated, recordedAt: now, key: key, cause: position, sync: event.sync,
                json: patch.encoded))
    }
}
