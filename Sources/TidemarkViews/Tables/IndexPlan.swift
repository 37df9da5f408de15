// IndexPlan.swift — which indexes a model asks for, and what they say of an entity.
//
//   table              key                                       value
//   index.a index.b    name (8), components, id                  nothing, or the whole id
//
// The name is a hash of all that the keys depend on besides the entity, so an index of another
// shape is another index. The components are those of OrderKey, one for each field; the first one
// that is too long is cut and is the last. A long id is cut, too, and ends with its hash.

import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// The indexes of a model.
package struct IndexPlan: Sendable {
    /// The collections that have indexes, by name.
    let collections: [IndexedCollection]
    /// The names of all indexes, in the order of their bytes.
    let names: [[UInt8]]

    init(_ model: SyncModel) {
        var seen: Set<CollectionName> = []
        let first = model.collections.filter { seen.insert($0.name).inserted }
        collections = first.map(IndexedCollection.init).filter { !$0.indexes.isEmpty }
            .sorted { $0.model.name < $1.model.name }
        names = collections.flatMap { $0.indexes.map(\.name) }.sorted(by: ByteOrder.precedes)
    }

    /// The same without the indexes that are not named.
    init(_ plan: IndexPlan, only names: [[UInt8]]) {
        let names = Set(names)
        collections = plan.collections.map { $0.only(names) }.filter { !$0.indexes.isEmpty }
        self.names = plan.names.filter(names.contains)
    }

    subscript(_ name: CollectionName) -> IndexedCollection? {
        collections.first { $0.model.name == name }
    }
}

/// A collection with indexes.
struct IndexedCollection: Sendable {
    let model: CollectionModel
    private(set) var indexes: [KeptIndex]
    /// What the keys of the collection's rows begin with.
    let rowPrefix: [UInt8]
    /// The fields that any of the indexes has, each once.
    private let fields: FieldReader

    init(_ model: CollectionModel) {
        self.model = model
        rowPrefix = EntityKey.prefix(of: model.name)
        var fields: [ExactString] = []
        indexes = model.allIndexes.map { index in
            let places = index.fields.map { field in
                let name = ExactString(field.name)
                if let place = fields.firstIndex(of: name) { return place }
                fields.append(name)
                return fields.count - 1
            }
            return KeptIndex(index, of: model, places)
        }
        self.fields = FieldReader(fields.map(\.text))
    }

    func only(_ names: Set<[UInt8]>) -> IndexedCollection {
        var copy = self
        copy.indexes.removeAll { !names.contains($0.name) }
        return copy
    }

    /// The fields of an entity that any index is about, as its document has them; nil of one that
    /// is not seen.
    func values(of row: [UInt8]?) throws -> [ArraySlice<UInt8>?]? {
        guard let row, let document = try EntityRow.visibleDocument(in: row) else { return nil }
        return values(in: document)
    }

    /// The fields that any index is about, as a document has them.
    func values(in document: ArraySlice<UInt8>) -> [ArraySlice<UInt8>?] {
        if model.readsVerbatim { return fields.values(of: document) }
        let read = (try? model.read(Array(document)))?[...]
        return fields.values(of: read ?? document)
    }

    /// What the indexes say of an entity, in their order.
    ///
    /// - Parameters:
    ///   - row: nil where there is none.
    ///   - key: where it lies in its tree.
    func entries(of row: [UInt8]?, at key: [UInt8]) throws -> [IndexEntry] {
        entries(try values(of: row), id: key[rowPrefix.count...])
    }

    /// What the indexes say of an entity with these values, in their order.
    ///
    /// - Parameter id: its id in UTF-8.
    func entries(_ values: [ArraySlice<UInt8>?]?, id: ArraySlice<UInt8>) -> [IndexEntry] {
        guard let values else { return [] }
        return indexes.map { $0.entry(values, model.dates, id: id) }
    }
}

/// One record of an index.
struct IndexEntry: Hashable, Sendable {
    var key: [UInt8]
    /// The whole id, where it is too long for the key; else nothing.
    var value: [UInt8]

    static func precedes(_ left: IndexEntry, _ right: IndexEntry) -> Bool {
        ByteOrder.precedes(left.key, right.key)
    }
}

/// An index, and how its keys are made.
package struct KeptIndex: Sendable {
    let index: IndexModel
    let name: [UInt8]
    /// Where each of its fields is among those of the collection.
    private let places: [Int]

    static let nameBytes = 8
    /// How many bytes all components together have at most: 8 + 384 + 100 are less than 511.
    static let componentsMax = 384
    /// Of a longer id the first bytes and its hash are in the key.
    static let idBytesMax = 100
    static let idPrefixBytes = idBytesMax - 32

    init(_ index: IndexModel, of collection: CollectionModel, _ places: [Int]) {
        self.index = index
        self.places = places
        let fields = index.fields.map {
            JSONValue.array([.string($0.name), .string($0.kind.rawValue)])
        }
        let hasDates =
            index.fields.contains { $0.kind == .date }
            || collection.forms.contains { if case .wholeSeconds = $0 { true } else { false } }
        var what: [JSONValue] = [
            // Raised when keys are made in another way of the same entities.
            1, .string(collection.name.rawValue), .array(fields),
            hasDates ? .string(collection.dates.rawValue) : .null,
            .array(collection.migrations.map(\.json)),
        ]
        if !collection.forms.isEmpty { what.append(.array(collection.forms.map(\.json))) }
        name = Array(SHA256Digest.of(JSONValue.array(what).encoded()).prefix(Self.nameBytes))
    }

    func entry(
        _ values: [ArraySlice<UInt8>?], _ dates: DateFormat, id: ArraySlice<UInt8>
    ) -> IndexEntry {
        var key = name
        key.reserveCapacity(64)
        for (field, place) in zip(index.fields, places) {
            let start = key.count
            OrderKey.append(values[place], kind: field.kind, dates: dates, to: &key)
            guard key.count - start > index.valueBytesMax else { continue }
            key.removeLast(key.count - start - index.valueBytesMax)
            break
        }
        guard id.count > Self.idBytesMax else {
            key.append(contentsOf: id)
            return IndexEntry(key: key, value: [])
        }
        key.append(contentsOf: id.prefix(Self.idPrefixBytes))
        key.append(contentsOf: SHA256Digest.of(Array(id)))
        return IndexEntry(key: key, value: Array(id))
    }

    /// Components as they stand in a key, whole or only the first of them, the last one perhaps
    /// unfinished, with what follows on all of them; and whether anything was cut.
    func cut(_ components: [UInt8]) -> (bytes: [UInt8], isCut: Bool) {
        var at = 0
        for _ in index.fields where at < components.count {
            let end = OrderKey.end(of: components[...], from: at) ?? components.count
            if end - at > index.valueBytesMax {
                return (Array(components[..<(at + index.valueBytesMax)]), true)
            }
            at = end
        }
        return (components, false)
    }

    /// Where the components end in a key without the name, and whether the last one is cut; nil
    /// for a key that was never made.
    func componentsEnd(of rest: ArraySlice<UInt8>) -> (end: Int, isCut: Bool)? {
        var at = rest.startIndex
        for _ in index.fields {
            let longest = min(at + index.valueBytesMax, rest.endIndex)
            guard let end = OrderKey.end(of: rest[..<longest], from: at) else {
                return longest - at == index.valueBytesMax ? (longest, true) : nil
            }
            at = end
        }
        return (at, false)
    }

    /// Reads a record.
    ///
    /// - Throws: ``LogError`` `corruptRow` for one that was never made.
    func record(
        _ key: [UInt8], _ value: [UInt8], of collection: CollectionName
    ) throws(LogError) -> (components: ArraySlice<UInt8>, isCut: Bool, id: String) {
        let rest = key[name.count...]
        guard let (end, isCut) = componentsEnd(of: rest), let id = Self.id(rest[end...], value)
        else {
            throw LogError(
                .corruptRow, at: .start,
                "a record of an index of \(collection) is damaged; `tidemark rebuild` mends it")
        }
        return (rest[..<end], isCut, id)
    }

    /// The id that a record is about; nil where it is damaged.
    static func id(_ tail: ArraySlice<UInt8>, _ value: [UInt8]) -> String? {
        value.isEmpty ? String(utf8: tail) : String(utf8: value[...])
    }
}
