// SyncTrigger.swift — why a sync run begins, and what an automatic one waits for: words that stand
// in the log and in an engine's status.

/// Why a sync run is started, the highest priority first; logged with it.
@nonexhaustive public enum SyncTrigger: Sendable, Hashable, Comparable {
    /// The user asked for it: waits for nothing but what the server asked in so many words.
    case userRequested
    /// There are new credentials, or a new process of an app that the server had refused as too
    /// old; passes what ``userRequested`` passes.
    case credentialsChanged
    /// The server let it be known that something changed there, by a push notification.
    case remoteChange
    /// Something that only the app knows happened, such as a screen being shown; the name is the
    /// app's.
    ///
    /// It is none of the names of the other triggers, as `timer`: an engine stops the program where
    /// it is, as the log would take it for the other one.
    ///
    /// The gate of that name in the model says how often it may begin a run:
    /// ``SyncSettings/gates``. As by all that follow here, lists that are not old are not made by
    /// it: ``CollectionModel/listEvery``.
    case named(String)
    /// Something was written here.
    case localChange
    /// The network is there again: does not wait where runs failed for want of it.
    case reachability
    /// An earlier run failed, and waiting may have mended it; or one that ``named(_:)`` began was
    /// cut off by a pause.
    case retry
    /// So much time has passed since the last run.
    case timer
    /// The system gave the app some time in the background.
    case background

    /// Whether it goes ahead where automatic runs wait: after failures, while the server is busy,
    /// and when the credentials were refused.
    public var isUrgent: Bool { self == .userRequested || self == .credentialsChanged }

    /// Whether it goes ahead of the wait after a run that failed so: a network that is there again
    /// may have mended what it was that failed.
    package func passes(_ failure: FailureKind?) -> Bool {
        switch failure {
        case .offline, .timeout, .foreign: isUrgent || self == .reachability
        case .server, .tooManyRequests, .client, .unauthorized, .forbidden, .apiDeprecated,
            .clientDeprecated, .malformed, .backoff, .deadline, .ruleMissing, .ruleFailed,
            .missing, .cancelled, .noProgress, .gated, .diskFull, nil:
            isUrgent
        }
    }

    /// Whether it tells nothing of what changed on the server, so that lists that are not old need
    /// not be made anew: ``CollectionModel/listEvery``.
    package var isRoutine: Bool { !isUrgent && self != .remoteChange }

    /// Higher priority is smaller; those that the app named are ordered by name.
    public static func < (left: SyncTrigger, right: SyncTrigger) -> Bool {
        if case .named(let one) = left, case .named(let other) = right {
            return one.utf8.lexicographicallyPrecedes(other.utf8)
        }
        return left.label.priority < right.label.priority
    }

    private var label: (priority: Int, name: String) {
        switch self {
        case .userRequested: (0, "userRequested")
        case .credentialsChanged: (1, "credentialsChanged")
        case .remoteChange: (2, "remoteChange")
        case .named(let name): (3, name)
        case .localChange: (4, "localChange")
        case .reachability: (5, "reachability")
        case .retry: (6, "retry")
        case .timer: (7, "timer")
        case .background: (8, "background")
        }
    }
}

extension SyncTrigger: CaseIterable {
    /// Every trigger but those that an app names.
    public static let allCases: [SyncTrigger] = [
        .userRequested, .credentialsChanged, .remoteChange, .localChange, .reachability, .retry,
        .timer, .background,
    ]
}

extension SyncTrigger: RawRepresentable {
    /// The trigger's name, in the log as well.
    public var rawValue: String { label.name }

    /// The trigger of that name; one that is none of the others is the app's.
    public init(rawValue: String) {
        self = Self.allCases.first { $0.rawValue == rawValue } ?? .named(rawValue)
    }

    /// Whether no other trigger has its name.
    package var isToldByName: Bool {
        // Two triggers of one name are equal.
        guard case .named = self else { return true }
        if case .named = Self(rawValue: rawValue) { return true }
        return false
    }
}

/// What the next run waits for.
@nonexhaustive public enum SyncWaitReason: Sendable, Hashable {
    /// The server said when it may be called again.
    case serverAsked
    /// So many runs in a row failed, or calls about one entity or list.
    case failures(Int)
    /// The server asked for no more calls than are needed.
    case serverBusy
    /// For edits that may follow the last one.
    case quiet
    /// For the time of the next regular run.
    case timer
}

/// Why no run begins by itself.
@nonexhaustive public enum SyncPauseReason: String, Sendable, Hashable {
    /// The app paused the engine.
    case byApp
    /// The server does not accept the credentials.
    case unauthorized
    /// The server no longer speaks this API.
    case apiDeprecated
    /// The server no longer speaks to this version of the app.
    case clientDeprecated
}
