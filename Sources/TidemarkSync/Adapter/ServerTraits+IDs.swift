// ServerTraits+IDs.swift — how many entities one request names by their ids.

extension ServerTraits {
    /// Whether an id goes into the request that names some others.
    func joins(_ id: String, _ others: [String]) -> Bool {
        guard !isAlone(id), !others.contains(where: isAlone) else { return false }
        guard idBytesPerRequestMax < .max else { return true }
        return (others + [id]).reduce(0) { $0 + Self.bytes($1) } <= idBytesPerRequestMax
    }

    /// How many bytes an id has, percent-encoded.
    private static func bytes(_ id: String) -> Int {
        id.utf8.reduce(0) { $0 + (plain.contains($1) ? 1 : 3) }
    }

    /// What RFC 3986 calls unreserved.
    private static let plain = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    /// Whether an id has a request of its own.
    package func isAlone(_ id: String) -> Bool {
        !idSeparators.isEmpty && id.utf8.contains { idSeparators.utf8.contains($0) }
    }
}
