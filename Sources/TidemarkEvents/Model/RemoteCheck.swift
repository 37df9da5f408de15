// RemoteCheck.swift — what may stand in a remote: the log keeps it, so no credential may.

extension Remote {
    /// Refuses an origin with more than scheme, host, port and path, and a variable whose name is
    /// none; what is wrong is told without it.
    ///
    /// - Throws: ``ModelError``.
    package func check() throws(ModelError) {
        guard !origin.contains("@") else {
            throw ModelError("remote.origin", "credentials don't belong here; name a variable")
        }
        guard !origin.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw ModelError(
                "remote.origin",
                "a query or a fragment doesn't belong here; only scheme, host, port and path do")
        }
        guard Self.isVariable(credentialsVariable) else {
            throw ModelError(
                "remote.credentialsVariable",
                "the name of an environment variable is needed: letters, digits and _ (ASCII), "
                    + "and no digit first")
        }
    }

    private static func isVariable(_ name: String) -> Bool {
        let isFirst = { (byte: UInt8) in byte == UInt8(ascii: "_") || byte.isLetter }
        guard let first = name.utf8.first, isFirst(first) else { return false }
        return name.utf8.allSatisfy { isFirst($0) || (0x30...0x39).contains($0) }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
}
