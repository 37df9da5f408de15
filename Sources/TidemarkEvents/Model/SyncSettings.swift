// SyncSettings.swift — how often and how much a server is asked; part of a model.

/// How often and how much a server is asked.
public struct SyncSettings: Sendable, Hashable {
    /// How long after the last run an engine begins the next one by itself, unless the app says
    /// otherwise; zero for no timer.
    public var runEvery: TimeSpan
    /// After how much of the server's time a collection is listed whole again, to see what no list
    /// of changes tells; zero for never.
    public var fullPullEvery: TimeSpan
    /// The most writes in one request, where the server takes several; 1 for none.
    public var batchSize: Int
    /// The backoff after runs that failed and may succeed later.
    public var backoff: BackoffSpan
    /// The limits of requests per time; all of them hold.
    public var limits: [RequestLimit]
    /// How often triggers of the app may begin a run; one without a gate may always.
    ///
    /// Each ``SyncTrigger/named(_:)`` has at most one gate.
    public var gates: [TriggerGate]
    /// The most lists, or folders of a tree, that are requested at the same time.
    public var parallel: Int
    /// When entities are pruned.
    public var cleanUp: CleanUp
    /// How many answers of the server are kept as they came.
    public var answers: KeptAnswers
    /// How much of the log a store keeps.
    public var keep: KeptLog
    /// How long after the last one a sweep of the contents removes files that need not be kept;
    /// zero for never.
    public var sweepEvery: TimeSpan
    /// How many files beside entities are fetched and sent at the same time.
    public var budgets: TransferBudgets

    /// When entities are pruned.
    public enum CleanUp: String, Sendable, Hashable, CaseIterable {
        /// At the end of every pull.
        case inPull
        /// Only in a run that is asked for it.
        case apart
    }

    /// Settings; every member has a default.
    public init(
        runEvery: TimeSpan = .zero, fullPullEvery: TimeSpan = .days(7), batchSize: Int = 25,
        backoff: BackoffSpan = BackoffSpan(), limits: [RequestLimit] = [],
        gates: [TriggerGate] = [], parallel: Int = 1, cleanUp: CleanUp = .inPull,
        answers: KeptAnswers = KeptAnswers(), keep: KeptLog = .all,
        sweepEvery: TimeSpan = .days(1), budgets: TransferBudgets = TransferBudgets()
    ) {
        self.gates = gates
        self.runEvery = runEvery
        self.fullPullEvery = fullPullEvery
        self.batchSize = batchSize
        self.backoff = backoff
        self.limits = limits
        self.parallel = parallel
        self.cleanUp = cleanUp
        self.answers = answers
        self.keep = keep
        self.sweepEvery = sweepEvery
        self.budgets = budgets
    }
}

extension SyncSettings {
    /// The backoff after runs that failed and may succeed later.
    public struct BackoffSpan: Sendable, Hashable {
        /// The first wait; it doubles with each further one, and half to all of it is waited.
        public var min: TimeSpan
        /// The longest wait.
        public var max: TimeSpan

        /// A backoff; by default between 5 seconds and an hour.
        public init(min: TimeSpan = .seconds(5), max: TimeSpan = .hours(1)) {
            self.min = min
            self.max = max
        }
    }
}

package typealias BackoffSpan = SyncSettings.BackoffSpan

extension SyncSettings {
    /// A limit of requests per time: a sliding window.
    public struct RequestLimit: Sendable, Hashable {
        /// That many requests at most.
        public var requests: Int
        /// Within any time of that length.
        public var within: TimeSpan
        /// Whether a pull begins only when the limit allows all of its lists.
        public var wholePulls: Bool
        /// With it, requests are spread evenly over the time, and so many may come early.
        public var burst: Int?
        /// The name of the ``RequestGroup``s to which it applies, each of which has a count of its
        /// own; nil for all requests.
        public var group: String?

        /// At most `requests` within any time of that length.
        public init(
            requests: Int, within: TimeSpan, wholePulls: Bool = false, burst: Int? = nil,
            group: String? = nil
        ) {
            self.group = group
            self.requests = requests
            self.within = within
            self.wholePulls = wholePulls
            self.burst = burst
        }
    }
}

package typealias RequestLimit = SyncSettings.RequestLimit

extension SyncSettings {
    /// How many answers of the server are kept as they came, so that a capsule of the last runs can
    /// be replayed through the adapter.
    ///
    /// They lie compressed beside the log, without the parts that events hold already, and are
    /// removed when either limit is exceeded. Runs without news keep none, but for those that go on
    /// where the one before was cut off.
    public struct KeptAnswers: Sendable, Hashable {
        /// The most sync runs; 0 for none.
        public var runs: Int
        /// The most bytes in the store; a run with more keeps none.
        public var bytes: Int

        /// By default those of the last 20 runs, at most 16 MiB.
        public init(runs: Int = 20, bytes: Int = 16 << 20) {
            self.runs = runs
            self.bytes = bytes
        }

        /// Nothing is kept.
        public static let none = KeptAnswers(runs: 0)
    }
}

extension SyncSettings {
    /// How much is fetched at the same time of files beside entities.
    public struct TransferBudgets: Sendable, Hashable {
        /// The most writes of trees that are on their way at the same time, those of contents
        /// among them.
        public var actions: Int
        /// The most files that are fetched at the same time; 0 for none.
        public var downloads: Int
        /// The most files that are sent at the same time; 0 for none, but one of a tree by paths.
        public var uploads: Int
        /// How many bytes one request asks for, where the server gives parts.
        public var partBytes: Int
        /// The most of those that are fetched for which nobody waits, and which the engine fetches
        /// by itself.
        public var unasked: Int

        /// By default 10 writes, 3 files that come, 2 of them unasked, in parts of 8 MiB, and 3
        /// that go.
        public init(
            actions: Int = 10, downloads: Int = 3, uploads: Int = 3, partBytes: Int = 8 << 20,
            unasked: Int = 2
        ) {
            self.actions = actions
            self.downloads = downloads
            self.uploads = uploads
            self.partBytes = partBytes
            self.unasked = unasked
        }
    }
}

package typealias TransferBudgets = SyncSettings.TransferBudgets

/// Earlier models gave a number of seconds, from 1 to a day.
private let seconds: ClosedRange<Int64> = 1...86_400

extension ModelCodec where Value == TimeSpan {
    fileprivate static func upToADay(such example: String) -> Self {
        .span(from: .seconds(1), to: .days(1), such: example)
    }
}

extension SyncSettings: ModelObject {
    static let blank = SyncSettings()

    static let members: [ModelMember<SyncSettings>] = [
        ModelMember(
            "runEvery", \.runEvery, .span(to: .days(365), such: "PT15M"),
            """
            How long after the last run the next one begins by itself, unless the app says \
            otherwise; PT0S for no timer.
            """),
        ModelMember(
            "fullPullEvery", \.fullPullEvery, .span(to: .days(3650), such: "P7D"),
            older: [.span("fullPullDays", 0...3650) { .days($0) }],
            """
            After how much of the server's time a collection is listed whole, so that what no \
            list of changes tells is seen as well; PT0S for never.
            """),
        ModelMember(
            "batchSize", \.batchSize, .number(1...1000),
            "How many writes one request may carry, where the server takes several; 1 for none."),
        ModelMember(
            "backoff", \.backoff, BackoffSpan.codec("backoff"),
            older: [
                .spanInGroup("backoffSeconds", as: "min", seconds) { .seconds($0) },
                .spanInGroup("backoffSecondsMax", as: "max", seconds) { .seconds($0) },
            ],
            "The waits after runs that failed and may be mended by waiting."),
        ModelMember(
            "limits", \.limits, RequestLimit.codec("limit").list(),
            "How many requests may be sent in which time; all of them hold."),
        ModelMember(
            "gates", \.gates,
            TriggerGate.codec("gate").named(
                by: \.name, "an object of trigger to gate is needed"),
            "How often triggers of the app may begin a run, by their names."),
        ModelMember(
            "parallel", \.parallel, .number(1...64),
            "How many lists, or folders of a tree, may be asked for at the same time."),
        ModelMember(
            "cleanUp", \.cleanUp, .word,
            """
            When what need not be kept is pruned: at the end of every pull, or only in a run that \
            is asked to.
            """),
        ModelMember(
            "answers", \.answers, KeptAnswers.codec("answers"),
            """
            For how long answers of the server are kept as they came, so that a capsule of the \
            last runs can be decided again through the adapter.
            """),
        ModelMember(
            "keep", \.keep, .keptLog,
            """
            How much of the log is kept at least: what was recorded within a duration, or so many \
            bytes of it; older events that nothing needs are dropped. Never for all of it.
            """),
        ModelMember(
            "sweepEvery", \.sweepEvery, .span(to: .days(365), such: "P1D"),
            """
            How long after the last time files beside entities are removed that need not be kept; \
            PT0S for never.
            """),
        ModelMember(
            "budgets", \.budgets, TransferBudgets.codec("budgets"),
            "How much is fetched at the same time of files beside entities."),
    ]
}

extension SyncSettings.KeptAnswers: ModelObject {
    static let blank = SyncSettings.KeptAnswers()

    static let members: [ModelMember<SyncSettings.KeptAnswers>] = [
        ModelMember("runs", \.runs, .number(0...1000), "Of how many sync runs; 0 for none."),
        ModelMember(
            "bytes", \.bytes, .number(0...(1 << 30)),
            "How many bytes at most, as they lie in the store; a run with more keeps none."),
    ]
}

extension TransferBudgets: ModelObject {
    static let blank = TransferBudgets()

    static let members: [ModelMember<TransferBudgets>] = [
        ModelMember(
            "actions", \.actions, .number(1...64),
            """
            How many writes of trees may be on their way at the same time, contents among them.
            """),
        ModelMember(
            "downloads", \.downloads, .number(0...64),
            "How many files may be fetched at the same time; 0 for none."),
        ModelMember(
            "uploads", \.uploads, .number(0...64),
            """
            How many files may be sent at the same time; 0 for none, but one of a tree by paths.
            """),
        ModelMember(
            "partBytes", \.partBytes, .number(1...(1 << 30)),
            "How many bytes of a file one request asks for, where the server gives parts."),
        ModelMember(
            "unasked", \.unasked, .number(1...64),
            """
            How many of the files that are fetched at the same time may be such that nobody waits \
            for: those that an entity names for which nobody asked by itself.
            """),
    ]
}

extension BackoffSpan: ModelObject {
    static let blank = BackoffSpan()

    static let members: [ModelMember<BackoffSpan>] = [
        ModelMember(
            "min", \.min, .upToADay(such: "PT5S"),
            "The first wait; it doubles with each further one, and half to all of it is waited."),
        ModelMember(
            "max", \.max, .upToADay(such: "PT1H"),
            "The longest wait, at least min, which it is where min is longer than usual."),
    ]

    mutating func settle(_ given: JSONObject) -> ModelProblem? {
        if given["max"] == nil, max.seconds < min.seconds { max = min }
        return max.seconds < min.seconds ? ModelProblem("max", "at least min is needed") : nil
    }
}

extension RequestLimit: ModelObject {
    static let blank = RequestLimit(requests: 0, within: .zero)

    static let members: [ModelMember<RequestLimit>] = [
        ModelMember(
            "requests", \.requests, .number(1...10_000), isNeeded: true,
            "That many requests at most."),
        ModelMember(
            "within", \.within, .upToADay(such: "PT1M"), isNeeded: true,
            older: [.span("seconds", seconds) { .seconds($0) }], "Within any time of that length."),
        ModelMember(
            "wholePulls", \.wholePulls, .flag,
            "Whether a pull begins only when all of its lists can be asked for within the limit."),
        ModelMember(
            "burst", \.burst, .number(0...10_000),
            """
            Where it is given, requests are spread evenly over the time instead, and so many may \
            come early.
            """),
        ModelMember(
            "group", \.group, .text,
            """
            The name of a group of requests, as the adapter tells it: the limit is for each group \
            of that name by itself. Without it, it is for all requests together.
            """),
    ]

    mutating func settle(_ given: JSONObject) -> ModelProblem? {
        group?.utf8.contains(0) == true
            ? ModelProblem("group", "a name without a zero byte is needed") : nil
    }
}
