// LoggedRequest.swift — a request as a server received it, and its outcome.

public import HTTPTypes
import TidemarkSync

/// A request as the server received it.
public struct LoggedRequest: Sendable, Hashable {
    public var method: HTTPRequest.Method
    /// Its path and query.
    public var path: String
    /// Those of `If-Match`, `If-None-Match` and `Content-Type` that were sent; of a
    /// ``FaultyTransport`` all but credentials.
    public var fields: HTTPFields
    /// The bytes that came with it.
    public var body: [UInt8]?
    /// The status that the client received; nil when the answer was lost.
    public var status: Int?
    /// Whether the server handled the request; false when a fault prevented that, and of a
    /// ``FaultyTransport`` also where the one below had no answer, and nobody knows.
    public var isApplied: Bool

    /// The header fields that the servers of this module log.
    static let usual: Set<HTTPField.Name> = [.ifMatch, .ifNoneMatch, .contentType]

    init(
        _ request: HTTPRequest, _ body: [UInt8]?, _ outcome: ServerOutcome, isFault: Bool,
        _ isLogged: (HTTPField.Name) -> Bool
    ) {
        method = request.method
        path = request.path ?? "/"
        fields = HTTPFields(request.headerFields.filter { isLogged($0.name) })
        self.body = body
        switch outcome {
        case .answered(let answer):
            status = answer.response.status.code
            isApplied = !isFault
        case .dropped(let isApplied):
            status = nil
            self.isApplied = isApplied
        case .unsent: (status, self.isApplied) = (nil, false)
        }
    }
}
