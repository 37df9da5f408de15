// WebDAVPlaces.swift — maps paths of a tree to addresses of a server, and back.
//
// A path is the names from the root down, joined by slashes and not encoded; empty for the root.
// Names are told apart byte for byte.

import TidemarkSync

/// Where a tree lies on a server.
struct WebDAVPlaces: Hashable {
    /// Scheme, host and port.
    private let authority: String
    /// The path of the origin, which is put before every path.
    private let prefix: String
    /// The path of the root below the origin, with a slash before and none after.
    private let home: String
    private let ownParts: [[UInt8]]

    init(origin: String, home: String) {
        authority = URLPath.authority(of: origin)
        prefix = URLPath.path(of: origin)
        let parts = home.split(separator: "/").joined(separator: "/")
        self.home = parts.isEmpty ? "" : "/" + parts
        ownParts = Self.parts(of: prefix + self.home)
    }

    /// The address of a request, below the origin.
    func path(_ path: String, isFolder: Bool) -> String {
        // By bytes: a name may begin with a mark that belongs to the slash before it.
        let names = path.utf8.split(separator: UInt8(ascii: "/"))
            .map { "/" + ServerRequest.percentEncoded($0) }.joined()
        return home + names + (isFolder || names.isEmpty ? "/" : "")
    }

    /// The whole address, as the target of a move.
    func address(_ path: String, isFolder: Bool) -> String {
        authority + prefix + self.path(path, isFolder: isFolder)
    }

    /// The path that an address of an answer names.
    ///
    /// - Parameter href: with scheme and host, or from the server's root on.
    func path(ofHref href: String) -> Result<String, Stray> {
        var path = href[...]
        if !href.hasPrefix("/") {
            let other = URLPath.authority(of: href)
            guard other != href || href.contains("://") else {
                return .failure(Stray("an address that is neither whole nor from the root on"))
            }
            guard Self.host(other) == Self.host(authority) else {
                return .failure(Stray("an address of another host"))
            }
            path = href.dropFirst(other.count)
        }
        let parts = Self.parts(of: path)
        guard parts.starts(with: ownParts) else {
            return .failure(Stray("an address outside of the tree"))
        }
        var names: [String] = []
        for part in parts.dropFirst(ownParts.count) {
            guard let name = String(validating: part, as: UTF8.self), Self.isLegal(name) else {
                return .failure(Stray("an address with a name that no entry can have"))
            }
            names.append(name)
        }
        return .success(names.joined(separator: "/"))
    }

    /// What is wrong with an address, for a person.
    struct Stray: Error {
        var problem: String

        init(_ problem: String) { self.problem = problem }
    }

    /// Whether each name of a path is one that an address can have.
    static func canAddress(_ path: String) -> Bool {
        path.isEmpty
            || path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .allSatisfy { isLegal(String(decoding: $0, as: UTF8.self)) }
    }

    private static func isLegal(_ name: some StringProtocol) -> Bool {
        !name.isEmpty && name != "." && name != ".."
            && !name.utf8.contains { $0 == 0 || $0 == UInt8(ascii: "/") }
    }

    private static func parts(of path: some StringProtocol) -> [[UInt8]] {
        path.split(separator: "/").map { URLPath.unescape($0) }
    }

    /// Host and port: a server behind a proxy may take itself for another scheme.
    private static func host(_ authority: String) -> String {
        let begin = authority.firstRange(of: "://")?.upperBound ?? authority.startIndex
        let host = authority[begin...].lowercased()
        for usual in [":80", ":443"] where host.hasSuffix(usual) {
            return String(host.dropLast(usual.count))
        }
        return host
    }
}
