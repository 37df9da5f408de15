// Patch+Elements.swift — patches that change elements of keyed lists one by one, by their names.

extension Patch {
    /// Whether it changes elements of one of these lists by their names.
    package func namesElements(of lists: [KeyedList]) -> Bool {
        !lists.isEmpty
            && (self.set.contains { lists.element($0.name) != nil }
                || unset.contains { lists.element($0) != nil })
    }

    /// Whether it changes one of these lists, as a whole or by the names of its elements.
    package func touches(_ lists: [KeyedList]) -> Bool {
        !lists.isEmpty
            && fieldNames.contains { lists.list(in: $0) != nil || lists.element($0) != nil }
    }

    /// What turns one entity into another, element by element where both have a list's elements.
    ///
    /// The order of a list's elements is no difference. A list that one side lacks, or that can't
    /// be told by keys, changes as a whole; but the first elements of a list are each its own.
    package init(
        from old: JSONDocument, to new: JSONDocument, except left: Set<String> = [],
        _ lists: [KeyedList]
    ) {
        var elementwise = Patch()
        var left = left
        for list in lists where !left.contains(list.field) {
            let (before, after) = (old.rawValue(list.field), new.rawValue(list.field))
            guard before != after,
                let changes = Patch(
                    elementsFrom: old.form(of: list), to: new.form(of: list), of: list)
            else { continue }
            left.insert(list.field)
            elementwise.set += changes.set
            elementwise.unset += changes.unset
        }
        self.init(from: old, to: new, except: left)
        self.set += elementwise.set
        unset += elementwise.unset
    }

    /// What turns the elements of a list into others; nil where the list changes as a whole.
    package init?(elementsFrom old: ListForm, to new: ListForm, of list: KeyedList) {
        guard case .elements(let after) = new else { return nil }
        self.init()
        switch old {
        case .whole: return nil
        case .none where after.isEmpty: return nil
        case .none:
            self.set = after.keys.map { Field(list.name(of: $0), Array(after[$0] ?? [])) }
        case .elements(let before):
            for key in after.keys {
                guard let value = after[key], !Self.isSame(before[key], value) else { continue }
                self.set.append(Field(list.name(of: key), Array(value)))
            }
            unset = before.keys.filter { after[$0] == nil }.map(list.name)
        }
    }

    /// All fields of a JSON object but those named, the elements of lists one by one.
    ///
    /// - Parameter base: what the fields are set on: of an empty list nothing is to be set where
    ///   that has a list, and a list takes the place of one whose elements can't be told.
    package init(
        settingAllOf document: JSONDocument, except left: Set<String> = [], _ lists: [KeyedList],
        on base: JSONDocument? = nil
    ) {
        guard !lists.isEmpty else {
            self.init(settingAllOf: document, except: left)
            return
        }
        self.init()
        for field in Patch(settingAllOf: document, except: left).set {
            guard let list = lists.list(in: field.name),
                case .elements(let elements) = document.form(of: list)
            else {
                self.set.append(field)
                continue
            }
            let there = base?.form(of: list) ?? .none
            if !there.isKeyed {
                self.set.append(field)
            } else if !elements.isEmpty {
                self.set += elements.keys.map {
                    Field(list.name(of: $0), Array(elements[$0] ?? []))
                }
            } else if case .none = there {
                self.set.append(field)
            }
        }
    }

    /// The entity's bytes with this patch applied, elements of lists by their keys.
    ///
    /// Untouched fields and elements stand byte for byte, the order of the list's elements stays,
    /// and new ones come last. A list that is set as a whole is so before its elements change.
    package func applied(to document: JSONDocument, _ lists: [KeyedList]) -> [UInt8] {
        guard namesElements(of: lists) else { return applied(to: document) }
        var fields = Patch(
            set: self.set.filter { lists.element($0.name) == nil },
            unset: unset.filter { lists.element($0) == nil })
        for list in lists {
            let changes = elements(of: list)
            if changes.isEmpty { continue }
            let name = ExactString(list.field)
            let place = fields.set.firstIndex { ExactString($0.name) == name }
            let isUnset = fields.unset.contains { ExactString($0) == name }
            let before =
                place.map { fields.set[$0].value[...] }
                ?? (isUnset ? nil : document.rawValue(list.field))
            guard let after = list.changing(changes, of: before) else { continue }
            fields.set.removeAll { ExactString($0.name) == name }
            fields.set.append(Field(list.field, after))
        }
        return fields.applied(to: document)
    }

    /// The patch without some fields: with a list go its elements, and with an element its list.
    package func without(_ names: Set<ExactString>, _ lists: [KeyedList]) -> Patch {
        guard !names.isEmpty else { return self }
        func list(_ name: String) -> ExactString? {
            lists.element(name).map { ExactString($0.list.field) }
        }
        let named = Set(names.compactMap { list($0.text) })
        return leavingOut { name in
            names.contains(ExactString(name)) || named.contains(ExactString(name))
                || (list(name).map { names.contains($0) } ?? false)
        }
    }

    /// The changes of a list's elements, by their keys; nil for those that are removed.
    private func elements(of list: KeyedList) -> [(key: String, element: [UInt8]?)] {
        self.set.compactMap { field in list.key(in: field.name).map { ($0, field.value) } }
            + unset.compactMap { name in list.key(in: name).map { ($0, nil) } }
    }

    /// The fields that it sets, as a document with whole lists; nil where it sets none.
    package func setDocument(_ lists: [KeyedList]) -> JSONDocument? {
        guard namesElements(of: lists), let empty = try? JSONDocument(parsing: Array("{}".utf8))
        else { return setDocument }
        let bytes = Patch(set: self.set).applied(to: empty, lists)
        return try? JSONDocument(parsing: bytes)
    }
}
