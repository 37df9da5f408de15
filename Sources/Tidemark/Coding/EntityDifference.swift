// EntityDifference.swift — the changes that an edit of an entity makes in its document: the fields
// whose encodings differ, and no fields that the type does not know.

import TidemarkEvents
import TidemarkRules

/// The difference between two encodings of an entity.
struct EntityDifference {
    private typealias Field = (name: String, value: [UInt8])
    private let old: [Field]
    private let new: [Field]
    private let nullable: Set<ExactString>
    private let lists: [KeyedList]

    /// The difference between an entity before and after an edit; its id is not compared.
    ///
    /// - Parameter references: the ids under which references are compared; nil for those in the
    ///   encodings.
    init(
        from before: EncodedNode, to after: EncodedNode, in collection: CollectionModel,
        references: ReferenceNames? = nil
    ) throws {
        func fields(_ node: EncodedNode) throws -> [Field] {
            try (node.members ?? []).filter { $0.name != collection.idField }.map {
                let value = $0.value.encoded
                return ($0.name, try references?.named(value, in: $0.name) ?? value)
            }
        }
        (old, new) = (try fields(before), try fields(after))
        nullable = Set(collection.nullable.map(ExactString.init))
        lists = collection.keyed
    }

    /// The patch that makes the difference in a document with the old entity's fields, and perhaps
    /// others.
    ///
    /// A field that lost its value becomes null when the model lists it as nullable; otherwise it
    /// is removed. Within a field that is an object, only the differing members are changed. Values
    /// that the document already has are left out. A list whose elements are told by keys changes
    /// element by element, and these keep members that the type does not know. Of another list an
    /// element that did not change stays as it is written; in one that has as many elements as
    /// before, so do the unknown members of an element that changed in its place.
    func patch(of document: JSONDocument) -> Patch {
        var patch = Patch()
        let earlier = Self.values(old)
        for (name, value) in new {
            let before = earlier[ExactString(name)]
            if let before, Self.isSame(before, value[...]) { continue }
            let present = document.rawValue(name)
            if let list = lists.list(in: name),
                let changes = Self.elements(
                    of: list, from: before, to: value[...], in: document.form(of: list))
            {
                patch.set += changes.set
                patch.unset += changes.unset
                continue
            }
            let value = Self.merged(value[...], before: before, into: present)
            if let present, Self.isSame(present, value) { continue }
            patch.set.append(Patch.Field(name, Array(value)))
        }
        let kept = Set(new.map { ExactString($0.name) })
        for (name, _) in old where !kept.contains(ExactString(name)) {
            guard let present = document.rawValue(name) else { continue }
            if !nullable.contains(ExactString(name)) {
                patch.unset.append(name)
            } else if !present.elementsEqual("null".utf8) {
                patch.set.append(Patch.Field(name, Array("null".utf8)))
            }
        }
        return patch
    }

    /// The changes of a list's elements; nil where the list changes as a whole.
    private static func elements(
        of list: KeyedList, from before: ArraySlice<UInt8>?, to after: ArraySlice<UInt8>,
        in present: ListForm
    ) -> Patch? {
        guard case .elements(let after) = ListForm(after, of: list) else { return nil }
        var known: KeyedElements?
        switch ListForm(before, of: list) {
        case .whole: return nil
        case .none: break
        case .elements(let elements): known = elements
        }
        var there: KeyedElements?
        switch present {
        case .whole: return nil
        case .none where after.isEmpty: return nil
        case .none: break
        case .elements(let elements): there = elements
        }
        var patch = Patch()
        for key in after.keys {
            guard let element = after[key] else { continue }
            let (earlier, present) = (known?[key], there?[key])
            if let earlier, isSame(earlier, element) { continue }
            let value = merged(element, before: earlier, into: present)
            if let present, isSame(present, value) { continue }
            patch.set.append(Patch.Field(list.name(of: key), Array(value)))
        }
        patch.unset = (known?.keys ?? []).filter { after[$0] == nil && there?[$0] != nil }
            .map(list.name)
        return patch
    }

    /// Whether two JSON texts have the same value.
    private static func isSame(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        if left == right { return true }
        guard let left = try? JSONValue(parsing: left), let right = try? JSONValue(parsing: right)
        else { return false }
        return left == right
    }

    /// The new text of a value, with members of the document that the type does not know.
    private static func merged(
        _ after: ArraySlice<UInt8>, before: ArraySlice<UInt8>?, into present: ArraySlice<UInt8>?
    ) -> ArraySlice<UInt8> {
        if let list = mergedList(after, before: before, into: present) { return list[...] }
        guard let before = before.flatMap(object), let present = present.flatMap(object),
            let after = object(after)
        else { return after }
        let old = values(before), there = values(present)
        var set: [(key: String, value: [UInt8])] = []
        for (key, value) in after.members.map({ ($0.key, after.bytes[$0.valueRange]) }) {
            let earlier = old[ExactString(key)]
            if let earlier, isSame(earlier, value) { continue }
            set.append(
                (key, Array(merged(value, before: earlier, into: there[ExactString(key)]))))
        }
        let kept = Set(after.keys.map(ExactString.init))
        let gone = before.keys.filter { !kept.contains(ExactString($0)) }
        return present.applying(set: set, unset: gone)[...]
    }

    /// The same of a list, where the document has as many elements as the old one; nil for another.
    private static func mergedList(
        _ after: ArraySlice<UInt8>, before: ArraySlice<UInt8>?, into present: ArraySlice<UInt8>?
    ) -> [UInt8]? {
        guard let before = before.flatMap(elements), let present = present.flatMap(elements),
            let after = elements(after), before.count == present.count
        else { return nil }
        // Those that did not change, in their places, and then those that moved.
        var origins = after.indices.map { place in
            place < before.count && before[place] == after[place] ? place : nil
        }
        let taken = Set(origins.compactMap(\.self))
        var moved: [ArraySlice<UInt8>: [Int]] = [:]
        for place in before.indices.reversed() where !taken.contains(place) {
            moved[before[place], default: []].append(place)
        }
        for place in after.indices where origins[place] == nil {
            origins[place] = moved[after[place]]?.popLast()
        }
        let kept = Set(origins.compactMap(\.self))
        let parts = after.indices.map { place in
            if let origin = origins[place] { return present[origin] }
            guard after.count == before.count, !kept.contains(place) else { return after[place] }
            return merged(after[place], before: before[place], into: present[place])
        }
        return [UInt8(ascii: "[")] + parts.joined(separator: [UInt8(ascii: ",")])
            + [UInt8(ascii: "]")]
    }

    private static func elements(_ text: ArraySlice<UInt8>) -> [ArraySlice<UInt8>]? {
        guard text.first == UInt8(ascii: "[") else { return nil }
        let bytes = Array(text)
        return ((try? JSON.arrayElements(of: bytes)) ?? nil)?.map { bytes[$0] }
    }

    private static func object(_ text: ArraySlice<UInt8>) -> JSONDocument? {
        text.first == UInt8(ascii: "{") ? try? JSONDocument(parsing: Array(text)) : nil
    }

    private static func values(_ document: JSONDocument) -> [ExactString: ArraySlice<UInt8>] {
        Dictionary(
            document.members.map { (ExactString($0.key), document.bytes[$0.valueRange]) },
            uniquingKeysWith: { first, _ in first })
    }

    private static func values(_ fields: [Field]) -> [ExactString: ArraySlice<UInt8>] {
        Dictionary(
            fields.map { (ExactString($0.name), $0.value[...]) },
            uniquingKeysWith: { first, _ in first })
    }
}
