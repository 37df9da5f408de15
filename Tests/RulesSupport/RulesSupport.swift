// RulesSupport.swift — pending changes and documents in a few characters, and random ones.

import TestSupport
import TidemarkEvents
import TidemarkRules

extension JSONDocument {
    /// A document of a text that is known to be one.
    init(_ text: String) {
        do { try self.init(parsing: Array(text.utf8)) } catch {
            preconditionFailure("\(text) is no object: \(error)")
        }
    }
}

extension Base {
    static func live(_ text: String) -> Base { .live(JSONDocument(text)) }
}

extension PendingChange {
    static func create(_ position: UInt64, _ text: String, sent: Bool = false) -> PendingChange {
        PendingChange(Position(position), .create(JSONDocument(text)), mayHaveArrived: sent)
    }

    /// A change that sets the members of an object and removes the fields named.
    static func update(
        _ position: UInt64, _ set: String, unset: [String] = [], sent: Bool = false
    ) -> PendingChange {
        var patch = Patch(settingAllOf: JSONDocument(set))
        patch.unset = unset
        return PendingChange(Position(position), .update(patch), mayHaveArrived: sent)
    }

    static func delete(_ position: UInt64, sent: Bool = false) -> PendingChange {
        PendingChange(Position(position), .delete, mayHaveArrived: sent)
    }
}

extension ConflictPolicy {
    /// Those that re-apply each change by itself.
    static let changewise: [ConflictPolicy] = [
        .serverWins, .localWins, .preferNewer(field: "last_modified", margin: .seconds(5)),
        .mergeFields(.serverWins), .mergeFields(.localWins), .custom("rule"),
    ]
    /// One of each kind, and of each side.
    static let examples: [ConflictPolicy] =
        changewise + [.overwriteUnlessDirty, .overwriteIfSynced]
}

extension Rebase {
    /// A decision with the usual server fields.
    init(
        _ pending: [PendingChange], from old: Base, to new: Base,
        _ policy: ConflictPolicy = .serverWins, answer: ConflictAnswer? = nil
    ) {
        self.init(
            pending, from: old, to: new, policy: policy, serverFields: ["id", "last_modified"],
            answer: answer)
    }
}

extension SplitMix64 {
    private static let fields = ["a", "b", "c", "d", "\u{E9}", "e\u{301}"]
    private static let values = ["0", "1", "1.0", "\"x\"", "null", "[1]", "{\"n\":1}"]

    mutating func document() -> JSONDocument {
        var members = [#""id":"7""#, #""last_modified":\#(below(3))"#]
        for field in Self.fields where !once(in: 3) {
            members.append("\"\(field)\":\(pick(Self.values))")
        }
        return JSONDocument("{" + members.joined(separator: ",") + "}")
    }

    mutating func base() -> Base {
        switch below(6) {
        case 0: .absent
        case 1: .deleted(last: once(in: 2) ? nil : document())
        default: .live(document())
        }
    }

    mutating func patch() -> Patch {
        var patch = Patch()
        for field in Self.fields where once(in: 3) {
            if once(in: 4) {
                patch.unset.append(field)
            } else {
                patch.set.append(Patch.Field(field, Array(pick(Self.values).utf8)))
            }
        }
        return patch
    }

    /// Up to five changes, those that may have arrived first.
    mutating func pending() -> [PendingChange] {
        let count = below(6)
        let sent = below(count + 1)
        let isRefused = once(in: 4)
        return (0..<count).map { index in
            let change: PendingChange.Change =
                switch below(6) {
                case 0: .create(document())
                case 1: .delete
                default: .update(patch())
                }
            return PendingChange(
                Position(UInt64(index + 1)), change, mayHaveArrived: index < sent,
                isRefused: isRefused,
                editedAt: once(in: 4) ? nil : Timestamp(rawValue: Int64(1 + below(9)) * 1_000_000))
        }
    }

    /// What a rule may answer.
    mutating func answer() -> ConflictAnswer? {
        switch below(5) {
        case 0: nil
        case 1: .server
        case 2: .local
        default: .document(document().bytes)
        }
    }
}
