// OvertakenEdits.swift — edits of one entity that wait, and whose fields the next few set again.
// An app that saves while the user types makes thousands of them; so an entity's row names them
// alone, and what they say lies in rows of their own, which the next edit does not touch.
//
//   key    'O' position, collection 0 id
//   value  the payload of the edit
//
// Only where nothing tells such edits apart: none of them was sent, refused or may have arrived
// without the others. What asks for each edit, as the server's word does, reads them back first.

package import TidemarkEvents
import TidemarkRules

extension Ledger {
    package static let overtaken = LedgerSort.overtaken.prefix
}

extension RowKey {
    /// What an edit says that those behind it overtake.
    package static func overtaken(_ position: Position, _ key: EntityKey) -> RowKey {
        RowKey(.ledger, key.bytes(after: Ledger.overtaken + position.bigEndianBytes))
    }
}

extension RowReading {
    /// An entity's row with what its overtaken edits say.
    package func whole(_ row: EntityRow, _ key: EntityKey) throws -> EntityRow {
        guard row.pending.contains(where: \.isOvertaken) else { return row }
        var row = row
        for index in row.pending.indices where row.pending[index].isOvertaken {
            let place = RowKey.overtaken(row.pending[index].position, key)
            guard let payload = try get(place) else { continue }
            row.pending[index].payload = payload
            row.pending[index].isOvertaken = false
        }
        return row
    }
}

extension EntityRow.Pending {
    /// The payload of an edit that changes nothing.
    static let nothing = Patch().encoded
    /// How many of the last mutations keep their payload in any case: of a few edits each is looked
    /// at more often than one is added.
    static let wholeCount = 4

    /// Whether it is an edit of the user's.
    private var isEdit: Bool {
        kind == .update && !isDerived && request.isEmpty && leftOut.isEmpty
    }

    /// Whether one that comes next may overtake it by its kind, and by what became of both.
    fileprivate func stands(as next: Self) -> Bool {
        isEdit && next.isEdit && isRefused == next.isRefused
            && mayHaveArrived == next.mayHaveArrived
    }
}

extension EntityRow {
    /// Whether a mutation and the one behind it are edits that have the same fate so far.
    private func isOneWithNext(_ index: Int) -> Bool {
        guard index + 1 < pending.count else { return false }
        let (item, next) = (pending[index], pending[index + 1])
        return item.stands(as: next) && isCarried(item) == isCarried(next)
    }

    /// Whether the next few edits, which have the same fate so far, set each field of one again.
    ///
    /// Then nothing of it is left after them. Their fields have to begin with its own, in its
    /// order: new ones lie so in the document.
    ///
    /// - Parameter read: how a model reads what an edit changes.
    private func isSetAgain(
        _ patch: Patch, at index: Int, _ read: (Patch) -> Patch
    ) -> Bool {
        let patch = read(patch)
        let names = patch.set.map { ExactString($0.name) }
        let gone = patch.unset.map { ExactString($0) }
        var later: [ExactString] = []
        for next in pending.indices.dropFirst(index + 1).prefix(Pending.wholeCount) {
            guard isOneWithNext(next - 1), !pending[next].isOvertaken,
                let other = try? Patch(parsing: pending[next].payload)
            else { return false }
            let known = read(other)
            // Of what is removed only the next edit is asked: it may come again in between.
            guard known.unset.map({ ExactString($0) }) == gone, gone.isEmpty || next == index + 1
            else { return false }
            for field in known.set.map({ ExactString($0.name) }) where !later.contains(field) {
                later.append(field)
            }
            if later.count >= names.count { return later.starts(with: names) }
        }
        return false
    }

    /// The edits that set some fields to what nothing is left of: later ones with the same fate so
    /// far set each of these again, as a whole.
    ///
    /// - Parameters:
    ///   - changes: what is pending, as a model reads it.
    ///   - lists: those of which an edit may change elements by their names.
    /// - Returns: their indexes in `changes`.
    func setAgain(
        _ fields: Set<ExactString>, by changes: [PendingChange], _ lists: [KeyedList]
    ) -> [Int] {
        var indexes: [Int] = []
        var later: Set<ExactString> = []
        var index = changes.endIndex
        // An action is no change.
        for place in pending.indices.reversed() where pending[place].kind != .action {
            index -= 1
            if !isOneWithNext(place) { later = [] }
            guard index >= 0, case .update(let patch) = changes[index].change else { continue }
            let names = patch.set.map { ExactString($0.name) }.filter { fields.contains($0) }
            let isAgain = !names.isEmpty && later.isSuperset(of: names)
            if isAgain, !patch.namesElements(of: lists) { indexes.append(index) }
            later.formUnion(names)
        }
        return indexes
    }

    /// Whether it may have overtaken edits, or had them.
    ///
    /// - Parameter before: what was pending in the row that was kept so far.
    func mayHaveOvertaken(_ before: [Pending]) -> Bool {
        pending.count > Pending.wholeCount || before.contains { $0.isOvertaken }
    }

    /// Leaves out what edits say that are overtaken.
    ///
    /// - Parameters:
    ///   - isFurtherEdit: whether nothing but an edit came since this was asked last.
    ///   - read: returns what an overtaken edit says.
    ///   - keep: takes what one says that is left out now.
    mutating func leaveOutOvertaken(
        in collection: CollectionModel, isFurtherEdit: Bool,
        read: (Position) throws -> [UInt8]?, keep: (Position, [UInt8]) throws -> Void
    ) throws {
        let given = pending
        let end = max(given.count - Pending.wholeCount, 0)
        let first = isFurtherEdit ? max(end - 1, 0) : 0
        let asked = collection.leavesOutOvertaken ? first..<end : 0..<0
        for (index, item) in given.enumerated() where item.isOvertaken || asked.contains(index) {
            let isOne = isOneWithNext(index)
            if item.isOvertaken {
                if !isOne, let payload = try read(item.position) {
                    pending[index].payload = payload
                    pending[index].isOvertaken = false
                }
                continue
            }
            guard isOne, let patch = try? Patch(parsing: item.payload), collection.isPlain(patch),
                isSetAgain(patch, at: index, { $0 }),
                collection.readsVerbatim || isSetAgain(patch, at: index, { collection.read($0) })
            else { continue }
            try keep(item.position, item.payload)
            pending[index].payload = Pending.nothing
            pending[index].isOvertaken = true
        }
    }
}

extension CollectionModel {
    /// Whether no rule looks at each edit of its entities.
    var leavesOutOvertaken: Bool {
        tree == nil && rivals == nil && choices.isEmpty && forms.isEmpty
    }

    /// Whether an edit changes no field that names entities, and no list of which the elements are
    /// told by keys.
    ///
    /// Of files only what the last edits name is noted, so that it is the same where they name any.
    fileprivate func isPlain(_ patch: Patch) -> Bool {
        let today = read(patch)
        guard !patch.touches(keyed), !today.touches(keyed) else { return false }
        let names = Set(namingFields.map { ExactString($0) })
        if names.isEmpty { return true }
        return !(patch.fieldNames + today.fieldNames).contains { names.contains(ExactString($0)) }
    }

    private var namingFields: [String] { references.map(\.topField) }

    /// Whether both models leave out the same overtaken edits.
    func leavesOutOvertaken(as other: CollectionModel) -> Bool {
        leavesOutOvertaken == other.leavesOutOvertaken && keyed == other.keyed
            && namingFields == other.namingFields
    }
}
