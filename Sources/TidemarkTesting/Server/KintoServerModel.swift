// KintoServerModel.swift — a server that behaves like Kinto 26.5, as a value: no sockets and no
// clock.
//
// Buckets hold collections, collections hold records; all three are lists with the same behaviour.
// Not modelled: schemas, permissions, deletion of whole lists, JSON patches and merge patches,
// answers in part, queries of requests for one object, paths in the names of fields, pages of a
// list that is sorted otherwise, and some comparisons (KintoFilter.swift).

public import HTTPTypes
public import TidemarkEvents
public import TidemarkSync

/// A server that behaves like Kinto: give it a request and the time, and it returns the answer.
///
/// Statuses, bodies and header fields of the answers are those of Kinto 26.5 for everything that a
/// sync client requests. Records are returned byte for byte. Requests that are not modelled are
/// refused with 404, 400 or 415, never silently ignored.
public struct KintoServerModel: Sendable {
    /// Accepted values of `Authorization`, for example `Basic dTpw`; nil accepts every `Basic` one.
    public var acceptedCredentials: Set<String>?
    /// The most rows in one page, whatever `_limit` says.
    public var pageRowsMax: Int

    var lists: [KintoPlace: KintoList] = [:]
    private var idsMade = 0

    public init(acceptedCredentials: Set<String>? = nil, pageRowsMax: Int = 10_000) {
        self.acceptedCredentials = acceptedCredentials
        self.pageRowsMax = pageRowsMax
    }

    /// Handles one request and returns the answer; the state changes at once.
    ///
    /// - Parameters:
    ///   - request: its scheme and authority are used in the address of the next page.
    ///   - body: the bytes that came with it.
    ///   - now: the server's clock.
    public mutating func handle(
        _ request: HTTPRequest, body: [UInt8]?, at now: Timestamp
    ) -> TransportResponse {
        var answer: TransportResponse
        do throws(KintoRefusal) {
            answer = try route(request, body: body ?? [], nowMilliseconds: now.milliseconds)
        } catch {
            answer = error.answer
        }
        answer.finish(request, at: now)
        return answer
    }

    /// Removes every tombstone, as the server's maintenance does after a while.
    ///
    /// A client that returns with an old `_since` is not told of the deletions.
    public mutating func purgeTombstones() {
        for place in lists.keys { lists[place]?.purgeTombstones() }
    }

    mutating func route(
        _ request: HTTPRequest, body: [UInt8], nowMilliseconds: Int64
    ) throws(KintoRefusal) -> TransportResponse {
        var request = request
        try enterPersonalBucket(&request, nowMilliseconds)
        let path = request.path ?? "/"
        let halves = path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let target = KintoTarget(path: halves[0])
        switch target {
        case .unknown:
            throw KintoRefusal(
                404, 111, message: "The resource you are looking for could not be found.")
        case .hello:
            try allow([.get, .head], request)
            return hello(request)
        case .flush:
            try allow([.post], request)
            lists = [:]
            return KintoAnswer.json(202, Array("{}".utf8))
        case .batch:
            try allow([.post], request)
            return try batch(request, body, nowMilliseconds)
        case .list(let place):
            try allow([.get, .head, .post], request)
            try authenticate(request)
            try requireParents(of: place)
            let query = KintoQuery(halves.count > 1 ? halves[1] : "")
            if request.method == .post {
                try query.requireNone()
                return try create(in: place, request, body, nowMilliseconds)
            }
            return try list(place, request, query, nowMilliseconds)
        case .object(let place, let id):
            try allow([.get, .head, .put, .patch, .delete], request)
            try authenticate(request)
            try requireParents(of: place)
            guard Self.isLegal(id: id) else {
                throw KintoRefusal.invalid("path", nil, "Invalid object id")
            }
            try KintoQuery(halves.count > 1 ? halves[1] : "").requireNone()
            switch request.method {
            case .put: return try put(id, in: place, request, body, nowMilliseconds)
            case .patch: return try patch(id, in: place, request, body, nowMilliseconds)
            case .delete: return try delete(id, in: place, request, nowMilliseconds)
            default: return try get(id, in: place, request, nowMilliseconds)
            }
        }
    }

    private func hello(_ request: HTTPRequest) -> TransportResponse {
        let origin = Self.origin(of: request)
        let text = """
            {"project_name":"kinto","project_version":"26.5.0","http_api_version":"1.23",\
            "url":"\(origin)/v1/","settings":{"readonly":false,"explicit_permissions":true},\
            "capabilities":{}}
            """
        return KintoAnswer.json(200, Array(text.utf8))
    }

    private func allow(
        _ methods: [HTTPRequest.Method], _ request: HTTPRequest
    ) throws(KintoRefusal) {
        guard !methods.contains(request.method) else { return }
        var refusal = KintoRefusal(405, 115, message: "Method not allowed on this endpoint.")
        let names = methods.map(\.rawValue).joined(separator: ", ")
        refusal.answer.response.headerFields.set("Allow", names)
        throw refusal
    }

    func authenticate(_ request: HTTPRequest) throws(KintoRefusal) {
        let sent = request.headerFields[.authorization] ?? ""
        let isAccepted = acceptedCredentials?.contains(sent) ?? sent.hasPrefix("Basic ")
        guard !isAccepted else { return }
        var refusal = KintoRefusal(
            401, 104, message: "Please authenticate yourself to use this endpoint.")
        refusal.answer.response.headerFields[.wwwAuthenticate] = "Basic realm=\"Realm\""
        throw refusal
    }

    /// A missing bucket is forbidden, a missing collection is not found.
    private func requireParents(of place: KintoPlace) throws(KintoRefusal) {
        for (parent, id) in place.parents where lists[parent]?[id] == nil {
            if parent.resourceName == "bucket" {
                throw KintoRefusal(403, 121, message: "This user cannot access this resource.")
            }
            throw KintoRefusal.missing(id, parent.resourceName, errno: 111)
        }
    }

    /// A new id for an object that was sent without one; the same in every run.
    mutating func makeID() -> String {
        idsMade += 1
        let digits = String(idsMade)
        return "00000000-0000-4000-8000-" + String(repeating: "0", count: 12 - digits.count)
            + digits
    }

    static func origin(of request: HTTPRequest) -> String {
        "\(request.scheme ?? "http")://\(request.authority ?? "localhost")"
    }

    static func isLegal(id: String) -> Bool {
        let isAlphanumeric = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                true
            default: false
            }
        }
        return id.utf8.first.map(isAlphanumeric) == true
            && id.utf8.allSatisfy { isAlphanumeric($0) || "_-".utf8.contains($0) }
    }
}

extension KintoServerModel: ServerModel {
    static func error(_ status: Int) -> TransportResponse {
        KintoRefusal(status, KintoAnswer.errno(status)).answer
    }
}
