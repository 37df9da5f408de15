// WriteContext+Issues.swift — carries out the answer to an issue, by edits like any other.

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// The events that an issue is about, read before it is answered.
struct IssueSides: Sendable {
    /// The losing mutation.
    var mutation: Event?
    /// The entity on both sides.
    var sides: ConflictSides<[UInt8]>?
    /// The `pull.completed` whose missing entities are held back.
    var completed: Event?
    /// When the server answered what raised it, by the server's clock.
    var serverTime: Timestamp?
    /// The fields, as they are called now, that were edited later than the losing mutation, and the
    /// last event when that was read.
    var edited: Set<ExactString> = []
    var last = Position.start
    /// Whether a folder is not deleted as something lies in it that was not seen here.
    var hasUnseen = false

    init(_ issue: IssueRow, _ views: ViewReader) throws {
        if try issue.keepsBoth || views.isInTree(issue) {
            serverTime = try views.serverTime(of: issue.position)
        }
        switch issue.kind {
        case .conflict where issue.isAsked: break
        case .conflict:
            mutation = try issue.mutation.flatMap { try views.event(at: $0) }
            sides = try ConflictSides(issue, views)
            (edited, last) = (try views.fieldsEditedLater(than: issue), views.last)
        case .absent: completed = try views.event(at: issue.position)
        case .rejected: hasUnseen = try issue.key.map(views.isHeldByUnseen) ?? false
        case .warned, .unreadable, .unsettled, .dangling, .unfetched: break
        }
    }
}

extension IssueSides {
    /// The fields of an edit that the server had as it meant them.
    fileprivate func agreed(_ edit: Patch, _ lists: [KeyedList]) -> [String] {
        guard let bytes = sides?.theirs, let theirs = try? JSONDocument(parsing: bytes) else {
            return []
        }
        let named = (try? theirs.expanded(lists)) ?? theirs
        return edit.fieldNames.filter { field in
            let value = edit.value(of: field).flatMap { try? JSONValue(parsing: $0) }
            // The document with the elements of lists as members has of a list only that it is
            // there.
            return value == theirs.value(field) ?? named.value(field)
        }
    }
}

extension ViewReader {
    /// The fields of an entity, as they are called now, that the user edited later than the edit
    /// that lost, where the later one waits or was taken by the server.
    ///
    /// What an answer made of a lost edit was edited when that was.
    fileprivate func fieldsEditedLater(than issue: IssueRow) throws -> Set<ExactString> {
        guard let mutation = issue.mutation, let (key, row) = try issue.key.flatMap(found) else {
            return []
        }
        let collection = try model()[key.collection]
        var fields: Set<ExactString> = []
        for (position, edit) in try edits(of: key, row, after: mutation, issue.position) {
            if edit.kind == .localDeleted {
                fields = []
                continue
            }
            let answered = try conflict(answeredBefore: position, edit)
            let remade = try answered.flatMap { try decision($0.position, $0.index) }
            // What lost before it was edited before it; the decision may be dropped.
            if let lost = remade?.inputs.first ?? answered?.position, lost <= mutation { continue }
            var names = edit.fields
            if let remade {
                // Where it had to make the entity again, the other fields are as they were.
                names = remade.superseded
            } else if edit.kind != .localUpdated, let made = try event(at: position)?.made {
                names = try JSONDocument(parsing: made).keys
            }
            let gone = Set(edit.lost.map(ExactString.init))
            let patch = Patch(unset: names.filter { !gone.contains(ExactString($0)) })
            fields.formUnion((collection?.read(patch) ?? patch).fieldNames.map(ExactString.init))
        }
        return fields
    }

    /// The user's edits of an entity after one of them that wait or were taken by the server, in
    /// order.
    ///
    /// - Parameter word: the server's word with which that one lost.
    private func edits(
        of key: EntityKey, _ row: EntityRow, after start: Position, _ word: Position
    ) throws -> [(position: Position, row: MutationRow)] {
        var edits: [(position: Position, row: MutationRow)] = []
        for item in row.pending where item.position > start && !item.isDerived {
            if let edit = try mutation(item.position) { edits.append((item.position, edit)) }
        }
        // While the base is what that told, nothing was taken since.
        if row.basePosition == word { return edits }
        // Nearly all that was settled since is of other entities, and not parsed.
        let beginnings = try keys(of: key).map(MutationRow.beginning(of:))
        try walk(.ledger, Ledger.settled, from: RowKey.settled(start.next).bytes) { bytes, value in
            guard beginnings.contains(where: { value.starts(with: $0) }),
                let position = Position(bigEndianBytes: bytes.dropFirst())
            else { return true }
            let edit = try MutationRow(parsing: value)
            let isTaken = edit.outcome == .accepted || edit.outcome == .merged
            if isTaken, try resolve(edit.key) == key { edits.append((position, edit)) }
            return true
        }
        return edits.sorted { $0.position < $1.position }
    }

    /// The conflict of which an edit makes again what was lost: the answer stands before it, in its
    /// commit.
    private func conflict(
        answeredBefore position: Position, _ edit: MutationRow
    ) throws -> (position: Position, index: Int)? {
        guard let event = try event(at: Position(position.rawValue - 1)),
            event.recordedAt == edit.recordedAt, let cause = event.cause,
            let answered = event.read(IssueAnswered.self), answered.kind == .conflict,
            answered.answer == IssueAnswer.keepMine.rawValue
        else { return nil }
        return (cause, answered.index)
    }

    /// Whether an issue is about an entity of a tree, which may be made again under another name.
    fileprivate func isInTree(_ issue: IssueRow) throws -> Bool {
        guard issue.key != nil, issue.kind == .rejected || issue.kind == .conflict else {
            return false
        }
        return try model()[issue.collection]?.tree != nil
    }
}

extension WriteContext {
    func settle(_ issue: IssueRow, _ sides: IssueSides, _ answer: IssueAnswer) throws {
        if answer == .keepBoth { return try keepBoth(issue, sides) }
        if issue.kind == .rejected || issue.isAsked {
            guard let key = issue.key else { return }
            switch answer {
            case .retry: try sendAgain(key)
            case .keepMine where sides.hasUnseen: try deleteAnew(key)
            case .keepMine: try keepMine(key, sides.serverTime ?? draft.now)
            case .keepTheirs where issue.isAsked:
                try keepTheirs(key, issue, sides.serverTime ?? draft.now)
            case .discard, .keepTheirs: try discardInside(key)
            case .keepBoth: break
            }
            return
        }
        if issue.kind == .unsettled, answer == .discard, let key = issue.key,
            try !draft.fold.entity(key).pending.isEmpty
        {
            try discardInside(key)
        }
        let payload = IssueAnswered(
            issue.kind, index: issue.index, name: issue.name, answer: answer.rawValue)
        let position = try draft.append(
            Event(
                .issueAnswered, recordedAt: draft.now, key: issue.key,
                collection: issue.collection, cause: issue.position, json: payload.encoded))
        switch issue.kind {
        case .conflict where answer == .keepMine:
            if let key = issue.key { try redo(key, issue, sides) }
        case .absent:
            guard let completed = sides.completed else { return }
            for id in PullCompleted(stored: completed.payload).held {
                try settleAbsent(
                    EntityKey(issue.collection, id), completed, cause: position, answer)
            }
        case .unfetched where answer == .discard:
            try takeBackWants(of: ContentSource(issue.collection, issue.name))
        case .conflict, .warned, .unreadable, .rejected, .unsettled, .dangling, .unfetched: break
        }
    }

    /// Keeps both sides: gives what was refused another name, or makes a new file of what was
    /// changed here.
    private func keepBoth(_ issue: IssueRow, _ sides: IssueSides) throws {
        guard let key = issue.key,
            let collection = try draft.fold.known(key.collection)?.model
        else { return }
        let date = sides.serverTime ?? draft.now
        if issue.kind == .rejected {
            guard let name = try draft.fold.otherName(for: key, in: collection, at: date) else {
                throw notFound(key)
            }
            if let changes = try draft.fold.anew(key, named: name, in: collection) {
                try discardAlone(key)
                for change in changes { try make(change, of: key, at: date) }
            } else {
                try patch(key, name)
            }
            return
        }
        guard var own = try draft.fold.ownFile(of: issue, in: collection) else {
            throw notFound(key)
        }
        var later: [ChangeAnew] = []
        let isThere = try draft.fold.entity(key).baseState == .live
        if issue.isAsked {
            (own, later) = try draft.fold.later(than: issue, own, in: collection)
            try discardAlone(key)
        } else {
            let open = try draft.fold.openConflicts(at: issue.position, of: key)
            try draft.answerBoth(open, at: issue.position, of: key)
        }
        let other = draft.keptKey(in: collection)
        if let document = try draft.fold.beside(own, in: collection, at: date) {
            try create(other, document)
        }
        for change in later { try make(change, of: isThere ? key : other, at: date) }
    }

    /// Takes the server's side of what a person was asked about; later edits of other fields stay.
    private func keepTheirs(_ key: EntityKey, _ issue: IssueRow, _ date: Timestamp) throws {
        let known = try draft.fold.resolve(key)
        guard let collection = try draft.fold.known(known.collection)?.model else {
            return try discardInside(key)
        }
        let rest = try draft.fold.kept(of: known, beside: issue, in: collection)
        try discardInside(known)
        for change in rest {
            if case .edit(let patch) = change, try document(known) == nil {
                // It is not seen, and so can't be edited by anybody.
                try append(patch, known, collection)
            } else {
                try make(change, of: known, at: date)
            }
        }
    }

    /// Has what was refused sent again: where there is a place, if it would lie in what is not
    /// there any more.
    private func keepMine(_ key: EntityKey, _ date: Timestamp) throws {
        let known = try draft.fold.resolve(key)
        guard let collection = try draft.fold.known(known.collection)?.model else {
            return try sendAgain(key)
        }
        if let changes = try draft.fold.anew(known, in: collection, at: date) {
            try discardAlone(known)
            for change in changes { try make(change, of: known, at: date) }
            return
        }
        if let (inner, place, changes) = try draft.fold.outOfCircle(
            known, in: collection, at: date)
        {
            try patch(inner, place)
            try append(.localDiscarded, known, nil)
            for change in changes { try make(change, of: known, at: date) }
            return
        }
        let place = try draft.fold.otherPlace(for: known, in: collection, at: date)
        try sendAgain(key)
        // It is not seen, and so can't be edited by anybody.
        if let place { try append(.localUpdated, known, place.encoded) }
    }

    /// Has a folder deleted with what lies in it by now, as far as is known.
    ///
    /// - Throws: `pendingChanges` where something took its name since: that would be deleted with
    ///   it, as the deletion would come after.
    private func deleteAnew(_ key: EntityKey) throws {
        let known = try draft.fold.resolve(key)
        if let other = try draft.fold.builtOn(known).first {
            throw TidemarkError(
                .pendingChanges,
                "\(known) can't be deleted with what lies in it by now, as \(other) took its name "
                    + "since and would go with it; give \(other) another name first", key: known)
        }
        try append(.localDiscarded, known, nil)
        try append(.localDeleted, known, nil)
    }

    /// Makes a change again that was given up.
    ///
    /// - Parameter date: the server's time.
    private func make(_ change: ChangeAnew, of key: EntityKey, at date: Timestamp) throws {
        switch change {
        case .create(let document): try create(key, document)
        // It is not seen, and so can't be edited by anybody.
        case .place(let patch):
            if !patch.isEmpty { try append(.localUpdated, key, patch.encoded) }
        case .edit(let edit):
            let known = try draft.fold.resolve(key)
            let collection = try draft.fold.known(key.collection)?.model
            try patch(
                key,
                collection.map { try draft.fold.fitted(edit, of: known, in: $0, at: date) } ?? edit)
        case .request(let requested):
            try append(.localRequested, key, requested.encoded, making: requested.document)
        }
    }

    /// Makes a lost edit again: all of its lost values, applied to the current entity.
    private func redo(_ key: EntityKey, _ issue: IssueRow, _ sides: IssueSides) throws {
        guard let lost = sides.mutation else { return }
        let collection = try draft.fold.knownCollection(key.collection)
        let lists = collection?.keyed ?? []
        let known = try draft.fold.resolve(key)
        let row = try draft.fold.whole(draft.fold.entity(known), known)
        // What is hidden is edited behind the back of who sees nothing of it.
        let isHidden = row.isHidden && row.baseState == .live
        let present = try (isHidden ? row.content(in: collection) : document(key)).map {
            try JSONDocument(parsing: $0)
        }
        // What was edited later stays, of what is there.
        let later: Set<ExactString> =
            try present == nil
            ? [] : sides.edited.union(row.fields(editedAfter: sides.last, in: collection))
        // The fields as they were called then, and as they are called now.
        let fields =
            issue.fields + (collection?.read(Patch(unset: issue.fields)).fieldNames ?? [])
        func limited(_ patch: Patch, _ more: [String] = []) -> Patch {
            (collection?.read(patch) ?? patch).limited(to: fields + more, lists)
                .without(later, lists)
        }
        func change(_ edit: Patch) throws {
            guard isHidden, let collection else {
                try patch(key, edit)
                return
            }
            if !edit.isEmpty { try append(edit, known, collection) }
        }
        if lost.kind == .localDeleted {
            guard present != nil else { return }
            if isHidden { try append(.localDeleted, known, nil) } else { try delete(key) }
        } else if let bytes = lost.made {
            let made = try JSONDocument(parsing: bytes)
            if let present {
                try change(limited(Patch(settingAllOf: made, lists, on: present)))
            } else {
                try create(key, try placed(made, key, collection, sides))
            }
        } else {
            let given = try Patch(parsing: lost.payload)
            var edit = limited(given)
            try checkNames(of: edit, key, lost, collection)
            if present != nil {
                try change(edit)
            } else {
                // Of what was deleted here since, the server may have told more.
                let isTold = row.baseState == .live
                let base = isTold ? row.base : sides.sides?.base
                // What both sides had come to was not given up, and is not in what was before.
                if !isTold {
                    edit = limited(given, sides.agreed(collection?.read(given) ?? given, lists))
                }
                let before = try JSONDocument(parsing: base ?? Array("{}".utf8))
                let made = try JSONDocument(parsing: edit.applied(to: before, lists))
                try create(key, try placed(made, key, collection, sides))
            }
        }
    }

    /// What is made again, at the root where its folder is gone.
    ///
    /// - Throws: `unfitFile` for a file whose content is not here.
    private func placed(
        _ document: JSONDocument, _ key: EntityKey, _ collection: CollectionModel?,
        _ sides: IssueSides
    ) throws -> [UInt8] {
        guard let collection else { return document.bytes }
        let placed = try draft.fold.placed(
            document, in: collection, at: sides.serverTime ?? draft.now)
        guard let made = try madeAgain(placed, collection) else {
            throw TidemarkError(
                .unfitFile,
                "\(key) can't be made again, as its content is not here: keep theirs, or give it "
                    + "another content", key: key)
        }
        return made
    }

    /// What the server does not have any more as it is made there again; nil for a file whose
    /// content is not here.
    private func madeAgain(
        _ document: [UInt8], _ collection: CollectionModel?
    ) throws -> [UInt8]? {
        guard let collection else { return document }
        return try draft.fold.madeAgain(document, in: collection)
    }

    /// Refuses an edit of elements of a list whose elements the model does not tell any more.
    private func checkNames(
        of edit: Patch, _ key: EntityKey, _ lost: Event, _ collection: CollectionModel?
    ) throws {
        guard lost.schemaVersion > 0 else { return }
        let name = edit.fieldNames.first { name in
            name.hasPrefix("/") && collection?.keyed.element(name) == nil
        }
        guard let name else { return }
        throw TidemarkError(
            .invalidDocument,
            "\(key): the edit was of \(name), the element of a list whose elements the model does "
                + "not tell any more; edit the list, and answer keepTheirs", key: key)
    }

    /// Deletes an entity that a whole list did not name, or creates it again.
    private func settleAbsent(
        _ key: EntityKey, _ completed: Event, cause: Position, _ answer: IssueAnswer
    ) throws {
        let row = try draft.fold.entity(key)
        let asOf = completed.asOf ?? cause
        guard row.baseState == .live, row.asOf.map({ $0 <= asOf }) ?? true else { return }
        let mine = try row.content(in: draft.fold.knownCollection(key.collection))
        let deleted = try draft.append(
            Event(
                .serverDeleted, recordedAt: draft.now, key: key, cause: cause, asOf: asOf))
        let met = try draft.fold.entity(key)
        if let refusal = met.refusal, refusal.isAsked, refusal.position == deleted {
            // The answer is one to this question, too.
            return try answer == .keepMine ? keepMine(key, draft.now) : discardInside(key)
        }
        guard answer == .keepMine, let mine, met.content == nil else { return }
        // What lost against that is kept as well: the user is not asked again about it.
        for index in row.pending.indices where try draft.fold.get(.lost(deleted, index)) != nil {
            let payload = IssueAnswered(.conflict, index: index, answer: answer.rawValue)
            try draft.append(
                Event(
                    .issueAnswered, recordedAt: draft.now, key: key, cause: deleted,
                    json: payload.encoded))
        }
        let collection = try draft.fold.knownCollection(key.collection)
        guard let made = try madeAgain(mine, collection) else { return }
        try create(key, made)
    }
}

extension Patch {
    /// The patch, limited to these fields; unlimited when none are named.
    ///
    /// With a list go its elements.
    fileprivate func limited(to fields: [String], _ lists: [KeyedList]) -> Patch {
        guard !fields.isEmpty else { return self }
        let names = Set(fields.map(ExactString.init))
        func isNamed(_ name: String) -> Bool {
            let list = lists.element(name)?.list.field
            return names.contains(ExactString(name))
                || list.map { names.contains(ExactString($0)) } ?? false
        }
        return Patch(set: set.filter { isNamed($0.name) }, unset: unset.filter(isNamed))
    }
}

extension EntityRow {
    /// The fields, as they are called now, that pending edits of the user change which were made
    /// after an event.
    fileprivate func fields(
        editedAfter start: Position, in collection: CollectionModel?
    ) throws -> Set<ExactString> {
        let later = Set(
            pending.filter { $0.position > start && !$0.isDerived }.map(\.position))
        let changes = try (collection.map { try self.changes(in: $0) } ?? self.changes)
            .filter { later.contains($0.position) }
        return Set(PendingChange.fields(changes, except: []).map(ExactString.init))
    }
}
