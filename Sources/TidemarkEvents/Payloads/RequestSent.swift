// RequestSent.swift — a request, as it was sent.

/// `request.sent`.
package struct RequestSent: MemberPayload, EventPayload {
    package var method: String?
    /// From the server's root on, with the query.
    package var path: String?
    /// Where a move or a copy leads, from the host's root on.
    package var destination: String?
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
    /// Of an action that the engine has done so that the server takes what it did not take: the
    /// events that say so, each a `push.rejected`, or the `request.sent` that was left alone.
    package var remedies: [Position] = []
    /// How many writes a batch has.
    package var writes: Int64?
    package var body = PayloadBody()
    /// Where a file beside an entity is asked for.
    package var file = RequestedFile()

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("method", \.method, .text, .plain),
        PayloadMember("path", \.path, .text, .path),
        PayloadMember("Destination", \.destination, .text, .path),
        PayloadMember("If-Match", \.ifMatch, .text, .token),
        PayloadMember("If-None-Match", \.ifNoneMatch, .text, .token),
        PayloadMember("sentAt", \.sentAt, .time, .time),
        PayloadMember("waited", \.waited, .integer, .plain) { $0 <= 0 },
        PayloadMember("group", \.group, .list(of: .text), .text),
        PayloadMember("covers", \.covers, .list(of: .position), .plain),
        PayloadMember("rule", \.rule, .text, .plain),
        PayloadMember("remedies", \.remedies, .list(of: .position), .plain) { $0.isEmpty },
        PayloadMember("writes", \.writes, .integer, .plain),
        PayloadMember(of: \.body),
        PayloadMember(of: \.file),
    ]

    package var gist: String? {
        [method, path, destination.map { "to \($0)" }].compactMap(\.self).joined(separator: " ")
    }

    /// `sent with PUT /v1/…`.
    package static func words(of event: Event) -> String? {
        let sent = event.read(RequestSent.self)
        guard let request = sent?.gist, !request.isEmpty else { return "sent" }
        if sent?.remedies.isEmpty == false {
            return "done for what the server did not take: " + request
        }
        if sent?.rule == trialRule {
            return "sent once more, to see whether the server heeds preconditions: " + request
        }
        let isSent = event.mutation != nil || sent?.isWrite == true || sent?.file.sentDigest != nil
        return (isSent ? "sent with " : "asked for with ") + request
    }

    /// The rule of ``remedies``, and its version.
    package static let remedyRule = "remedy"
    package static let remedyVersion: UInt64 = 1

    /// The rule of an upload that is sent once more, with its version.
    package static let trialRule = "preconditions/1"

    /// Whether it changes something on the server: one write, a batch of them, or an action.
    package var isWrite: Bool { covers != nil || writes != nil || !remedies.isEmpty }
}
