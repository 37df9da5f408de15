// FoldPlaceholders.swift — the rule `placeholder`: rows that stand for referenced entities until
// the server sends them.

package import TidemarkEvents
import TidemarkRules

/// Makes placeholders for referenced entities.
struct FoldPlaceholders: FoldRule {
    let name = "placeholder"
    let moments: FoldMoments = .take

    func isRule(of collection: CollectionModel) -> Bool {
        collection.makesPlaceholders || collection.placeholder != nil
    }

    func take(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws {
        try fold.noteTried(page, collection, event)
        try fold.noteStubs(page, collection, event, position)
        try fold.makePlaceholders(page, collection, event, position)
    }

    /// Removes the placeholders that no rule makes any more.
    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws { try fold.dropPlaceholders(of: before, position) }

    func takeBack(
        _ correction: ServerClock.Correction, _ position: Position, _ fold: Fold
    ) throws { try fold.forgetTries() }
}

extension Fold {
    /// Makes a placeholder for each entity that a page's entities refer to and that is not here.
    ///
    /// In the order of the model's references, so that owners come first.
    fileprivate func makePlaceholders(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event, _ position: Position
    ) throws {
        guard collection.makesPlaceholders else { return }
        let isPartial = try started(event)?.run.scope.isPartialPull ?? false
        let references = collection.references.filter {
            $0.placeholder == .always || ($0.placeholder == .partial && isPartial)
        }
        guard !references.isEmpty else { return }
        let documents = try page.named.compactMap { try listed($0, collection) }
        let model = try model()
        var seen: Set<EntityKey> = []
        for reference in references {
            guard let target = model[reference.collection], let rule = target.placeholder else {
                continue
            }
            for document in documents {
                for id in document.ids(in: reference.field) {
                    let named = EntityKey(target.name, id)
                    guard named.isValid, seen.insert(named).inserted else { continue }
                    let key = try resolve(named)
                    guard try isMissing(key) else { continue }
                    let base = rule.document(of: id, in: target, from: document)
                    try makePlaceholder(key, base, position, event.recordedAt)
                    let decision = DecisionRow(
                        key: key, rule: "placeholder", ruleVersion: PlaceholderRule.version,
                        result: "created", inputs: [position], fields: [reference.field])
                    try note(decision, position)
                }
            }
        }
    }

    /// The document of an entity that the server listed; nil where it can't be read.
    private func listed(_ id: String, _ collection: CollectionModel) throws -> JSONDocument? {
        let key = EntityKey(collection.name, id)
        guard key.isValid else { return nil }
        let row = try heldRow(at: .entity(try resolve(key)))
        guard row.baseState == .live else { return nil }
        return (try? row.baseValue(in: collection))?.document
    }

    /// Whether the log knows nothing of an entity.
    private func isMissing(_ key: EntityKey) throws -> Bool {
        let row = try heldRow(at: .entity(key))
        return row.baseState == .absent && row.pending.isEmpty && row.attempt == nil
    }

    private func makePlaceholder(
        _ key: EntityKey, _ base: [UInt8], _ position: Position, _ madeAt: Timestamp
    ) throws {
        // A pruned entity counts as unknown: any answer is new to a placeholder.
        var row = EntityRow()
        row.baseState = .live
        row.base = base
        row.basePosition = position
        row.isPlaceholder = true
        try put(row, key)
        put(.placeholder(key), PlaceholderRow(position: position, madeAt: madeAt).encoded)
    }

    /// Removes the placeholders of a model before that no rule makes any more; those that something
    /// pending refers to stay.
    fileprivate func dropPlaceholders(of before: SyncModel, _ position: Position) throws {
        let model = try model()
        var dropped: Set<CollectionName> = []
        for old in before.collections {
            let making = model[old.name]?.making(in: model) ?? []
            for reference in old.making(in: before) {
                let isMade = making.contains {
                    $0.collection == reference.collection
                        && ExactString($0.field) == ExactString(reference.field)
                }
                if !isMade { dropped.insert(reference.collection) }
            }
        }
        guard !dropped.isEmpty else { return }
        for key in try freePlaceholders(of: dropped, model) {
            try prune(key, .unreferenced, position)
        }
    }

    /// Notes that entities came only in part, so that they stay what they were: not here.
    fileprivate func noteStubs(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event, _ position: Position
    ) throws {
        guard page.isPartial, page.scope == PullPage.refetchScope else { return }
        for (id, place) in zip(page.ids, page.places) {
            guard case .event = place, EntityKey(collection.name, id).isValid else { continue }
            let key = try resolve(EntityKey(collection.name, id))
            var row = try entity(key)
            guard row.baseState == .live, row.pending.isEmpty, row.attempt == nil else { continue }
            row.isPlaceholder = true
            row.isPartial = true
            try put(row, key)
            var note = PlaceholderRow(position: position, madeAt: event.recordedAt)
            note.isPartial = true
            put(.placeholder(key), note.encoded)
        }
    }

    // MARK: Requests for placeholders

    /// Notes when the server was asked for placeholders that it does not have.
    fileprivate func noteTried(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event
    ) throws {
        guard page.scope == PullPage.refetchScope, !page.absent.isEmpty else { return }
        let time = try runTime(event)
        for id in page.absent where EntityKey(collection.name, id).isValid {
            let key = try resolve(EntityKey(collection.name, id))
            var row = try entity(key)
            guard row.isPlaceholder, let bytes = try get(.placeholder(key)) else { continue }
            row.triedAt = time
            try put(row, key)
            var note = try PlaceholderRow(parsing: bytes)
            note.triedAt = time
            put(.placeholder(key), note.encoded)
        }
    }

    /// Makes placeholders due again that the server did not have.
    fileprivate func forgetTries() throws {
        for (place, value) in try ledgerRows(Ledger.placeholders) {
            var note = try PlaceholderRow(parsing: value)
            guard note.triedAt != nil,
                let key = EntityKey(bytes: place.bytes.dropFirst(Ledger.placeholders.count))
            else { continue }
            note.triedAt = nil
            put(place, note.encoded)
            var row = try entity(key)
            row.triedAt = nil
            try put(row, key)
        }
    }

    /// The server's time at the start of an event's run, as far as it is known.
    private func runTime(_ event: Event) throws -> Timestamp {
        let run = try started(event)?.run
        return try run?.moment.flatMap { try serverClock()?.time(at: $0) } ?? run?.begunAt
            ?? event.recordedAt
    }
}

extension RowReading {
    /// The placeholders of some collections that no reference makes any more, and that nothing
    /// pending refers to.
    fileprivate func freePlaceholders(
        of targets: Set<CollectionName>, _ model: SyncModel
    ) throws -> [EntityKey] {
        var keys: [EntityKey] = []
        for key in try placeholderKeys() where targets.contains(key.collection) {
            let row = try entity(at: .entity(key))
            // One that is hidden may hide others with it until they are pruned together.
            guard row.isPlaceholder, !row.isHidden, row.pending.isEmpty, row.attempt == nil else {
                continue
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { return [] }
        let wanted = try wantedPlaceholders(of: targets, model)
        return keys.filter { !wanted.contains($0) }
    }

    /// What is referred to of some collections: by references that make placeholders, and by any
    /// of what is pending.
    private func wantedPlaceholders(
        of targets: Set<CollectionName>, _ model: SyncModel
    ) throws -> Set<EntityKey> {
        var wanted: Set<EntityKey> = []
        for collection in model.collections {
            let naming = collection.references.filter { targets.contains($0.collection) }
            guard !naming.isEmpty else { continue }
            let making = collection.making(in: model).filter { targets.contains($0.collection) }
            try forEachEntity(in: collection.name) { _, row in
                let isPending = !row.pending.isEmpty || row.attempt != nil
                let references = isPending ? naming : making
                wanted.formUnion(try row.targets(of: references, in: collection, self))
                return true
            }
        }
        return wanted
    }

    private func placeholderKeys() throws -> [EntityKey] {
        try ledgerRows(Ledger.placeholders).compactMap { place, _ in
            EntityKey(bytes: place.bytes.dropFirst(Ledger.placeholders.count))
        }
    }

    /// The placeholders of collections of which no reference of the model makes any: what was
    /// pending when their rule went kept them, and does so no more.
    func unmadePlaceholders(_ model: SyncModel) throws -> [EntityKey] {
        let known = Set(try placeholderKeys().map(\.collection))
        guard !known.isEmpty else { return [] }
        let made = model.collections.flatMap { $0.making(in: model).map(\.collection) }
        let unmade = known.subtracting(made)
        return unmade.isEmpty ? [] : try freePlaceholders(of: unmade, model)
    }
}

extension CollectionModel {
    /// The references that make placeholders.
    fileprivate func making(in model: SyncModel) -> [Reference] {
        references.filter { $0.placeholder != nil && model[$0.collection]?.placeholder != nil }
    }
}

/// An existing placeholder.
package struct PlaceholderRow: Sendable, Hashable {
    /// The `pull.page` with what refers to it.
    package var position: Position
    /// When that was logged, by the device's clock.
    package var madeAt: Timestamp
    /// When the server was last asked for it in vain, by the server's clock.
    package var triedAt: Timestamp?
    /// Whether it came, but only in part.
    package var isPartial = false

    package init(position: Position, madeAt: Timestamp) {
        self.position = position
        self.madeAt = madeAt
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        writer.signed(2, madeAt.rawValue)
        writer.signed(3, triedAt?.rawValue ?? 0)
        writer.flag(4, isPartial)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start, madeAt: Timestamp(rawValue: 0))
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2: madeAt = Timestamp(rawValue: try field.signed())
            case 3: triedAt = Timestamp(rawValue: try field.signed())
            case 4: isPartial = try field.flag()
            default: continue
            }
        }
    }
}

extension RowReading {
    /// All placeholders, by key.
    package func placeholders() throws -> [(key: EntityKey, row: PlaceholderRow)] {
        try ledgerRows(Ledger.placeholders).compactMap { place, value in
            let key = EntityKey(bytes: place.bytes.dropFirst(Ledger.placeholders.count))
            return try key.map { ($0, try PlaceholderRow(parsing: value)) }
        }
    }
}
