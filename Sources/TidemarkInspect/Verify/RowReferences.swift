// RowReferences.swift — checks that rows that refer to each other agree: every derived row has its
// source, and every source its derived rows.

import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

/// The references between the rows of one generation.
struct RowReferences {
    private let journal: Journal
    private let generation: Generation
    private static let findingsMax = 100

    init(_ journal: Journal, _ generation: Generation) {
        self.journal = journal
        self.generation = generation
    }

    /// The live rows that do not agree, in one snapshot; none of rows that other rules made.
    static func findings(in journal: Journal) throws -> [LogError] {
        try journal.environment.read { transaction in
            let state = try journal.views.state(transaction) ?? ViewTables.State()
            guard state.isCurrent else { return [] }
            return try RowReferences(journal, state.generation).findings(transaction)
        }
    }

    /// The rows that do not agree.
    func findings(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> [LogError] {
        var findings: [LogError] = []
        func expect(_ isSo: Bool, _ position: Position?, _ text: @autoclosure () -> String) {
            guard !isSo, findings.count < Self.findingsMax else { return }
            findings.append(LogError(.corruptRow, at: position ?? .start, text()))
        }
        func row(_ key: RowKey) throws -> [UInt8]? {
            try journal.views.row(key, generation, transaction)
        }
        func each(_ tree: Tree, _ prefix: [UInt8], _ body: ([UInt8], [UInt8]) throws -> Void) throws
        {
            try journal.views.scan(tree, generation, prefix: prefix, transaction) { key, value in
                try body(Array(key.dropFirst(prefix.count)), value)
                return findings.count < Self.findingsMax
            }
        }

        try each(.rows, []) { bytes, value in
            guard let key = EntityKey(bytes: bytes) else {
                return expect(false, nil, "\(RowKey(.rows, bytes)) is no entity's key")
            }
            let entity = try EntityRow(parsing: value)
            for item in entity.pending {
                let isOpen =
                    item.isDerived
                    ? try row(.openDerived(item.position, key)) != nil
                    : try row(.open(item.position)).map { try MutationRow(parsing: $0).key } == key
                expect(isOpen, item.position, "\(key) waits for it, the outbox does not list it")
                guard item.isOvertaken else { continue }
                let isKept = try row(.overtaken(item.position, key)) != nil
                expect(isKept, item.position, "no row says what the overtaken edit of \(key) is")
            }
            if entity.isPlaceholder {
                let isListed = try row(.placeholder(key)) != nil
                expect(isListed, entity.basePosition, "\(key) is an unlisted placeholder")
            }
            // The other direction is checked below, for the few attempts that there are.
            guard let call = entity.attempt?.call else { return }
            expect(
                try row(.attempt(key)) == call.bigEndianBytes, call,
                "\(key) and the outbox differ in whether an attempt is unknown")
        }
        try each(.ledger, Ledger.settled) { bytes, value in
            guard let position = Position(bigEndianBytes: bytes) else { return }
            let mutation = try MutationRow(parsing: value)
            let isListed = try row(.open(position)) != nil
            expect(!isListed && !mutation.isOpen, position, "it is settled and still listed")
        }
        try each(.ledger, Ledger.open) { bytes, value in
            guard let position = Position(bigEndianBytes: bytes) else { return }
            let mutation = try MutationRow(parsing: value)
            expect(mutation.isOpen, position, "it is settled and still listed")
            let entity = try row(.entity(mutation.key)).map { try EntityRow(parsing: $0) }
            let isPending =
                entity?.pending.contains { !$0.isDerived && $0.position == position } ?? false
            expect(isPending, position, "the outbox lists it, its entity does not wait for it")
        }
        try each(.ledger, Ledger.settledDerived) { bytes, value in
            let mutation = try MutationRow(parsing: value)
            let isListed = try row(RowKey(.ledger, Ledger.openDerived + bytes)) != nil
            expect(
                !isListed && !mutation.isOpen, Position(bigEndianBytes: bytes.prefix(8)),
                "it is settled and still listed")
        }
        try each(.ledger, Ledger.openDerived) { bytes, value in
            let position = Position(bigEndianBytes: bytes.prefix(8))
            expect(
                try MutationRow(parsing: value).isOpen, position, "it is settled and still listed")
            let place = RowKey(.rows, Array(bytes.dropFirst(8)))
            let entity = try row(place).map { try EntityRow(parsing: $0) }
            let isPending =
                entity?.pending.contains { $0.isDerived && $0.position == position } ?? false
            expect(isPending, position, "the outbox lists it, its entity does not wait for it")
        }
        try each(.ledger, Ledger.overtaken) { bytes, _ in
            let position = Position(bigEndianBytes: bytes.prefix(8))
            let place = RowKey(.rows, Array(bytes.dropFirst(8)))
            let entity = try row(place).map { try EntityRow(parsing: $0) }
            let isNamed =
                entity?.pending.contains { $0.isOvertaken && $0.position == position } ?? false
            expect(isNamed, position, "it is kept as an overtaken edit, and its entity has none")
        }
        try each(.ledger, Ledger.rivals) { bytes, _ in
            let isThere = try row(RowKey(.rows, bytes)) != nil
            expect(isThere, nil, "\(RowKey(.ledger, Ledger.rivals + bytes)) names no entity")
        }
        try each(.ledger, Ledger.attempts) { bytes, value in
            let entity = try row(RowKey(.rows, bytes)).map { try EntityRow(parsing: $0) }
            let position = Position(bigEndianBytes: value)
            expect(
                entity?.attempt != nil && entity?.attempt?.call == position, position,
                "the outbox lists an attempt that its entity does not know")
        }
        try each(.ledger, Ledger.placeholders) { bytes, value in
            let entity = try row(RowKey(.rows, bytes)).map { try EntityRow(parsing: $0) }
            expect(
                entity?.isPlaceholder == true, try PlaceholderRow(parsing: value).position,
                "\(RowKey(.rows, bytes)) is listed as a placeholder, and is none")
        }
        try each(.ledger, Ledger.dangling) { bytes, value in
            guard let key = EntityKey(bytes: bytes), let why = try DanglingRow(parsing: value)
            else { return expect(false, nil, "an entity is hidden, and nobody knows why") }
            let entity = try row(.entity(key)).map { try EntityRow(parsing: $0) }
            let isListed = try row(.waiting(key, for: why.target)) != nil
            expect(
                entity?.isHidden == true && isListed, why.position,
                "the rows of \(key) differ in whether it waits for \(why.target)")
        }
        // An id stays an alias of a key whose entity was dropped.
        try each(.ledger, Ledger.bindings) { _, value in
            let isListed = try row(RowKey(.ledger, Ledger.aliases + value)) != nil
            expect(isListed, nil, "an entity does not know of an id that is its alias")
        }
        try each(.ledger, Ledger.contents) { bytes, value in
            let content = try ContentRow(parsing: value)
            let digest = String(decoding: bytes, as: UTF8.self)
            let isFree = content.stored != nil && !content.isReferenced
            let isListed = try row(.unreferencedContent(digest)) != nil
            expect(
                isFree == isListed, content.stored?.position,
                "the rows of the file \(digest) differ in whether anything references it")
            let isLetGo = try row(RowKey(.ledger, Ledger.letGo + bytes)) != nil
            expect(
                (content.stored?.letGoAt != nil) == isLetGo, content.stored?.position,
                "the rows of the file \(digest) differ in whether it was let go")
            for source in content.sources {
                let names = try row(.contentNames(source)).map { try ContentNamesRow(parsing: $0) }
                expect(
                    names?[source.text]?.digest == digest, content.stored?.position,
                    "a name of the file \(digest) is another file's")
            }
        }
        try each(.ledger, Ledger.unreferencedContents) { bytes, _ in
            let isThere = try row(RowKey(.ledger, Ledger.contents + bytes)) != nil
            expect(isThere, nil, "a file is listed that no row tells of")
        }
        return findings
    }
}
