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
    case localDeleted
    case localRequested(LocalRequested)
    case localDiscarded, localRetried
    case issueAnswered(IssueAnswered)
    case localWiped(LocalWiped)
    case triggerReceived(TriggerReceived)
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
    case pushDeferred(PushDeferred)
    case pushRelayed(PushRelayed)
    case reservedAdded(ReservedAdded)
    case reservedTaken(ReservedTaken)
    case assetWanted(AssetWanted)
    case assetStored(AssetStored)
    case assetRemoved(AssetRemoved)
    case assetUsed(AssetUsed)
    case logTruncated(LogTruncated)
    /// A kind of another version, or another version's shape of a kind.
    case unknown

    /// Reads an event's payload.
    ///
    /// - Throws: ``PayloadProblem`` where it is not what this version writes.
    package init(reading event: borrowing Event) throws(PayloadProblem) {
        guard event.isOfKnownShape else {
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
            case .localRequested: .localRequested(try LocalRequested(reading: event.payload))
            case .localDiscarded: .localDiscarded
            case .localRetried: .localRetried
            case .issueAnswered: .issueAnswered(try IssueAnswered(reading: event.payload))
            case .localWiped: .localWiped(try LocalWiped(reading: event.payload))
            case .triggerReceived: .triggerReceived(try TriggerReceived(reading: event.payload))
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
            case .pushDeferred: .pushDeferred(try PushDeferred(reading: event.payload))
            case .pushRelayed: .pushRelayed(try PushRelayed(reading: event.payload))
            case .reservedAdded: .reservedAdded(try ReservedAdded(reading: event.payload))
            case .reservedTaken: .reservedTaken(try ReservedTaken(reading: event.payload))
            case .assetWanted: .assetWanted(try AssetWanted(reading: event.payload))
            case .assetStored: .assetStored(try AssetStored(reading: event.payload))
            case .assetRemoved: .assetRemoved(try AssetRemoved(reading: event.payload))
            case .assetUsed: .assetUsed(try AssetUsed(reading: event.payload))
            case .logTruncated: .logTruncated(try LogTruncated(reading: event.payload))
            case .unknown: .unknown
            }
    }

    /// The same, where what can't be read counts as unknown.
    package init(_ event: borrowing Event) { self = (try? Payload(reading: event)) ?? .unknown }
}

extension EventKind {
    /// The type that knows its payloads; nil for a kind of another version.
    package var owner: (any EventPayload.Type)? {
        switch self {
        case .storeOpened: StoreOpened.self
        case .modelRegistered: ModelRegistered.self
        case .localCreated: LocalCreated.self
        case .localUpdated: LocalUpdated.self
        case .localDeleted: LocalDeleted.self
        case .localRequested: LocalRequested.self
        case .localDiscarded: LocalDiscarded.self
        case .localRetried: LocalRetried.self
        case .issueAnswered: IssueAnswered.self
        case .localWiped: LocalWiped.self
        case .triggerReceived: TriggerReceived.self
        case .timerFired: TimerFired.self
        case .ruleAnswered: RuleAnswered.self
        case .syncStarted: SyncStarted.self
        case .syncFinished: SyncFinished.self
        case .requestSent: RequestSent.self
        case .requestAnswered: RequestAnswered.self
        case .requestFailed: RequestFailed.self
        case .serverUpserted: ServerUpserted.self
        case .serverDeleted: ServerDeleted.self
        case .serverDescribed: ServerDescribed.self
        case .serverUnreadable: ServerUnreadable.self
        case .pullPage: PullPage.self
        case .pullCompleted: PullCompleted.self
        case .pushAccepted: PushAccepted.self
        case .pushRejected: PushRejected.self
        case .pushDeferred: PushDeferred.self
        case .pushRelayed: PushRelayed.self
        case .reservedAdded: ReservedAdded.self
        case .reservedTaken: ReservedTaken.self
        case .assetWanted: AssetWanted.self
        case .assetStored: AssetStored.self
        case .assetRemoved: AssetRemoved.self
        case .assetUsed: AssetUsed.self
        case .logTruncated: LogTruncated.self
        case .unknown: nil
        }
    }
}
