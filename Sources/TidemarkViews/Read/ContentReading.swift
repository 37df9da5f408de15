// ContentReading.swift — which files there are, and what entities name.

package import TidemarkEvents
import TidemarkRules

extension RowReading {
    /// When contents were swept last, by the device's clock; nil for never.
    package func sweptAt() throws -> Timestamp? {
        try get(.contentSweep).map { try ContentSweepRow(parsing: $0).at }
    }

    /// A file by its digest; nil where nothing is known of it.
    package func content(_ digest: String) throws -> ContentRow? {
        try get(.content(digest)).map { try ContentRow(parsing: $0) }
    }

    /// Calls `body` with every file that is stored or referenced, by digest.
    package func forEachContent(_ body: (_ digest: String, ContentRow) throws -> Void) throws {
        try walk(.ledger, Ledger.contents) { key, value in
            if let digest = RowKey(.ledger, key).text(after: Ledger.contents) {
                try body(digest, try ContentRow(parsing: value))
            }
            return true
        }
    }

    /// Calls `body` with everything that entities call files, by collection.
    package func forEachContentName(
        _ body: (ContentSource, ContentNamesRow.Entry) throws -> Void
    ) throws {
        try walk(.ledger, Ledger.contentNames) { key, value in
            let collection = key.dropFirst(Ledger.contentNames.count).prefix { $0 != 0 }
            let name = CollectionName(String(decoding: collection, as: UTF8.self))
            for entry in try ContentNamesRow(parsing: value).entries {
                try body(ContentSource(name, entry.source), entry)
            }
            return true
        }
    }

    /// Whether there is anything to know of files.
    package func hasContents() throws -> Bool { try hasLedgerRow(Ledger.contents) }

    /// Whether there is anything to know of what a collection's entities name.
    func hasContents(of collection: CollectionName) throws -> Bool {
        try hasLedgerRow(Ledger.contentsOfEntities + EntityKey.prefix(of: collection))
    }

    /// How many files of the user's only this device has, beside those that a pending change sends.
    ///
    /// The content of a tree's file is sent with the entity, and waits with its change.
    ///
    /// - Parameter kept: collections that stay, with all that they name.
    package func countFilesOnlyHere(except kept: Set<CollectionName>) throws -> Int {
        let model = try model()
        let abandoned = try abandonedContents()
        var count = 0
        try forEachContent { digest, row in
            guard row.stored != nil, !abandoned.contains(ExactString(digest)),
                !row.own.contains(where: { kept.contains($0.field.collection) })
            else { return }
            let isOnlyHere = row.own.contains { hold in
                let content = model[hold.field.collection]?.tree?.content
                return hold.references > hold.sends && hold.field.field != content
            }
            if isOnlyHere { count += 1 }
        }
        return count
    }

    /// The files of the user's that are held for entities of collections without a rule, where none
    /// of these names them any more: without a rule nothing looks at each change.
    func abandonedContents() throws -> Set<ExactString> {
        let model = try model()
        func hasRule(_ name: CollectionName) -> Bool {
            model[name].map { !$0.contents.isEmpty } ?? false
        }
        var held: [(entity: EntityKey, files: [String])] = []
        var next: [UInt8]? = Ledger.contentsOfEntities
        while let first = next {
            next = nil
            try walk(.ledger, Ledger.contentsOfEntities, from: first) { bytes, value in
                guard let key = RowKey(.ledger, bytes).entityOfContents else { return true }
                guard !hasRule(key.collection) else {
                    // Behind its last row.
                    next = Ledger.contentsOfEntities + key.collection.rawValue.utf8 + [1]
                    return false
                }
                let names = try EntityContentsRow(parsing: value).names
                held.append((key, names.filter(\.isFile).map(\.text)))
                return true
            }
        }
        var (named, unnamed): (Set<ExactString>, Set<ExactString>) = ([], [])
        for (key, files) in held where !files.isEmpty {
            // Two keys may have turned out to be one entity since.
            let row = try entity(at: .entity(resolve(key)))
            for file in files {
                if row.mentions(file) {
                    named.insert(ExactString(file))
                } else {
                    unnamed.insert(ExactString(file))
                }
            }
        }
        return try unnamed.subtracting(named).filter { digest in
            guard let row = try content(digest.text) else { return false }
            return row.holds.isEmpty && row.own.allSatisfy { !hasRule($0.field.collection) }
        }
    }

    /// What an entity names, and who wants that.
    package func contents(of key: EntityKey) throws -> EntityContentsRow {
        try get(.contents(of: resolve(key))).map { try EntityContentsRow(parsing: $0) }
            ?? EntityContentsRow()
    }

    /// The digest of what is stored of a source; nil for nothing.
    package func digest(of source: ContentSource) throws -> String? {
        let row = try get(.contentNames(source)).map { try ContentNamesRow(parsing: $0) }
        return row?[source.text].flatMap { $0.digest.isEmpty ? nil : $0.digest }
    }

    /// The same by any name of a content.
    package func digest(of name: ContentName, in collection: CollectionName) throws -> String? {
        switch name {
        case .file(let digest, _): digest
        case .source(let text): try digest(of: ContentSource(collection, text))
        }
    }

    /// Whether two documents of a file name the same content: by the same name, or two of one file
    /// that is here.
    package func isSameContent(
        _ one: JSONDocument, _ other: JSONDocument, in collection: CollectionModel
    ) throws -> Bool {
        guard let field = collection.tree?.content, let first = one.value(field),
            let second = other.value(field)
        else { return false }
        if first == second { return true }
        guard let name = ContentName(first), let known = ContentName(second),
            let digest = try digest(of: name, in: collection.name)
        else { return false }
        return try digest == self.digest(of: known, in: collection.name)
    }
}

extension RowKey {
    /// What comes behind a prefix, as text.
    func text(after prefix: [UInt8]) -> String? {
        bytes.starts(with: prefix) ? String(utf8: bytes.dropFirst(prefix.count)) : nil
    }
}
