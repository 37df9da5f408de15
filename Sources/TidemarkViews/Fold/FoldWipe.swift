// FoldWipe.swift — the app drops what is here of all collections but some: rows, pending edits,
// issues, and how far lists are. What the server is still to say to what it was asked before is of
// no use then; the next lists bring all there is.

package import TidemarkEvents

/// When collections were wiped last: 'x' "wiped".
struct WipesRow: Sendable {
    /// The last `local.wiped`, which is of every collection that is not in ``kept``.
    var position: Position
    /// The collections that it kept, in its order, each with the one that is of it; 0 for none.
    var kept: [(name: String, position: UInt64)] = []

    init(position: Position) { self.position = position }

    /// The last wipe of a collection; nil where there is none.
    subscript(_ collection: CollectionName) -> Position? {
        let name = ExactString(collection.rawValue)
        guard let kept = kept.first(where: { ExactString($0.name) == name }) else {
            return position
        }
        return kept.position == 0 ? nil : Position(kept.position)
    }

    /// Whether there was any after a position.
    func isAny(after position: Position) -> Bool { position < self.position }

    var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.position(1, position)
        for (name, position) in kept {
            var inner = ProtoWriter()
            inner.string(1, name)
            inner.varint(2, position)
            writer.message(2, inner.bytes)
        }
        return writer.bytes
    }

    init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(position: .start)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: position = try field.position()
            case 2:
                var item = (name: "", position: UInt64(0))
                var inner = ProtoReader(try field.bytes())
                while let field = try inner.next() {
                    switch field.number {
                    case 1: item.name = try field.string()
                    case 2: item.position = try field.unsigned()
                    default: continue
                    }
                }
                kept.append(item)
            default: continue
            }
        }
    }
}

extension RowKey {
    package static let wipes = store("wiped")
}

extension Fold {
    /// When collections were wiped; nil where none ever was.
    func wipes() throws -> WipesRow? {
        if let known = cache.wipes { return known }
        let wipes = try get(.wipes).map { try WipesRow(parsing: $0) }
        cache.wipes = .some(wipes)
        return wipes
    }

    /// Whether a collection was wiped after a position: what was asked for or sent until then says
    /// nothing of it any more.
    package func isWiped(_ collection: CollectionName, after position: Position?) throws -> Bool {
        guard let position, let wiped = try wipes()?[collection] else { return false }
        return position < wiped
    }

    /// `local.wiped`.
    func wiped(_ event: Event, _ wipe: LocalWiped, _ position: Position) throws {
        guard let names = wipe.keeps, let kept = wipe.kept else { return }
        func goes(_ name: CollectionName) -> Bool { !kept.contains(ExactString(name.rawValue)) }
        try noteWipe(keeping: names, position)
        let hidden = try hidden(withOwnersThat: goes)
        try wipeLedger(of: goes)
        try wipePools()
        try forgetPlaces(of: goes, position)
        try takeSoFar(event, position)
        (cache.failing, cache.withheld) = (nil, nil)
        var keys: [EntityKey] = []
        try forEachEntity(in: nil) { key, _ in
            if goes(key.collection) { keys.append(key) }
            return true
        }
        for (index, key) in keys.enumerated() {
            try drop(key, position)
            if index % Self.entitiesAtOnce == 0 { try takeSoFar(event, position) }
        }
        try takeSoFar(event, position)
        try dropWants(of: goes, event, position)
        try relistPruned(apartFrom: goes, position)
        guard !hidden.isEmpty else { return }
        try takeSoFar(event, position)
        for key in hidden {
            var row = try entity(key)
            row.isHidden = false
            try put(row, key)
            try takeSoFar(event, position)
        }
    }

    /// What an event wrote is searched from its end, so that it is taken in a few rows at a time.
    private static let entitiesAtOnce = 32

    private func noteWipe(keeping names: [String], _ position: Position) throws {
        let before = try wipes()
        var row = WipesRow(position: position)
        var seen: Set<ExactString> = []
        for name in names where seen.insert(ExactString(name)).inserted {
            row.kept.append((name, before?[CollectionName(name)]?.rawValue ?? 0))
        }
        put(.wipes, row.encoded)
        cache.wipes = .some(row)
    }

    /// Drops an entity, and gives up what is pending on it.
    private func drop(_ key: EntityKey, _ position: Position) throws {
        var row = try entity(key)
        for item in row.pending {
            try settle(item, of: key, .discarded, proof: position, revision: nil)
        }
        try endAttempt(&row, key)
        forgetIssues(of: &row, key)
        if row.isPlaceholder { put(.placeholder(key), nil) }
        try put(EntityRow(), key)
    }

    /// Takes back what is wanted of entities that are dropped in trees by paths.
    ///
    /// What the server lists anew comes under other ids. Their rows name nothing any more.
    private func dropWants(
        of goes: (CollectionName) -> Bool, _ event: Event, _ position: Position
    ) throws {
        var count = 0
        for collection in try model().collections
        where collection.isByPath && goes(collection.name) {
            let prefix = Ledger.contentsOfEntities + EntityKey.prefix(of: collection.name)
            for (place, value) in try ledgerRows(prefix) {
                let wants = try EntityContentsRow(parsing: value).wants
                guard !wants.isEmpty, let key = place.entityOfContents else { continue }
                try change(contentsOf: key, position) { $0.wants = [] }
                if wants.contains(where: \.isTree) { put(.treeWants(key), nil) }
                count += 1
                if count % Self.entitiesAtOnce == 0 { try takeSoFar(event, position) }
            }
        }
        cache.hasTreeWants = nil
    }

    /// Drops what the ledger holds of collections beside their entities; what was decided, and the
    /// ids that entities go by, stay.
    private func wipeLedger(of goes: (CollectionName) -> Bool) throws {
        let prefixes = [
            Ledger.watermarks, Ledger.owed, Ledger.listed, Ledger.listedPages, Ledger.held,
            Ledger.withheld, Ledger.grants, Ledger.unreadable, Ledger.failing, Ledger.ruleAnswers,
            Ledger.unanswered, Ledger.staged, Ledger.stagedEnds, Ledger.warned,
            RowKey.gates(RowKey.listedName),
        ]
        for prefix in prefixes { try drop(prefix, of: goes) }
        // Conflicts that were lost, and what both sides had.
        for (place, value) in try ledgerRows(Ledger.lost) where goes(Self.collection(value[...])) {
            put(place, nil)
            if let event = Position(bigEndianBytes: place.bytes.dropFirst().prefix(8)) {
                put(.sides(event), nil)
            }
        }
    }

    /// Drops the rows of some collections of which the keys begin so, and then with the collection.
    func drop(_ prefix: [UInt8], of goes: (CollectionName) -> Bool) throws {
        for (place, _) in try ledgerRows(prefix)
        where goes(Self.collection(place.bytes.dropFirst(prefix.count))) {
            put(place, nil)
        }
    }

    /// The collection that the bytes of an entity's key, or of a list's, begin with.
    private static func collection(_ bytes: ArraySlice<UInt8>) -> CollectionName {
        CollectionName(String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self))
    }

    private func wipePools() throws {
        for (place, _) in try ledgerRows(Ledger.pools) { put(place, nil) }
        try letGoOfValues()
    }

    /// Lets go of the values that are left; those that were taken are never handed out again.
    func letGoOfValues() throws {
        for (place, _) in try ledgerRows(Ledger.leftValues) { put(place, nil) }
        for (place, value) in try ledgerRows(Ledger.reservedValues) {
            if case .left = try ReservedValueState(parsing: value) { put(place, nil) }
        }
    }

    /// The entities that stay and are hidden with an owner that goes, those that own others first.
    private func hidden(withOwnersThat goes: (CollectionName) -> Bool) throws -> [EntityKey] {
        guard try hidesAny() else { return [] }
        var owners: [EntityKey] = []
        for collection in try model().collections where goes(collection.name) {
            try forEachEntity(in: collection.name) { key, row in
                if row.isHidden { owners.append(key) }
                return true
            }
        }
        guard !owners.isEmpty else { return [] }
        var hidden: [EntityKey] = []
        for key in try owned(by: owners) where !goes(key.collection) {
            if try heldRow(at: .entity(key)).isHidden { hidden.append(key) }
        }
        return hidden
    }
}
