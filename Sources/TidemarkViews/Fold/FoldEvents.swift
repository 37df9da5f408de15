// FoldEvents.swift — which part of the fold an event is for.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Folds one event; its writes count once that succeeds.
    ///
    /// - Throws: ``JSONError`` for a payload that can't be read.
    func understand(_ event: Event, _ position: Position) throws {
        // A payload of another shape is kept for a version that can read it.
        switch payloads.payload(of: event) {
        case .storeOpened(let opened): try self.opened(event, opened, position)
        case .modelRegistered: try register(event, position)
        case .localCreated: try edit(event, position, .create)
        case .localUpdated: try edit(event, position, .update)
        case .localDeleted: try edit(event, position, .delete)
        case .localRequested: try edit(event, position, .action)
        case .localDiscarded: try discard(event, position)
        case .localRetried: try retry(event)
        case .ruleAnswered(let rule): try ruleAnswered(event, rule, position)
        case .issueAnswered(let issue): try issueAnswered(event, issue, position)
        case .localWiped(let wipe): try wiped(event, wipe, position)
        case .triggerReceived(let attempt): try received(event, attempt, position)
        case .timerFired(let timer): try fired(event, timer, position)
        case .syncStarted(let start):
            var row = SyncRunRow(startedAt: event.recordedAt, started: event.payload)
            row.serverTime = try start.run.moment.flatMap { try serverClock()?.time(at: $0) }
            put(.syncRun(position), row.encoded)
            try owe(start.run, position)
            try noteBeginning(event, start.run, position)
            try remember(start.run.scope)
        case .syncFinished(let end):
            try finish(event, end, position)
            try endLettingGo(event, end)
            if event.sync == nil {
                try remember(end.run.scope)
                try noteBeginning(event, end.run, position)
            }
            try noteEnd(event, end, position)
        case .requestSent(let request) where request.file.isAny:
            try fetching(event, request, position)
        case .requestSent(let request): try sent(event, request, position)
        case .requestAnswered(let answer) where try isFetch(event.call):
            try fetched(event, answer, position)
        case .requestFailed(let failure) where try isFetch(event.call):
            try notFetched(event, failure, position)
        case .requestAnswered(let answer): try answered(event, answer, position)
        case .requestFailed(let failure): try failed(event, failure, position)
        case .serverUpserted where try hasSets() && stage(event, position): break
        case .serverDeleted where try hasSets() && stage(event, position): break
        case .serverUpserted: try serverSays(event, position, isDeletion: false)
        case .serverDeleted: try serverSays(event, position, isDeletion: true)
        case .serverUnreadable(let record): try unreadable(event, record, position)
        case .pullPage where try hasSets() && stage(event, position): break
        case .pullPage(let page):
            guard let name = event.collection else { return }
            try listed(page, of: page.target(name), event, position)
            walked(page, of: name, event, position)
            try seen(page, of: page.target(name))
            try namedAgain(page, of: name)
            try noteWithheld(page, of: name, position)
            try feed(page, of: name, event, position)
            try take(page, of: name, event, position)
            for part in page.within {
                let name = CollectionName(part.collection)
                try seen(part.page, of: PullTarget(name))
                try namedAgain(part.page, of: name)
                try take(part.page, of: name, event, position)
            }
        case .pullCompleted(let list)
        where try list.set == nil && hasSets() && stage(event, position):
            break
        case .pullCompleted(let list):
            if let set = list.set { try takeSet(set, event, position) }
            try pulled(event, list, position)
            let isOfAll = event.collection.map { !list.target($0).isPart && list.limit == nil }
            if isOfAll == true, try !isTimeInDoubt() { try settleUnanswered(event, position) }
        case .pushAccepted(let push): try accepted(event, push, position)
        case .pushRejected(let refusal): try rejected(event, refusal, position)
        case .pushDeferred(let answer): try deferred(event, answer, position)
        case .pushRelayed(let relay): try relayed(event, relay, position)
        case .reservedAdded(let values): try added(event, values, position)
        case .reservedTaken(let value): try taken(value, position)
        case .assetWanted(let wish): try wanted(event, wish, position)
        case .assetStored(let asset): try stored(event, asset, position)
        case .assetRemoved(let asset): try removed(asset, position)
        case .assetUsed(let asset): try used(event, asset)
        case .logTruncated(let told):
            try dropPlaces(through: told.last)
            try beginDropping(through: told.last, position)
        case .serverDescribed(let told):
            if told.preconditions != nil { try keep("preconditions", event, position) }
        // Kept in the log; no view of this version reads it.
        case .unknown: break
        }
    }

    /// Keeps who writes.
    ///
    /// Where another device goes on with a log, the one before may have handed out what is left of
    /// reserved values.
    private func opened(_ event: Event, _ opened: StoreOpened, _ position: Position) throws {
        if let bytes = try get(.store("opened")) {
            let before = StoreOpened(stored: try StoreFactRow(parsing: bytes).payload).device
            let isOther = ExactString(before) != ExactString(opened.device)
            if !before.isEmpty, !opened.device.isEmpty, isOther { try letGoOfValues() }
        }
        try keep("opened", event, position)
    }

    /// Keeps a fact of the store under a name.
    func keep(_ name: String, _ event: Event, _ position: Position) throws {
        put(.store(name), StoreFactRow(position: position, payload: event.payload).encoded)
    }

    private func finish(_ event: Event, _ end: SyncFinished, _ position: Position) throws {
        guard let start = event.sync, let bytes = try get(.syncRun(start)) else {
            // Of a run without news only the end is logged.
            var row = SyncRunRow(startedAt: event.recordedAt, started: [])
            row.finished = position
            row.finishedAt = event.recordedAt
            row.summary = event.payload
            put(.syncRun(position), row.encoded)
            try noteIdleClock(event, end, position)
            return
        }
        var row = try SyncRunRow(parsing: bytes)
        row.finished = position
        row.finishedAt = event.recordedAt
        row.summary = event.payload
        put(.syncRun(start), row.encoded)
    }
}
