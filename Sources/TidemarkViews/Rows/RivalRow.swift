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
        /// When that one had been changed last, as long as it went on.
        package var winnerAt: Timestamp
        package var stop: RivalStop
        /// When the loser itself had been changed last, when that was decided.
        package var at: Timestamp
        /// The event since which this winner is ahead.
        package var decided: Position
    }

    /// When it was changed last, but for what is ``ignored``.
    package var at: Timestamp
    /// The pending edits that were made while it was a loser and are not about the state.
    package var ignored: [Position] = []
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
            writer.signed(7, loss.winnerAt.rawValue)
            writer.position(8, loss.decided)
        }
        for position in ignored { writer.position(9, position) }
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
                    winner: key, winnerAt: unknown, stop: RivalStop(.now, at: unknown),
                    at: unknown, decided: .start)
            case 4: loss?.stop.kind = RivalStop.Kind(rawValue: try field.unsigned()) ?? .now
            case 5: loss?.stop.time = Timestamp(rawValue: try field.signed())
            case 6: loss?.at = Timestamp(rawValue: try field.signed())
            case 7: loss?.winnerAt = Timestamp(rawValue: try field.signed())
            case 8: loss?.decided = try field.position()
            case 9: ignored.append(try field.position())
            default: continue
            }
        }
    }
}
