// LeftOut.swift — fields that a write which makes an entity leaves out: they name files that are
// sent below the entity, once the server has it.
//
// Such a write carries all that is pending but these fields. When it is sent, the last mutation
// that sets one notes that; so whatever becomes of the write, what it left out stays pending, and
// goes with an update.

package import TidemarkEvents
import TidemarkRules

extension PendingChange {
    /// The same without some fields.
    func leavingOut(_ fields: Set<ExactString>) throws(JSONError) -> PendingChange {
        guard !fields.isEmpty else { return self }
        var result = self
        switch change {
        case .create(let document):
            let bytes = document.applying(set: [], unset: fields.map(\.text))
            result.change = .create(try JSONDocument(parsing: bytes))
        case .update(let patch):
            result.change = .update(patch.leavingOut { fields.contains(ExactString($0)) })
        case .delete, .carried: break
        }
        return result
    }

    /// What it does to some fields; nil for nothing.
    func only(_ fields: Set<ExactString>) -> Patch? {
        guard !fields.isEmpty else { return nil }
        let patch = patch(except: [])?.leavingOut { !fields.contains(ExactString($0)) }
        return patch?.isEmpty == false ? patch : nil
    }
}

extension PendingChange.Change {
    /// The same with what was left out of it.
    func with(_ patch: Patch) throws(JSONError) -> Self {
        switch self {
        case .create(let document): .create(try JSONDocument(parsing: patch.applied(to: document)))
        case .update(let own): .update(own.followed(by: patch))
        case .delete, .carried: .update(patch)
        }
    }
}

extension CollectionModel {
    /// Fields by the names that they have in payloads, as today's model names them.
    func fields(reading names: [String]) -> Set<ExactString> {
        if names.isEmpty { return [] }
        let read = readsVerbatim ? names : read(Patch(unset: names)).fieldNames
        return Set(read.map(ExactString.init))
    }
}

extension EntityRow.Pending {
    /// What was left out of it, as it is pending by itself.
    func leftOut(as patch: Patch) -> EntityRow.Pending {
        var result = self
        if !isLeftOut {
            result.rewrite(as: .update(patch))
            (result.leftOut, result.isLeftOut) = (patch.fieldNames, true)
        }
        (result.mayHaveArrived, result.isRefused) = (false, false)
        return result
    }

    /// The names of the fields that it changes, as they are in its payload.
    fileprivate var fieldNames: [String] {
        get throws(JSONError) {
            switch kind {
            case .create: try JSONDocument(parsing: payload).keys
            case .update: try Patch(parsing: payload).fieldNames
            case .delete, .carried, .action: []
            }
        }
    }
}

extension EntityRow {
    /// Notes what a write that makes the entity leaves out; any other leaves out nothing.
    ///
    /// - Parameter covers: the last mutation that is sent.
    mutating func noteLeftOut(
        through covers: Position, in collection: CollectionModel
    ) throws(JSONError) {
        for index in pending.indices
        where pending[index].position <= covers && !pending[index].leftOut.isEmpty {
            (pending[index].leftOut, pending[index].isLeftOut) = ([], false)
        }
        guard collection.sendsFilesBelow, baseState != .live else { return }
        let indexes = pending.indices.filter {
            pending[$0].position <= covers && !pending[$0].isAction
        }
        let changes = try changes(indexes.map { pending[$0] }, in: collection)
        guard case .document(let bytes) = try Current(changes, on: baseValue(in: collection)) else {
            return
        }
        var fields = collection.unsentFields(of: changes, in: bytes)
        for (index, change) in zip(indexes, changes).reversed() {
            guard let patch = change.only(fields) else { continue }
            let own = Set(patch.fieldNames.map(ExactString.init))
            fields.subtract(own)
            pending[index].leftOut = try pending[index].fieldNames.filter {
                !collection.fields(reading: [$0]).isDisjoint(with: own)
            }
            pending[index].isLeftOut =
                pending[index].kind == .update
                && patch.fieldNames == change.patch(except: [])?.fieldNames
        }
        // Where it carries nothing else, one mutation tells that it was sent.
        if let last = indexes.last, indexes.allSatisfy({ pending[$0].isLeftOut }) {
            pending[last].isLeftOut = false
        }
    }

    /// What the mutations up to one make of the base, as an attempt carried them: its document, or
    /// nothing.
    package func sent(
        through last: Position, in collection: CollectionModel
    ) throws(JSONError) -> [UInt8] {
        let made = try made(through: last, in: collection)
        let fields = collection.fields(reading: pending.flatMap(\.leftOut))
        guard !made.isEmpty, !fields.isEmpty, baseState != .live || attempt != nil else {
            return made
        }
        return try JSONDocument(parsing: made).applying(set: [], unset: fields.map(\.text))
    }
}

/// The changes that meet the server's word.
///
/// While no answer came to a write that makes the entity, the fields that it left out are not among
/// them: what is pending for these stays.
struct MetChanges {
    /// Of the changes that are pending those that these are; nil where these are all.
    private(set) var indexes: [Int]?
    private(set) var changes: [PendingChange]
    /// The server's word, without the fields that were left out.
    private(set) var new: Base
    /// The mutations of these fields alone.
    private(set) var aside: [EntityRow.Pending] = []
    /// What the others do to these fields, by their positions.
    private(set) var rests: [Position: Patch] = [:]
    /// The mutations that went without anything, as later ones set all of their fields again.
    private(set) var overtaken: Set<Position> = []

    init(_ changes: [PendingChange], _ new: Base) { (self.changes, self.new) = (changes, new) }

    /// - Parameters:
    ///   - items: the mutations of the changes.
    ///   - leftOut: the fields that a write left out whose mutations are settled.
    init(
        _ changes: [PendingChange], of items: [EntityRow.Pending], _ row: EntityRow, _ new: Base,
        leftOut: Set<ExactString>, in collection: CollectionModel
    ) throws {
        self.init(changes, new)
        guard !leftOut.isEmpty || items.contains(where: { !$0.leftOut.isEmpty }) else { return }
        let sent = items.map { $0.mayHaveArrived || row.isCarried($0) }
        let isUnheard = row.baseState != .live || row.attempt != nil
        var fields = leftOut
        if isUnheard, sent.contains(true) {
            fields.formUnion(collection.fields(reading: items.flatMap(\.leftOut)))
        }
        guard !fields.isEmpty, let document = new.document else { return }
        (indexes, self.changes) = ([], [])
        for (index, (item, change)) in zip(items, changes).enumerated() {
            let rest = change.only(fields)
            let other = try change.leavingOut(fields)
            let isSent = sent[index]
            if let rest, !isSent, other.patch(except: [])?.isEmpty == true {
                aside.append(item.isLeftOut ? item.leftOut(as: rest) : item)
                continue
            }
            if let rest, !isSent || !item.leftOut.isEmpty { rests[item.position] = rest }
            if isSent, rest != nil, item.leftOut.isEmpty, other.patch(except: [])?.isEmpty == true {
                overtaken.insert(item.position)
            }
            indexes?.append(index)
            self.changes.append(other)
        }
        let bytes = document.applying(set: [], unset: fields.map(\.text))
        self.new = .live(try JSONDocument(parsing: bytes))
    }
}

extension Fold {
    /// Has what a write that was taken left out be pending from then on, also where it was refused
    /// before.
    func stay(_ item: EntityRow.Pending, of key: EntityKey) throws -> EntityRow.Pending {
        try reopen(item, of: key)
        return item
    }
}

extension RowReading {
    /// The mutations that the next write of an entity leaves out whole.
    package func leftOut(
        of key: EntityKey, _ row: EntityRow, in collection: CollectionModel
    ) throws -> Set<Position> {
        guard collection.sendsFilesBelow, row.baseState != .live, let last = row.next.last else {
            return []
        }
        var row = try whole(row, key)
        try row.noteLeftOut(through: last.position, in: collection)
        return Set(row.pending.filter(\.isLeftOut).map(\.position))
    }
}
