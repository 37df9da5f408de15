// FaultPlan.swift — which requests fail, and how. Nothing is random.

public import HTTPTypes

/// The faults of a server: rules in order, of which the first that applies acts.
public struct FaultPlan: Sendable {
    /// The rules, the most important one first.
    public var rules: [FaultRule] {
        didSet { seen = Array(repeating: 0, count: rules.count) }
    }

    /// How many requests each rule has matched so far.
    private var seen: [Int]

    /// A plan of rules; without rules nothing fails.
    public init(_ rules: [FaultRule] = []) {
        self.rules = rules
        seen = Array(repeating: 0, count: rules.count)
    }

    /// What happens to this request, or nil when it is handled as usual.
    ///
    /// Every rule that matches counts the request, also when an earlier rule acts on it.
    public mutating func action(for request: HTTPRequest) -> FaultAction? {
        var action: FaultAction?
        for (index, rule) in rules.enumerated() where rule.matches(request) {
            seen[index] += 1
            if action == nil, rule.occurrences.contains(seen[index]) { action = rule.action }
        }
        return action
    }
}

/// One fault, and the requests that it hits.
public struct FaultRule: Sendable {
    /// Only requests of this method; nil for all.
    public var method: HTTPRequest.Method?
    /// Only requests whose path and query contain this; nil for all.
    public var pathContains: String?
    /// Only requests for one record whose id this accepts; nil for all requests.
    public var recordID: (@Sendable (String) -> Bool)?
    /// Which of the matching requests, counted from 1.
    public var occurrences: ClosedRange<Int>
    /// The fault.
    public var action: FaultAction

    /// A rule; by default for every matching request.
    public init(
        _ action: FaultAction, method: HTTPRequest.Method? = nil, pathContains: String? = nil,
        occurrences: ClosedRange<Int> = 1...Int.max,
        recordID: (@Sendable (String) -> Bool)? = nil
    ) {
        self.action = action
        self.method = method
        self.pathContains = pathContains
        self.occurrences = occurrences
        self.recordID = recordID
    }

    /// A rule for the `nth` matching request alone, counted from 1.
    public init(
        _ action: FaultAction, method: HTTPRequest.Method? = nil, pathContains: String? = nil,
        nth: Int
    ) {
        self.init(action, method: method, pathContains: pathContains, occurrences: nth...nth)
    }

    func matches(_ request: HTTPRequest) -> Bool {
        let path = request.path ?? "/"
        if let method, method != request.method { return false }
        if let pathContains, !path.contains(pathContains) { return false }
        guard let recordID else { return true }
        let address = path.prefix { $0 != "?" }
        if case .object(let place, let id) = KintoTarget(path: address) {
            return place.resourceName == "record" && recordID(id)
        }
        let id = TogglPath(address).recordID ?? Dhis2Path(address).recordID
        return id.map(recordID) ?? false
    }
}

/// What is done with a request instead of handling it.
@nonexhaustive public enum FaultAction: Sendable {
    /// The request is not applied, and gets this answer; a nil body is replaced by an error in the
    /// server's own form.
    case answer(status: Int, fields: HTTPFields = [:], body: [UInt8]? = nil)
    /// There is no network: nothing is sent, and the client knows.
    ///
    /// Over a socket the connection is closed as with ``dropBeforeHandling``.
    case offline
    /// The connection breaks and the request is not applied; the client can't know that.
    case dropBeforeHandling
    /// The request is applied and its answer is lost.
    case dropAfterHandling
    /// The connection breaks after so many bytes of the request's body.
    ///
    /// It is not applied, unless the server writes what comes in place
    /// (``WebDAVOptions/uploadsInPlace``): then what came is what it has.
    case cutOff(afterBytes: Int)

    /// 429 with `Retry-After` in seconds.
    public static func tooManyRequests(retryAfterSeconds: Int) -> FaultAction {
        .answer(status: 429, fields: [.retryAfter: "\(retryAfterSeconds)"])
    }

    /// 503 with `Retry-After` in seconds.
    public static func unavailable(retryAfterSeconds: Int) -> FaultAction {
        .answer(status: 503, fields: [.retryAfter: "\(retryAfterSeconds)"])
    }
}
