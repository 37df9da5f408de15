// HookedAdapter.swift — the adapter of Kinto with a test's hand in it.

import HTTPTypes
import Synchronization
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// Speaks to a Kinto server, but for what a test changes.
struct HookedAdapter: ServerAdapter {
    private let kinto = KintoAdapter(origin: SyncWorld.remote.origin, bucket: "b")
    var takesSeveral = true
    /// Whether lists only name what is in them, so that it is fetched one by one.
    var onlyNames = false
    /// Whether lists say not where a later one goes on.
    var hidesCursor = false
    /// Whether answers to writes say not how the entity is now.
    var hidesStored = false
    /// Whether what is not there may be in a collection out of reach.
    var hasVagueAbsence = false
    /// Whether of what is not there it is said to be deleted.
    var tellsDeleted = false
    /// The body by which answers to writes say that the precondition failed, whatever their status.
    var metBody: [UInt8]?
    /// Whether the last write of a batch has no answer.
    var answersTooFew = false
    /// Asked between the decision to write and its event.
    var refusal: @Sendable (ServerCall) -> ServerRefusal? = { _ in nil }
    /// What its header fields mean, where they are called otherwise than Kinto's.
    var otherWords: ServerWords?
    /// Of which calls no request can be made.
    var cannotSend: @Sendable (ServerCall) -> Bool = { _ in false }
    /// What is thrown of these.
    var unsendable = SyncFailure.client(status: 0, "no such call")
    /// Which lists are said to begin where the server knows nothing of.
    var forgets: @Sendable (ServerCall) -> Bool = { _ in false }
    /// The entities of whose writes in a batch the server promises to answer; a read tells that.
    var promised: Set<String> = []

    /// For which groups of requests calls count.
    var groupOf: @Sendable (ServerCall) -> RequestGroup? = { _ in nil }
    /// What lists don't name though it is there, by id.
    var omits: @Sendable (String) -> Bool = { _ in false }

    var traits: ServerTraits {
        var traits = takesSeveral ? kinto.traits : ServerTraits(describesCollections: true)
        traits.entitiesPerFetchMax = 1
        traits.absenceNeedsList = hasVagueAbsence
        if !promised.isEmpty {
            traits.polling = ServerTraits.Polling(first: 0, every: 0, tries: 1, triesLater: 1)
        }
        return traits
    }

    var words: ServerWords { otherWords ?? kinto.words }

    func refusal(of call: ServerCall) -> ServerRefusal? { refusal(call) }

    func group(of call: ServerCall) -> RequestGroup? { groupOf(call) }

    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        let calls = if case .batch(let calls) = call { calls } else { [call] }
        guard !calls.contains(where: cannotSend) else { throw unsendable }
        guard case .fetch(let collection, let ids) = call else {
            return try kinto.request(for: call.asRead ?? call)
        }
        return try kinto.request(for: .read(collection, id: ids.first ?? ""))
    }

    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer {
        if case .fetch(let collection, let ids) = call {
            let read = ServerCall.read(collection, id: ids.first ?? "")
            switch kinto.answer(to: read, response, body: body) {
            case .record(let record): return .records([record])
            case .absent: return .records([])
            case let other: return other
            }
        }
        if let read = call.asRead {
            guard case .record(let record) = kinto.answer(to: read, response, body: body) else {
                return .waiting
            }
            return .batch([BatchedAnswer(status: 200, .stored(id: record.id, record.revision))])
        }
        if forgets(call) { return .cursorExpired }
        if call.isWriteOfOne, body == metBody { return .conflictUnknown }
        let answer = kinto.answer(to: call, response, body: body)
        if tellsDeleted, case .read(_, let id) = call, case .absent = answer {
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        }
        if hidesStored, call.isWriteOfOne, case .record(let record) = answer {
            return .stored(id: record.id, record.revision)
        }
        if answersTooFew, case .batch(let answers) = answer {
            return .batch(Array(answers.dropLast()))
        }
        if case (.batch(let answers), .batch(let calls)) = (answer, call) {
            return .batch(
                zip(answers, calls).map { part, call in
                    let isPromised = promised.contains(call.write?.id ?? "")
                    return isPromised ? BatchedAnswer(status: 202, .deferred("job")) : part
                })
        }
        guard case .page(var page) = answer else { return answer }
        if hidesCursor { page.cursor = nil }
        page.records.removeAll { omits($0.id) }
        guard onlyNames else { return .page(page) }
        page.references += page.records.filter { !$0.isDeleted }.map {
            ServerReference(id: $0.id, revision: $0.revision)
        }
        page.records.removeAll { !$0.isDeleted }
        return .page(page)
    }
}

extension ServerCall {
    /// The read that tells what was promised of one write; nil for any other call.
    fileprivate var asRead: ServerCall? {
        guard case .poll(_, let calls) = self, let call = calls.first, let id = call.write?.id
        else { return nil }
        return call.collection.map { .read($0, id: id) }
    }
}

/// A device that is made after what acts on it.
final class LateDevice: Sendable {
    private let device = Mutex<SyncDevice?>(nil)

    func set(_ device: SyncDevice?) { self.device.withLock { $0 = device } }

    /// Acts on the device, the first time only.
    func once(_ act: (SyncDevice) throws -> Void) {
        let found = device.withLock { device in
            defer { device = nil }
            return device
        }
        if let found { try? act(found) }
    }
}
