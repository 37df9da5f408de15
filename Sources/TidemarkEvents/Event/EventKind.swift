// EventKind.swift — what can be appended; numbers and names are for ever.

/// What an event says.
///
/// Kinds of newer versions are kept and shown by number.
@nonexhaustive public enum EventKind: Hashable, Sendable {
    // In this package a switch over all of them has no `default`: a new kind does not compile until
    // each of them places it. Most code asks for no more than the family of a kind.

    /// Build, device and account of the process that writes; logged when any of them changed.
    case storeOpened
    /// The sync model and the remote's configuration, as JSON.
    case modelRegistered
    /// The user made an entity; the payload is the entity.
    case localCreated
    /// The user changed an entity; the payload is the difference.
    case localUpdated
    /// The user deleted an entity.
    case localDeleted
    /// The user wants the server to do something with an entity.
    case localRequested
    /// The user gave up what is pending on an entity.
    case localDiscarded
    /// The user asked to send again what the server had refused.
    case localRetried
    /// The user answered an issue; its cause is the event that raised it.
    case issueAnswered
    /// The app dropped what is here of all collections but some.
    case localWiped
    /// Something that a gate of the model counts is about to begin a sync run.
    case triggerReceived
    /// A timer went off, and what it is for is to be done by the time it says.
    case timerFired
    /// What a rule of the app answered; the server's word that it was asked about comes next.
    case ruleAnswered
    /// A sync run began; its position is the run's id.
    case syncStarted
    /// A sync run ended, and how.
    case syncFinished
    /// A request; a write is logged before it is sent, a read together with its answer.
    case requestSent
    /// The server answered a request.
    case requestAnswered
    /// No whole answer came.
    case requestFailed
    /// An entity as the server has it, verbatim.
    case serverUpserted
    /// The server has the entity no more.
    case serverDeleted
    /// What the server says of itself or of a collection.
    case serverDescribed
    /// A record of the server that is not a valid entity.
    case serverUnreadable
    /// A page of a list: the ids seen, in order.
    case pullPage
    /// A collection was pulled to its end; the revision is the next cursor.
    case pullCompleted
    /// The server took a mutation.
    case pushAccepted
    /// The server refused a mutation for what it is.
    case pushRejected
    /// The server promised to answer a request later.
    case pushDeferred
    /// The app sent a mutation another way, or heard another way that it arrived.
    case pushRelayed
    /// The server reserved values for this device.
    case reservedAdded
    /// A reserved value was handed out.
    case reservedTaken
    /// Somebody wants what a record names to be here, or no longer does.
    case assetWanted
    /// A file is in the store's contents.
    case assetStored
    /// A file goes out of the store's contents.
    case assetRemoved
    /// A file of the store's contents was used.
    case assetUsed
    /// The log's first events were dropped; what is left of them says how it goes on.
    case logTruncated
    /// A kind of another version, by its number.
    case unknown(UInt32)

    /// Every kind of this version, by number.
    package static let allCases: [EventKind] = [
        .storeOpened, .modelRegistered, .localCreated, .localUpdated, .localDeleted,
        .localRequested, .localDiscarded, .localRetried, .issueAnswered, .localWiped,
        .triggerReceived, .timerFired,
        .ruleAnswered, .syncStarted, .syncFinished, .requestSent, .requestAnswered,
        .requestFailed, .serverUpserted, .serverDeleted, .serverDescribed, .serverUnreadable,
        .pullPage, .pullCompleted, .pushAccepted, .pushRejected, .pushDeferred, .pushRelayed,
        .reservedAdded, .reservedTaken, .assetWanted, .assetStored, .assetRemoved, .assetUsed,
        .logTruncated,
    ]

    /// The number, the name and the family of a kind of this version.
    private var label: (number: UInt32, name: String, family: EventFamily) {
        switch self {
        case .storeOpened: (1, "store.opened", .store)
        case .modelRegistered: (2, "model.registered", .model)
        case .localCreated: (10, "local.created", .local(.created))
        case .localUpdated: (11, "local.updated", .local(.updated))
        case .localDeleted: (12, "local.deleted", .local(.deleted))
        case .localRequested: (13, "local.requested", .local(.requested))
        case .localDiscarded: (14, "local.discarded", .local(.discarded))
        case .localRetried: (15, "local.retried", .local(.retried))
        case .issueAnswered: (16, "issue.answered", .app)
        case .localWiped: (17, "local.wiped", .local(.wiped))
        case .triggerReceived: (20, "trigger.received", .app)
        case .timerFired: (21, "timer.fired", .app)
        case .ruleAnswered: (24, "rule.answered", .app)
        case .syncStarted: (30, "sync.started", .runStart)
        case .syncFinished: (31, "sync.finished", .runEnd)
        case .requestSent: (40, "request.sent", .request)
        case .requestAnswered: (41, "request.answered", .answer)
        case .requestFailed: (42, "request.failed", .answer)
        case .serverUpserted: (50, "server.upserted", .word(.upserted))
        case .serverDeleted: (51, "server.deleted", .word(.deleted))
        case .serverDescribed: (52, "server.described", .notice)
        case .serverUnreadable: (53, "server.unreadable", .notice)
        case .pullPage: (60, "pull.page", .list)
        case .pullCompleted: (61, "pull.completed", .list)
        case .pushAccepted: (70, "push.accepted", .push)
        case .pushRejected: (71, "push.rejected", .push)
        case .pushDeferred: (72, "push.deferred", .push)
        case .pushRelayed: (73, "push.relayed", .push)
        case .reservedAdded: (80, "reserved.added", .notice)
        case .reservedTaken: (81, "reserved.taken", .app)
        case .assetWanted: (90, "asset.wanted", .asset)
        case .assetStored: (91, "asset.stored", .asset)
        case .assetRemoved: (92, "asset.removed", .asset)
        case .assetUsed: (93, "asset.used", .asset)
        case .logTruncated: (101, "log.truncated", .store)
        case .unknown(let number): (number, Self.reserved[number] ?? "kind-\(number)", .unknown)
        }
    }

    /// The newest shape of its payload that this version reads and writes.
    ///
    /// A run that reads entities by their ids has shape 1, one that lists parts of collections
    /// shape 2, and one that fills pools shape 3: a reader that does not know this scope would take
    /// it for a run of everything. A run that overwrites what is pending has shape 4, and one that
    /// lists folders shape 5. An edit of a list's elements has shape 1: it would take their names
    /// for those of fields.
    package var newestSchema: UInt32 {
        if self == .syncStarted || self == .syncFinished { return SyncScope.newestSchema }
        return self == .localUpdated ? 1 : 0
    }

    /// Names that are given to numbers before anything is written by them.
    private static let reserved: [UInt32: String] = [
        22: "reachability.changed", 23: "cancelled",
        100: "payload.erased",
    ]

    /// The kinds of this version at the places of their numbers.
    private static let byNumber: [EventKind?] = allCases.reduce(into: []) { table, kind in
        while table.count < kind.rawValue { table.append(nil) }
        table.append(kind)
    }
}

extension EventKind {
    /// The part that its events have in a log.
    package var family: EventFamily { label.family }
}

extension EventKind: RawRepresentable {
    /// The number in the log; never reused.
    public var rawValue: UInt32 { label.number }

    /// The kind with that number, known or not.
    public init(rawValue: UInt32) {
        let known = rawValue < Self.byNumber.count ? Self.byNumber[Int(rawValue)] : nil
        self = known ?? .unknown(rawValue)
    }
}

extension EventKind: CustomStringConvertible {
    /// The name, or `kind-N` for a number this version does not know.
    public var description: String { label.name }

    /// The kind with that name, or of the form `kind-N`.
    package init?(named name: String) {
        if let kind = Self.all.first(where: { $0.description == name }) {
            self = kind
        } else if name.hasPrefix("kind-"), let number = UInt32(name.dropFirst(5)) {
            self.init(rawValue: number)
        } else {
            return nil
        }
    }

    /// Every kind that has a name, by number: also those that nothing is written by yet.
    package static let all = (allCases + reserved.keys.map { .unknown($0) }).sorted {
        $0.rawValue < $1.rawValue
    }
}
