// OpenTicket.swift — an answer that the server promised, with the writes that it is about.

package import TidemarkEvents
import TidemarkRules
package import TidemarkViews

/// An answer that the server promised.
package struct OpenTicket: Sendable, Hashable {
    /// The request that it is the answer to.
    package var call: Position
    /// By which the answer is asked for.
    package var ticket: String
    /// When it was promised, by the server's clock.
    package var since: Timestamp
    /// The writes that it is about, those whose outcome came otherwise among them.
    package var items: [PushItem]
    /// Of each, its own `request.sent`.
    package var calls: [Position]

    package init(
        call: Position, ticket: String, since: Timestamp, items: [PushItem], calls: [Position]
    ) {
        self.call = call
        self.ticket = ticket
        self.since = since
        self.items = items
        self.calls = calls
    }
}

extension ViewReader {
    /// The answers that the server promised and that are still awaited.
    package func openTickets(
        _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> [OpenTicket] {
        try tickets().filter { !$0.isLost }.compactMap { row in
            var ticket = OpenTicket(
                call: row.call, ticket: row.ticket, since: row.since, items: [], calls: [])
            for call in row.calls {
                let call = Position(call)
                guard let key = try event(at: call)?.key else { continue }
                guard let item = try sentItem(key, call, model, adapter) else { continue }
                ticket.items.append(item)
                ticket.calls.append(call)
            }
            return ticket.items.isEmpty ? nil : ticket
        }
    }

    /// A write whose outcome is not known, as what it carries is now; nil where it is known.
    private func sentItem(
        _ named: EntityKey, _ call: Position, _ model: SyncModel, _ adapter: any ServerAdapter
    ) throws -> PushItem? {
        let traits = adapter.traits
        let key = try resolve(named)
        guard let known = try entity(key), let collection = model[key.collection],
            let attempt = known.attempt, attempt.call == call
        else { return nil }
        let row = try whole(known, key)
        let covered = row.pending.filter { $0.position <= attempt.covers }
        guard !covered.isEmpty else { return nil }
        let id = try wireID(of: key, row, collection, through: row.attempt?.covers)
        var sent = row
        sent.pending = covered
        // As it was sent: by then nothing of this attempt could have arrived.
        sent.attempt = nil
        let write = try PushWrite(
            try sent.changes(in: collection), on: try row.baseValue(in: collection),
            revision: row.revision, id: id, asIn: row.said, collection: collection,
            isVersioned: traits.isVersioned(collection), mergesLists: traits.mergesLists)
        // Of what is gone by now it can only have been a deletion.
        let covers = covered.map(\.position)
        var pending = PendingWrite(
            key, id: id, covers: covers, write: write ?? .delete(revision: PushWrite.noRevision))
        try pending.leaveOut(of: row, collection, by: adapter, self)
        guard let sentWrite = pending.write else { return nil }
        var item = PushItem(key, sentWrite.call(in: collection, id: id), covers: covers)
        item.leftOut = pending.leftOut
        return item
    }
}
