// Rebase+Elements.swift — lists of which the elements are told by keys: in what grain they are
// compared.
//
// Where all that meets holds a list's elements, and no change touches the list as a whole, each
// element is a field of its own, under its name: one algorithm for both. Elsewhere the list is one
// field: whoever changes an element changes the list, and the other way round.

package import TidemarkEvents

/// An entity's changes and what the server says of it, in the grain in which they are compared.
struct ComparedSides {
    var pending: [PendingChange]
    var old: Base
    var new: Base
    /// The base as it was given; of one that is assumed with what is the server's own.
    private(set) var base: Base
    /// The document that a rule made of both sides.
    var answer: JSONDocument?
    /// The lists that are compared element by element.
    private(set) var elementwise: [KeyedList] = []
    /// The lists that are compared as one field.
    private(set) var whole: [KeyedList] = []

    init(
        _ pending: [PendingChange], from old: Base, to new: Base, answer: ConflictAnswer?
    ) {
        (self.pending, self.old, self.new, base) = (pending, old, new, old)
        if case .document(let bytes)? = answer { self.answer = try? JSONDocument(parsing: bytes) }
        guard let lists = pending.first?.lists, !lists.isEmpty else { return }
        for list in lists {
            if isElementwise(list) { elementwise.append(list) } else { whole.append(list) }
        }
        if !whole.isEmpty { self.pending = PendingChange.widened(pending, whole, on: old) }
        expand()
    }

    private func isElementwise(_ list: KeyedList) -> Bool {
        let documents = [old.lastDocument, new.document, answer].compactMap(\.self)
        guard documents.allSatisfy({ $0.form(of: list).isKeyed }) else { return false }
        let field = ExactString(list.field)
        return pending.allSatisfy { change in
            switch change.change {
            case .create(let document): document.form(of: list).isKeyed
            case .update(let patch): !patch.exactNames.contains(field)
            case .delete, .carried: true
            }
        }
    }

    /// Has both sides keep the places of their members, of which all may be looked up.
    mutating func keepPlaces() {
        old.keepPlaces()
        new.keepPlaces()
        answer?.keepPlaces()
    }

    /// Gives an assumed base what is the server's own: its writing of values that were sent,
    /// members of elements, and fields that were not sent: of an entity that was made here all that
    /// came since, else the empty ones.
    mutating func completeOld(_ assumed: AssumedBase) {
        guard case .live(var old) = old, var new = new.document else { return }
        old.keepPlaces()
        new.keepPlaces()
        var complete = Patch()
        for name in old.keys + new.keys.filter({ old.rawValue($0) == nil }) {
            // That there is a list says nothing of its elements.
            if let list = elementwise.list(in: name),
                old.keys.contains(where: { list.key(in: $0) != nil })
            {
                continue
            }
            let (sent, there) = (old.value(name), new.value(name))
            guard sent != there, isServers(there, writing: sent, in: name, assumed) else {
                continue
            }
            if let raw = new.rawValue(name) {
                complete.set.append(Patch.Field(name, Array(raw)))
            } else {
                complete.unset.append(name)
            }
        }
        guard !complete.isEmpty else { return }
        func completed(_ base: Base, _ lists: [KeyedList]) -> Base {
            guard case .live(let document) = base else { return base }
            let bytes = complete.applied(to: document, lists)
            return (try? JSONDocument(parsing: bytes)).map { .live($0) } ?? base
        }
        (self.old, base) = (completed(self.old, []), completed(base, elementwise))
    }

    /// Whether a value is what a server makes of one that was sent, or of none: of an element that
    /// is another writing of each member, and members of its own.
    private func isServers(
        _ there: JSONValue?, writing sent: JSONValue?, in name: String, _ assumed: AssumedBase
    ) -> Bool {
        if sent == nil {
            // An element that comes to a list is another's in any case, and so is a list of some.
            let isAdded =
                assumed == .made && elementwise.element(name) == nil
                && whole.list(in: name) == nil
            return isAdded || there?.isEmpty == true
        }
        func isWriting(_ there: JSONValue?, of sent: JSONValue?) -> Bool {
            // Other letters or spaces are another's where the server had it as it was sent.
            let before = assumed == .overwritten ? sent : nil
            return sent == there || there.leavesOut(sent)
                || Writing.isNormalised(sent, as: there, before: before)
        }
        guard elementwise.element(name) != nil, let members = sent?.object,
            let all = there?.object
        else { return isWriting(there, of: sent) }
        return members.allSatisfy { isWriting(all[$0.key], of: $0.value) }
    }

    private mutating func expand() {
        let lists = elementwise
        func expanded(_ document: JSONDocument) -> JSONDocument {
            (try? document.expanded(lists)) ?? document
        }
        func expanded(_ base: Base) -> Base {
            switch base {
            case .absent, .deleted(last: nil): base
            case .live(let document): .live(expanded(document))
            case .deleted(let last?): .deleted(last: expanded(last))
            }
        }
        (old, new) = (expanded(old), expanded(new))
        answer = answer.map(expanded)
        for index in pending.indices {
            pending[index].lists = []
            if case .create(let document) = pending[index].change {
                pending[index].change = .create(expanded(document))
            }
        }
    }
}

extension PendingChange {
    /// Changes of elements of lists as changes of whole lists, each to what its list then was.
    package static func widened(
        _ changes: [PendingChange], _ lists: [KeyedList], on old: Base
    ) -> [PendingChange] {
        var base = old
        var result = changes
        for index in changes.indices {
            let change = changes[index]
            var document = base.lastDocument ?? .empty
            if case .document(let bytes)? = try? Current([change], on: base),
                let current = try? JSONDocument(parsing: bytes)
            {
                document = current
                base = .live(current)
            } else if case .update(let patch) = change.change {
                let bytes = patch.applied(to: document, change.lists)
                document = (try? JSONDocument(parsing: bytes)) ?? document
            } else if base.isLive {
                base = old.isLive ? .absent : old
            }
            guard case .update(let patch) = change.change else { continue }
            result[index].change = .update(patch.widened(lists, as: document))
        }
        return result
    }
}

extension Rebase {
    /// Whether nobody but us is known to have written the base: then only the fields that it has
    /// tell of another's change.
    var isOwnBase: Bool { assumed == .made || assumed == .edited }

    /// The fields that a mutation touches itself, for fields as they were compared: of a list that
    /// was compared as a whole, the elements that it changes.
    func own(_ fields: [String], at index: Int) -> [String] {
        guard !lists.whole.isEmpty, case .update(let patch) = given[index].change else {
            return fields
        }
        let names = Set(patch.exactNames)
        return fields.flatMap { field in
            guard let list = lists.whole.list(in: field), !names.contains(ExactString(field)) else {
                return [field]
            }
            return patch.fieldNames.filter { list.key(in: $0) != nil }
        }
    }

    /// What a change touches, by its own names; where it made the entity, in the grain in which it
    /// was compared; nil for a deletion.
    func touched(by index: Int) -> Patch? {
        let change = given[index].isCreation ? pending[index] : given[index]
        let patch = change.patch(except: serverFields)
        return given[index].isCreation ? patch?.narrowed(lists.elementwise) : patch
    }

    /// A change without the fields that it lost, as an edit of the server's document.
    func remaining(_ index: Int, without lost: [String], on new: JSONDocument) -> Patch {
        guard var patch = touched(by: index)?.without(lost) else { return Patch() }
        if given[index].isCreation {
            // That there is a list is nothing to be set where there is one.
            patch.set.removeAll { field in
                lists.elementwise.list(in: field.name) != nil
                    && isEqual(field.value, new.value(field.name))
            }
        }
        return patch
    }
}

extension Rebase {
    /// Whether the server has a field as a change sets it; an element that was sent also with what
    /// the server makes of it.
    func isThere(
        _ field: String, _ values: PatchValues, _ new: JSONDocument, at index: Int
    ) -> Bool {
        isEqual(values[field], new.value(field)) || isSentElement(field, at: index)
    }

    private func isSentElement(_ field: String, at index: Int) -> Bool {
        index < sentElements.count && sentElements[index].contains(ExactString(field))
    }

    /// Notes which elements are there as they were sent, change by change.
    mutating func noteSentElements(_ new: JSONDocument, from old: JSONDocument?) {
        guard !lists.elementwise.isEmpty else { return }
        var known = old
        // As the changes so far left them; of others as they were known.
        var written: [ExactString: JSONObject] = [:]
        var there: Set<ExactString> = []
        for change in pending.prefix(while: \.mayHaveArrived) {
            if let patch = change.patch(except: serverFields) {
                for field in patch.unset where lists.elementwise.element(field) != nil {
                    written[ExactString(field)] = JSONObject()
                    there.remove(ExactString(field))
                }
                for field in patch.set where lists.elementwise.element(field.name) != nil {
                    let name = ExactString(field.name)
                    there.remove(name)
                    guard let sent = (try? JSONValue(parsing: field.value))?.object else {
                        continue
                    }
                    let before = known?.value(field.name)?.object
                    let element = new.value(field.name)?.object
                    if element?.isAsSent(sent, on: written[name] ?? before, from: before) == true {
                        there.insert(name)
                    }
                    written[name] = sent
                }
            } else {
                // What is made anew has nothing of what was there.
                (known, written, there) = (nil, [:], [])
            }
            sentElements.append(there)
        }
    }

    /// A change as the server has it, with what it made of elements that were sent.
    func asThere(_ patch: Patch, _ new: JSONDocument, at index: Int) -> Patch {
        var patch = patch
        for place in patch.set.indices {
            let name = patch.set[place].name
            guard isSentElement(name, at: index), let there = new.rawValue(name) else { continue }
            patch.set[place].value = Array(there)
        }
        return patch
    }
}

extension JSONObject {
    /// Whether an element is what a server made of one that was sent.
    ///
    /// That is told by the members that the edit changed: they are there as it set them. Members
    /// that it left as they were are like fields that an edit does not touch, and those that it
    /// left out may be the server's own: when it was made. Where it set nothing new, all of it has
    /// to be there, and what it took away has to be gone.
    ///
    /// - Parameters:
    ///   - sent: what was sent.
    ///   - base: the element that the edit was made on.
    ///   - before: what the server had before.
    fileprivate func isAsSent(
        _ sent: JSONObject, on base: JSONObject?, from before: JSONObject?
    ) -> Bool {
        func isLeft(_ key: String, _ value: JSONValue?) -> Bool {
            value == before?[key] && value == base?[key]
        }
        let setsNew = sent.contains { $0.value != before?[$0.key] && $0.value != base?[$0.key] }
        guard setsNew else {
            return sent.allSatisfy { self[$0.key] == $0.value }
                && keys.allSatisfy { sent[$0] != nil || isLeft($0, nil) }
        }
        return sent.allSatisfy { self[$0.key] == $0.value || isLeft($0.key, $0.value) }
    }
}

extension Patch {
    /// The same with lists set as a whole, where it changes elements of them.
    fileprivate func widened(_ lists: [KeyedList], as document: JSONDocument) -> Patch {
        guard namesElements(of: lists) else { return self }
        var wide = Patch(
            set: self.set.filter { lists.element($0.name) == nil },
            unset: unset.filter { lists.element($0) == nil })
        for list in lists where fieldNames.contains(where: { list.key(in: $0) != nil }) {
            let name = ExactString(list.field)
            wide.set.removeAll { ExactString($0.name) == name }
            wide.unset.removeAll { ExactString($0) == name }
            if let value = document.rawValue(list.field) {
                wide.set.append(Field(list.field, Array(value)))
            } else {
                wide.unset.append(list.field)
            }
        }
        return wide
    }

    /// A difference of expanded documents as an edit: a list that is there because an element is
    /// needs no word, and with a list that is gone its elements are.
    func narrowed(_ lists: [KeyedList]) -> Patch {
        var patch = self
        for list in lists {
            let name = ExactString(list.field)
            if patch.set.contains(where: { list.key(in: $0.name) != nil }) {
                patch.set.removeAll { ExactString($0.name) == name }
            } else if patch.exactNames.contains(name) {
                patch.unset.removeAll { list.key(in: $0) != nil }
            }
        }
        return patch
    }
}
