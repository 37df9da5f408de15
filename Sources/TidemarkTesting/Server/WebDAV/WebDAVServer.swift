// WebDAVServer.swift — a server of WebDAV, used without a socket.

public import HTTPTypes
import TidemarkEvents
public import TidemarkSync

/// A server of WebDAV in this process: a `Transport` that answers itself.
///
/// Requests are handled one after the other, each at once. It may be shared by several clients.
public final class WebDAVServer: Transport, Sendable {
    let core: ServerCore<WebDAVServerModel>

    /// A server with a clock of its own.
    ///
    /// - Parameters:
    ///   - model: what it holds at the start.
    ///   - faults: which requests fail, and how.
    ///   - now: the server's clock.
    public init(
        _ model: WebDAVServerModel = WebDAVServerModel(), faults: FaultPlan = FaultPlan(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        core = ServerCore(model, faults: faults, now: now)
    }

    /// A server on a test's clock.
    public convenience init(
        _ model: WebDAVServerModel = WebDAVServerModel(), faults: FaultPlan = FaultPlan(),
        clock: ManualClock
    ) {
        self.init(model, faults: faults, now: { clock.now })
    }

    /// The faults that are injected; setting them resets the counts.
    public var faults: FaultPlan {
        get { core.faults }
        set { core.faults = newValue }
    }

    /// The requests of clients so far, in order.
    public var requestLog: [LoggedRequest] { core.log }

    /// Empties ``requestLog``.
    public func clearRequestLog() { core.clearLog() }

    /// Reads or changes the model directly, for example its options.
    public func withModel<R: Sendable>(_ body: (inout WebDAVServerModel) -> R) -> R {
        core.withModel(body)
    }

    /// Sends a request; faults apply.
    ///
    /// A PROPFIND of a folder is redirected to its address with a slash at its end, as by the
    /// transports.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let answer = try core.send(request, body: body, limits: limits)
        guard answer.response.status.code == 301, request.method.rawValue == "PROPFIND",
            let path = request.path, answer.response.headerFields[.location] == path + "/"
        else { return answer }
        var next = request
        next.path = path + "/"
        return try core.send(next, body: body, limits: limits)
    }
}
