// GateRow.swift — a gate of sync runs as a row of the ledger: 'g' NAME, and of a group of requests
// 'g' NAME 0 group.

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
        writer.position(8, asked)
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
            case 8: asked = try field.position()
            default: continue
            }
        }
    }
}

/// When the last requests were sent, as far as the model's limits look at them: 'g' `requests`, and
/// those of a group 'g' `requests` 0 group; and when the last attempts were made that a gate of the
/// model looks at: 'g' `attempts` 0 trigger.
package struct RequestTimes: Sendable, Hashable {
    package static let name = "requests"
    package static let attemptsName = "attempts"

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
        timesOfBoot(at: now) ?? times.filter { $0 <= now.now }
    }

    /// The same of attempts, of which none is forgotten.
    ///
    /// Where the device was started anew, each of them counts as made at that start: it can't have
    /// been later. Where the boot is not known only the device's clock tells.
    package func attempts(at now: Moment) -> [Timestamp] {
        guard !now.bootID.isEmpty else { return times }
        return timesOfBoot(at: now) ?? times.map { _ in now.boot }
    }

    /// Nil where the device was started anew since.
    private func timesOfBoot(at now: Moment) -> [Timestamp]? {
        guard let last, !last.bootID.isEmpty, last.bootID == now.bootID,
            now.uptime >= last.uptime
        else { return nil }
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
    package static func gate(_ name: SyncGate.Name, of group: RequestGroup) -> RowKey {
        gate(name.rawValue, of: group)
    }
    package static func gate(_ name: String, of group: RequestGroup) -> RowKey {
        RowKey(.ledger, gates(name) + group.bytes)
    }
    /// When a collection was listed last, of those that are not listed in every run: as of a gate
    /// since then.
    package static func listedAt(_ collection: CollectionName) -> RowKey {
        RowKey(.ledger, gates(listedName) + collection.rawValue.utf8)
    }
    package static let listedName = "listed"
    /// The attempts that a gate of the model looks at.
    package static func attempts(_ gate: String) -> RowKey {
        RowKey(.ledger, gates(RequestTimes.attemptsName) + gate.utf8)
    }
    /// What the keys of a gate's groups begin with.
    static func gates(_ name: String) -> [UInt8] { Ledger.gates + name.utf8 + [0] }
}

extension RowReading {
    /// The requests that the model's limits look at, by the device's clock of now.
    package func requests(_ limits: [RequestLimit], at now: Moment) throws -> RequestWindows {
        guard !limits.isEmpty else { return RequestWindows([]) }
        let row = try get(.gate(RequestTimes.name)).map { try RequestTimes(parsing: $0) }
        var groups: [RequestGroup: [Timestamp]] = [:]
        for (group, value) in try groupRows(RequestTimes.name) {
            groups[group] = try RequestTimes(parsing: value).times(at: now)
        }
        return RequestWindows(limits, row?.times(at: now) ?? [], groups: groups)
    }

    /// When the attempts were made that a gate of the model looks at, by the device's clock of now.
    package func attempts(_ gate: TriggerGate, at now: Moment) throws -> [Timestamp] {
        try get(.attempts(gate.name)).map { try RequestTimes(parsing: $0).attempts(at: now) } ?? []
    }

    /// In how many microseconds a gate of the model lets its trigger begin a run; 0 for now.
    package func wait(for gate: TriggerGate, at now: Moment) throws -> Int64 {
        gate.wait(at: now.now, times: try attempts(gate, at: now))
    }

    /// What the model's gates make of triggers that are to begin a run now.
    package func admission(
        of triggers: [SyncTrigger], _ gates: [TriggerGate], at now: Moment
    ) throws -> TriggerAdmission {
        try TriggerAdmission(triggers, gates, at: now.now) { try attempts($0, at: now) }
    }

    /// When a collection was listed last, of those that are not listed in every run: since when
    /// the run began, set by its end.
    package func listedAt(_ collection: CollectionName) throws -> SyncGate? {
        try get(.listedAt(collection)).map { try SyncGate(parsing: $0) }
    }

    /// The rows of a gate's groups.
    private func groupRows(_ name: String) throws -> [(RequestGroup, [UInt8])] {
        let prefix = RowKey.gates(name)
        return try ledgerRows(prefix).compactMap { row in
            RequestGroup(bytes: row.key.bytes.dropFirst(prefix.count)).map { ($0, row.value) }
        }
    }

    /// What keeps sync runs from beginning.
    package func gates() throws -> SyncGates {
        var gates = SyncGates()
        for name in SyncGate.Name.allCases {
            gates[name] = try get(.gate(name)).map { try SyncGate(parsing: $0) }
        }
        for (group, value) in try groupRows(SyncGate.Name.server.rawValue) {
            gates.groups[group] = try SyncGate(parsing: value)
        }
        gates.failing = try failingCalls().map(\.row.gate)
        return gates
    }
}
