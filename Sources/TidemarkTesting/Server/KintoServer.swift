// KintoServer.swift — a server that behaves like Kinto, used without a socket.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server in this process that behaves like Kinto: a `Transport` that answers itself.
///
/// Requests are handled one after the other, each at once. It may be shared by several clients.
public final class KintoServer: Transport, Sendable {
    let core: ServerCore<KintoServerModel>
    /// The bucket that ``put(_:_:)`` and the related methods use; nil when it was made without one.
    let bucket: String?

    /// A server with a clock of its own.
    ///
    /// - Parameters:
    ///   - model: what it holds at the start.
    ///   - faults: which requests fail, and how.
    ///   - now: the server's clock.
    public init(
        _ model: KintoServerModel = KintoServerModel(), faults: FaultPlan = FaultPlan(),
        now: @escaping @Sendable () -> Timestamp
    ) {
        core = ServerCore(model, faults: faults, now: now)
        bucket = nil
    }

    /// A server with a bucket and its collections.
    ///
    /// - Parameters:
    ///   - bucket: the bucket that ``put(_:_:)``, ``delete(_:)`` and ``record(_:)`` use.
    ///   - model: its collections are created.
    ///   - faults: which requests fail, and how.
    ///   - clock: the server's clock, which should also be that of the replicas; nil for the
    ///     machine's clock, which replicas use by default, too.
    public init(
        bucket: String, model: SyncModel, faults: FaultPlan = FaultPlan(),
        clock: ManualClock? = nil
    ) {
        let live = Dependencies.live
        core = ServerCore(
            KintoServerModel(), faults: faults,
            now: { clock?.now ?? live.now() })
        self.bucket = bucket
        request(.put, "/v1/buckets/\(bucket)")
        for collection in model.collections {
            request(.put, "/v1/buckets/\(bucket)/collections/\(collection.name)")
        }
    }

    /// The faults that are injected; setting them resets the counts.
    public var faults: FaultPlan {
        get { core.faults }
        set { core.faults = newValue }
    }

    /// The requests of clients so far, in order, without ``request(_:_:fields:body:)``.
    public var requestLog: [LoggedRequest] { core.log }

    /// Empties ``requestLog``.
    public func clearRequestLog() { core.clearLog() }

    /// Reads or changes the model directly, for example to forget tombstones.
    public func withModel<R: Sendable>(_ body: (inout KintoServerModel) -> R) -> R {
        core.withModel(body)
    }

    /// Sends a request; faults apply.
    public func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try core.send(request, body: body, limits: limits)
    }

    /// Acts as another client: without faults, log and authentication.
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
        let now = core.now()
        return core.withModel { model in
            var request = HTTPRequest(
                method: method, scheme: "http", authority: "localhost", path: path,
                headerFields: fields)
            if fields[.authorization] == nil {
                let accepted = model.acceptedCredentials?.min()
                request.headerFields[.authorization] = accepted ?? "Basic b3RoZXI6"
            }
            return model.handle(request, body: body.map { Array($0.utf8) }, at: now)
        }
    }
}
