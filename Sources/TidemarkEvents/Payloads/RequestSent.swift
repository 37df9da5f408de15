// RequestSent.swift — a request, as it was sent.

/// `request.sent`.
package struct RequestSent: MemberPayload, EventPayload {
    package var method: String?
    /// From the server's root on, with the query.
    package var path: String?
    /// The version that must stand for the request to be done, and the one that must not.
    package var ifMatch: String?
    package var ifNoneMatch: String?
    /// By the device's clock.
    package var sentAt: Timestamp?
    /// How long a write was held back by the limits of requests, in microseconds.
    package var waited: Int64 = 0
    /// The parts of the ``RequestGroup`` that it counts for, where the model limits that.
    package var group: [String]?
    /// The mutations that a write carries; nil of a read, and of a batch as such.
    package var covers: [Position]?
    /// The rule that decided the write, with its version.
    package var rule: String?
    /// How many writes a batch has.
    package var writes: Int64?
    package var body = PayloadBody()
    /// Where a file beside an entity is asked for.
    package var file = RequestedFile()

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("method", \.method, .text, .plain),
        PayloadMember("path", \.path, .text, .path),
        PayloadMember("If-Match", \.ifMatch, .text, .token),
        PayloadMember("If-None-Match", \.ifNoneMatch, .text, .token),
        PayloadMember("sentAt", \.sentAt, .time, .time),
        PayloadMember("waited", \.waited, .integer, .plain) { $0 <= 0 },
        PayloadMember("group", \.group, .list(of: .text), .text),
        PayloadMember("covers", \.covers, .list(of: .position), .plain),
        PayloadMember("rule", \.rule, .text, .plain),
        PayloadMember("writes", \.writes, .integer, .plain),
        PayloadMember(of: \.body),
        PayloadMember(of: \.file),
    ]

    package var gist: String? { [method, path].compactMap(\.self).joined(separator: " ") }

    /// `sent with PUT /v1/…`.
    package static func words(of event: Event) -> String? {
        guard let request = event.read(RequestSent.self)?.gist, !request.isEmpty else {
            return "sent"
        }
        return (event.mutation == nil ? "asked for with " : "sent with ") + request
    }

    /// Whether it changes something on the server: one write, or a batch of them.
    package var isWrite: Bool { covers != nil || writes != nil }
}
