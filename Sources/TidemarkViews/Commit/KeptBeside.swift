// KeptBeside.swift — what stays of an entity's pending changes where a person who is asked takes
// the server's side: later edits of other fields.
//
//   the mutation in conflict, and those before it      given up
//   an edit after it                                   stays, but for the fields in conflict
//   an edit after it, where one side deleted           given up: all of the entity is in question
//   an action after it                                 stays
//
// In a tree an edit that stays may not fit any more beside what the server has.

package import TidemarkEvents
import TidemarkRules

extension RowReading {
    /// What is made anew, in order, once all that is pending on an entity is given up.
    ///
    /// - Parameter issue: what a person is asked about the entity.
    package func kept(
        of key: EntityKey, beside issue: IssueRow, in collection: CollectionModel
    ) throws -> [ChangeAnew] {
        let row = try whole(entity(at: .entity(key)), key)
        guard row.baseState == .live, !issue.conflicting.isEmpty else { return [] }
        // What a person is asked about waits for the answer; what came later does not.
        let later = row.pending.filter { !$0.isRefused && !$0.isDerived }
        guard !later.contains(where: { $0.kind == .create || $0.kind == .delete }) else {
            return []
        }
        // As the fields were called then, and as they are called now.
        let renamed = collection.read(Patch(unset: issue.conflicting)).fieldNames
        let names = ConflictingNames(issue.conflicting + renamed, collection.keyed)
        return try later.compactMap { item in
            if item.isAction { return item.requested.map { .request($0) } }
            guard item.kind == .update else { return nil }
            let patch = collection.read(try Patch(parsing: item.payload))
            let rest = patch.fieldNames.filter(names.contains).reduce(patch) { $0.without($1) }
            return rest.isEmpty ? nil : .edit(rest)
        }
    }
}

extension Fold {
    /// An edit that is made anew, as far as it can be here: under another name where its own is
    /// taken by now, and without a place that is not there any more, or lies in the entity itself.
    ///
    /// - Parameter date: the server's time.
    package func fitted(
        _ edit: Patch, of key: EntityKey, in collection: CollectionModel, at date: Timestamp
    ) throws -> Patch {
        guard let tree = collection.tree, let bytes = try document(of: key) else { return edit }
        let known = try JSONDocument(parsing: bytes)
        var edit = edit
        func made() throws -> JSONDocument {
            try JSONDocument(parsing: edit.applied(to: known, collection.keyed))
        }
        func changes(_ field: String) -> Bool {
            edit.fieldNames.contains { ExactString($0) == ExactString(field) }
        }
        if changes(tree.parent), let id = try made().ids(in: tree.parent).first {
            let folder = try folder(EntityKey(collection.name, id), tree)
            if try folder.map({ try isInside($0, key, in: collection) }) ?? true {
                edit = edit.without(tree.parent)
            }
        }
        guard changes(tree.parent) || changes(tree.name) else { return edit }
        let document = try made()
        let folder = try document.ids(in: tree.parent).first.map {
            try resolve(EntityKey(collection.name, $0))
        }
        func isTaken(_ name: String) throws -> Bool {
            try child(of: folder, named: name, in: collection).map { $0 != key } ?? false
        }
        guard let name = document.value(tree.name)?.stringValue, try isTaken(name) else {
            return edit
        }
        let beside = NameBeside(name, isFolder: tree.isFolder(document))
        let free = try beside.next(at: date, isTaken: isTaken)
        edit = edit.without(tree.name)
        edit.set.append(Patch.Field(tree.name, JSONValue.string(free).encoded()))
        return edit
    }
}

/// Fields in conflict, and what of lists goes with them.
private struct ConflictingNames {
    private let fields: Set<ExactString>
    /// The lists of which an element is in conflict, also those whose elements the model tells no
    /// more: an edit of such a list holds all of it.
    private let ofElements: Set<ExactString>
    private let lists: [KeyedList]

    init(_ names: [String], _ lists: [KeyedList]) {
        self.lists = lists
        fields = Set(names.map(ExactString.init))
        ofElements = Set(
            names.compactMap { KeyedList.field(ofElement: $0).map { ExactString($0) } })
    }

    /// Whether a field is in conflict, or an element of a list that is, or a list with one.
    func contains(_ name: String) -> Bool {
        if fields.contains(ExactString(name)) || ofElements.contains(ExactString(name)) {
            return true
        }
        return lists.element(name).map { fields.contains(ExactString($0.list.field)) } ?? false
    }
}
