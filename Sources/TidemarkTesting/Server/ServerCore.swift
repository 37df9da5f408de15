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
        _ request: HTTPRequest, body: [UInt8]?, nowMilliseconds: Int64
    ) -> TransportResponse

    /// Handles a request of which only a part of the body came.
    mutating func handle(_ request: HTTPRequest, bodyPart: [UInt8], nowMilliseconds: Int64)

    /// An error in the form of this kind of server, without a date.
    static func error(_ status: Int) -> TransportResponse
}

extension ServerModel {
    /// Nothing is done until the whole body is there.
    mutating func handle(_ request: HTTPRequest, bodyPart: [UInt8], nowMilliseconds: Int64) {}
}

extension TransportResponse {
    /// Gives an answer its date, and takes the body from one to HEAD.
    mutating func finish(_ request: HTTPRequest, at nowMilliseconds: Int64) {
        response.headerFields[.date] = HTTPDate.text(Timestamp(milliseconds: nowMilliseconds))
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
}

/// Handles requests one after the other, each at once, and logs them.
final class ServerCore<Model: ServerModel>: Sendable {
    private struct State {
        var model: Model
        var faults: FaultPlan
        var log: [LoggedRequest] = []
    }

    private let state: Mutex<State>
    /// The server's clock, in milliseconds since 1970.
    let nowMilliseconds: @Sendable () -> Int64

    init(_ model: Model, faults: FaultPlan, now: @escaping @Sendable () -> Int64) {
        state = Mutex(State(model: model, faults: faults))
        nowMilliseconds = now
    }

    var faults: FaultPlan {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    var log: [LoggedRequest] { state.withLock { $0.log } }

    func clearLog() { state.withLock { $0.log = [] } }

    func withModel<R: Sendable>(_ body: (inout Model) -> R) -> R {
        state.withLock { state in body(&state.model) }
    }

    /// Sends a request as a `Transport` does; faults apply.
    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) throws(TransportError) -> TransportResponse {
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        switch exchange(request, body: body) {
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

    /// Handles a client's request, with faults, and logs it.
    func exchange(_ request: HTTPRequest, body: [UInt8]?) -> ServerOutcome {
        let now = nowMilliseconds()
        return state.withLock { state in
            let fault = state.faults.action(for: request)
            let outcome: ServerOutcome
            switch fault {
            // A request that was not sent is not logged.
            case .offline: return .unsent
            case nil:
                outcome = .answered(
                    state.model.handle(request, body: body, nowMilliseconds: now))
            case .dropBeforeHandling:
                outcome = .dropped(isApplied: false)
            case .dropAfterHandling:
                _ = state.model.handle(request, body: body, nowMilliseconds: now)
                outcome = .dropped(isApplied: true)
            case .cutOff(let bytes):
                state.model.handle(
                    request, bodyPart: Array((body ?? []).prefix(bytes)), nowMilliseconds: now)
                outcome = .dropped(isApplied: false)
            case .answer(let status, let fields, let body):
                var answer = Model.error(status)
                answer.response.headerFields[.date] = HTTPDate.text(Timestamp(milliseconds: now))
                for field in fields { answer.response.headerFields[field.name] = field.value }
                if let body { answer.body = body }
                outcome = .answered(answer)
            }
            state.log.append(LoggedRequest(request, body, outcome, isFault: fault != nil))
            return outcome
        }
    }
}
