// Payload.swift — what each kind of event holds: the one list of kinds and their payloads.

/// What an event says beyond its header.
package enum Payload: Sendable {
    case storeOpened(StoreOpened)
    /// A model and its server's configuration.
    case modelRegistered
    /// A document.
    case localCreated
    /// A difference of documents.
    case localUpdated
    case localDeleted, localDiscarded, localRetried
    case issueAnswered(IssueAnswered)
    case timerFired(TimerFired)
    case ruleAnswered(RuleAnswered)
    case syncStarted(SyncStarted)
    indirect case syncFinished(SyncFinished)
    indirect case requestSent(RequestSent)
    indirect case requestAnswered(RequestAnswered)
    indirect case requestFailed(RequestFailed)
    /// A document.
    case serverUpserted
    /// Perhaps the last document.
    case serverDeleted
    case serverDescribed(ServerDescribed)
    case serverUnreadable(ServerUnreadable)
    indirect case pullPage(PullPage)
    case pullCompleted(PullCompleted)
    case pushAccepted(PushAccepted)
    case pushRejected(PushRejected)
    /// A kind of another version, or another version's shape of a kind.
    case unknown

    /// Reads an event's payload.
    ///
    /// - Throws: ``PayloadProblem`` where it is not what this version writes.
    package init(reading event: Event) throws(PayloadProblem) {
        guard event.schemaVersion == 0 else {
            self = .unknown
            return
        }
        self =
            switch event.kind {
            case .storeOpened: .storeOpened(try StoreOpened(reading: event.payload))
            case .modelRegistered: .modelRegistered
            case .localCreated: .localCreated
            case .localUpdated: .localUpdated
            case .localDeleted: .localDeleted
            case .localDiscarded: .localDiscarded
            case .localRetried: .localRetried
            case .issueAnswered: .issueAnswered(try IssueAnswered(reading: event.payload))
            case .timerFired: .timerFired(try TimerFired(reading: event.payload))
            case .ruleAnswered: .ruleAnswered(try RuleAnswered(reading: event.payload))
            case .syncStarted: .syncStarted(try SyncStarted(reading: event.payload))
            case .syncFinished: .syncFinished(try SyncFinished(reading: event.payload))
            case .requestSent: .requestSent(try RequestSent(reading: event.payload))
            case .requestAnswered: .requestAnswered(try RequestAnswered(reading: event.payload))
            case .requestFailed: .requestFailed(try RequestFailed(reading: event.payload))
            case .serverUpserted: .serverUpserted
            case .serverDeleted: .serverDeleted
            case .serverDescribed: .serverDescribed(try ServerDescribed(reading: event.payload))
            case .serverUnreadable: .serverUnreadable(try ServerUnreadable(reading: event.payload))
            case .pullPage: .pullPage(try PullPage(reading: event.payload))
            case .pullCompleted: .pullCompleted(try PullCompleted(reading: event.payload))
            case .pushAccepted: .pushAccepted(try PushAccepted(reading: event.payload))
            case .pushRejected: .pushRejected(try PushRejected(reading: event.payload))
            case .unknown: .unknown
            }
    }

    /// The same, where what can't be read counts as unknown.
    package init(_ event: Event) { self = (try? Payload(reading: event)) ?? .unknown }
}

extension Event {
    /// Its payload as the type of its kind; nil where it is of another kind, or can't be read.
    package func read<Kind: MemberPayload>(_ type: Kind.Type) -> Kind? {
        guard let form = kind.form, case .members(let own) = form, own == type else { return nil }
        return schemaVersion == 0 ? try? Kind(reading: payload) : nil
    }
}

extension Event {
    /// Whether its payload is an object of ours, in this version's shape.
    package var holdsMembers: Bool {
        if schemaVersion == 0, case .members = kind.form { true } else { false }
    }
}

/// What stands in the payloads of a kind.
package enum PayloadForm: Sendable {
    /// An entity, or what was left of it.
    case document
    /// The difference between two documents.
    case patch
    /// A model.
    case registration
    /// Members of ours.
    case members(any MemberPayload.Type)
    case nothing
}

extension EventKind {
    /// What stands in its payloads; nil for a kind of another version.
    package var form: PayloadForm? {
        switch self {
        case .storeOpened: .members(StoreOpened.self)
        case .modelRegistered: .registration
        case .localCreated, .serverUpserted, .serverDeleted: .document
        case .localUpdated: .patch
        case .localDeleted, .localDiscarded, .localRetried: .nothing
        case .issueAnswered: .members(IssueAnswered.self)
        case .timerFired: .members(TimerFired.self)
        case .ruleAnswered: .members(RuleAnswered.self)
        case .syncStarted: .members(SyncStarted.self)
        case .syncFinished: .members(SyncFinished.self)
        case .requestSent: .members(RequestSent.self)
        case .requestAnswered: .members(RequestAnswered.self)
        case .requestFailed: .members(RequestFailed.self)
        case .serverDescribed: .members(ServerDescribed.self)
        case .serverUnreadable: .members(ServerUnreadable.self)
        case .pullPage: .members(PullPage.self)
        case .pullCompleted: .members(PullCompleted.self)
        case .pushAccepted: .members(PushAccepted.self)
        case .pushRejected: .members(PushRejected.self)
        case .unknown: nil
        }
    }
}
