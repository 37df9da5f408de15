// GateRow.swift — a gate of sync runs as a row of the ledger: 'g' NAME.

package import TidemarkEvents
package import TidemarkRules

extension SyncGate {
    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.signed(1, since.now.rawValue)
        writer.position(2, position)
        writer.signed(3, microseconds)
        writer.string(4, since.bootID)
        writer.signed(5, since.uptime)
        writer.varint(6, UInt64(failures))
        writer.string(7, reason)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(
            since: Moment(now: Timestamp(rawValue: 0), bootID: "", uptime: 0), microseconds: 0,
            position: .start)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: since.now = Timestamp(rawValue: try field.signed())
            case 2: position = try field.position()
            case 3: microseconds = try field.signed()
            case 4: since.bootID = try field.string()
            case 5: since.uptime = try field.signed()
            case 6: failures = Int(clamping: try field.unsigned())
            case 7: reason = try field.string()
            default: continue
            }
        }
    }
}

extension RowKey {
    package static func gate(_ name: SyncGate.Name) -> RowKey { gate(name.rawValue) }
}

extension ViewReader {
    /// What keeps sync runs from beginning.
    package func gates() throws -> SyncGates {
        var gates = SyncGates()
        for name in SyncGate.Name.allCases {
            gates[name] = try row(.gate(name)).map { try SyncGate(parsing: $0) }
        }
        return gates
    }
}
