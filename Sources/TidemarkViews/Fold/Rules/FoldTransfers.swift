// FoldTransfers.swift — which files are to be fetched, and how far that is (TransferRows.swift).
//
// What an answer means was decided when it was logged (TransferRule.swift), so that a later version
// folds the same rows. The names of files are taken as they are: whether they are addresses is no
// matter of the rows.

package import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Whether a call asks for a file, and has no answer yet.
    func isFetch(_ call: Position?) throws -> Bool {
        guard let call else { return false }
        return try get(.openFetch(call)) != nil
    }

    /// `request.sent` for a file.
    func fetching(_ event: Event, _ request: RequestSent, _ position: Position) throws {
        let file = request.file
        if let digest = file.sentDigest { return try sending(event, digest, position) }
        guard let collection = event.collection, let text = file.source else { return }
        let source = ContentSource(collection, text)
        try change(source) { entry in
            if file.isPartGone || file.from == 0 { entry.fetch.progress.forget() }
            if file.from == 0 { entry.fetch.first = position }
            entry.fetch.call = position
        }
        var row = SourcesRow([source])
        row.isOwn = request.path?.hasPrefix("/") == true
        put(.openFetch(position), row.encoded)
    }

    /// `request.sent` with a file.
    private func sending(_ event: Event, _ digest: String, _ position: Position) throws {
        guard let name = event.collection else { return }
        let key = event.key ?? EntityKey(name, "")
        let source = ContentSource(sending: digest, for: key, try model()[name])
        if var row = try send(source) {
            row.call = position
            row.first = row.first ?? position
            put(.send(source), row.encoded)
        }
        put(.openFetch(position), SourcesRow([source], isSend: true).encoded)
    }

    /// `request.answered` about a file.
    func fetched(_ event: Event, _ answer: RequestAnswered, _ position: Position) throws {
        try end(event, position) { entry, backoff in
            let before = entry.fetch.progress
            let file = answer.file
            let result = file.result ?? .failed
            let isDoubtful = TransferRule.isDoubtful(
                status: answer.status, isPage: answer.isPage, isOfRest: before.received > 0)
            let progress = TransferRule.after(
                result, before, from: before.received, bytes: file.bytes, total: file.total,
                tag: answer.tag, isDoubtful: isDoubtful)
            entry.fetch.progress = progress
            if result != .part && result != .failed { entry.fetch.first = nil }
            if result == .part { entry.fetch.told = nil }
            let pause = TransferRule.pause(
                result, progress, status: answer.status, retryAfter: answer.retryAfter, backoff)
            let isTold = TransferRule.isTold(result, progress, status: answer.status)
            return (pause, isTold ? answer.fetchProblem : nil)
        }
    }

    /// `request.failed` about a file.
    func notFetched(_ event: Event, _ failure: RequestFailed, _ position: Position) throws {
        let open = try event.call.flatMap { try get(.openFetch($0)) }
        let isOwn = try open.map { try SourcesRow(parsing: $0) }?.isOwn ?? false
        try end(event, position) { entry, backoff in
            let result = failure.fetchResult
            guard failure.isOfFile(isOwn: isOwn) else { return (.zero, nil) }
            entry.fetch.progress = TransferRule.after(
                result, entry.fetch.progress, from: 0, bytes: 0, total: nil, tag: nil,
                isDoubtful: failure.error == RequestFailed.foreign)
            if result == .refused { entry.fetch.first = nil }
            let pause = TransferRule.pause(
                result, entry.fetch.progress, retryAfter: nil, backoff)
            return (pause, result == .refused ? failure.fetchProblem : nil)
        }
    }

    /// Ends a request for a file; `body` says how long it is not asked for again, and why it can't
    /// be had, where whoever waits for it is to know.
    private func end(
        _ event: Event, _ position: Position,
        _ body: (inout ContentNamesRow.Entry, BackoffSpan) -> (pause: TimeSpan, problem: String?)
    ) throws {
        guard let call = event.call, let bytes = try get(.openFetch(call)) else { return }
        let open = try SourcesRow(parsing: bytes)
        put(.openFetch(call), nil)
        guard let source = open.sources.first else { return }
        guard !open.isSend else { return try end(send: source, event, call) }
        let backoff = try model().settings.backoff
        var told: String?
        try change(source) { entry in
            // A later request has begun anew.
            guard entry.fetch.call == call else { return }
            entry.fetch.call = nil
            let (pause, problem) = body(&entry, backoff)
            entry.fetch.pause = FilePause(pause, since: event.recordedAt)
            // Nobody is told where nobody asks for it.
            guard let problem, entry.isAsked, entry.digest.isEmpty, entry.fetch.told == nil else {
                return
            }
            (entry.fetch.told, told) = (position, problem)
        }
        guard let told, let asker = try askers(of: source, first: event.key).first else { return }
        let row = UnfetchedRow(source, entity: asker.key.id, field: asker.field, message: told)
        put(.unfetched(position), row.encoded)
    }

    /// An answer to the issue that a file can't be had.
    func unfetchedAnswered(_ cause: Position, _ answer: String) throws {
        guard let row = try get(.unfetched(cause)).map({ try UnfetchedRow(parsing: $0) }) else {
            return
        }
        try change(row.source) { entry in
            entry.fetch.told = nil
            guard answer == "retry" else { return }
            entry.fetch.progress.forgetFailures()
            entry.fetch.pause = nil
        }
        put(.unfetched(cause), nil)
    }

    // MARK: Files that are sent

    /// Ends a request that sent a file.
    private func end(send source: ContentSource, _ event: Event, _ call: Position) throws {
        // Where nobody names it any more, nothing follows; a later request has begun anew.
        guard var row = try send(source), row.call == call else { return }
        row.call = nil
        let answer = event.read(RequestAnswered.self)
        let failure = event.read(RequestFailed.self)
        let result = answer?.file.result ?? failure?.fetchResult ?? .failed
        if result == .sent, let name = answer?.file.name {
            if row.wasRefused { try rearm(namersOf: source) }
            row.forgetFailures()
            (row.name, row.wasRefused) = (name, false)
            try link(ContentSource(source.collection, name), to: source.text)
        } else if failure?.isOfFile(isOwn: true) ?? true {
            row.failures += 1
            row.refusal = result == .refused ? answer?.status ?? 0 : nil
            if result == .refused { row.wasRefused = true }
            let isDoubtful =
                result == .failed
                && (answer.map {
                    TransferRule.isDoubtfulRefusal(status: $0.status, isPage: $0.isPage)
                } ?? false)
            row.doubts = isDoubtful ? row.doubts + 1 : 0
            var progress = FetchProgress()
            (progress.failures, progress.doubts) = (row.failures, row.doubts)
            let pause = TransferRule.pause(
                result, progress, retryAfter: answer?.retryAfter, try model().settings.backoff)
            row.pause = FilePause(pause, since: event.recordedAt)
        }
        put(.send(source), row.encoded)
    }

    /// Has what was refused without being sent be pending again, of the entities that name a file:
    /// where that was not why, it is refused as before.
    private func rearm(namersOf source: ContentSource) throws {
        var keys: Set<EntityKey> = []
        try forEachMutation(openOnly: true) { _, mutation in
            let isOther = !source.entity.isEmpty && mutation.key.id != source.entity
            if mutation.outcome == .rejected, mutation.key.collection == source.collection,
                !isOther
            {
                keys.insert(mutation.key)
            }
            return true
        }
        for key in try Set(keys.map { try resolve($0) }).sorted() {
            var row = try entity(key)
            guard let refusal = row.refusal, refusal.status == 0, !refusal.isAsked,
                try contents(of: key).names.contains(where: {
                    $0.isToBeSent && ExactString($0.text) == ExactString(source.text)
                })
            else { continue }
            try rearm(&row, key)
            try put(row, key)
        }
    }

    /// Notes whether a file of the user's is to be sent: as long as what is pending of an entity
    /// names it by a field of which files are.
    ///
    /// - Parameter key: the entity that came to name it; nil for none.
    func noteSend(_ source: ContentSource, _ key: EntityKey?) throws {
        let rules = try model()[source.collection]?.contents.filter { $0.upload != nil } ?? []
        let before = try send(source)
        guard before != nil || !rules.isEmpty else { return }
        let holds = try holds(of: source)
        // Where several fields name it, it is sent as the first rule says.
        let rule = rules.first { rule in
            holds.contains { $0.isToBeSent && ExactString($0.field) == ExactString(rule.field) }
        }
        guard let place = rule?.upload else {
            // Of what is on its way the name is still needed, once the answer comes.
            if before?.name == nil || holds.isEmpty { put(.send(source), nil) }
            return
        }
        var row = before ?? SendRow()
        if row.place != place {
            row.place = place
            row.forgetFailures()
            // Below an entity it lies somewhere else then.
            if !source.entity.isEmpty { row.name = nil }
        }
        if let key { row.entity = key.id }
        if !source.entity.isEmpty { (row.entity, row.digest) = (source.entity, source.text) }
        if row != before { put(.send(source), row.encoded) }
    }

    /// The fields that name a file of the user's, and whether it is sent for them: of one that is
    /// sent below an entity those of that.
    private func holds(
        of source: ContentSource
    ) throws -> [(field: String, isToBeSent: Bool)] {
        guard source.entity.isEmpty else {
            let place = RowKey.contents(of: EntityKey(source.collection, source.entity))
            return try (get(place).map { try EntityContentsRow(parsing: $0).names } ?? [])
                .filter { $0.isFile && ExactString($0.text) == ExactString(source.text) }
                .map { ($0.field, $0.isToBeSent) }
        }
        return (try content(source.text)?.own ?? [])
            .filter { $0.field.collection == source.collection }
            .map { ($0.field.field, $0.sends > 0) }
    }

    /// Forgets how files were sent below an entity that the server does not have, or not any more,
    /// and those that are on their way: where it is made anew, they are sent anew.
    func forgetSends(below key: EntityKey, _ row: EntityRow, _ collection: CollectionModel) throws {
        guard collection.sendsFilesBelow, row.baseState != .live else { return }
        for named in try contents(of: key).names where named.isFile {
            let source = ContentSource(sending: named.text, for: key, collection)
            guard var row = try send(source) else { continue }
            let before = row
            row.forgetFailures()
            (row.name, row.call) = (nil, nil)
            if row != before { put(.send(source), row.encoded) }
        }
    }

    /// Has the files that an entity names sent again at once, also those that were refused.
    ///
    /// A server may have thrown away one that no record came to name: one that it names itself, or
    /// of which it refused the record.
    func resend(
        from key: EntityKey, isRefusedByServer: Bool, onlyFailed: Bool = false
    ) throws {
        guard let collection = try model()[key.collection], collection.sendsFiles else { return }
        let names = try get(.contents(of: key)).map { try EntityContentsRow(parsing: $0).names }
        for named in names ?? [] where named.isToBeSent {
            let source = ContentSource(sending: named.text, for: key, collection)
            guard var row = try send(source), row.call == nil else { continue }
            if onlyFailed, !row.hasFailed { continue }
            let before = row
            row.forgetFailures()
            let isPosted = ContentRule.sending(source.text, to: row.place).method == "POST"
            if isPosted || isRefusedByServer { row.name = nil }
            if row != before { put(.send(source), row.encoded) }
        }
    }

    /// Notes anew which files of a collection are to be sent, after the model changed that.
    func noteSends(of collection: CollectionName) throws {
        let model = try model()[collection]
        var sources = Set<ContentSource>()
        let prefix = Ledger.contentsOfEntities + EntityKey.prefix(of: collection)
        for (place, value) in try ledgerRows(prefix) {
            guard let key = place.entityOfContents else { continue }
            for named in try EntityContentsRow(parsing: value).names
            where named.isFile && ContentRow.isNoted(named.text) {
                sources.insert(ContentSource(sending: named.text, for: key, model))
            }
        }
        // Of what was sent below entities, or is only now, nothing counts any more.
        var others: [ContentSource] = []
        try forEachSend { source, _ in
            if source.collection == collection, !sources.contains(source) { others.append(source) }
            return true
        }
        for source in others { put(.send(source), nil) }
        for source in sources.sorted(by: { ($0.text, $0.entity) < ($1.text, $1.entity) }) {
            try noteSend(source, nil)
        }
    }

    // MARK: What is due

    /// Notes anew what is to be fetched of a collection, after the model changed when that is.
    func noteFetches(of collection: CollectionName) throws {
        var sources: [ContentSource] = []
        for (_, value) in try ledgerRows(Ledger.contentNames + EntityKey.prefix(of: collection)) {
            sources += try ContentNamesRow(parsing: value).entries.map {
                ContentSource(collection, $0.source)
            }
        }
        for source in sources { try change(source) { _ in } }
    }

    /// Notes from when on a source is to be asked for.
    func noteDue(_ entry: inout ContentNamesRow.Entry, _ source: ContentSource) throws {
        var due: Timestamp?
        if entry.digest.isEmpty, entry.fetch.call == nil,
            try entry.wantedField(in: model()[source.collection]) != nil
        {
            due = entry.fetch.pause?.until ?? (entry.isAsked ? .dueAsked : .dueUnasked)
        }
        guard due != entry.fetch.dueAt else { return }
        if let old = entry.fetch.dueAt {
            try change(due: old, source) { row in row.sources.removeAll { $0 == source } }
        }
        if let due {
            try change(due: due, source) { row in
                row.sources.append(source)
                row.pausedAt = entry.fetch.pause?.since
            }
        }
        entry.fetch.dueAt = due
    }

    private func change(
        due time: Timestamp, _ source: ContentSource, _ change: (inout SourcesRow) -> Void
    ) throws {
        let place = RowKey.dueFetch(time, source)
        var row = try get(place).map { try SourcesRow(parsing: $0) } ?? SourcesRow()
        change(&row)
        put(place, row.sources.isEmpty ? nil : row.encoded)
    }
}

extension ContentNamesRow.Entry {
    /// The first field by which its file is to be fetched; nil where it isn't.
    func wantedField(in collection: CollectionModel?) -> ContentRule? {
        for hold in holds {
            guard let rule = collection?.contents.first(where: { $0.field == hold.field.field })
            else { continue }
            if rule.when == .all || hold.wanted > 0 { return rule }
        }
        return nil
    }
}

extension RequestAnswered {
    /// Whether it is HTML, as far as that is logged.
    package var isPage: Bool {
        fields.first { $0.name == "Content-Type" }.map { TransferRule.isPage($0.value) } ?? false
    }

    /// Why a file can't be had, in a sentence.
    fileprivate var fetchProblem: String {
        if file.otherDigest != nil { return "its file has another hash than is said of it" }
        switch status {
        case 200..<300 where file.result == .refused:
            return "its file is longer than the model allows"
        case 200..<300: return "the server sends something else than its file"
        case 412:
            return "\(status) The server has another version of its file than the list named"
        default: return "\(status) The server does not give its file"
        }
    }
}

extension RequestFailed {
    /// Why a file can't be had, in a sentence.
    fileprivate var fetchProblem: String {
        switch error {
        case "tooLarge": "its file is longer than the model allows"
        case "redirectRefused": "its file lies behind a redirect that is not followed"
        default: "the name of its file is no address"
        }
    }

    /// The error of a request that was given up without anything being wrong with the file: the
    /// engine was stopped, the process died, or other credentials were needed.
    package static let stopped = "cancelled"
    /// The error of a request that a redirect answered which may be another's than the server's.
    package static let foreign = "foreign"

    /// The error of a request that never left, as there was no network.
    private static let offline = "offline"

    /// Whether it tells anything of the file: not where the request was stopped, nor where the
    /// remote was out of reach, which is asked for nothing until that is over.
    ///
    /// - Parameter isOwn: whether the file is the remote's; another server may be gone for good.
    fileprivate func isOfFile(isOwn: Bool) -> Bool {
        error != Self.stopped && !(isOwn && error == Self.offline)
    }

    /// What it means for a file that no answer came.
    package var fetchResult: ReceivedFile.Result {
        switch error {
        case "redirectRefused", "tooLarge", "invalidRequest": .refused
        default: .failed
        }
    }
}
