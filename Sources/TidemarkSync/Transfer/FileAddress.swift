// FileAddress.swift — where a file lies by the name that a record gives it.
//
//   https://host/photo.jpg   as it is; with credentials only where the remote's origin begins it,
//                            in whatever case the host is, and with or without the usual port
//   /files/1, files/1, 1     below the remote's origin
//
// Anything else is no address: other schemes, names of folders above, users, and what is no URL.

package import TidemarkEvents
package import TidemarkViews

/// The address of a file.
package struct FileAddress: Sendable, Hashable {
    /// Scheme and authority, and for the remote its base path: `https://host:8080`.
    package var origin: String
    /// Path and query, from the origin on.
    package var path: String
    /// Whether the server is the remote, so that it gets the credentials.
    package var isOwn: Bool

    /// Nil for what is no address.
    ///
    /// - Parameters:
    ///   - name: as it stands in a record's field.
    ///   - remote: the origin of the remote, without a slash at its end.
    package init?(_ name: String, remote: String) {
        let name = String(name.prefix { $0 != "#" })
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let scheme = name.prefix { $0 != "/" && $0 != "?" && $0 != ":" }
        guard name.dropFirst(scheme.count).first == ":" else {
            // Two slashes would name another server.
            guard !name.hasPrefix("//"), !Self.climbs(name) else { return nil }
            (origin, path, isOwn) = (remote, name.hasPrefix("/") ? name : "/" + name, true)
            return
        }
        guard ["http", "https"].contains(scheme.lowercased()) else { return nil }
        let rest = name.dropFirst(scheme.count + 1)
        guard rest.hasPrefix("//") else { return nil }
        let authority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "?" }
        guard !authority.isEmpty, !authority.contains("@") else { return nil }
        let place = String(rest.dropFirst(2 + authority.count))
        let path = place.hasPrefix("/") ? place : "/" + place
        guard !Self.climbs(path) else { return nil }
        let origin = Self.origin(scheme, authority)
        // The whole remote, with its base path: what lies beside that is another's.
        let base = Self.written(remote)
        let whole = origin + path
        let isOwn = whole.hasPrefix(base + "/")
        self.origin = isOwn ? remote : origin
        self.path = isOwn ? String(whole.dropFirst(base.count)) : path
        self.isOwn = isOwn
    }

    /// Scheme and authority in the one way in which they are compared (RFC 3986, 6.2).
    private static func origin(_ scheme: Substring, _ authority: Substring) -> String {
        let (scheme, authority) = (scheme.lowercased(), authority.lowercased())
        let usual = scheme == "https" ? ":443" : ":80"
        let host = authority.hasSuffix(usual) ? authority.dropLast(usual.count) : authority[...]
        return "\(scheme)://\(host)"
    }

    /// An address with its origin written so.
    private static func written(_ address: String) -> String {
        let scheme = address.prefix { $0 != ":" }
        let rest = address.dropFirst(scheme.count)
        guard rest.hasPrefix("://") else { return address }
        let authority = rest.dropFirst(3).prefix { $0 != "/" }
        return origin(scheme, authority) + rest.dropFirst(3 + authority.count)
    }

    /// As the log has it: from the remote's root on, or whole where it is another server's.
    package var logged: String { isOwn ? path : origin + path }

    /// Printable ASCII without what no URL holds as it is.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}".utf8.contains(byte)
    }

    /// Whether a part of the path is the folder itself, or the one above, also with parameters,
    /// which some servers take off first: `..;x=1`.
    private static func climbs(_ path: String) -> Bool {
        let places = path.prefix { $0 != "?" }.lowercased().replacing("%2e", with: ".")
            .replacing("%2f", with: "/").replacing("%5c", with: "/")
        return places.replacing("%3b", with: ";").split(separator: "/").contains { place in
            let name = place.prefix { $0 != ";" }
            return name == "." || name == ".."
        }
    }
}

/// A server that files are fetched from, or sent to.
package enum FileServer: Sendable, Hashable {
    case remote
    /// Another one, by its origin: `https://host:8080`.
    case other(String)
}

extension FileAddress {
    package var server: FileServer { isOwn ? .remote : .other(origin) }

    /// The address of what a plan asks for; nil where its name is none.
    package init?(of source: String, _ remote: Remote?) {
        guard let remote else { return nil }
        self.init(source, remote: remote.origin)
    }
}

extension RowReading {
    /// Tells which server has a file by a rule; nil where the name of the file is no address.
    package func servers(
        by adapter: any ServerAdapter
    ) throws -> (ContentSource, ContentRule) -> FileServer? {
        let remote = try registration()?.remote
        return { source, rule in
            // Where an adapter needs the entity, the remote has the file.
            guard let place = adapter.address(ofFile: source.text, in: rule.field, of: nil) else {
                return .remote
            }
            return FileAddress(of: place, remote)?.server
        }
    }

    /// Whether one of some servers has a file by a rule; nil for no server.
    package func isAt(
        _ servers: Set<FileServer>, by adapter: any ServerAdapter
    ) throws -> ((ContentSource, ContentRule) throws -> Bool)? {
        guard !servers.isEmpty else { return nil }
        let server = try self.servers(by: adapter)
        return { server($0, $1).map(servers.contains) ?? false }
    }
}
