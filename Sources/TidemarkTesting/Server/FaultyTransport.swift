// FaultyTransport.swift — any server with the faults and the log of those in memory.

public import HTTPTypes
import Synchronization
import TidemarkEvents
public import TidemarkSync

/// A transport that hands requests on to another one, lets some of them fail, and logs them.
///
/// The other one may be that of a real server, or a closure that answers as yours would. A fault
/// acts as it does in ``KintoServer``; a ``FaultAction/cutOff(afterBytes:)`` hands nothing on, and
/// ``FaultRule/recordID`` knows the paths of this module's servers alone: use `pathContains`.
public final class FaultyTransport: Transport, Sendable {
    private let inner: any Transport
    private let now: @Sendable () -> Timestamp
    private let credentials: Set<HTTPField.Name>
    private let state: Mutex<FaultLog>

    /// A transport over another one.
    ///
    /// - Parameters:
    ///   - inner: what answers the requests that don't fail.
    ///   - faults: which requests fail, and how.
    ///   - clock: the clock of the answers that faults give; nil for the machine's.
    ///   - credentials: the header fields that are not logged.
    public init(
        _ inner: any Transport, faults: FaultPlan = FaultPlan(), clock: ManualClock? = nil,
        credentials: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie]
    ) {
        let live = Dependencies.live
        self.inner = inner
        self.credentials = credentials
        now = { clock?.now ?? live.now() }
        state = Mutex(FaultLog(faults))
    }

    /// A transport over a closure that answers as your server would.
    ///
    /// - Parameters:
    ///   - faults: which requests fail, and how.
    ///   - clock: the server's clock, which should also be that of the replicas: an answer without
    ///     a `Date` gets one. Nil for the machine's.
    ///   - credentials: the header fields that are not logged.
    ///   - answer: what the server answers to a request with this body.
    public convenience init(
        faults: FaultPlan = FaultPlan(), clock: ManualClock? = nil,
        credentials: Set<HTTPField.Name> = [.authorization, .proxyAuthorization, .cookie],
        answer: @escaping @Sendable (HTTPRequest, [UInt8]) async -> TransportResponse
    ) {
        self.init(
            ClosureTransport(clock: clock, answer: answer), faults: faults, clock: clock,
            credentials: credentials)
    }

    /// The faults that are injected; setting them resets the counts.
    public var faults: FaultPlan {
        get { state.withLock { $0.faults } }
        set { state.withLock { $0.faults = newValue } }
    }

    /// The requests so far, in the order in which they ended.
    public var requestLog: [LoggedRequest] { state.withLock { $0.requests } }

    /// Empties ``requestLog``.
    public func clearRequestLog() { state.withLock { $0.clear() } }

    public var mayRepeat: Bool { inner.mayRepeat }

    /// Sends a request; faults apply.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        let fault = state.withLock { $0.faults.action(for: request) }
        let outcome: ServerOutcome
        if let unhandled = fault.outcome(at: now(), { TransportResponse(status: $0) }) {
            outcome = unhandled
        } else {
            let answer: TransportResponse
            do throws(TransportError) {
                answer = try await inner.send(request, body: body, limits: limits)
            } catch {
                // What came of it nobody knows here.
                let lost: ServerOutcome =
                    error.mayHaveArrived ? .dropped(isApplied: false) : .unsent
                note(request, body, lost, isFault: false)
                throw error
            }
            outcome = fault.outcome(of: answer)
        }
        note(request, body, outcome, isFault: fault != nil)
        return try outcome.answer(within: limits)
    }

    private func note(
        _ request: HTTPRequest, _ body: [UInt8]?, _ outcome: ServerOutcome, isFault: Bool
    ) {
        let credentials = credentials
        state.withLock { log in
            log.note(request, body, outcome, isFault: isFault) { !credentials.contains($0) }
        }
    }
}

extension TransportResponse {
    /// An answer of a fake server.
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - fields: its header fields.
    ///   - body: the body as text.
    public init(status: Int, fields: HTTPFields = [:], body: String = "") {
        self.init(
            response: HTTPResponse(status: .init(code: status), headerFields: fields),
            body: Array(body.utf8))
    }
}

/// A server that is a closure.
private struct ClosureTransport: Transport {
    var clock: ManualClock?
    var answer: @Sendable (HTTPRequest, [UInt8]) async -> TransportResponse

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        var response = await answer(request, body ?? [])
        if response.response.headerFields[.date] == nil {
            let now = clock?.now ?? Dependencies.live.now()
            response.response.headerFields[.date] = HTTPDate.text(now)
        }
        return response
    }
}
