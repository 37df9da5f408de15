// WebDAVServerModel.swift — a server of WebDAV, class 1 (RFC 4918), as a value: no sockets and no
// clock.
//
// Not modelled: locks, the field If, conditions by date, several ranges at once, and attributes of
// properties. Names are kept byte for byte; lists are ordered by them.

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server of WebDAV: give it a request and the time, and it returns the answer.
///
/// It begins with an empty root. What is not modelled is refused, never silently ignored.
public struct WebDAVServerModel: Sendable {
    /// Accepted values of `Authorization`, for example `Basic dTpw`; nil accepts all, and none.
    public var acceptedCredentials: Set<String>?
    /// In what it differs from other servers.
    public var options: WebDAVOptions

    /// The path that its root has on the server.
    let home: WebDAVPath
    var tree = WebDAVTree()

    /// An empty server.
    ///
    /// - Parameters:
    ///   - options: in what it differs from other servers.
    ///   - home: the path of its root, not encoded: `/dav/files`.
    public init(_ options: WebDAVOptions = WebDAVOptions(), home: String = "/") {
        self.options = options
        self.home = WebDAVPath(home)
    }

    /// Handles one request and returns the answer; the state changes at once.
    ///
    /// - Parameters:
    ///   - request: its authority is what `Destination` has to name.
    ///   - body: the bytes that came with it.
    ///   - now: the server's clock.
    public mutating func handle(
        _ request: HTTPRequest, body: [UInt8]?, at now: Timestamp
    ) -> TransportResponse {
        var answer: TransportResponse
        do throws(WebDAVRefusal) {
            answer = try route(WebDAVCall(request, body ?? [], now.milliseconds, self))
        } catch {
            answer = error.answer
        }
        answer.finish(request, at: now)
        return answer
    }

    private mutating func route(_ call: WebDAVCall) throws(WebDAVRefusal) -> TransportResponse {
        if let accepted = acceptedCredentials, !accepted.contains(call[.authorization] ?? "") {
            var refusal = WebDAVRefusal(401)
            refusal.answer.response.headerFields[.wwwAuthenticate] = "Basic realm=\"files\""
            throw refusal
        }
        if let redirect = redirect(call) { return redirect }
        guard call["If"] == nil else { throw WebDAVRefusal(400) }
        switch call.method {
        case "OPTIONS": return options(call)
        case "GET", "HEAD": return try get(call)
        case "PUT": return try put(call)
        case "DELETE": return try delete(call)
        case "MKCOL": return try makeFolder(call)
        case "COPY", "MOVE": return try transfer(call)
        case "PROPFIND": return try findProperties(call)
        case "PROPPATCH": return try patchProperties(call)
        default: throw WebDAVRefusal(405)
        }
    }
}

extension WebDAVServerModel {
    /// The answer to a request for a folder without the slash at its end.
    private func redirect(_ call: WebDAVCall) -> TransportResponse? {
        guard options.redirectsFolders, !call.endsInSlash, let path = call.path, !path.isRoot,
            tree.find(path)?.isFolder == true
        else { return nil }
        return WebDAVReply.plain(301, [.location: path.href(home: home, isFolder: true)])
    }
}

extension WebDAVServerModel: ServerModel {
    static func error(_ status: Int) -> TransportResponse { WebDAVReply.error(status) }

    /// What came of an upload stays where it is written in place.
    mutating func handle(_ request: HTTPRequest, bodyPart: [UInt8], at now: Timestamp) {
        guard options.uploadsInPlace, request.method == .put else { return }
        var part = request
        if let name = WebDAVCall.checksumField { part.headerFields[name] = nil }
        _ = handle(part, body: bodyPart, at: now)
    }
}

/// One request, taken apart.
struct WebDAVCall: Sendable {
    static let checksumField = HTTPField.Name("OC-Checksum")

    let method: String
    let authority: String
    /// What it names; nil for something outside of the home.
    let path: WebDAVPath?
    let endsInSlash: Bool
    let fields: HTTPFields
    let body: [UInt8]
    let now: Int64

    init(_ request: HTTPRequest, _ body: [UInt8], _ now: Int64, _ model: WebDAVServerModel) {
        method = request.method.rawValue
        authority = request.authority ?? ""
        let target = request.path ?? "/"
        path = WebDAVPath(target: target, home: model.home)
        endsInSlash = target.prefix { $0 != "?" }.hasSuffix("/")
        fields = request.headerFields
        self.body = body
        self.now = now
    }

    subscript(name: HTTPField.Name) -> String? { fields[name] }

    subscript(name: String) -> String? { HTTPField.Name(name).flatMap { fields[$0] } }

    /// How far down it goes; nil where it does not say.
    func depth(_ allowed: [String]) throws(WebDAVRefusal) -> String? {
        guard let depth = self["Depth"]?.lowercased() else { return nil }
        guard allowed.contains(depth) else { throw WebDAVRefusal(400) }
        return depth
    }
}
