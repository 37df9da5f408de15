// SyncDriver+Settling.swift — what a server refuses because it does not show yet to all requests
// what was written a moment ago.
//
//   named, and ours, of the last minute   a failure of the call: it is sent again, after a pause
//   else                                  refused
//
// So a write waits for what was made in the same run, and one that names what is really out of
// reach is not sent for ever. What belongs to another owner is out of its reach.

import TidemarkEvents
import TidemarkViews

extension SyncDriver {
    /// For how many seconds after our write of an entity a server may not show it to all requests;
    /// such a server says two to five.
    fileprivate static let settlingSeconds: Int64 = 60

    /// Has a write that was refused wait where what it names is ours, of the last minute.
    func hold(
        _ answer: inout ServerAnswer, _ record: inout AnswerRecord, _ items: [PushItem],
        _ sent: SentPush
    ) throws {
        guard items.count == 1, case .refused(let refusal) = answer,
            try isSettling(refusal.unseen, of: items[0].call, sent.call)
        else { return }
        answer = .failure(.client(status: refusal.status, refusal.message))
        record.fail(.client)
    }

    private func isSettling(
        _ fields: [String], of call: ServerCall, _ sent: Position
    ) throws -> Bool {
        guard !fields.isEmpty, let collection = call.collection, let body = call.write?.body,
            let document = try? JSONDocument(parsing: body)
        else { return false }
        var named: [EntityKey] = []
        for reference in collection.references where fields.contains(reference.field) {
            for id in document.ids(in: reference.field) {
                named.append(EntityKey(reference.collection, id))
            }
        }
        let owner = collection.access.owner.map { document.ids(in: $0) } ?? []
        return try host.read(journal) { [model] views in
            guard let now = try views.event(at: sent)?.recordedAt else { return false }
            for key in named {
                guard let row = try views.settling(key, at: now) else { continue }
                let field = model[key.collection]?.access.owner
                let base = try? JSONDocument(parsing: row.base)
                if field.flatMap({ base?.ids(in: $0) }) ?? owner == owner { return true }
            }
            return false
        }
    }
}

extension ViewReader {
    /// An entity of which what is known is what a write of ours made of it a short time ago.
    fileprivate func settling(_ named: EntityKey, at now: Timestamp) throws -> EntityRow? {
        guard let row = try entity(resolve(named)), let place = row.basePosition,
            let last = try self.event(at: place),
            last.kind == .pushAccepted || last.mutation != nil
        else { return nil }
        let seconds = SyncDriver.settlingSeconds
        let isNew =
            last.recordedAt.adding(seconds: seconds) >= now
            && now.adding(seconds: seconds) >= last.recordedAt
        return isNew ? row : nil
    }
}
