// SyncDriver+ReadBack.swift — what an answer about one entity tells of it, and which call is to
// tell where it tells nothing.
//
//   a list of the entity alone   another one is to follow, or it is not of that list any more: it
//                                is read
//   a read                       there is none, and it may be out of reach: it is fetched
//   a fetch                      left out there, it is out of reach
//
// Of a tree by paths a read says what is at a path. Where that is not the entity, and a write of it
// got no answer:
//
//   the server told its id       the next walk finds it, or it is gone
//   it was to be moved           what is at the other path tells whether it was
//   it lies in what was to be    the next walk tells where that is
//   the walk told all but that   it is gone
//   the walk told nothing        the write is sent again

import TidemarkEvents
import TidemarkRules
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

/// What a list of one entity told of it, of which it shows only a part.
struct ToldPart: Sendable {
    var list: ListParameters
    var document: [UInt8]
}

/// What a read of an entity of a tree by its path comes to.
enum PlacedAnswer {
    /// How the entity stands; nil where it is gone.
    case told(ServerRecord?)
    /// What follows is logged, or another answer tells.
    case over(PageResult)
}

extension SyncDriver {
    /// What an answer tells of an entity that is read back.
    ///
    /// Of lists of the entity alone the last one tells it, and the others are kept until then: with
    /// the first word that is logged it counts as taken.
    func told(
        _ answer: ServerAnswer, of key: EntityKey, by call: ServerCall, _ run: inout SyncRun
    ) throws -> ToldEntity {
        switch (call, answer) {
        case (.listPart(let collection, let list, _, _), .page(let page)):
            let id = try serverID(of: key)
            let said = found(id, in: page.records)
            guard let next = try following(list, of: key, &run) else {
                return said ?? .nothing(.read(collection, id: id))
            }
            switch said {
            case .some(.answer(.record(let record))):
                let part = ToldPart(list: list, document: record.document ?? [])
                run.told[key, default: []].append(part)
            case .some(let said): return said
            case .none: break
            }
            return .nothing(.listPart(collection, next, after: nil, page: nil))
        case (.listPart(let collection, let list, _, _), .failure(let failure))
        where !failure.stopsRun:
            guard let next = try following(list, of: key, &run) else {
                return .nothing(.read(collection, id: try serverID(of: key)))
            }
            // Out of reach it shows nothing; what fails otherwise is asked for by a later run.
            guard !failure.isServers else {
                run.told[key] = nil
                return .answer(answer)
            }
            return .nothing(.listPart(collection, next, after: nil, page: nil))
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

    /// The list of an entity alone that comes after another one; nil for the last.
    private func following(
        _ list: ListParameters, of key: EntityKey, _ run: inout SyncRun
    ) throws -> ListParameters? {
        let lists = try host.read(journal) { [model, adapter] views in
            try views.lists(ofAlone: key, model, adapter)
        }
        if lists.first == list { run.told[key] = nil }
        guard let index = lists.firstIndex(of: list) else { return nil }
        return lists.dropFirst(index + 1).first
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

extension SyncDriver {
    /// Logs how an entity stands that was read back.
    ///
    /// - Parameter record: what the server has of it; nil where it is gone.
    func readBack(
        _ record: ServerRecord?, of key: EntityKey, _ step: SyncStep, _ exchange: ReadExchange,
        _ run: inout SyncRun, _ recorder: inout SyncRecorder
    ) async throws -> PageResult {
        var own = exchange
        (own.key, own.settles) = (key, step.attempt?.call)
        var found = record.map { [$0] } ?? []
        let collection = model[key.collection]
        if let collection, collection.isByPath {
            let placed = try await placed(
                record, of: step, collection, exchange, own, run.machine, &recorder)
            switch placed {
            case .over(let result): return result
            case .told(let record): found = record.map { [$0] } ?? []
            }
        }
        let list = step.list
        let parts = run.told.removeValue(forKey: key) ?? []
        let below = try collection.flatMap { try self.below(&found, $0, list) }
        try await log(&recorder) { [own, found, adapter] in
            let whole = try collection.map { [fold = $1.fold] in
                try fold.completed(found, of: $0, in: list, after: parts, by: adapter)
            }
            try $0.readBack(key, own, (whole ?? found).first, below, $1)
        }
        return PageResult()
    }

    /// What an entity of a tree comes to that was asked for by its path, or by the one to which it
    /// was to be moved.
    ///
    /// - Parameters:
    ///   - record: what is there; nil for nothing.
    ///   - exchange: the call where nothing follows from it yet.
    ///   - own: the same where it settles the write that got no answer.
    func placed(
        _ record: ServerRecord?, of step: SyncStep, _ collection: CollectionModel,
        _ exchange: ReadExchange, _ own: ReadExchange, _ machine: SyncMachine,
        _ recorder: inout SyncRecorder
    ) async throws -> PlacedAnswer {
        guard case .readBack(let key, let call, let attempt) = step else { return .told(record) }
        let placed = try host.read(journal) { views in
            try views.placed(record, of: key, by: call, collection)
        }
        var result = PageResult()
        switch placed {
        case .own(let record):
            result.proof = try host.read(journal) { [adapter] views in
                guard let attempt else {
                    return try views.proof(of: record, key, collection, adapter)
                }
                return try views.proof(of: record, key, attempt, collection, adapter)
            }
            guard result.proof != nil else { return .told(record) }
            recorder.note(exchange)
            return .over(result)
        case .taken:
            try await log(&recorder) { try $0.taken(key, own, $1) }
            return .over(result)
        case .moved(let attempt):
            try await log(&recorder) { try $0.moved(key, attempt, own, $1) }
            return .over(result)
        case .gone, .left: break
        }
        if machine.asksForID(of: key) {
            // It was there just now: the next list tells.
            recorder.note(exchange)
            return .over(result)
        }
        let hasWalked = machine.hasWalked(collection.name)
        // A walk that is being made does not ask about what it does not name.
        let isOpen = machine.list == nil
        let isForWalk =
            try isOpen
            && host.read(journal) { views in
                try views.isFoundByWalk(key, collection, hasWalked: hasWalked)
            }
        if case .left(let target) = placed, !isForWalk {
            recorder.note(exchange)
            result.other = .read(collection, id: target)
            return .over(result)
        }
        let waits =
            try isForWalk || isOpen && host.read(journal) { try $0.isEditedThere(key) }
        guard waits else { return .told(nil) }
        if attempt != nil, hasWalked {
            // A walk that told all would have named it.
            if isForWalk, machine.isMissed(key) { return .told(nil) }
            // It told nothing of it: the write is sent again, and answered for itself.
            try await log(&recorder) { try $0.answered(own, $1) }
            return .over(result)
        }
        // It may have been moved: the next walk tells, and what is pending waits.
        recorder.note(exchange)
        result.isPutOff = true
        return .over(result)
    }
}

extension SyncDriver {
    /// Hands a read of which no request can be made to the machine.
    ///
    /// Where it was to tell what became of a write, that is logged: then the next list tells it.
    func unsent(
        _ step: SyncStep, _ failure: SyncFailure, _ run: inout SyncRun
    ) async throws -> SyncAction {
        if case .readBack(let key, _, let attempt?) = step,
            run.machine.concern(of: failure, step) == .entity
        {
            try await log(&run.recorder) { try $0.noReadBack(key, attempt, failure, $1) }
        }
        return run.machine.unsent(failure)
    }
}

extension SyncStep {
    /// The parameters of the list that it asks about one entity; none for any other call.
    var list: ListParameters {
        if case .readBack(_, .listPart(_, let list, _, _), _) = self { list } else { [:] }
    }
}
