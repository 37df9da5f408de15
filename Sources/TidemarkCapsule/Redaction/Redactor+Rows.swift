// Redactor+Rows.swift — view rows with replaced values: a table of the fields of each row, by the
// sort that its key tells (LedgerSort in RowKey.swift).

import TidemarkEvents
import TidemarkRules
import TidemarkViews

/// The content of a row's field.
private indirect enum RowPart {
    /// Positions, numbers, flags, and Tidemark's words.
    case plain
    case time, text, token, digest, name, word, url
    /// Where a list goes on.
    case cursor
    /// A document of the row's collection.
    case document
    /// Collection, zero byte, id.
    case key
    /// A pool, and what of it.
    case pool
    case payload(EventKind)
    /// A row within a row; what a pending mutation changes depends on its kind.
    case message([UInt32: RowPart])
    case change
}

private enum RowParts {
    static let pending: [UInt32: RowPart] = [
        1: .plain, 2: .plain, 3: .change, 4: .plain, 5: .plain, 6: .time, 7: .plain,
        8: .payload(.localRequested), 9: .plain, 10: .name, 11: .plain,
    ]
    static let entity: [UInt32: RowPart] = [
        1: .plain, 2: .document, 3: .plain, 4: .plain, 5: .token, 6: .time, 7: .message(pending),
        8: .document, 9: .plain, 10: .plain, 11: .plain, 12: .plain, 13: .word, 14: .plain,
        15: .plain, 16: .time, 17: .plain, 18: .digest, 19: .plain,
        20: .plain, 21: .plain, 22: .plain, 23: .plain, 24: .plain, 25: .plain, 26: .plain,
        27: .plain, 28: .plain, 29: .plain, 30: .document, 31: .plain, 32: .plain, 33: .document,
        34: .document,
    ]
    static let mutation: [UInt32: RowPart] = [
        1: .key, 2: .plain, 3: .time, 4: .name, 5: .plain, 6: .plain, 7: .plain, 8: .plain,
        9: .token, 10: .plain, 11: .name,
    ]
    static let decision: [UInt32: RowPart] = [
        1: .key, 2: .plain, 3: .plain, 4: .plain, 5: .plain, 6: .name, 7: .plain, 8: .name,
        9: .name,
    ]
    static let watermark: [UInt32: RowPart] = [
        1: .cursor, 2: .plain, 3: .time, 4: .token, 5: .time, 6: .time, 7: .time,
        8: .plain, 9: .time, 10: .plain,
    ]
    static let rival: [UInt32: RowPart] = [
        1: .plain, 2: .time, 3: .key, 4: .plain, 5: .time, 6: .time, 7: .time, 8: .plain, 9: .plain,
    ]
    static let syncRun: [UInt32: RowPart] = [
        1: .time, 2: .payload(.syncStarted), 3: .plain, 4: .time, 5: .payload(.syncFinished),
        6: .time,
    ]
    static let gate: [UInt32: RowPart] = [
        1: .time, 2: .plain, 3: .plain, 4: .text, 5: .plain, 6: .plain, 7: .word, 8: .plain,
    ]
    static let failing: [UInt32: RowPart] = [
        1: .message(gate), 2: .plain, 3: .plain, 4: .plain, 5: .plain, 6: .plain,
    ]
    static let course: [UInt32: RowPart] = [
        1: .time, 2: .time, 3: .text, 4: .plain, 5: .plain, 6: .plain, 7: .plain,
    ]
    static let clock: [UInt32: RowPart] = [
        1: .time, 2: .text, 3: .plain, 4: .time, 5: .time, 6: .message(course),
        7: .message(course), 8: .message(course), 9: .time, 10: .plain, 11: .text,
        12: .message(course),
    ]
    static let requests: [UInt32: RowPart] = [1: .time, 2: .time, 3: .text, 4: .plain]
    static let unreadable: [UInt32: RowPart] = [
        1: .plain, 2: .text, 3: .text, 4: .plain, 5: .plain,
    ]
    static let placeholder: [UInt32: RowPart] = [1: .plain, 2: .time, 3: .time, 4: .plain]
    static let keyQueue: [UInt32: RowPart] = [1: .plain, 2: .plain, 3: .time, 4: .time]
    static let listed: [UInt32: RowPart] = [
        1: .time, 2: .plain, 3: .plain, 4: .plain, 5: .plain, 6: .plain, 7: .token, 8: .url,
        9: .token, 10: .token, 11: .time, 12: .time, 13: .time, 14: .time, 15: .plain,
        16: .plain, 17: .plain, 18: .plain, 19: .plain, 20: .plain,
    ]
    static let listedPage: [UInt32: RowPart] = [
        1: .plain, 2: .text, 3: .message([1: .text, 2: .token, 3: .time]), 4: .text, 5: .text,
    ]
    static let held: [UInt32: RowPart] = [1: .plain, 2: .text]
    static let ids: [UInt32: RowPart] = [1: .text]
    static let sides: [UInt32: RowPart] = [1: .document, 2: .document]

    static let hold: [UInt32: RowPart] = [
        1: .text, 2: .text, 3: .plain, 4: .plain, 5: .plain, 6: .plain,
    ]
    static let content: [UInt32: RowPart] = [
        1: .plain, 2: .plain, 3: .time, 4: .time, 5: .token, 6: .plain,
        7: .message([1: .text, 2: .text]), 8: .message(hold), 9: .message(hold), 10: .plain,
        11: .plain, 12: .plain,
    ]
    static let fetch: [UInt32: RowPart] = [
        1: .plain, 2: .plain, 3: .token, 4: .plain, 5: .plain, 6: .plain, 7: .plain, 8: .plain,
        9: .time, 10: .time, 11: .plain, 12: .plain, 13: .plain, 14: .time,
    ]
    static let sources: [UInt32: RowPart] = [
        1: .message([1: .text, 2: .text, 3: .text]), 2: .plain, 3: .time, 4: .plain,
    ]
    static let unfetched: [UInt32: RowPart] = [
        1: .message([1: .text, 2: .text]), 2: .text, 3: .text, 4: .plain,
    ]
    static let send: [UInt32: RowPart] = [
        1: .text, 2: .text, 3: .plain, 4: .plain, 5: .plain, 6: .time, 7: .text, 8: .plain,
        9: .time, 10: .plain, 11: .text, 12: .plain,
    ]
    static let contentNames: [UInt32: RowPart] = [
        1: .message([
            1: .text, 2: .text, 3: .message(hold), 4: .text, 5: .message(fetch),
            6: .text,
        ])
    ]
    static let contentsOfEntity: [UInt32: RowPart] = [
        1: .message([1: .text, 2: .text, 3: .plain, 4: .plain]),
        2: .message([1: .text, 2: .word, 3: .plain]), 3: .text,
    ]
    static let rollUp: [UInt32: RowPart] = [
        1: .plain, 2: .key, 3: .message([1: .plain, 2: .plain]),
    ]
    static let dangling: [UInt32: RowPart] = [1: .plain, 2: .plain, 3: .key, 4: .name]
    static let staged: [UInt32: RowPart] = [
        1: .plain, 2: .time, 3: .plain, 4: .plain, 5: .plain, 6: .time, 7: .token, 8: .document,
        9: .plain,
    ]
    static let stagedEnd = staged.merging([7: .cursor, 8: .payload(.pullCompleted)]) { $1 }
    static let grant: [UInt32: RowPart] = [1: .plain, 2: .time, 3: .payload(.localRequested)]
    static let ticket: [UInt32: RowPart] = [
        1: .text, 2: .plain, 3: .plain, 4: .time, 5: .plain,
    ]
    static let wipes: [UInt32: RowPart] = [1: .plain, 2: .message([1: .text, 2: .plain])]
    static let contentSweep: [UInt32: RowPart] = [1: .plain, 2: .time]
    static let pool: [UInt32: RowPart] = [
        1: .plain, 2: .plain, 3: .text, 4: .message(gate), 5: .plain,
    ]
    static let leftValue: [UInt32: RowPart] = [1: .plain, 2: .text]
    static let place: [UInt32: RowPart] = [1: .plain, 2: .text]
    static let reservedValue: [UInt32: RowPart] = [1: .pool, 2: .time, 3: .plain]

    static func fact(_ kind: EventKind) -> [UInt32: RowPart] { [1: .plain, 2: .payload(kind)] }
}

extension Redactor {
    // MARK: Keys

    func key(_ old: RowKey) throws -> RowKey {
        guard old.tree == .ledger, let first = old.bytes.first else {
            return RowKey(.rows, key(old.bytes[...]))
        }
        guard let sort = old.sort else { throw unknown(old) }
        let rest = old.bytes.dropFirst()
        let prefix = Array(old.bytes.prefix(2))
        let new: [UInt8]
        switch sort {
        case .hidden, .sides, .decisions, .lost, .settled, .open, .runs, .tickets, .dropped,
            .store:
            new = Array(rest)
        case .bindings, .placeholders, .unreadable, .ruleAnswers, .attempts, .rivals, .aliases,
            .failing, .rollUps, .warned, .withheld:
            new = key(rest)
        // What is about a list holds the part that it is of.
        case .watermarks, .owed, .held, .listed: new = key(rest, isScope: true)
        case .listedPages:
            // The number of the page stays; only the name of a part has a zero byte behind it.
            let number = rest.suffix(8)
            let list = rest.dropLast(8)
            let zero = list.firstIndex(of: 0) ?? list.endIndex
            let isPart = list[zero...].count > 1
            new = key(isPart ? list.dropLast() : list, isScope: true) + (isPart ? [0] : []) + number
        case .unanswered: new = text(Array(rest))
        case .grants:
            guard let granted = RowKey.granted(old.bytes) else { throw unknown(old) }
            // A long name does not stand in the key itself.
            let action =
                rules.actions.first { RowKey.grant(granted, $0) == old }
                ?? String(decoding: rest.dropFirst(granted.bytes.count + 1), as: UTF8.self)
            return .grant(key(granted), word(action))
        case .dangling:
            let names = rest.dropFirst().split(separator: 0, omittingEmptySubsequences: false)
            guard names.count == 2 || names.count == 4 else { throw unknown(old) }
            let keys = stride(from: 0, to: names.count, by: 2).map {
                key((Array(names[$0]) + [0] + names[$0 + 1])[...])
            }
            new = Array(rest.prefix(1)) + keys.joined(separator: [0])
        case .staged:
            let name = rest.dropFirst()
            let isOfCollection = [Ledger.staged, Ledger.stagedEnds].contains(prefix)
            new = Array(rest.prefix(1)) + (isOfCollection ? key(name) : text(Array(name)))
        case .pools:
            guard !rest.isEmpty else { throw unknown(old) }
            new = Array(rest.prefix(1)) + poolRow([first] + rest)
        case .places where prefix == Ledger.places:
            new = rest.prefix(9) + key(rest.dropFirst(9))
        case .places: new = rest.prefix(1) + text(Array(rest.dropFirst()))
        case .contents:
            let name = rest.dropFirst()
            if prefix == Ledger.dueFetches {
                return RowKey(.ledger, prefix + dueTime(name.prefix(8)) + key(name.dropFirst(8)))
            }
            if [Ledger.openFetches, Ledger.unfetched].contains(prefix) { return old }
            if prefix == Ledger.sends {
                return RowKey(.ledger, prefix + keyTexts(name))
            }
            let isOfCollection = [
                Ledger.contentsOfEntities, Ledger.contentNames, Ledger.treeWants,
            ].contains(prefix)
            new = Array(rest.prefix(1)) + (isOfCollection ? key(name) : text(Array(name)))
        case .gates:
            // The name of a gate, and what it is of.
            let parts = rest.split(separator: 0, omittingEmptySubsequences: false)
            new = Array(
                ([Array(parts[0])] + parts.dropFirst().map { text(Array($0)) })
                    .joined(separator: [0]))
        case .keys:
            new = rest.first == 2 ? [2] + idempotencyKey(Array(rest.dropFirst())) : Array(rest)
        case .settledDerived, .openDerived, .overtaken:
            new = rest.prefix(8) + key(rest.dropFirst(8))
        }
        return RowKey(.ledger, [first] + new)
    }

    /// Collection, zero byte, and an id, a scope or nothing.
    private func key(_ bytes: ArraySlice<UInt8>, isScope: Bool = false) -> [UInt8] {
        guard let zero = bytes.firstIndex(of: 0) else { return text(Array(bytes)) }
        let rest = Array(bytes[(zero + 1)...])
        let scope = isScope ? String(decoding: rest, as: UTF8.self) : ""
        return text(Array(bytes[..<zero])) + [0]
            + (isScope ? Array(listScope(scope).utf8) : text(rest))
    }

    /// Up to three texts, with zero bytes between them.
    private func keyTexts(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        let parts = bytes.split(separator: 0, maxSplits: 2, omittingEmptySubsequences: false)
        return Array(parts.map { text(Array($0)) }.joined(separator: [0]))
    }

    /// What the key of a row about a pool says after its first two bytes.
    private func poolRow(_ bytes: [UInt8]) -> [UInt8] {
        let rest = bytes[2...]
        if bytes.starts(with: Ledger.reservedValues) { return keyTexts(rest) }
        guard let new = poolKey(rest), let value = PoolKey.reading(rest)?.rest else {
            return text(Array(rest))
        }
        if value.isEmpty { return new.bytes }
        return new.bytes + endOfValue(value.prefix(8)) + text(Array(value.dropFirst(8)))
    }

    private func poolKey(_ bytes: ArraySlice<UInt8>) -> PoolKey? {
        PoolKey.reading(bytes).map { PoolKey(text($0.key.pool), $0.key.texts.map(text)) }
    }

    /// When a value ends; that of one without an end is no time.
    private func endOfValue(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard let time = Timestamp(orderBytes: bytes), time != ReservedValueRow.never else {
            return Array(bytes)
        }
        return self.time(time).orderBytes
    }

    /// The time from which on a file is asked for; that of at once, 0 or 1, is no time.
    private func dueTime(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
        guard let time = Timestamp(orderBytes: bytes), time.rawValue != 0 else {
            return Array(bytes)
        }
        return self.time(time).orderBytes
    }

    private func unknown(_ key: RowKey) -> RedactionError {
        RedactionError(
            .unknown, "this version does not know what of the view row \(key.readable) is a secret")
    }

    // MARK: Values

    /// The value of a row.
    ///
    /// - Parameter others: returns the value of another row.
    func row(
        _ key: RowKey, _ value: [UInt8], _ others: (RowKey) -> [UInt8]?
    ) throws -> [UInt8] {
        guard key.tree == .ledger, !key.bytes.isEmpty else {
            return try message(value, RowParts.entity, key, collection(key.bytes[...]))
        }
        guard let sort = key.sort else { throw unknown(key) }
        let rest = key.bytes.dropFirst()
        let prefix = Array(key.bytes.prefix(2))
        // Of a gate, what it is of comes after the name.
        let name = String(decoding: rest.prefix { $0 != 0 }, as: UTF8.self)
        let parts: [UInt32: RowPart]
        var owner = collection(rest)
        switch sort {
        case .hidden, .owed, .attempts, .warned, .withheld, .dropped: return value
        case .contents:
            switch prefix {
            case Ledger.contents: parts = RowParts.content
            case Ledger.contentNames: parts = RowParts.contentNames
            case Ledger.openFetches, Ledger.dueFetches: parts = RowParts.sources
            case Ledger.sends: parts = RowParts.send
            case Ledger.unfetched: parts = RowParts.unfetched
            case Ledger.contentsOfEntities: parts = RowParts.contentsOfEntity
            case Ledger.contentSweep: parts = RowParts.contentSweep
            case Ledger.unreferencedContents, Ledger.letGo, Ledger.treeWants: return value
            default: throw unknown(key)
            }
        case .pools:
            switch prefix {
            case Ledger.pools: parts = RowParts.pool
            case Ledger.leftValues: parts = RowParts.leftValue
            case Ledger.reservedValues: parts = RowParts.reservedValue
            default: throw unknown(key)
            }
        case .rollUps: parts = RowParts.rollUp
        case .places where prefix == Ledger.places: parts = RowParts.place
        case .places: return value
        case .staged where prefix == Ledger.staged: parts = RowParts.staged
        case .staged where prefix == Ledger.stagedEnds: parts = RowParts.stagedEnd
        case .staged: return value
        case .dangling: parts = RowParts.dangling
        case .grants: parts = RowParts.grant
        case .tickets: parts = RowParts.ticket
        case .overtaken: return patch(value, of: collection(rest.dropFirst(8)))
        case .held:
            // The position comes first.
            return try value.prefix(8)
                + message(Array(value.dropFirst(8)), RowParts.held, key, owner)
        case .bindings, .lost: return self.key(value[...])
        case .sides:
            let decision = RowKey(.ledger, Ledger.decisions + rest + [0, 0])
            owner = try others(decision).map {
                try DecisionRow(parsing: $0).key.collection.rawValue
            }
            parts = RowParts.sides
        case .decisions: parts = RowParts.decision
        case .unanswered, .aliases: parts = RowParts.ids
        case .gates where name == "clock": parts = RowParts.clock
        case .gates where name == RequestTimes.name || name == RequestTimes.attemptsName:
            parts = RowParts.requests
        case .gates where SyncGate.Name(rawValue: name) != nil || name == RowKey.listedName:
            parts = RowParts.gate
        case .placeholders: parts = RowParts.placeholder
        case .keys where rest.first == 0: parts = RowParts.keyQueue
        case .keys: return rest.first == 1 ? idempotencyKey(value) : value
        case .listed: parts = RowParts.listed
        case .settled, .settledDerived, .open, .openDerived: parts = RowParts.mutation
        case .unreadable: parts = RowParts.unreadable
        case .listedPages: parts = RowParts.listedPage
        case .ruleAnswers: parts = RowParts.fact(.ruleAnswered)
        case .runs: parts = RowParts.syncRun
        case .rivals: parts = RowParts.rival
        case .watermarks: parts = RowParts.watermark
        case .failing: parts = RowParts.failing
        case .store where name == "model": parts = RowParts.fact(.modelRegistered)
        case .store where name == "wiped": parts = RowParts.wipes
        case .store where name == "opened": parts = RowParts.fact(.storeOpened)
        case .store where name == "preconditions": parts = RowParts.fact(.serverDescribed)
        case .gates, .store: throw unknown(key)
        }
        return try message(value, parts, key, owner)
    }

    private func collection(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.firstIndex(of: 0).map { String(decoding: bytes[..<$0], as: UTF8.self) }
    }

    private func message(
        _ bytes: [UInt8], _ parts: [UInt32: RowPart], _ key: RowKey, _ collection: String?
    ) throws -> [UInt8] {
        var reader = ProtoReader(bytes)
        var writer = ProtoWriter(capacity: bytes.count)
        // The field before tells what a pending mutation changes.
        var number: UInt64 = 0
        while let field = try reader.next() {
            guard let part = parts[field.number] else { throw unknown(key) }
            if case .time = part {
                let time = time(Timestamp(rawValue: try field.signed()))
                writer.signed(field.number, time.rawValue)
            } else if let plain = try? field.unsigned() {
                guard case .plain = part else { throw unknown(key) }
                number = plain
                writer.varint(field.number, plain)
            } else {
                let kind = EntityRow.Pending.Kind(rawValue: number)
                let old = try field.bytes()
                writer.message(field.number, try value(part, old, kind, key, collection))
            }
        }
        return writer.bytes
    }

    private func value(
        _ part: RowPart, _ bytes: [UInt8], _ kind: EntityRow.Pending.Kind?, _ key: RowKey,
        _ collection: String?
    ) throws -> [UInt8] {
        switch part {
        case .plain: bytes
        case .time: throw unknown(key)
        case .text: text(bytes)
        case .token: token(bytes)
        case .cursor: cursor(bytes, of: collection)
        case .digest: digest(bytes)
        case .name: Array(name(String(decoding: bytes, as: UTF8.self)).utf8)
        case .url: Array(url(String(decoding: bytes, as: UTF8.self)).utf8)
        case .word: Array(word(String(decoding: bytes, as: UTF8.self)).utf8)
        case .document: document(bytes, of: collection)
        case .key: self.key(bytes[...])
        case .pool: poolKey(bytes[...])?.bytes ?? text(bytes)
        case .payload(let kind): try payload(kind, bytes, of: collection)
        case .message(let parts): try message(bytes, parts, key, collection)
        case .change:
            switch kind {
            case .update: patch(bytes, of: collection)
            case .action: try payload(.localRequested, bytes, of: collection)
            case .create, .delete, .carried, nil: document(bytes, of: collection)
            }
        }
    }
}

extension RowKey {
    /// The tree and the bytes, as readable text.
    fileprivate var readable: String {
        let text = bytes.map {
            (0x20..<0x7F).contains($0) ? String(Character(Unicode.Scalar($0))) : "."
        }
        return "\(tree == .rows ? "rows" : "ledger") \"\(text.joined())\""
    }
}
