// SyncDriver+Preconditions.swift — what is asked beside a write before its answer counts.
//
//   an upload was taken   → the file is read: still the version of the answer? → the same request
//                         once more → 412: heeded; 2xx: ignored, and the version is the second one
//   a move got 412 twice  → what has the place is read
//
// Until that is known the upload has no answer in the log: where all this breaks off, what the
// server has is compared with what was sent, as after any lost answer.

import HTTPTypes
import TidemarkEvents
import TidemarkRules

/// An upload that was sent once more.
struct SecondUpload: Sendable {
    var exchange: ReadExchange
    /// What it says of the server's preconditions; nil for nothing.
    var found: KnownPreconditions?
}

extension SyncDriver {
    /// What came of a write, once the server was asked what else has to be known.
    func tried(
        _ write: AnsweredWrite, _ run: inout SyncRun
    ) async throws -> (write: AnsweredWrite, second: SecondUpload?) {
        // A run that ends asks nothing more.
        guard !write.isCut, run.machine.outcome.failure == nil, write.items.count == 1,
            let item = write.items.first
        else { return (write, nil) }
        var write = write
        switch write.answer {
        case .stored(_, let revision?, _) where run.machine.isTrial(item):
            run.machine.beginTrial()
            let second = try await second(of: item, revision, &write, &run)
            run.machine.took(second?.found)
            return (write, second)
        case .conflictUnknown:
            guard let place = run.machine.place(ofMoved: item),
                let collection = item.call.collection
            else { break }
            if case .record = try await look(at: place, collection, item.key, &run) {
                write.answer = .refused(.taken(status: write.record.status ?? 0))
            }
        default: break
        }
        return (write, nil)
    }

    /// Sends an upload once more, where the server still has the version that its answer told.
    private func second(
        of item: PushItem, _ revision: Revision, _ write: inout AnsweredWrite,
        _ run: inout SyncRun
    ) async throws -> SecondUpload? {
        guard case .create(let collection, let id, _) = item.call,
            case .record(let there) = try await look(at: id, collection, item.key, &run),
            there.revision == revision,
            let request = try? adapter.request(for: item.call)
        else { return nil }
        let (answer, exchange, isCut) = try await ask(item.call, request, item.key, &run)
        write.isCut = isCut
        switch answer {
        case .stored(let id, let later, let issues):
            write.answer = .stored(id: id, later, issues: issues)
        case .failure where exchange.answer.leavesUnknown:
            write.answer = answer
            write.record.leaveOpen()
        default: break
        }
        return SecondUpload(exchange: exchange, found: run.machine.verdict(of: answer))
    }

    /// What the server has under an id.
    private func look(
        at id: String, _ collection: CollectionModel, _ key: EntityKey, _ run: inout SyncRun
    ) async throws -> ServerAnswer? {
        let call = ServerCall.read(collection, id: id)
        guard let request = try? adapter.request(for: call) else { return nil }
        let (answer, exchange, _) = try await ask(call, request, key, &run)
        run.recorder.note(exchange)
        return answer
    }

    private func ask(
        _ call: ServerCall, _ request: ServerRequest, _ key: EntityKey, _ run: inout SyncRun
    ) async throws -> (ServerAnswer, ReadExchange, isCut: Bool) {
        let question = question(
            .readBack(key, call, attempt: nil), call, request, asOf: run.asOf, in: run)
        let (driver, begun) = (limited(for: question.step, in: run), dependencies.moment)
        run.pace.sent(at: question.sentAt, of: question.group)
        let reply = try host.ask(question, run.proof.credentials, driver.limits)
        let (answer, record) = await reply.answer()
        run.machine.countRequest()
        run.hold(record)
        let isCut = driver.isCut(answer, record, to: question, since: begun)
        return (answer, ReadExchange(question, reply, record), isCut)
    }
}

extension AnswerRecord {
    /// Whether the server may have carried out a part of the write.
    fileprivate var leavesUnknown: Bool {
        switch content {
        case .failed(let failed): !failed.neverArrived
        case .answered(let answered): answered.effect == .unknown
        }
    }
}
