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

/// When the last requests were sent, as far as the model's limits look at them: 'g' `requests`.
package struct RequestTimes: Sendable, Hashable {
    package static let name = "requests"

    /// By the device's clock, ascending.
    package var times: [Timestamp]

    package init(times: [Timestamp]) { self.times = times }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        for time in times { writer.signed(1, time.rawValue) }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        times = []
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            if field.number == 1 { times.append(Timestamp(rawValue: try field.signed())) }
        }
    }
}

extension RowKey {
    package static func gate(_ name: SyncGate.Name) -> RowKey { gate(name.rawValue) }
}

extension ViewReader {
    /// The requests that the model's limits look at.
    package func requests(_ limits: [RequestLimit]) throws -> RequestWindow {
        guard !limits.isEmpty else { return RequestWindow([]) }
        let row = try row(.gate(RequestTimes.name)).map { try RequestTimes(parsing: $0) }
        return RequestWindow(limits, row?.times ?? [])
    }

    /// What keeps sync runs from beginning.
    package func gates() throws -> SyncGates {
        var gates = SyncGates()
        for name in SyncGate.Name.allCases {
            gates[name] = try row(.gate(name)).map { try SyncGate(parsing: $0) }
        }
        return gates
    }
}
