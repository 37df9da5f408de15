// RivalRow.swift — the row of an entity that holds the state of a rival rule, by itself: without
// what was derived.

package import TidemarkEvents
package import TidemarkRules

/// How an entity stands among its rivals.
package struct RivalRow: Sendable, Hashable {
    /// Why it does not go on.
    package struct Loss: Sendable, Hashable {
        /// Who overtook it.
        package var winner: EntityKey
        package var stop: RivalStop
        /// When it had been changed last, when that was decided.
        package var at: Timestamp
        /// The event since which it does not go on.
        package var position: Position
    }

    /// When it was changed last; an edit of a loser counts only where it is about the state.
    package var at: Timestamp
    package var loss: Loss?

    package init(at: Timestamp, loss: Loss? = nil) {
        self.at = at
        self.loss = loss
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.flag(1, true)
        writer.signed(2, at.rawValue)
        if let loss {
            writer.bytes(3, loss.winner.bytes)
            writer.varint(4, loss.stop.kind.rawValue)
            writer.signed(5, loss.stop.time.rawValue)
            writer.signed(6, loss.at.rawValue)
            writer.position(7, loss.position)
        }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        let unknown = Timestamp(rawValue: 0)
        self.init(at: unknown)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 2: at = Timestamp(rawValue: try field.signed())
            case 3:
                guard let key = EntityKey(bytes: try field.bytes()) else { throw .invalidUTF8(3) }
                loss = Loss(
                    winner: key, stop: RivalStop(.now, at: unknown), at: unknown, position: .start)
            case 4: loss?.stop.kind = RivalStop.Kind(rawValue: try field.unsigned()) ?? .now
            case 5: loss?.stop.time = Timestamp(rawValue: try field.signed())
            case 6: loss?.at = Timestamp(rawValue: try field.signed())
            case 7: loss?.position = try field.position()
            default: continue
            }
        }
    }
}
