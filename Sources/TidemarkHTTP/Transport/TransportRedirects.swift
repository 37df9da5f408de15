// TransportRedirects.swift — where a redirect may lead: within the same origin, for reads only; of
// a question for the properties of a folder, to its address with a slash at its end, whatever the
// server, which may stand behind a proxy, takes its origin for.
//
// The target is resolved here and not by the platform: on Linux, a relative target loses its
// percent-encodings, and every header field, including `Authorization`, is sent to any host.

package import Foundation
package import HTTPTypes
package import TidemarkSync

/// The rule for redirects.
package enum TransportRedirects {
    /// How many redirects one request follows.
    package static let followedMax = 5

    /// Whether `head` is a redirect.
    package static func isRedirect(_ head: HTTPResponse) -> Bool {
        [301, 302, 303, 305, 307, 308].contains(head.status.code)
            && head.headerFields[.location] != nil
    }

    /// The target of a redirect.
    ///
    /// - Parameters:
    ///   - location: the answer's `Location`, absolute or relative to `url`.
    ///   - url: the URL that was answered.
    ///   - method: the request's method; GET and HEAD are redirected, PROPFIND to the same address
    ///     with a slash at its end.
    ///   - followed: how many redirects were followed before this one.
    /// - Throws: ``TransportError`` with `redirectRefused`.
    package static func target(
        location: String?, from url: URL, method: HTTPRequest.Method, followed: Int
    ) throws(TransportError) -> URL {
        let isRead = method == .get || method == .head
        guard isRead || method.rawValue == "PROPFIND" else {
            throw refused("\(method) is never redirected")
        }
        guard followed < followedMax else { throw refused("more than \(followedMax) redirects") }
        let named = location.flatMap { URL(string: $0, relativeTo: url)?.absoluteURL }
        if !isRead, let named, let folder = folder(of: url), path(of: folder) == path(of: named) {
            return folder
        }
        guard let target = named, let origin = Origin(target), origin == Origin(url) else {
            throw refused(named, from: url)
        }
        guard target.user() == nil, target.password() == nil else {
            throw refused("to an address with a user in it")
        }
        guard isRead else { throw refused("\(method) is only redirected to a slash at the end") }
        return target
    }

    /// An address with a slash at its end; nil for one that has it.
    private static func folder(of url: URL) -> URL? {
        let address = url.absoluteString
        guard url.query == nil, url.fragment == nil, !address.hasSuffix("/") else { return nil }
        return URL(string: address + "/")
    }

    /// The path of an address, however it is escaped; nil where that is not all of it.
    private static func path(of url: URL) -> [UInt8]? {
        url.query == nil && url.fragment == nil
            ? URLPath.unescape(url.path(percentEncoded: true)) : nil
    }

    private static func refused(_ detail: String) -> TransportError {
        TransportError(.redirectRefused, detail: detail)
    }

    /// The refusal of a redirect to another origin: it tells which, and no more of the target.
    private static func refused(_ target: URL?, from url: URL) -> TransportError {
        guard let target, let there = Origin(target), let here = Origin(url) else {
            return refused("to another origin")
        }
        let isSecured =
            here.scheme == "http" && there.scheme == "https" && here.host == there.host
            && target.path(percentEncoded: true) == url.path(percentEncoded: true)
        let advice = isSecured ? ", as the server wants https: give its address so" : ""
        return refused("to \(there)\(advice)")
    }

    /// Scheme, host and port in a comparable form.
    private struct Origin: Equatable, CustomStringConvertible {
        let scheme: String
        let host: String
        let port: Int

        var description: String {
            let isUsual = port == (scheme == "https" ? 443 : 80)
            return "\(scheme)://\(host)" + (isUsual ? "" : ":\(port)")
        }

        init?(_ url: URL) {
            guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https",
                let host = url.host(), !host.isEmpty
            else { return nil }
            self.scheme = scheme
            self.host = host.lowercased()
            self.port = url.port ?? (scheme == "https" ? 443 : 80)
        }
    }
}
