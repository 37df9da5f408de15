// ListReading.swift — which lists a collection has whose parameters come from documents.

package import TidemarkEvents
import TidemarkRules

extension RowReading {
    /// What a collection's lists are of by the documents that are here now.
    package func listTargets(of collection: CollectionModel) throws -> [PullTarget] {
        try collection.listTargets { rule in
            guard !rule.from.isEmpty else { return [rule.parameters] }
            return ListParts.of(rule, values: try rule.from.map(values))
        }
    }

    /// The values of a parameter: of all entities that the server has, and that are here.
    private func values(of source: ListSource) throws -> [String] {
        guard let collection = try model()[source.collection] else { return [] }
        var values: [String] = []
        try forEachEntity(in: collection.name) { key, row in
            guard row.baseState == .live, !row.isPlaceholder, !row.isHidden,
                let bytes = try row.document(in: collection)
            else { return true }
            if let field = source.field {
                values += try JSONDocument(parsing: bytes).ids(in: field)
            } else {
                values.append(try serverID(of: key, row, idField: collection.idField) ?? key.id)
            }
            return true
        }
        return values
    }

    /// What a collection's lists are or were of, as far as rows tell, parts that documents once
    /// named and that only runs named among them.
    package func knownTargets(of collection: CollectionModel) throws -> [PullTarget] {
        var found = collection.listTargets
        for rows in [Ledger.watermarks, Ledger.listed, Ledger.held] {
            let keys = try ledgerRows(rows + EntityKey.prefix(of: collection.name)).map(\.key)
            found += keys.compactMap { PullTarget(bytes: $0.bytes.dropFirst()) }
        }
        var seen: Set<PullTarget> = []
        return found.filter { !$0.isFeed && $0.folder == nil && seen.insert($0).inserted }
    }

    /// Whether rows tell of a list of a collection, complete or not.
    package func hasListRows(of name: CollectionName) throws -> Bool {
        let prefix = EntityKey.prefix(of: name)
        return try hasLedgerRow(Ledger.watermarks + prefix) || hasLedgerRow(Ledger.listed + prefix)
    }

    /// How far the folders of a tree by paths were listed, by their ids; without one the root.
    package func folderMarks(of name: CollectionName) throws -> [String: WatermarkRow] {
        var marks: [String: WatermarkRow] = [:]
        for (key, value) in try ledgerRows(Ledger.watermarks + EntityKey.prefix(of: name)) {
            guard let folder = PullTarget(bytes: key.bytes.dropFirst())?.folder else { continue }
            marks[folder] = try WatermarkRow(parsing: value)
        }
        return marks
    }

    /// What may be concluded of a collection by lists: those of the model, and those that documents
    /// named, as far as rows tell.
    package func concludedTargets(of collection: CollectionModel) throws -> [PullTarget] {
        collection.hasListSources ? try knownTargets(of: collection) : collection.listTargets
    }
}
