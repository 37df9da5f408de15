// ServerCore.swift — a server's model and its faults behind a lock: the common part of all servers
// in this process.

import HTTPTypes
import Synchronization
import TidemarkEvents
import TidemarkSync

/// A server as a value: give it a request and the time, and it returns the answer.
protocol ServerModel: Sendable {
    /// Handles one request; the state changes at once.
    mutating func handle(
        _ request: HTTPRequest, body: [UInt8]?, at now: Timestamp
    ) -> TransportResponse

    /// Handles a request of which only a part of the body came.
    mutating func handle(_ request: HTTPRequest, bodyPart: [UInt8], at now: Timestamp)

    /// An error in the form of this kind of server, without a date.
    static func error(_ status: Int) -> TransportResponse
}

extension ServerModel {
    /// Nothing is done until the whole body is there.
    mutating func handle(_ request: HTTPRequest, bodyPart: [UInt8], at now: Timestamp) {}
}

extension Timestamp {
    /// The same to the millisecond: servers know no more of it.
    var toTheMillisecond: Timestamp { Timestamp(milliseconds: milliseconds) }
}

extension TransportResponse {
    /// Gives an answer its date, and takes the body from one to HEAD.
    mutating func finish(_ request: HTTPRequest, at now: Timestamp) {
        response.headerFields[.date] = HTTPDate.text(now)
        guard request.method == .head else { return }
        response.headerFields[.contentLength] = "\(body.count)"
        body = []
    }
}

/// What a client receives: an answer, or nothing because the connection broke.
enum ServerOutcome: Sendable {
    case answered(TransportResponse)
    case dropped(isApplied: Bool)
    /// Nothing was sent.
    case unsent

    /// What a transport gives for it.
    func answer(within limits: TransportLimits) throws(TransportError) -> TransportResponse {
        switch self {
        case .answered(let answer):
            guard answer.body.count <= limits.responseBytesMax else {
                throw TransportError(.tooLarge, detail: "\(answer.body.count) bytes")
            }
            return answer
        case .dropped(let isApplied):
            let when = isApplied ? "after" : "before"
            throw TransportError(.connectionLost, detail: "dropped \(when) it was handled")
        case .unsent: throw TransportError(.offline, detail: "nothing was sent")
        }
    }
}

extension FaultAction? {
    /// What comes of a request that is not handled; nil where it is.
    ///
    /// - Parameter error: an error in the form of the server.
    func outcome(at now: Timestamp, _ error: (Int) -> TransportResponse) -> ServerOutcome? {
        switch self {
        case nil, .dropAfterHandling?: return nil
        case .offline?: return .unsent
        case .dropBeforeHandling?, .cutOff?: return .dropped(isApplied: false)
        case .answer(let status, let fields, let body)?:
            var answer = error(status)
            answer.response.headerFields[.date] = HTTPDate.text(now)
            for field in fields { answer.response.headerFields[field.name] = field.value }
            if let body { answer.body = body }
            return .answered(answer)
        }
    }

    /// What comes of a request that was handled.
    func outcome(of answer: TransportResponse) -> ServerOutcome {
        if case .dropAfterHandling? = self { .dropped(isApplied: true) } else { .answered(answer) }
    }
}

/// Which requests fail, and those that came.
struct FaultLog: Sendable {
    var faults: FaultPlan
    private(set) var requests: [LoggedRequest] = []

    init(_ faults: FaultPlan) { self.faults = faults }

    /// Logs a request; one that was not sent did not come.
    mutating func note(
        _ request: HTTPRequest, _ body: [UInt8]?, _ outcome: ServerOutcome, isFault: Bool,
        _ isLogged: (HTTPField.Name) -> Bool = { LoggedRequest.usual.contains($0) }
    ) {
        if case .unsent = outcome { return }
        requests.append(LoggedRequest(request, body, outcome, isFault: isFault, isLogged))
    }

    mutating func clear() { requests = [] }
}

/// Handles requests one after the other, each at once, and logs them.
final class ServerCore<Model: ServerModel>: Sendable {
    private struct State {
        var model: Model
        var log: FaultLog
    }

    private let state: Mutex<State>
    /// The server's clock.
    let now: @Sendable () -> Timestamp

    init(_ model: Model, faults: FaultPlan, now: @escaping @Sendable () -> Timestamp) {
        state = Mutex(State(model: model, log: FaultLog(faults)))
        self.now = { now().toTheMillisecond }
    }

    var faults: FaultPlan {
        get { state.withLock { $0.log.faults } }
        set { state.withLock { $0.log.faults = newValue } }
    }

    var log: [LoggedRequest] { state.withLock { $0.log.requests } }

    func clearLog() { state.withLock { $0.log.clear() } }

    func withModel<R: Sendable>(_ body: (inout Model) -> R) -> R {
        state.withLock { state in body(&state.model) }
    }

    /// Sends a request as a `Transport` does; faults apply.
    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) throws(TransportError) -> TransportResponse {
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        return try exchange(request, body: body).answer(within: limits)
    }

    /// Handles a client's request, with faults, and logs it.
    func exchange(_ request: HTTPRequest, body: [UInt8]?) -> ServerOutcome {
        let now = now()
        return state.withLock { state in
            let fault = state.log.faults.action(for: request)
            if case .cutOff(let bytes)? = fault {
                let part = Array((body ?? []).prefix(bytes))
                state.model.handle(request, bodyPart: part, at: now)
            }
            let outcome: ServerOutcome
            if let unhandled = fault.outcome(at: now, Model.error) {
                outcome = unhandled
            } else {
                let answer = state.model.handle(request, body: body, at: now)
                outcome = fault.outcome(of: answer)
            }
            state.log.note(request, body, outcome, isFault: fault != nil)
            return outcome
        }
    }
}
