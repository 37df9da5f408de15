// FoldTickets.swift — answers that the server promised, as rows of the ledger:
//
//   'J' position   a request whose answer is promised; gone once nothing that it carried is open

package import TidemarkEvents

/// An answer that the server promised.
package struct TicketRow: Sendable, Hashable {
    /// The request that it is the answer to.
    package var call: Position
    /// By which the answer is asked for.
    package var ticket = ""
    /// How many writes the request carried, each in the request behind it; 0 where it is itself the
    /// only one.
    package var writes: UInt64 = 0
    /// How many of them are open.
    package var open: UInt64 = 0
    /// When it was promised, by the server's clock.
    package var since = Timestamp(rawValue: 0)
    /// Whether the server knows nothing of it any more.
    package var isLost = false

    init(call: Position) { self.call = call }

    /// The requests that carried the writes.
    package var calls: ClosedRange<UInt64> {
        let call = min(self.call.rawValue, UInt64.max - Self.writesMax)
        return writes == 0 ? call...call : call + 1...call + min(writes, Self.writesMax)
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.string(1, ticket)
        writer.varint(2, writes)
        writer.varint(3, open)
        writer.signed(4, since.rawValue)
        writer.flag(5, isLost)
        return writer.bytes
    }

    package init(_ call: Position, parsing bytes: [UInt8]) throws(ProtoError) {
        self.init(call: call)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: ticket = try field.string()
            case 2: writes = min(try field.unsigned(), Self.writesMax)
            case 3: open = try field.unsigned()
            case 4: since = Timestamp(rawValue: try field.signed())
            case 5: isLost = try field.flag()
            default: continue
            }
        }
    }

    static let writesMax: UInt64 = 100_000

    /// For how long the server is believed to keep an answer.
    private static let secondsMax: Int64 = 86_400

    /// Whether a promise is so old that nothing will come of it, or was made at a time that can't
    /// be: a clock was set back since.
    ///
    /// - Parameter now: the server's time; nil where it is in doubt, and no promise is over.
    package static func isOver(since: Timestamp, at now: Timestamp?) -> Bool {
        guard let now else { return false }
        return now > since.adding(seconds: secondsMax) || now < since.adding(seconds: -secondsMax)
    }

    /// Whether the server still owes the answer to the write of a request.
    func isOwed(_ call: Position, at now: Timestamp?) -> Bool {
        !isLost && calls.contains(call.rawValue) && !Self.isOver(since: since, at: now)
    }
}

extension Ledger {
    package static let tickets = LedgerSort.tickets.prefix
}

extension RowKey {
    package static func ticket(_ call: Position) -> RowKey {
        RowKey(.ledger, Ledger.tickets + call.bigEndianBytes)
    }
}

extension RowReading {
    /// The answers that the server promised, in the order of their requests.
    package func tickets() throws -> [TicketRow] {
        try ledgerRows(Ledger.tickets).compactMap { place, value in
            try Position(bigEndianBytes: place.bytes.dropFirst()).map {
                try TicketRow($0, parsing: value)
            }
        }
    }
}

extension Fold {
    private func openTickets() throws -> [TicketRow] {
        if let known = cache.tickets { return known }
        let tickets = try tickets()
        cache.tickets = tickets
        return tickets
    }

    func deferred(_ event: Event, _ answer: PushDeferred, _ position: Position) throws {
        guard let call = event.call else { return }
        var known = try openTickets()
        let place = known.firstIndex { $0.call == call }
        var row = place.map { known[$0] } ?? TicketRow(call: call)
        if place == nil {
            guard answer.ticket != nil else { return }
            row.writes = min(UInt64(clamping: answer.writes), TicketRow.writesMax)
            row.open = try openWrites(of: row, event)
            if row.open == 0 { return }
            row.since = try ruleTime(event)
        }
        row.ticket = answer.ticket ?? row.ticket
        row.isLost = answer.isLost
        if let place { known[place] = row } else { known.append(row) }
        put(.ticket(call), row.encoded)
        cache.tickets = known
    }

    /// How many writes of a request that was just promised an answer are open: all of them, unless
    /// some were wiped before the promise came.
    private func openWrites(of ticket: TicketRow, _ event: Event) throws -> UInt64 {
        let writes = max(1, ticket.writes)
        guard try wipes()?.isAny(after: ticket.call) == true else { return writes }
        let open = try ledgerRows(Ledger.attempts).count { _, value in
            Position(bigEndianBytes: value[...]).map { ticket.calls.contains($0.rawValue) } ?? false
        }
        return min(writes, UInt64(open))
    }

    /// Whether the server promised an answer to the write of a request, be it lost or not.
    func isPromised(_ call: Position) throws -> Bool {
        try openTickets().contains { $0.calls.contains(call.rawValue) }
    }

    /// Whether the server still owes the answer to the write of a request, at the time of an event.
    func isAwaited(_ call: Position, _ event: Event) throws -> Bool {
        guard try isPromised(call) else { return false }
        let now = try ruleTime(event)
        return try openTickets().contains { $0.isOwed(call, at: now) }
    }

    /// Notes that what became of a write is known.
    func closeTicket(of call: Position) throws {
        var known = try openTickets()
        guard let place = known.firstIndex(where: { $0.calls.contains(call.rawValue) }) else {
            return
        }
        known[place].open -= min(1, known[place].open)
        let row = known[place]
        if row.open == 0 { known.remove(at: place) }
        put(.ticket(row.call), row.open == 0 ? nil : row.encoded)
        cache.tickets = known
    }
}
