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
    /// When the last one that was noted was sent, by both clocks, where the log tells.
    package var last: Moment?

    package init(times: [Timestamp], last: Moment? = nil) {
        self.times = times
        self.last = last
    }

    /// The times as the device's clock of now would have shown them: one that was set since is
    /// found out by the one that nobody sets.
    ///
    /// Where the device was started anew, what seems to lie ahead is forgotten: nobody knows how
    /// far.
    package func times(at now: Moment) -> [Timestamp] {
        guard let last, !last.bootID.isEmpty, last.bootID == now.bootID,
            now.uptime >= last.uptime
        else { return times.filter { $0 <= now.now } }
        let expected = last.now.adding(from: last.uptime, to: now.uptime)
        return times.map { $0.adding(from: expected.rawValue, to: now.now.rawValue) }
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        for time in times { writer.signed(1, time.rawValue) }
        writer.signed(2, last?.now.rawValue ?? 0)
        writer.string(3, last?.bootID ?? "")
        writer.signed(4, last?.uptime ?? 0)
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        times = []
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: times.append(Timestamp(rawValue: try field.signed()))
            case 2:
                let now = Timestamp(rawValue: try field.signed())
                last = Moment(now: now, bootID: "", uptime: 0)
            case 3: last?.bootID = try field.string()
            case 4: last?.uptime = try field.signed()
            default: continue
            }
        }
    }
}

extension RowKey {
    package static func gate(_ name: SyncGate.Name) -> RowKey { gate(name.rawValue) }
}

extension RowReading {
    /// The requests that the model's limits look at, by the device's clock of now.
    package func requests(_ limits: [RequestLimit], at now: Moment) throws -> RequestWindow {
        guard !limits.isEmpty else { return RequestWindow([]) }
        let row = try get(.gate(RequestTimes.name)).map { try RequestTimes(parsing: $0) }
        return RequestWindow(limits, row?.times(at: now) ?? [])
    }

    /// What keeps sync runs from beginning.
    package func gates() throws -> SyncGates {
        var gates = SyncGates()
        for name in SyncGate.Name.allCases {
            gates[name] = try get(.gate(name)).map { try SyncGate(parsing: $0) }
        }
        gates.failing = try failingCalls().map(\.row.gate)
        return gates
    }
}
