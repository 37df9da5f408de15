// SyncSettings.swift — how often and how much a server is asked; part of a model.

/// How often and how much a server is asked.
public struct SyncSettings: Sendable, Hashable {
    /// After how many days of the server's time a collection is listed whole, so that what no list
    /// of changes tells is seen as well; 0 for never.
    public var fullPullDays: Int
    /// How many writes one request may carry, where the server takes several; 1 for none.
    public var batchSize: Int
    /// The wait after a run that failed and may be mended by waiting, in seconds; it doubles with
    /// each further one.
    public var backoffSecondsMin: Int
    /// The longest of these waits, in seconds.
    public var backoffSecondsMax: Int
    /// How many requests may be sent in which time; all of them hold.
    public var limits: [RequestLimit]
    /// How many lists may be asked for at the same time.
    public var parallel: Int
    /// When what need not be kept is pruned.
    public var cleanUp: CleanUp

    /// When what need not be kept is pruned.
    public enum CleanUp: String, Sendable, Hashable, CaseIterable {
        /// At the end of every pull.
        case inPull
        /// Only in a run that is asked to.
        case apart
    }

    /// Everything has a usual value.
    public init(
        fullPullDays: Int = 7, batchSize: Int = 25, backoffSecondsMin: Int = 5,
        backoffSecondsMax: Int = 3600, limits: [RequestLimit] = [], parallel: Int = 1,
        cleanUp: CleanUp = .inPull
    ) {
        self.fullPullDays = fullPullDays
        self.batchSize = batchSize
        self.backoffSecondsMin = backoffSecondsMin
        self.backoffSecondsMax = backoffSecondsMax
        self.limits = limits
        self.parallel = parallel
        self.cleanUp = cleanUp
    }
}

/// How many requests may be sent within a time: a sliding window.
public struct RequestLimit: Sendable, Hashable {
    /// That many requests at most.
    public var requests: Int
    /// Within so many seconds.
    public var seconds: Int
    /// Whether a pull begins only when all of its lists can be asked for within the limit.
    public var wholePulls: Bool
    /// Where it is given, requests are spread evenly over the seconds instead, and so many may come
    /// early.
    public var burst: Int?

    /// At most `requests` within any `seconds`.
    public init(requests: Int, seconds: Int, wholePulls: Bool = false, burst: Int? = nil) {
        self.requests = requests
        self.seconds = seconds
        self.wholePulls = wholePulls
        self.burst = burst
    }
}

extension SyncSettings {
    private static let days: ClosedRange<Int64> = 0...3650
    private static let seconds: ClosedRange<Int64> = 1...86_400
    private static let requests: ClosedRange<Int64> = 1...10_000
    private static let batchSizes: ClosedRange<Int64> = 1...1000

    /// Reads the member `sync` of a model document.
    init(_ value: JSONValue, _ isLogged: Bool) throws(ModelError) {
        let members = try Members(
            value, at: "sync",
            known: isLogged
                ? nil
                : [
                    "fullPullDays", "batchSize", "backoffSeconds", "backoffSecondsMax", "limits",
                    "parallel", "cleanUp",
                ])
        self.init()
        parallel = try members.integer("parallel", in: 1...64) ?? parallel
        cleanUp = try members.word("cleanUp", CleanUp.self) ?? cleanUp
        fullPullDays = try members.integer("fullPullDays", in: Self.days) ?? fullPullDays
        batchSize = try members.integer("batchSize", in: Self.batchSizes) ?? batchSize
        backoffSecondsMin =
            try members.integer("backoffSeconds", in: Self.seconds) ?? backoffSecondsMin
        backoffSecondsMax =
            try members.integer("backoffSecondsMax", in: Self.seconds)
            ?? max(backoffSecondsMax, backoffSecondsMin)
        guard backoffSecondsMin <= backoffSecondsMax else {
            throw ModelError("sync.backoffSecondsMax", "at least backoffSeconds is needed")
        }
        guard let value = members["limits"] else { return }
        guard let list = value.array else {
            throw ModelError("sync.limits", "a list of {\"requests\", \"seconds\"} is needed")
        }
        for (index, item) in list.enumerated() {
            let path = "sync.limits[\(index)]"
            let limit = try Members(
                item, at: path,
                known: isLogged ? nil : ["requests", "seconds", "wholePulls", "burst"])
            guard let requests = try limit.integer("requests", in: Self.requests),
                let seconds = try limit.integer("seconds", in: Self.seconds)
            else { throw ModelError(path, "requests and seconds are needed") }
            limits.append(
                RequestLimit(
                    requests: requests, seconds: seconds,
                    wholePulls: try limit.flag("wholePulls") ?? false,
                    burst: try limit.integer("burst", in: 0...10_000)))
        }
    }

    /// The members that differ from what is usual.
    var json: JSONObject {
        let usual = SyncSettings()
        var object = JSONObject()
        func add(_ name: String, _ value: Int, unless other: Int) {
            if value != other { object[name] = .number(JSONNumber(value)) }
        }
        add("fullPullDays", fullPullDays, unless: usual.fullPullDays)
        add("batchSize", batchSize, unless: usual.batchSize)
        add("backoffSeconds", backoffSecondsMin, unless: usual.backoffSecondsMin)
        add("backoffSecondsMax", backoffSecondsMax, unless: usual.backoffSecondsMax)
        add("parallel", parallel, unless: usual.parallel)
        if cleanUp != usual.cleanUp { object["cleanUp"] = .string(cleanUp.rawValue) }
        if !limits.isEmpty { object["limits"] = .array(limits.map(\.json)) }
        return object
    }
}

extension RequestLimit {
    fileprivate var json: JSONValue {
        var object: JSONObject = [
            "requests": .number(JSONNumber(requests)), "seconds": .number(JSONNumber(seconds)),
        ]
        if wholePulls { object["wholePulls"] = true }
        if let burst { object["burst"] = .number(JSONNumber(burst)) }
        return .object(object)
    }
}
