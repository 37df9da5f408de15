// SyncFailure+Status.swift — what an HTTP status means for a call, on most servers.

public import HTTPTypes

extension SyncFailure {
    /// What a status means that is no success of the call and not about one entity.
    ///
    /// An adapter first handles the statuses that mean something else on its server: with 304, 404,
    /// 409, 412 and 422 most servers answer about a list or an entity.
    ///
    /// | status | is |
    /// |---|---|
    /// | 401, 403 | ``unauthorized``, ``forbidden`` |
    /// | 408 | ``timeout(_:)`` |
    /// | 429 | ``tooManyRequests(retryAfterSeconds:)`` |
    /// | 500 to 599 | ``server(status:retryAfterSeconds:)`` |
    /// | 511, 100 to 199, 300 to 399, from 600 on | ``foreign(_:)`` |
    /// | 400 to 499 otherwise | ``client(status:_:)`` |
    /// | 200 to 299 | ``malformed(_:)``: a success that does not fit the call |
    ///
    /// - Parameters:
    ///   - status: the HTTP status.
    ///   - headerFields: the answer's; `Retry-After` is read, as seconds or as a date measured
    ///     against the answer's own `Date`. At most a day is honoured.
    ///   - message: the server's message, if it sent one.
    public init(status: Int, headerFields: HTTPFields = [:], message: String = "") {
        let wait = RetryAfter.seconds(headerFields)
        let words = message.isEmpty ? "\(status)" : "\(status): \(message)"
        self =
            switch status {
            case 401: .unauthorized
            case 403: .forbidden
            case 408: .timeout(words)
            case 429: .tooManyRequests(retryAfterSeconds: wait)
            case 511: .foreign("\(words): the network asks to sign in")
            case 200..<300: .malformed("status \(words)")
            case 400..<500: .client(status: status, message)
            case 500..<600: .server(status: status, retryAfterSeconds: wait)
            default: .foreign("status \(words)")
            }
    }

    /// The same, for statuses that are a failure of any call; nil for a success, and for a status
    /// that may be about one entity.
    package static func ofCall(_ status: Int, _ headerFields: HTTPFields) -> SyncFailure? {
        switch SyncFailure(status: status, headerFields: headerFields) {
        case .client, .malformed: nil
        case let failure: failure
        }
    }
}
