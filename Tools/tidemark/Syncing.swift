// Syncing.swift — `tidemark sync` and `status`.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkSync
import TidemarkViews

struct Sync: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Syncs a store with its server.",
        discussion: """
            Exit code 0 when both sides are equal, 1 when they are not, or when files are
            due that can't be fetched or sent: the line says why.
            The credentials come from the environment variable TIDEMARK_CREDENTIALS, or
            the one that the model names: NAME:PASSWORD for HTTP Basic, or a whole
            Authorization value. A value with a colon whose first word is no known scheme
            is a name and a password, unless "Authorization: " stands before it. Files
            beside entities are fetched and sent after it, as the model's `contents` say.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @Flag(
        help: "Go on until a run finds nothing new on either side, waiting where the server asks.")
    var untilQuiet = false
    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "With --until-quiet: how long to wait for the server in all.", valueName: "SECONDS"))
    var secondsMax: Int = 120
    @Flag(help: "List every collection whole, and not only what changed.")
    var full = false
    @Option(
        help: ArgumentHelp(
            "How long all of it may take: a request that is still on its way is cut off. The next "
                + "sync reads a write back, and goes on with a file.",
            valueName: "SECONDS"))
    var deadline: Int?

    func validate() throws {
        let seconds = 0...Int(Duration.century.components.seconds)
        for (name, value) in [("--for", secondsMax), ("--deadline", deadline ?? 0)] {
            guard seconds.contains(value) else {
                throw ValidationError("\(name) takes seconds, from 0 up to a century")
            }
        }
    }

    func run() async throws {
        let replica = try store.open(patience)
        guard let remote = try replica.registration?.remote else {
            throw UsageError("the model of \(store.store) names no remote to sync with")
        }
        let credentials = try Self.credentials(remote)
        let adapter = try Adapters.make(remote)
        let engine = SyncEngine(
            replica, remote: remote.withAdapterDefaults, adapter: adapter, transport: .urlSession
        ) { credentials }
        let time = SyncTime(
            from: replica.dependencies.moment, deadline: deadline.map { .seconds($0) })
        let outcome = try await run(engine, replica, time)
        Terminal.endProgress()
        Terminal.write(outcome.description)
        for (collection, failure) in outcome.failed.sorted(by: { $0.key < $1.key }) {
            Terminal.write("  \(collection): \(failure)")
        }
        if let alert = outcome.alert { Terminal.write("  the server says: \(alert)") }
        for collection in outcome.exposed.sorted() {
            Terminal.write(
                "  \(collection): a document from the server holds the credentials; it is kept as"
                    + " it is: change them")
        }
        for (collection, count) in outcome.held.sorted(by: { $0.key < $1.key }) {
            Terminal.write(
                "  \(collection): the server did not name \(count), more than half; they are kept:"
                    + " see tidemark issues")
        }
        if outcome.isTimeInDoubt {
            Terminal.write(
                "  nothing is removed until the server's time is known: see tidemark status")
        }
        for collection in outcome.restarted.sorted() {
            Terminal.write(
                "  \(collection): the server did not take the next page of the list that was cut"
                    + " off; it was listed from the beginning")
        }
        let files = try await transfer(engine, time.left(at: replica.dependencies.moment))
        if let line = files.line { Terminal.write(line) }
        try await replica.close()
        let isComplete = files.failure == nil && files.failed + files.refused == 0
        if !outcome.isSynced || !isComplete { throw Exit.findings }
    }

    /// Fetches and sends the files that are due, for no longer than there is time.
    private func transfer(
        _ engine: SyncEngine, _ left: Duration?
    ) async throws -> TransferOutcome {
        let isLate = left.map { $0 < SyncTime.requestTimeMin } ?? false
        let pass = Task {
            // Cancelled before it begins, it only tells whether any is due.
            while isLate, !Task.isCancelled { await Task.yield() }
            return try await engine.transfer()
        }
        if isLate { pass.cancel() }
        let alarm = left.map { left in
            Task {
                try await Task.sleep(for: left)
                pass.cancel()
            }
        }
        defer { alarm?.cancel() }
        var outcome = try await pass.value
        // Also where all that was left was broken off, and so is due only later.
        if pass.isCancelled,
            outcome.failure == .cancelled || outcome.failure == nil && outcome.failed > 0
        {
            outcome.failure = .deadline
        }
        return outcome
    }

    private func run(
        _ engine: SyncEngine, _ replica: Replica, _ time: SyncTime
    ) async throws -> SyncOutcome {
        let statuses = engine.statuses
        let watcher = Task {
            for await case let progress? in statuses.map(\.progress) {
                Terminal.progress(progress.line)
            }
        }
        defer { watcher.cancel() }
        var left = Double(secondsMax)
        var attempt = 0
        var total = SyncCounts()
        for run in 0..<Self.runsMax - 1 {
            let outcome = try await engine.sync(
                .userRequested, deadline: time.left(at: replica.dependencies.moment),
                full: full && run == 0)
            total.add(outcome.counts)
            if !untilQuiet || outcome.isSynced && !outcome.counts.hasNews {
                return outcome.with(total)
            }
            var pause = 0.0
            if let failure = outcome.failure {
                guard failure.isTransient, failure != .deadline else {
                    return outcome.with(total)
                }
                attempt += 1
                pause =
                    failure.retryAfterSeconds.map(Double.init)
                    ?? min(pow(2, Double(attempt)) / 4, 15)
            } else if outcome.isAskedAgain, !outcome.counts.hasNews, attempt < Self.attemptsMax {
                attempt += 1
                pause = min(pow(2, Double(attempt)) / 4, 15)
            } else {
                // Everything was tried, and the rest waits for the user or for access.
                guard outcome.counts.hasNews else { return outcome.with(total) }
                attempt = 0
            }
            guard pause <= left else { return outcome.with(total) }
            left -= pause
            if pause > 0 { try await Task.sleep(for: .seconds(pause)) }
        }
        let last = try await engine.sync(
            .userRequested, deadline: time.left(at: replica.dependencies.moment))
        total.add(last.counts)
        return last.with(total)
    }

    /// How many times in a row it waits for calls that fail by themselves.
    private static let attemptsMax = 5

    /// The most sync runs of one call, so that another client that writes all the time can't keep
    /// it forever.
    private static let runsMax = 50

    private static func credentials(_ remote: Remote) throws -> Credentials {
        let value = ProcessInfo.processInfo.environment[remote.credentialsVariable] ?? ""
        if value.isEmpty { return .none }
        if value.lowercased().hasPrefix(fieldName) {
            return .authorization(String(value.dropFirst(fieldName.count)))
        }
        if isAuthorization(value) { return .authorization(value) }
        guard let colon = value.firstIndex(of: ":") else {
            throw UsageError(
                "\(remote.credentialsVariable) holds neither NAME:PASSWORD nor a whole "
                    + "Authorization value")
        }
        return .basic(
            user: String(value[..<colon]), password: String(value[value.index(after: colon)...]))
    }

    /// What says that the rest is a whole value, in small letters.
    private static let fieldName = "authorization: "

    /// Whether it begins with a scheme, and is not a name with a blank and a password.
    private static func isAuthorization(_ value: String) -> Bool {
        let words = value.split(separator: " ", maxSplits: 1)
        guard words.count == 2,
            words[0].allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") })
        else { return false }
        return schemes.contains(words[0].lowercased()) || !words[1].contains(":")
    }

    /// The schemes behind which a colon does not begin a password, in small letters.
    private static let schemes: Set = [
        "apikey", "apitoken", "aws4-hmac-sha256", "basic", "bearer", "digest", "dpop", "gnap",
        "hawk", "hoba", "mutual", "negotiate", "ntlm", "oauth", "privatetoken", "scram-sha-1",
        "scram-sha-256", "token", "vapid",
    ]
}

extension SyncCounts {
    /// Adds the counts of another run.
    fileprivate mutating func add(_ other: SyncCounts) {
        requests += other.requests
        pulled += other.pulled
        pushed += other.pushed
        conflicts += other.conflicts
        rejected += other.rejected
        readBack += other.readBack
    }
}

extension SyncProgress {
    /// One line: `pushing tasks 3/10`.
    fileprivate var line: String {
        var words = [phase.rawValue]
        if let collection { words.append(collection.rawValue) }
        if let total {
            words.append("\(done)/\(total)")
        } else if done > 0 {
            words.append("\(done)")
        }
        return words.joined(separator: " ")
    }
}

extension SyncOutcome {
    /// Whether calls failed that are repeated automatically.
    fileprivate var isAskedAgain: Bool {
        unsettled > 0 || isTimeInDoubt || failed.values.contains(where: \.isTransient)
    }

    /// This outcome, with the counts of several runs.
    fileprivate func with(_ total: SyncCounts) -> SyncOutcome {
        var outcome = self
        outcome.counts = total
        return outcome
    }
}

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints how a store stands with its server.",
        discussion: """
            Of a capsule, how it stood at the last event, by the time of that.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        let rollBack = try store.read { _, rollBack in rollBack }
        try past.read(store) { views in
            var summary = try StoreSummary(views, at: try past.moment(views, of: store))
            summary.rollBack = rollBack
            if format.isJSON {
                Terminal.write(summary.json)
            } else {
                for line in summary.lines { Terminal.write(wrapping: line, indent: 10) }
            }
        }
    }
}

extension TransferOutcome {
    /// What came of the files; nil where none was due.
    fileprivate var line: String? {
        var parts: [String] = []
        if stored > 0 { parts.append("\(stored) fetched, \(bytes) bytes") }
        if sent > 0 { parts.append("\(sent) sent") }
        if failed > 0 { parts.append("\(failed) to be tried again") }
        if refused > 0 { parts.append("\(refused) not to be had, or not taken") }
        if let failure { parts.append("\(failure)") }
        return parts.isEmpty ? nil : "  files: " + parts.joined(separator: "; ")
    }
}
