// TransportRequest.swift — checks which requests may be sent, and how long their answers must be.
//
// Platforms silently normalise URLs: they remove dot segments, so that `/records/..` becomes `/`,
// and encode characters that are not allowed. A request whose path would change this way is
// refused.

package import Dispatch
package import Foundation
package import HTTPTypes
package import TidemarkSync

/// Checks on requests and lengths that need no network.
package enum TransportRequest {
    /// The URL that `request` names, with the path exactly as given.
    ///
    /// - Throws: ``TransportError`` with `invalidRequest`.
    package static func url(
        of request: HTTPRequest, bodyCount: Int?
    ) throws(TransportError) -> URL {
        guard let scheme = request.scheme?.lowercased(), scheme == "http" || scheme == "https"
        else { throw invalid("the scheme is neither http nor https") }
        guard let authority = request.authority, !authority.isEmpty, !authority.contains("@")
        else { throw invalid("the authority must be a host, without a user") }
        guard let path = request.path, path.hasPrefix("/"), !path.contains("#")
        else { throw invalid("the path must begin with / and have no fragment") }
        guard !hasDotSegments(path) else { throw invalid("the path has a . or .. segment") }
        guard request.method != .connect else { throw invalid("CONNECT is not supported") }
        if request.method == .get || request.method == .head, (bodyCount ?? 0) > 0 {
            throw invalid("\(request.method) with a body")
        }
        guard let url = request.url, url.absoluteString.hasSuffix(path), url.host() != nil
        else { throw invalid("not a URL: percent-encode the path") }
        return url
    }

    /// The request with the header fields that a transport adds where it names none.
    package static func completed(_ request: HTTPRequest, hasBody: Bool) -> HTTPRequest {
        var request = request
        if request.headerFields[.acceptEncoding] == nil {
            request.headerFields[.acceptEncoding] = "identity"
        }
        if hasBody, request.headerFields[.contentType] == nil {
            request.headerFields[.contentType] = "application/octet-stream"
        }
        return request
    }

    /// The body lengths in bytes that the answer's head announces; nil for one that is no number.
    ///
    /// A decoded body has another length than the encoded one, so only identity answers announce
    /// any.
    package static func bodyLengths(
        of head: HTTPResponse, to method: HTTPRequest.Method
    ) -> [Int?] {
        if method == .head || head.status.code == 204 { return [] }
        // 304 has no body; Linux drops the bodies of other redirects that have no target.
        if (301...308).contains(head.status.code) { return [] }
        guard head.headerFields[.transferEncoding] == nil else { return [] }
        let encoding = head.headerFields[.contentEncoding]?.lowercased() ?? "identity"
        guard encoding == "identity", let lengths = head.headerFields[.contentLength] else {
            return []
        }
        return lengths.split(separator: ",", omittingEmptySubsequences: false).map {
            Int($0.trimmingCharacters(in: .whitespaces))
        }
    }

    /// A deadline for Dispatch: not negative, and a year at most.
    package static func interval(_ deadline: Duration) -> DispatchTimeInterval {
        .nanoseconds(Int(seconds(deadline) * 1e9))
    }

    /// A deadline in seconds: not negative, and a year at most.
    package static func seconds(_ deadline: Duration) -> Double {
        min(max(deadline / .seconds(1), 0), 365 * 86_400)
    }

    private static func hasDotSegments(_ path: String) -> Bool {
        path.prefix { $0 != "?" }.split(separator: "/").contains { segment in
            let plain = segment.lowercased().replacing("%2e", with: ".")
            return plain == "." || plain == ".."
        }
    }

    private static func invalid(_ detail: String) -> TransportError {
        TransportError(.invalidRequest, detail: detail)
    }
}
