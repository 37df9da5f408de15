// PendingChange.swift — the input of conflict decisions: an entity's base and its pending changes.

package import TidemarkEvents

/// What the server last said of an entity.
package enum Base: Sendable, Hashable {
    /// Nothing yet.
    case absent
    /// The entity's document.
    case live(JSONDocument)
    /// That it is gone; with the document as it last was, where that is still known.
    case deleted(last: JSONDocument?)

    package var document: JSONDocument? {
        if case .live(let document) = self { document } else { nil }
    }

    /// The document as it is, or as it last was.
    package var lastDocument: JSONDocument? {
        switch self {
        case .absent: nil
        case .live(let document): document
        case .deleted(let last): last
        }
    }

    package var isLive: Bool { document != nil }

    /// Keeps the places of the document's members, for whoever looks up many.
    mutating func keepPlaces() {
        switch self {
        case .live(var document):
            document.keepPlaces()
            self = .live(document)
        case .absent, .deleted: break
        }
    }
}

/// A base that the server did not say: what was sent and accepted.
package enum AssumedBase: Sendable, Hashable {
    /// An entity of which the server had told nothing before, as it was made here, or nothing but
    /// its id. A field that came since may be a default of the server's, or another client's.
    case made
    /// Edits of what the server had told.
    case edited
    /// Either, where the revision of what the server has now is not that of what it took: somebody
    /// wrote the entity since.
    case overwritten
}

/// One mutation that the server has not acknowledged.
package struct PendingChange: Sendable, Hashable {
    package enum Change: Sendable, Hashable {
        case create(JSONDocument)
        case update(Patch)
        case delete
        /// Nothing any more: a later mutation, rewritten, carries its change.
        case carried
    }

    package var position: Position
    package var change: Change
    /// Whether an attempt without an answer may have reached the server.
    package var mayHaveArrived: Bool
    /// Whether the server refused it, or a person is asked about it.
    package var isRefused: Bool
    /// When it was made, by the server's clock, where that was known.
    package var editedAt: Timestamp?
    /// The lists of which it may change elements by their names.
    package var lists: [KeyedList]

    package init(
        _ position: Position, _ change: Change, mayHaveArrived: Bool = false,
        isRefused: Bool = false, editedAt: Timestamp? = nil, lists: [KeyedList] = []
    ) {
        self.position = position
        self.change = change
        self.mayHaveArrived = mayHaveArrived
        self.isRefused = isRefused
        self.editedAt = editedAt
        self.lists = lists
    }

    /// The change as a patch of top-level fields and elements of lists; nil for a deletion.
    package func patch(except serverFields: Set<String>) -> Patch? {
        switch change {
        case .create(let document): Patch(settingAllOf: document, except: serverFields, lists)
        case .update(let patch): patch.leavingOut(serverFields.contains)
        case .delete: nil
        case .carried: Patch()
        }
    }

    /// The fields that changes touch, each once, in the order of the changes.
    package static func fields(
        _ changes: [PendingChange], except serverFields: Set<String>
    ) -> [String] {
        var seen: Set<ExactString> = []
        return changes.flatMap { $0.patch(except: serverFields)?.fieldNames ?? [] }
            .filter { seen.insert(ExactString($0)).inserted }
    }

    package var isDeletion: Bool { change == .delete }

    package var isCreation: Bool { if case .create = change { true } else { false } }
}

extension PendingChange {
    /// For changes that took effect together: which of them left no trace, because every field they
    /// touched was changed again by a later one.
    package static func overtaken(_ changes: some BidirectionalCollection<PendingChange>) -> [Bool]
    {
        var later: Set<ExactString> = []
        var isGone = false
        var result: [Bool] = []
        for change in changes.reversed() {
            if isGone {
                result.append(true)
                continue
            }
            switch change.change {
            case .delete:
                result.append(false)
                isGone = true
            case .create, .carried:
                // The entity's existence is its own trace; what is carried leaves the other's.
                result.append(false)
            case .update(let patch):
                let isOvertaken = patch.fieldNames.allSatisfy { name in
                    let list = change.lists.element(name)?.list
                    return later.contains(ExactString(name))
                        || list.map { later.contains(ExactString($0.field)) } ?? false
                }
                result.append(!patch.isEmpty && isOvertaken)
                later.formUnion(patch.exactNames)
            }
        }
        return result.reversed()
    }
}

/// The result of pending changes on a base.
package enum Current: Sendable, Hashable {
    /// There is no such entity.
    case none
    /// The entity's bytes.
    case document([UInt8])

    /// Applies `pending` in order on `base`.
    ///
    /// A creation on a live base sets its fields and keeps the base's others. An update on a
    /// deleted base is applied to the entity as it last was.
    package init(_ pending: some Sequence<PendingChange>, on base: Base) throws(JSONError) {
        var bytes: [UInt8]?
        var lastKnown: JSONDocument?
        switch base {
        case .absent: break
        case .live(let document): bytes = document.bytes
        case .deleted(let last): lastKnown = last
        }
        for item in pending {
            switch item.change {
            case .create(let document):
                guard let before = bytes else {
                    bytes = document.bytes
                    continue
                }
                let known = try JSONDocument(parsing: before)
                bytes = Patch(settingAllOf: document, item.lists, on: known)
                    .applied(to: known, item.lists)
            case .update(let patch):
                guard let before = bytes ?? lastKnown?.bytes else { continue }
                bytes = patch.applied(to: try JSONDocument(parsing: before), item.lists)
            case .delete:
                bytes = nil
            case .carried: continue
            }
        }
        self = bytes.map(Current.document) ?? .none
    }
}

// MARK: - Other models

extension Base {
    /// The same as a collection's model of today reads it.
    package func read(by collection: CollectionModel) throws(JSONError) -> Base {
        if collection.readsVerbatim { return self }
        switch self {
        case .absent, .deleted(last: nil): return self
        case .live(let document): return .live(try collection.read(document))
        case .deleted(let last?): return .deleted(last: try collection.read(last))
        }
    }
}

extension PendingChange {
    /// The same as a collection's model of today reads it.
    package func read(by collection: CollectionModel) throws(JSONError) -> PendingChange {
        var result = self
        result.lists = collection.keyed
        switch change {
        case .create(let document):
            result.change = .create(try collection.readCreation(document))
        case .update(let patch): result.change = .update(collection.read(patch))
        case .delete, .carried: break
        }
        return result
    }
}
