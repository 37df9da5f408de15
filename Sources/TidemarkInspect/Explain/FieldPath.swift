// FieldPath.swift — the path to a field of a document, or to a value within a field.

package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// A path in documents: `title`, `address.city`, `tags.0`.
package struct FieldPath: Sendable, Hashable {
    private let parts: [String]

    package init(_ text: String) {
        parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    }

    /// A top-level field with any name.
    package init(name: String) { parts = [name] }

    package var description: String { parts.joined(separator: ".") }

    /// The value at the path; nil where there is none.
    ///
    /// A member whose own name contains dots is found, too.
    package func value(in document: JSONDocument) -> JSONValue? {
        for count in stride(from: parts.count, to: 0, by: -1) {
            guard let value = document.value(parts[..<count].joined(separator: ".")) else {
                continue
            }
            return Self.value(parts[count...], in: value)
        }
        return nil
    }

    private static func value(_ rest: ArraySlice<String>, in value: JSONValue) -> JSONValue? {
        guard let first = rest.first else { return value }
        if let items = value.array {
            guard let index = Int(first), items.indices.contains(index) else { return nil }
            return Self.value(rest.dropFirst(), in: items[index])
        }
        for count in stride(from: rest.count, to: 0, by: -1) {
            let name = rest.prefix(count).joined(separator: ".")
            guard let member = value[name] else { continue }
            return Self.value(rest.dropFirst(count), in: member)
        }
        return nil
    }

    /// Whether the path is a top-level field, or leads into it; an element of a list, by its name,
    /// is in the list, and so is a path to the list in what is said of an element.
    package func isIn(_ field: String) -> Bool {
        if leads(to: field) { return true }
        if let list = KeyedList.field(ofElement: field), leads(to: list) { return true }
        return list.map { ExactString($0) == ExactString(field) } ?? false
    }

    private func leads(to field: String) -> Bool {
        (1...parts.count).contains { count in
            ExactString(parts[..<count].joined(separator: ".")) == ExactString(field)
        }
    }

    /// The list that it leads into by the name of an element; nil where it leads to a field.
    var list: String? { KeyedList.field(ofElement: description) }

    /// Whether it leads to or into one of some fields; no fields stand for the whole entity.
    package func isIn(_ fields: [String]) -> Bool {
        fields.isEmpty || fields.contains { isIn($0) }
    }
}

extension JSONDocument {
    /// The document in which a path is looked for, with the elements of lists that are told by keys
    /// under their names; of a path to a field the document itself.
    func named(for path: FieldPath?, in collection: CollectionModel?) -> JSONDocument {
        guard let lists = collection?.keyed, !lists.isEmpty, path.map({ $0.list != nil }) ?? true
        else { return self }
        return (try? expanded(lists, keepsEmptied: false)) ?? self
    }
}

/// The meaning of `COLLECTION/ID` or `COLLECTION/ID.FIELD`.
package struct EntityTarget: Sendable, Hashable {
    package var key: EntityKey
    package var field: FieldPath?

    package init(_ key: EntityKey, field: FieldPath? = nil) {
        self.key = key
        self.field = field
    }

    /// Reads a name whose id may contain dots, by taking the longest id that names an entity; also
    /// one without a row, of which only events tell.
    package init(reading named: EntityKey, _ views: ViewReader, _ journal: Journal) throws {
        self.init(named)
        guard try views.found(named) == nil else { return }
        var live: EntityKey?
        // The ids without a row that are longer than the one that has one.
        var ids = [named.id]
        var rest = named.id[...]
        while live == nil, let dot = rest.lastIndex(of: ".") {
            rest = rest[..<dot]
            let shorter = EntityKey(named.collection, String(rest))
            guard shorter.isValid else { continue }
            if try views.found(shorter) != nil { live = shorter } else { ids.append(shorter.id) }
        }
        // Without a dot there is nothing to choose from.
        guard live != nil || ids.count > 1 else { return }
        let told = try journal.longestTold(ids, in: named.collection, through: views.last)
        guard let key = told.map({ EntityKey(named.collection, $0) }) ?? live, key != named else {
            return
        }
        self.init(key, field: FieldPath(String(named.id.dropFirst(key.id.count + 1))))
    }
}

extension Journal {
    /// The longest of some ids of a collection that events up to a position name; nil for none.
    ///
    /// Damaged events are passed over.
    ///
    /// - Parameter ids: the longest first.
    fileprivate func longestTold(
        _ ids: [String], in collection: CollectionName, through last: Position
    ) throws -> String? {
        let keys = ids.map { EntityKey(collection, $0).bytes }
        var found = keys.count
        try environment.read { transaction in
            try log.forEachFrame(transaction) { position, frame in
                guard position <= last else { return false }
                guard let key = (try? frame.get())?.entityBytes,
                    let index = keys.firstIndex(of: key)
                else { return true }
                found = min(found, index)
                return found > 0
            }
        }
        return found < ids.count ? ids[found] : nil
    }
}
