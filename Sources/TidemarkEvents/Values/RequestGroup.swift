// RequestGroup.swift — requests that count together for the limits of a server.

/// A group of requests that a server counts together: a name, as the model's limits have it, and
/// which one of that name.
///
/// Each group has a count of its own: with the name `team`, each team.
public struct RequestGroup: Sendable, Hashable, CustomStringConvertible {
    /// The name that a limit has as its `group`.
    public var name: String
    /// Which one of that name; nil where there is only one.
    ///
    /// What has more than 128 bytes of UTF-8 is no id: all such requests are one group, without an
    /// id.
    public var id: String? { didSet { id = Self.usable(id) } }

    /// The largest name and the largest id, in bytes of UTF-8: both fit an LMDB key.
    private static let bytesMax = 128

    /// A group of requests.
    public init(_ name: String, id: String? = nil) {
        self.name = name
        self.id = Self.usable(id)
    }

    private static func usable(_ id: String?) -> String? {
        id.flatMap { $0.utf8.count <= bytesMax ? $0 : nil }
    }

    /// `user`, or `team 5`.
    public var description: String { id.map { "\(name) \($0)" } ?? name }

    /// Name and id, as payloads hold them.
    package var parts: [String] { [name] + (id.map { [$0] } ?? []) }

    /// Reads what ``parts`` wrote; nil of anything else.
    package init?(parts: [String]?) {
        guard let parts, let name = parts.first, parts.count <= 2, name.utf8.count <= Self.bytesMax
        else { return nil }
        self.init(name, id: parts.dropFirst().first)
    }

    /// Name and id with a zero byte between them, as keys of rows hold them.
    package var bytes: [UInt8] { Array(parts.map { Array($0.utf8) }.joined(separator: [0])) }

    /// Reads what ``bytes`` wrote; nil of anything else.
    package init?(bytes: ArraySlice<UInt8>) {
        let parts = bytes.split(separator: 0, omittingEmptySubsequences: false)
        self.init(parts: parts.map { String(decoding: $0, as: UTF8.self) })
    }
}
