// MutationRow.swift — the outbox's row of one mutation, kept for ever with its outcome.

package import TidemarkEvents

/// One mutation and what became of it.
package struct MutationRow: Sendable, Hashable {
    package var key: EntityKey
    package var kind: EventKind
    package var recordedAt: Timestamp
    /// The fields that an update touches; empty for what is about the whole entity.
    package var fields: [String]
    /// How often it was sent.
    package var attempts: UInt64 = 0
    /// The `request.sent` of the last time.
    package var call: Position?
    package var outcome: MutationOutcome?
    /// The event that proves the outcome.
    package var proof: Position?
    /// The server's version with which it was taken or met.
    package var revision: Revision?
    /// The rule that it follows from; empty for what the user did.
    package var rule = ""
    /// The fields that it lost while the rest of it went on.
    package var lost: [String] = []

    package var isDerived: Bool { !rule.isEmpty }

    package init(key: EntityKey, kind: EventKind, recordedAt: Timestamp, fields: [String]) {
        self.key = key
        self.kind = kind
        self.recordedAt = recordedAt
        self.fields = fields
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter(capacity: 80)
        writer.bytes(1, key.bytes)
        writer.varint(2, UInt64(kind.rawValue))
        writer.signed(3, recordedAt.rawValue)
        for field in fields { writer.message(4, field) }
        writer.varint(5, attempts)
        writer.position(6, call)
        writer.varint(7, outcome?.number ?? 0)
        writer.position(8, proof)
        writer.bytes(9, revision?.rawValue ?? [])
        writer.string(10, rule)
        for field in lost { writer.message(11, field) }
        return writer.bytes
    }

    /// What the rows of an entity's mutations begin with, and those of no other.
    package static func beginning(of key: EntityKey) -> [UInt8] {
        var writer = ProtoWriter()
        writer.bytes(1, key.bytes)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(
            key: EntityKey("", ""), kind: .localUpdated, recordedAt: Timestamp(rawValue: 0),
            fields: [])
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                guard let key = EntityKey(bytes: try field.bytes()) else { throw .invalidUTF8(1) }
                self.key = key
            case 2: kind = EventKind(rawValue: try field.small())
            case 3: recordedAt = Timestamp(rawValue: try field.signed())
            case 4: fields.append(try field.string())
            case 5: attempts = UInt64(try field.count())
            case 6: call = try field.position()
            case 7: outcome = MutationOutcome(number: try field.unsigned())
            case 8: proof = try field.position()
            case 9: revision = Revision(rawValue: try field.bytes())
            case 10: rule = try field.string()
            case 11: lost.append(try field.string())
            default: continue
            }
        }
    }
}

extension MutationOutcome {
    /// The same of a mutation that had lost fields: what was stored is part of it, and where
    /// nothing was, none of it.
    var ofPart: MutationOutcome {
        switch self {
        case .accepted: .merged
        case .merged: .superseded
        case .superseded, .coalesced, .annihilated, .withdrawn, .rejected, .discarded: self
        }
    }
}
