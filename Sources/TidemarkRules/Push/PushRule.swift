// PushRule.swift — what has to be sent so that the server gets an entity's pending changes.

package import TidemarkEvents

/// The one write that carries all pending changes of an entity.
package enum PushWrite: Sendable, Hashable {
    /// The entity must not exist on the server.
    case create(body: [UInt8])
    /// The entity must still be of that version; `changes` is an object of the fields that differ
    /// from the base, or from what the server may have made of it by an earlier write, with null
    /// for those that are gone.
    case update(body: [UInt8], changes: [UInt8], revision: Revision)
    /// The entity must still be of that version.
    case delete(revision: Revision)

    /// Raised whenever the same entity would be sent differently.
    package static let version = 3

    /// The version in a call to a server without versions: the write is unconditional.
    package static let noRevision = Revision(rawValue: [])

    /// The write of an entity's pending changes; nil when there is nothing to send.
    ///
    /// The server's last-change field is left out of a body. The id stays in, and is added where
    /// the document lacks it, but for a creation where the server names entities: then it is left
    /// out. A creation is also without the fields that name files which are sent below the entity.
    /// Fields have the form in which the server writes them.
    ///
    /// - Parameters:
    ///   - id: the id that the server uses.
    ///   - said: what it said of the entity, which has the id as it writes it; nil where that is
    ///     not known.
    ///   - isVersioned: whether the server has versions; where it has none, an entity without one
    ///     is sent without one.
    ///   - mergesLists: whether the server tells the elements of keyed lists apart, too: then the
    ///     changes hold of such a list only the elements that changed.
    package init?(
        _ pending: [PendingChange], on base: Base, revision: Revision?, id: String,
        asIn said: [UInt8]? = nil, collection: CollectionModel, isVersioned: Bool = true,
        mergesLists: Bool = false
    ) throws(JSONError) {
        guard !pending.isEmpty else { return nil }
        let revision = revision ?? (isVersioned ? nil : Self.noRevision)
        guard case .document(let bytes) = try Current(pending, on: base) else {
            guard base.isLive, let revision else { return nil }
            self = .delete(revision: revision)
            return
        }
        let isUpdate = base.isLive && revision != nil
        var document = try JSONDocument(parsing: bytes)
        var patch = Patch()
        if let field = collection.lastChangeField, document.rawValue(field) != nil {
            patch.unset = [field]
        }
        if !isUpdate { patch.unset += collection.unsentFields(of: pending, in: bytes).map(\.text) }
        let isNamed = isUpdate || collection.ids == .client
        // What is known by its path has an id of this store alone.
        if isNamed, !collection.isByPath {
            let value = collection.idValue(id, asIn: said)
            if document.value(collection.idField) != value {
                patch.set = [Patch.Field(collection.idField, value.encoded())]
            }
        } else if !isNamed, document.rawValue(collection.idField) != nil {
            patch.unset.append(collection.idField)
        }
        if !patch.isEmpty { document = try JSONDocument(parsing: patch.applied(to: document)) }
        let body = try collection.sent(document, of: document).bytes
        if let known = base.document, let revision {
            let lists = mergesLists ? collection.keyed : []
            var patch = Patch(from: known, to: document, except: collection.serverFields, lists)
            let states = try Self.states(pending, on: base)
            for state in states {
                patch.add(
                    Patch(from: state, to: document, except: collection.serverFields, lists), lists)
            }
            let changes = try JSONDocument(parsing: patch.object(lists, in: [known] + states))
            self = .update(
                body: body, changes: try collection.sent(changes, of: document).bytes,
                revision: revision)
        } else {
            self = .create(body: body)
        }
    }

    /// What the server may have made of the base by writes that had no clear answer.
    private static func states(
        _ pending: [PendingChange], on base: Base
    ) throws(JSONError) -> [JSONDocument] {
        var states: [JSONDocument] = []
        for index in pending.indices where pending[index].mayHaveArrived {
            guard case .document(let bytes) = try Current(pending[...index], on: base) else {
                continue
            }
            states.append(try JSONDocument(parsing: bytes))
        }
        return states
    }

    /// The same with references as the server reads them.
    ///
    /// - Parameter base: what the server said last; nil where it has said nothing.
    package func naming(_ names: ReferenceNames, asIn base: JSONDocument?) throws -> PushWrite {
        switch self {
        case .create(let body): .create(body: try names.named(body))
        case .update(let body, let changes, let revision):
            .update(
                body: try names.named(body, asIn: base),
                changes: try names.named(changes, asIn: base), revision: revision)
        case .delete: self
        }
    }

    package var operation: PushOperation {
        switch self {
        case .create: .create
        case .update: .update
        case .delete: .delete
        }
    }
}

extension Patch {
    /// Takes over what another patch changes and this one does not, of one with the same result.
    fileprivate mutating func add(_ other: Patch, _ lists: [KeyedList]) {
        func covers(_ names: Set<ExactString>, _ name: String) -> Bool {
            let list = lists.element(name)?.list.field
            return names.contains(ExactString(name))
                || list.map { names.contains(ExactString($0)) } ?? false
        }
        let (mine, theirs) = (Set(exactNames), Set(other.exactNames))
        let given = Set(other.set.map { ExactString($0.name) })
        let removed = Set(other.unset.map { ExactString($0) })
        // A list that changes as a whole takes the place of its elements.
        self.set.removeAll {
            covers(theirs, $0.name) && !given.contains(ExactString($0.name))
        }
        unset.removeAll { covers(theirs, $0) && !removed.contains(ExactString($0)) }
        self.set += other.set.filter { !covers(mine, $0.name) }
        unset += other.unset.filter { !covers(mine, $0) }
    }

    /// The fields as an object: null for those that are removed; of lists the elements that
    /// changed, and of those that are removed null for all members but the key.
    ///
    /// - Parameter states: what the server has, or may have.
    fileprivate func object(_ lists: [KeyedList], in states: [JSONDocument]) -> [UInt8] {
        let null = Array("null".utf8)
        var fields = Patch()
        for name in unset where lists.element(name) == nil { fields.set.append(Field(name, null)) }
        fields.set = self.set.filter { lists.element($0.name) == nil } + fields.set
        for list in lists {
            var elements = self.set.filter { list.key(in: $0.name) != nil }
            let there = states.compactMap { state in
                if case .elements(let there) = state.form(of: list) { there } else { nil }
            }
            for name in unset {
                guard let key = list.key(in: name),
                    let element = there.lazy.compactMap({ $0[key] }).first,
                    let object = try? JSONDocument(parsing: Array(element))
                else { continue }
                let rest = object.keys.filter { ExactString($0) != ExactString(list.key) }
                elements.append(
                    Field(name, object.applying(set: rest.map { (key: $0, value: null) })))
            }
            if elements.isEmpty { continue }
            let texts = elements.map { String(decoding: $0.value, as: UTF8.self) }
            fields.set.append(
                Field(list.field, Array("[\(texts.joined(separator: ","))]".utf8)))
        }
        return fields.applied(to: .empty)
    }
}

extension CollectionModel {
    /// The fields that a creation leaves out: changes set them to files which are sent below the
    /// entity.
    ///
    /// - Parameter document: what the changes make.
    package func unsentFields(
        of changes: [PendingChange], in document: [UInt8]
    ) -> Set<ExactString> {
        let fields = fieldsBelow(in: document)
        guard !fields.isEmpty else { return [] }
        let touched = PendingChange.fields(changes, except: [])
        return fields.intersection(touched.map(ExactString.init))
    }

    /// Why an operation is not sent; nil where it is.
    package func refusal(of operation: PushOperation) -> String? {
        guard !pushes.contains(operation) else { return nil }
        let allowed = PushOperation.allCases.filter(pushes.contains).map(\.participle)
        let rest = "not \(operation.participle) here"
        guard !allowed.isEmpty else { return "the model lets \(name) only be read, \(rest)" }
        return "the model lets \(name) only be \(allowed.joined(separator: " and ")), \(rest)"
    }
}

extension PushOperation {
    fileprivate var participle: String {
        switch self {
        case .create: "created"
        case .update: "updated"
        case .delete: "deleted"
        }
    }
}
