// InMemoryServer.swift — the model and its faults behind a lock, reached without a socket.

public import HTTPTypes
import Synchronization
public import TidemarkEvents
public import TidemarkSync

/// A server in this process: a `Transport` that answers by itself.
///
/// Requests are handled one after the other, each at once. It may be shared by several clients.
public final class InMemoryServer: Transport, Sendable {
    private struct State {
        var model: KintoServerModel
        var faults: FaultPlan
        var log: [LoggedRequest] = []
    }

    /// What a client gets: an answer, or nothing because the connection broke.
    enum Outcome: Sendable {
        case answered(TransportResponse)
        case dropped(isApplied: Bool)
    }

    private let state: Mutex<State>
    private let nowMilliseconds: @Sendable () -> Int64
    /// The bucket that ``put(_:_:)`` and its like are about; nil when it was made without.
    let bucket: String?

    /// A server with a clock of its own.
    ///
    /// - Parameters:
    ///   - model: what it holds at the start.
    ///   - faults: what goes wrong.
    ///   - now: the server's clock, in milliseconds since 1970.
    public init(
        _ model: KintoServerModel = KintoServerModel(), faults: FaultPlan = FaultPlan(),
        now: @escaping @Sendable () -> Int64
    ) {
        state = Mutex(State(model: model, faults: faults))
        nowMilliseconds = now
        bucket = nil
    }

    /// A server with a bucket and its collections, on a test's clock.
    ///
    /// - Parameters:
    ///   - bucket: the bucket that ``put(_:_:)``, ``delete(_:)`` and ``record(_:)`` are about.
    ///   - model: whose collections it has.
    ///   - faults: what goes wrong.
    ///   - clock: the server's clock.
    public init(
        bucket: String, model: SyncModel, faults: FaultPlan = FaultPlan(),
        clock: ManualClock = ManualClock()
    ) {
        state = Mutex(State(model: KintoServerModel(), faults: faults))
        nowMilliseconds = { clock.now.milliseconds }
        self.bucket = bucket
        request(.put, "/v1/buckets/\(bucket)")
        for collection in model.collections {
            request(.put, "/v1/buckets/\(bucket)/collections/\(collection.name)")
        }
    }

    /// What goes wrong; setting it starts the counting anew.
    public var faults: FaultPlan {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// The requests of clients so far, in order, without ``request(_:_:fields:body:)``.
    public var requestLog: [LoggedRequest] { state.withLock { $0.log } }

    /// Empties ``requestLog``.
    public func clearRequestLog() { state.withLock { $0.log = [] } }

    /// Reads or changes the model alone, for example to forget tombstones.
    public func withModel<R: Sendable>(_ body: (inout KintoServerModel) -> R) -> R {
        state.withLock { state in body(&state.model) }
    }

    /// Sends a request; faults apply.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
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
        }
    }

    /// Acts as another client: no faults, no log, always let in.
    ///
    /// - Parameters:
    ///   - method: for example `.put`.
    ///   - path: path and query, for example `/v1/buckets/b`.
    ///   - fields: conditions such as `[.ifMatch: "\"1\""]`.
    ///   - body: JSON text.
    @discardableResult
    public func request(
        _ method: HTTPRequest.Method, _ path: String, fields: HTTPFields = [:],
        body: String? = nil
    ) -> TransportResponse {
        let now = nowMilliseconds()
        return state.withLock { state in
            var request = HTTPRequest(
                method: method, scheme: "http", authority: "localhost", path: path,
                headerFields: fields)
            if fields[.authorization] == nil {
                let accepted = state.model.acceptedCredentials?.min()
                request.headerFields[.authorization] = accepted ?? "Basic b3RoZXI6"
            }
            return state.model.handle(
                request, body: body.map { Array($0.utf8) }, nowMilliseconds: now)
        }
    }

    /// Handles a client's request with faults and writes it into the log.
    func exchange(_ request: HTTPRequest, body: [UInt8]?) -> Outcome {
        let now = nowMilliseconds()
        return state.withLock { state in
            let fault = state.faults.action(for: request)
            let outcome: Outcome
            switch fault {
            case nil:
                outcome = .answered(
                    state.model.handle(request, body: body, nowMilliseconds: now))
            case .dropBeforeHandling:
                outcome = .dropped(isApplied: false)
            case .dropAfterHandling:
                _ = state.model.handle(request, body: body, nowMilliseconds: now)
                outcome = .dropped(isApplied: true)
            case .answer(let status, _, _):
                outcome = .answered(
                    fault?.answer(nowMilliseconds: now) ?? KintoAnswer.empty(status))
            }
            state.log.append(LoggedRequest(request, body, outcome, isFault: fault != nil))
            return outcome
        }
    }
}

/// A request as the server saw it.
public struct LoggedRequest: Sendable, Hashable {
    /// Its method.
    public var method: HTTPRequest.Method
    /// Its path and query.
    public var path: String
    /// `If-Match`, `If-None-Match` and `Content-Type`, as far as they were sent; no credentials.
    public var fields: HTTPFields
    /// The bytes that came with it.
    public var body: [UInt8]?
    /// The status that the client was told; nil when the answer was lost.
    public var status: Int?
    /// Whether the server handled the request; false when a fault came before.
    public var isApplied: Bool

    init(
        _ request: HTTPRequest, _ body: [UInt8]?, _ outcome: InMemoryServer.Outcome, isFault: Bool
    ) {
        method = request.method
        path = request.path ?? "/"
        fields = HTTPFields()
        for name in [HTTPField.Name.ifMatch, .ifNoneMatch, .contentType] {
            fields[name] = request.headerFields[name]
        }
        self.body = body
        switch outcome {
        case .answered(let answer):
            status = answer.response.status.code
            isApplied = !isFault
        case .dropped(let isApplied):
            status = nil
            self.isApplied = isApplied
        }
    }
}
