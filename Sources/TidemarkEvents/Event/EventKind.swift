// EventKind.swift — the closed list of what can be appended; numbers and names are for ever.

/// What an event says.
///
/// Kinds of newer versions are kept and shown by number.
public struct EventKind: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number in the log; never reused.
    public let rawValue: UInt32

    /// The kind with that number, known or not.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The name, or `kind-N` for a number this version does not know.
    public var description: String { Self.names[rawValue] ?? "kind-\(rawValue)" }

    /// The kind with that name, or of the form `kind-N`.
    public init?(named name: String) {
        if let known = Self.known.first(where: { $0.1 == name }) {
            self.init(rawValue: known.0)
        } else if name.hasPrefix("kind-"), let number = UInt32(name.dropFirst(5)) {
            self.init(rawValue: number)
        } else {
            return nil
        }
    }

    /// Ordered by number.
    public static func < (left: EventKind, right: EventKind) -> Bool {
        left.rawValue < right.rawValue
    }

    /// Every kind of this version, by number.
    public static var all: [EventKind] { known.map { EventKind(rawValue: $0.0) } }

    private static let names = Dictionary(uniqueKeysWithValues: known)

    /// The order of Schemas/tidemark/v1/event.proto.
    private static let known: [(UInt32, String)] = [
        (1, "store.opened"), (2, "model.registered"),
        (10, "local.created"), (11, "local.updated"), (12, "local.deleted"),
        (13, "local.requested"), (14, "local.discarded"), (15, "local.retried"),
        (16, "issue.answered"),
        (20, "trigger.received"), (21, "timer.fired"), (22, "reachability.changed"),
        (23, "cancelled"), (24, "rule.answered"),
        (30, "sync.started"), (31, "sync.finished"),
        (40, "request.sent"), (41, "request.answered"), (42, "request.failed"),
        (50, "server.upserted"), (51, "server.deleted"), (52, "server.described"),
        (53, "server.unreadable"),
        (60, "pull.page"), (61, "pull.completed"),
        (70, "push.accepted"), (71, "push.rejected"), (72, "push.deferred"),
        (80, "reserved.added"), (81, "reserved.taken"),
        (90, "asset.wanted"), (91, "asset.stored"), (92, "asset.removed"),
        (100, "payload.erased"), (101, "log.truncated"),
    ]
}

extension EventKind {
    /// Build, device and account of the process that writes; logged when any of them changed.
    public static let storeOpened = EventKind(rawValue: 1)
    /// The sync model and the remote's configuration, as JSON.
    public static let modelRegistered = EventKind(rawValue: 2)
    /// The user made an entity; the payload is the entity.
    public static let localCreated = EventKind(rawValue: 10)
    /// The user changed an entity; the payload is the difference.
    public static let localUpdated = EventKind(rawValue: 11)
    /// The user deleted an entity.
    public static let localDeleted = EventKind(rawValue: 12)
    /// The user gave up what is pending on an entity.
    public static let localDiscarded = EventKind(rawValue: 14)
    /// The user asked to send again what the server had refused.
    public static let localRetried = EventKind(rawValue: 15)
    /// A timer went off, and what it is for is to be done by the time it says.
    public static let timerFired = EventKind(rawValue: 21)
    /// What a rule of the app answered; the server's word that it was asked about comes next.
    public static let ruleAnswered = EventKind(rawValue: 24)
    /// The user answered an issue; its cause is the event that raised it.
    public static let issueAnswered = EventKind(rawValue: 16)
    /// A sync run began; its position is the run's id.
    public static let syncStarted = EventKind(rawValue: 30)
    /// A sync run ended, and how.
    public static let syncFinished = EventKind(rawValue: 31)
    /// A request; a write is logged before it is sent, a read together with its answer.
    public static let requestSent = EventKind(rawValue: 40)
    /// The server answered a request.
    public static let requestAnswered = EventKind(rawValue: 41)
    /// No whole answer came.
    public static let requestFailed = EventKind(rawValue: 42)
    /// An entity as the server has it, verbatim.
    public static let serverUpserted = EventKind(rawValue: 50)
    /// The server has the entity no more.
    public static let serverDeleted = EventKind(rawValue: 51)
    /// What the server says of itself or of a collection.
    public static let serverDescribed = EventKind(rawValue: 52)
    /// What the server sent as an entity, and is none.
    public static let serverUnreadable = EventKind(rawValue: 53)
    /// A page of a list: the ids seen, in order.
    public static let pullPage = EventKind(rawValue: 60)
    /// A collection was pulled to its end; the revision is the next cursor.
    public static let pullCompleted = EventKind(rawValue: 61)
    /// The server took a mutation.
    public static let pushAccepted = EventKind(rawValue: 70)
    /// The server refused a mutation for what it is.
    public static let pushRejected = EventKind(rawValue: 71)
}
