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
        id.unicodeScalars.reduce(0) { count, scalar in
            let isPlain = scalar.isASCII && (scalar.properties.isAlphabetic || scalar.isPlainMark)
            return count + (isPlain ? 1 : 3 * UTF8.width(scalar))
        }
    }

    /// Whether an id has a request of its own.
    func isAlone(_ id: String) -> Bool {
        !idSeparators.isEmpty && id.utf8.contains { idSeparators.utf8.contains($0) }
    }
}

extension Unicode.Scalar {
    /// Whether it is a digit, or a mark, that is not percent-encoded.
    fileprivate var isPlainMark: Bool { "0123456789-._~".unicodeScalars.contains(self) }
}
