// SyncDriver+ReadBack.swift — what an answer about one entity tells of it, and which call is to
// tell where it tells nothing.
//
//   a list of the entity alone   it is not of that list any more: it is read
//   a read                       there is none, and it may be out of reach: it is fetched
//   a fetch                      left out there, it is out of reach

import TidemarkEvents
import TidemarkViews

/// What an answer about one entity tells of it.
enum ToldEntity {
    /// The answer as it would be to a read.
    case answer(ServerAnswer)
    /// The entity is not shown, and not told as deleted.
    case outOfReach
    /// Nothing; this call is to tell.
    case nothing(ServerCall)
}

extension SyncDriver {
    /// What an answer tells of an entity that is read back.
    func told(
        _ answer: ServerAnswer, of key: EntityKey, by call: ServerCall
    ) throws -> ToldEntity {
        switch (call, answer) {
        case (.listPart(let collection, _, _, _), .page(let page)):
            let id = try serverID(of: key)
            return found(id, in: page.records) ?? .nothing(.read(collection, id: id))
        case (.listPart(let collection, _, _, _), .failure(let failure)) where !failure.stopsRun:
            return .nothing(.read(collection, id: try serverID(of: key)))
        case (.read(let collection, let id), .absent):
            guard adapter.traits.absenceNeedsFetch.contains(collection.name),
                try host.read(journal, { try $0.entity($0.resolve(key))?.baseState }) == .live
            else { return .answer(answer) }
            return .nothing(.fetch(collection, ids: [id]))
        case (.fetch(_, let ids), .records(let records)):
            return ids.first.flatMap { found($0, in: records) } ?? .outOfReach
        default: return .answer(answer)
        }
    }

    private func serverID(of key: EntityKey) throws -> String {
        try host.read(journal) { try $0.serverID(of: key) }
    }

    private func found(_ id: String, in records: [ServerRecord]) -> ToldEntity? {
        records.first { ExactString($0.id) == ExactString(id) }
            .map { .answer($0.isDeleted ? .deleted($0) : .record($0)) }
    }

    /// Has an entity read back by another call.
    func ask(
        _ call: ServerCall, _ exchange: ReadExchange, isCut: Bool, _ run: inout SyncRun
    ) async throws -> SyncAction {
        if exchange.isClockNews {
            try await log(&run.recorder) { try $0.answered(exchange, $1) }
        } else {
            run.recorder.note(exchange)
        }
        // A failure of this call counts where the other one fails, too.
        var result = CallResult(.absent)
        result.isCut = isCut
        result.page.other = call
        return answered(result, exchange.answer, &run)
    }
}

extension SyncStep {
    /// The parameters of the list that it asks about one entity; none for any other call.
    var list: ListParameters {
        if case .readBack(_, .listPart(_, let list, _, _), _) = self { list } else { [:] }
    }
}
