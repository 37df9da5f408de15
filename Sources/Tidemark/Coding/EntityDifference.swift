// EntityDifference.swift — the changes that an edit of an entity makes in its document: the fields
// whose encodings differ, and neither fields that the type does not know nor those that only the
// server sets.

import TidemarkEvents
import TidemarkRules

/// The difference between two encodings of an entity.
struct EntityDifference {
    private typealias Field = (name: String, value: [UInt8], node: EncodedNode)
    private let old: [Field]
    private let new: [Field]
    private let nullable: Set<ExactString>
    private let lists: [KeyedList]
    private let dates: DateFormat
    /// The fields that the document still has as they were before.
    private let standing: Set<ExactString>

    /// The difference between an entity before and after an edit; what only the server sets is not
    /// compared.
    ///
    /// - Parameters:
    ///   - present: the entity as it stands in the document; nil where it can't be read.
    ///   - references: the ids under which references are compared; nil for those in the encodings.
    init(
        from before: EncodedNode, to after: EncodedNode, in collection: CollectionModel,
        present: EncodedNode?, references: ReferenceNames? = nil
    ) throws {
        func fields(_ node: EncodedNode) throws -> [Field] {
            try (node.members ?? []).filter { !collection.isOfServer($0.name) }.map {
                let value = $0.value.encoded
                return ($0.name, try references?.named(value, in: $0.name) ?? value, $0.value)
            }
        }
        let earlier = try fields(before)
        var known = earlier
        if present !== before { known = try present.map { try fields($0) } ?? [] }
        let there = Self.values(known)
        standing = Set(
            earlier.compactMap { field -> ExactString? in
                let name = ExactString(field.name)
                guard let value = there[name] else { return nil }
                return Self.isSame(value, field.value[...]) ? name : nil
            })
        (old, new) = (earlier, try fields(after))
        nullable = Set(collection.nullable.map(ExactString.init))
        lists = collection.keyed
        dates = collection.dates
    }

    /// The patch that makes the difference in a document with the old entity's fields, and perhaps
    /// others.
    ///
    /// A field that lost its value becomes null when the model lists it as nullable; otherwise it
    /// is removed. Within a field that is an object, only the differing members are changed. Values
    /// that the document already has are left out. A list whose elements are told by keys changes
    /// element by element, and these keep members that the type does not know. Of another list an
    /// element that did not change stays as it is written; in one that has as many elements as
    /// before, so do the unknown members of an element that changed in its place. One that lacks an
    /// element of before in the document is written as it is after the edit. The order of a set is
    /// no difference, nor that of a dictionary that is written as a list.
    ///
    /// - Parameter key: the entity.
    /// - Throws: ``TidemarkError`` `invalidDocument` where a difference can't be written.
    func patch(of document: JSONDocument, _ key: EntityKey) throws -> Patch {
        var patch = Patch()
        let earlier = Self.values(old)
        for field in new {
            let changes = changes(
                of: field, from: earlier[ExactString(field.name)], in: document)
            if changes.isEmpty { continue }
            // What the document has already stands there as the server wrote it.
            let refused = field.node.problems.first { text, _ in
                changes.set.contains { $0.value.firstRange(of: text) != nil }
            }
            if let refused { throw EntityCoding.invalid(key, refused.problem) }
            patch.set += changes.set
            patch.unset += changes.unset
        }
        let kept = Set(new.map { ExactString($0.name) })
        for (name, _, _) in old where !kept.contains(ExactString(name)) {
            guard let present = document.rawValue(name) else { continue }
            if !nullable.contains(ExactString(name)) {
                patch.unset.append(name)
            } else if !present.elementsEqual("null".utf8) {
                patch.set.append(Patch.Field(name, Array("null".utf8)))
            }
        }
        return patch
    }

    /// The changes of a field that the entity has after the edit.
    private func changes(
        of field: Field, from before: ArraySlice<UInt8>?, in document: JSONDocument
    ) -> Patch {
        let (name, after, node) = (field.name, field.value[...], field.node)
        if let before, Self.isSame(before, after) { return Patch() }
        if let list = lists.list(in: name),
            let changes = elements(
                of: list, from: before, to: after, node, in: document.form(of: list))
        {
            return changes
        }
        let present = document.rawValue(name)
        let value = merged(
            after, before: before, into: present, node,
            isStanding: standing.contains(ExactString(name)))
        if let present, Self.isSame(present, value) { return Patch() }
        return Patch(set: [Patch.Field(name, Array(value))])
    }

    /// The changes of a list's elements; nil where the list changes as a whole.
    private func elements(
        of list: KeyedList, from before: ArraySlice<UInt8>?, to after: ArraySlice<UInt8>,
        _ node: EncodedNode, in present: ListForm
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
        // Where each has a key of its own, they are in the order of their encoding.
        let isWhole = node.elementCount == after.keys.count
        for (place, key) in after.keys.enumerated() {
            guard let element = after[key] else { continue }
            let (earlier, present) = (known?[key], there?[key])
            if let earlier, Self.isSame(earlier, element) { continue }
            let value = merged(
                element, before: earlier, into: present, isWhole ? node.element(at: place) : nil,
                isStanding: standing.contains(ExactString(list.field)))
            if let present, Self.isSame(present, value) { continue }
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
    ///
    /// - Parameters:
    ///   - node: what the value was encoded from, where that is known.
    ///   - isStanding: whether its field is in the document as it was before.
    private func merged(
        _ after: ArraySlice<UInt8>, before: ArraySlice<UInt8>?, into present: ArraySlice<UInt8>?,
        _ node: EncodedNode?, isStanding: Bool
    ) -> ArraySlice<UInt8> {
        if let list = ListDifference(
            from: before, to: after, in: present, dates: dates, isStanding: isStanding)
        {
            let text = list.text(node) {
                merged($0, before: $1, into: $2, $3, isStanding: isStanding)
            }
            return text.map { $0[...] } ?? after
        }
        guard let before = before.flatMap(Self.object), let present = present.flatMap(Self.object),
            let after = Self.object(after)
        else { return after }
        let old = Self.values(before), there = Self.values(present)
        let nodes = node?.members.flatMap { $0.count == after.members.count ? $0 : nil }
        var set: [(key: String, value: [UInt8])] = []
        for (place, member) in after.members.enumerated() {
            let (key, value) = (member.key, after.bytes[member.valueRange])
            let earlier = old[ExactString(key)]
            if let earlier, Self.isSame(earlier, value) { continue }
            let text = merged(
                value, before: earlier, into: there[ExactString(key)], nodes?[place].value,
                isStanding: isStanding)
            set.append((key, Array(text)))
        }
        let kept = Set(after.keys.map(ExactString.init))
        let gone = before.keys.filter { !kept.contains(ExactString($0)) }
        return present.applying(set: set, unset: gone)[...]
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
