// ServerIssue.swift — what a server says of an entity in answer to a write.

/// Something that a server says of an entity in answer to a write: why it refused it, or what it
/// warns of.
public struct ServerIssue: Sendable, Hashable {
    /// How bad it is.
    public enum Severity: String, Sendable, Hashable, CaseIterable {
        /// The server did not take the write for it.
        case error
        /// The server took the write all the same.
        case warning
    }

    /// How bad it is.
    public var severity = Severity.error
    /// The server's code for it, where it has one.
    public var code: String?
    /// The server's words.
    public var message = ""
    /// Which part of the entity it is about: a field, or an element of one of
    /// ``CollectionModel/keyed`` by its name, `/lines/3`; nil for the entity as a whole.
    public var path: String?
    /// The value that it is about, as a text.
    public var value: String?

    package init() {}

    /// Something that a server says.
    public init(
        _ severity: Severity = .error, code: String? = nil, _ message: String, path: String? = nil,
        value: String? = nil
    ) {
        self.severity = severity
        self.code = code
        self.message = message
        self.path = path
        self.value = value
    }
}

extension ServerIssue: MemberPayload {
    package static let members: [PayloadMember<Self>] = [
        PayloadMember("severity", \.severity, .word, .plain) { $0 == .error },
        PayloadMember("code", \.code, .text, .word),
        PayloadMember("message", \.message, .text, .word),
        PayloadMember("path", \.path, .text, .text),
        PayloadMember("value", \.value, .text, .text),
    ]

    /// `W12 at /lines/3: it is no number ("x")`.
    package var words: String {
        var head = [severity == .warning ? "warning" : nil, code].compactMap(\.self)
        if let path { head.append("at " + path) }
        let quoted = value.map { " (\"\($0)\")" } ?? ""
        return head.isEmpty
            ? message + quoted : head.joined(separator: " ") + ": " + message + quoted
    }
}

extension [ServerIssue] {
    /// All of them in one sentence.
    package var words: String { map(\.words).joined(separator: "; ") }
}
