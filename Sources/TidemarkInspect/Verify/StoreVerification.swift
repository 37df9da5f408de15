// StoreVerification.swift — checks that a store is as it was written, and that its views follow
// from its log.

import Tidemark
package import TidemarkEvents
package import TidemarkLog
package import TidemarkStore
package import TidemarkViews

/// How much is checked.
package enum VerifyLevel: String, Sendable, CaseIterable {
    /// Sizes, counts, the checksum of every event, and how the commits join.
    case quick
    /// In addition every header, the Merkle root of every commit, the right edge, every row against
    /// the commits' records, the rows against each other, and the checksums of snapshots.
    case full
    /// In addition, the log is folded again and every row is compared, those of snapshots included.
    case deep
}

/// The result of a verification.
package struct StoreVerification: Sendable {
    package var level: VerifyLevel
    /// The pages of the data file, where they were checked.
    package var pages: PageAudit.Result?
    package var log = LogVerification()
    /// How many rows were checked.
    package var rows: UInt64 = 0
    /// How many files beside entities were checked.
    package var files = 0
    /// What is wrong: first with the log; with the views only when the log is whole.
    package var problems: [LogError] = []
    /// What could not be checked, and why, and what is no damage, in sentences.
    package var notes: [String] = []

    package var isFine: Bool { problems.isEmpty }
    /// Whether the only problem is that a newer version wrote the store.
    package var isNewer: Bool { problems.areOfNewerFormat }
    /// Whether the log or the file is damaged, so that folding the log again does not repair it.
    package var isSalvageable: Bool {
        problems.contains {
            switch $0.code {
            case .corruptEvent, .missingEvent, .corruptCommit, .rootMismatch, .corruptEdge,
                .missingBody, .corruptBody, .corruptMeta, .corruptTable:
                true
            case .newerFormat, .rolledBack, .otherStore, .corruptRow, .corruptDigest,
                .corruptSnapshot, .corruptBase, .corruptAnswer, .corruptFile, .otherCheckpoint,
                .droppedCheckpoint, .dropped, .needed:
                false
            }
        }
    }
    package var events: UInt64 { log.events }
    package var commits: UInt64 { log.commits }

    /// The problems, one per line, with their positions.
    package var findings: [String] { problems.map { "\($0)" } }

    /// How many pages are in use, the two meta pages among them, and how many are free.
    package var pageCounts: (used: UInt64, free: UInt64) {
        pages.map { ($0.used + 2, $0.free) } ?? (0, 0)
    }

    /// The Merkle root over all events, as hexadecimal digits.
    package var root: String { Hexadecimal.encode(log.root) }
}

/// The progress of a verification.
package enum VerifyProgress: Sendable, Hashable {
    /// How many pages of the data file were checked, and of how many at most.
    case pages(done: UInt64, of: UInt64)
    /// Events up to `done` were checked.
    case events(done: Position, last: Position)
    /// The rows of the views are being checked.
    case rows
    /// Events up to `done` were folded again.
    case folding(done: Position, last: Position)
    /// How many files beside entities were checked, and of how many.
    case files(done: Int, of: Int)
}

extension Journal {
    /// Checks everything that the level asks for; changes nothing.
    ///
    /// Writes may go on at the same time. The log is read in steps; the rows, which may change, in
    /// one snapshot.
    ///
    /// Throws ``StoreError`` `lost` where the data file is replaced meanwhile.
    ///
    /// - Parameters:
    ///   - checkpoints: older ones, which must match this log; not for the level `quick`.
    ///   - rows: false where their tables are damaged, and must not be read.
    ///   - scratch: the directory in which the level `deep` folds the log again; the caller removes
    ///     it. Nil for a temporary directory.
    ///   - progress: called after each step; an error that it throws ends the verification.
    package func verify(
        _ level: VerifyLevel = .full, against checkpoints: [LogCheckpoint] = [],
        rows: Bool = true, scratch: String? = nil,
        progress: (VerifyProgress) throws -> Void = { _ in }
    ) throws -> StoreVerification {
        try lookAgain(until: \.isFine) {
            try verifyOnce(level, checkpoints, rows, scratch, progress)
        }
    }

    /// What `look` finds, which looks again where nothing is fine and events were dropped
    /// meanwhile: what is dropped while it is looked at looks like damage.
    func lookAgain<R>(until isFine: (R) -> Bool = { _ in true }, _ look: () throws -> R) throws -> R
    {
        var begun = lastDropped
        while true {
            let found: Result<R, LogError>
            do { found = .success(try look()) } catch let error as LogError {
                found = .failure(error)
            }
            if case .success(let value) = found, isFine(value) { return value }
            let dropped = lastDropped
            guard dropped > begun else { return try found.get() }
            begun = dropped
        }
    }

    /// What `look` finds in a store that it opens, once more where the data file is gone: a
    /// smaller one may have been put in its place meanwhile.
    private static func openAgain<R>(_ look: (_ isLast: Bool) throws -> R) throws -> R {
        do { return try look(false) } catch let error as StoreError where error.code == .lost {
            return try look(true)
        }
    }

    /// The last event that was dropped; `@0` for none, and where that can't be read.
    private var lastDropped: Position {
        (try? environment.read { try log.base($0)?.position }) ?? .start
    }

    private func verifyOnce(
        _ level: VerifyLevel, _ checkpoints: [LogCheckpoint], _ rows: Bool, _ scratch: String?,
        _ progress: (VerifyProgress) throws -> Void
    ) throws -> StoreVerification {
        var result = StoreVerification(level: level)
        do {
            var recorded = RecordedRows()
            try verifyLog(&result, checkpoints, &recorded, progress)
            if result.isFine, level != .quick {
                if rows {
                    try progress(.rows)
                    try verifyRows(&result, &recorded)
                }
                result.problems += try environment.read { try snapshots.problems($0) }
                try verifyBase(&result)
            }
            if rows, result.isFine, level == .deep { try verifyFold(&result, scratch, progress) }
        } catch let error as StoreError where error.code == .lost {
            throw error
        } catch {
            result.problems.append(try LogError(damageIn: error))
        }
        return result
    }

    /// Checks the pages of the store in a directory, and if they are whole, opens it read-only and
    /// verifies it.
    ///
    /// Damage that keeps the store from being opened is a finding like others.
    ///
    /// - Parameter level: nil for the pages alone.
    package static func verifyStore(
        at directory: String, _ level: VerifyLevel? = .full,
        against checkpoints: [LogCheckpoint] = [],
        scratch: String? = nil, progress: @escaping (VerifyProgress) throws -> Void = { _ in }
    ) throws -> StoreVerification {
        try openAgain { isLast in
            try verifyStore(at: directory, level, checkpoints, scratch, isLast, progress)
        }
    }

    private static func verifyStore(
        at directory: String, _ level: VerifyLevel?, _ checkpoints: [LogCheckpoint],
        _ scratch: String?, _ isLast: Bool, _ progress: @escaping (VerifyProgress) throws -> Void
    ) throws -> StoreVerification {
        var result = StoreVerification(level: level ?? .quick)
        do {
            // Read first, because the log has held everything in it ever since.
            let found = try StoreIdentity.find(in: directory)
            if let identity = found.identity, identity.isInitialised,
                case .missing = try StoreFiles.data(directory)
            {
                throw StoreIdentity.lost(identity, in: directory)
            }
            // LMDB trusts what it reads, so only sound pages are given to it.
            let pages = try PageAudit.run(at: directory) {
                try progress(.pages(done: $0, of: $1))
            }
            result.pages = pages
            result.problems = pages.lasting
            // Which rows are in use can't be known then.
            guard result.isFine else {
                result.problems += pages.ofRows.map { LogError(.corruptRow, at: .start, "\($0)") }
                return result
            }
            guard level != nil || !pages.isFine else { return result }
            let journal = try Journal.open(at: directory, readOnly: true)
            defer { try? journal.close() }
            let (live, unused) = try journal.damage(ofRows: pages)
            guard let level else {
                (result.problems, result.notes) = (live, unused)
                return result
            }
            result = try journal.verify(
                level, against: checkpoints, rows: live.isEmpty, scratch: scratch,
                progress: progress)
            if result.isFine, live.isEmpty {
                try journal.verifyFiles(in: directory, &result, progress)
            }
            result.problems += live
            result.notes += unused
            result.pages = pages
            if pages.lost > 0 {
                result.notes.append(
                    "\(pages.lost) pages of data.mdb are neither in use nor free: space, no data, "
                        + "is lost")
            }
            try journal.meet(found, &result)
            try journal.tellOrigin(&result)
        } catch let error as StoreError where error.code == .lost && !isLast {
            throw error
        } catch {
            result.problems.append(try LogError(damageIn: error))
        }
        return result
    }

    /// A problem with a branch page, which leads to other pages; nil for none, and where the file
    /// can't be read.
    ///
    /// Fast even in a large store.
    package static func brokenPage(at directory: String) -> String? {
        let result = try? PageAudit.run(at: directory, .branches)
        return result?.findings.first.map { "\($0)" }
    }

    /// A problem with the end of the log: appended events are missing, or the last commit does not
    /// match the right edge; nil for none.
    package func brokenEnd() throws -> String? {
        do {
            _ = try environment.read { try log.checkedEdge($0) }
            return nil
        } catch let error as LogError { return error.detail }
    }

    /// Opens the store in a directory read-only, folds its log again beside it, and compares the
    /// rows.
    ///
    /// - Returns: the differences, and damage that keeps the log from being folded; and what is to
    ///   be said besides, where the rows were not compared.
    package static func checkRebuild(
        at directory: String, scratch: String? = nil,
        progress: (RebuildProgress) throws -> Void = { _ in }
    ) throws -> (problems: [LogError], note: String?) {
        try openAgain { isLast in
            do {
                let journal = try Journal.open(at: directory, readOnly: true)
                defer { try? journal.close() }
                let found = try journal.lookAgain(until: { $0.problems.isEmpty }) {
                    try ScratchDirectory.with(scratch) { scratch in
                        try journal.compareWithRebuilt(in: scratch, progress: progress)
                    }
                }
                return (found.problems, found.isOutdated ? outdatedRows : nil)
            } catch let error as StoreError where error.code == .lost && !isLast {
                throw error
            } catch { return ([try LogError(damageIn: error)], nil) }
        }
    }

    private static let outdatedRows =
        "the rows were made by other rules; open the store for writing to rebuild them, "
        + "with the newer version where one made them"

    /// Compares the log with what identity.json, beside it, says of it.
    private func meet(
        _ found: StoreIdentity.Found, _ result: inout StoreVerification
    ) throws {
        do {
            switch found {
            case .nothing: break
            case .unfit(let reason):
                result.notes.append("\(reason): the log was not compared with what it says")
            case .whole(let identity):
                try environment.read { transaction in
                    try log.checkIdentity(identity, transaction)
                }
            }
        } catch let error as StoreError where error.code == .lost {
            throw error
        } catch {
            let finding = try LogError(damageIn: error)
            if !result.problems.contains(finding) { result.problems.append(finding) }
        }
    }

    /// Notes the origin of a salvaged log, which nothing else reports.
    private func tellOrigin(_ result: inout StoreVerification) throws {
        guard result.isFine,
            let origin = try environment.read({ try log.origin($0) })
        else { return }
        result.notes.append(
            "salvaged from the store \(origin.storeID), whose log it holds up to \(origin.proven)")
    }

    private func verifyLog(
        _ result: inout StoreVerification, _ checkpoints: [LogCheckpoint],
        _ recorded: inout RecordedRows, _ progress: (VerifyProgress) throws -> Void
    ) throws {
        let isQuick = result.level == .quick
        result.problems = try foreign(checkpoints)
        guard result.isFine else { return }
        if !isQuick { try note(base: &recorded) }
        var check = try environment.read { transaction in
            try LogCheck(
                log, isQuick ? .frames : .events, checkpoints: checkpoints, transaction)
        }
        var mistakes: [LogError] = []
        while try check.step(
            in: environment,
            commit: { record in
                guard !isQuick, mistakes.count < 100 else { return }
                if let mistake = recorded.note(record) { mistakes.append(mistake) }
            })
        {
            try progress(.events(done: check.position, last: check.last))
        }
        let last = check.last
        result.log = check.finished()
        if result.log.base > .start {
            result.notes.append(
                "the events up to \(result.log.base) were dropped: it is verified from "
                    + "\(result.log.base.next) on")
        }
        result.notes += result.log.foreign.map { "\($0)" }
        let others = result.log.foreignCount - result.log.foreign.count
        if others > 0 { result.notes.append("\(others) more events have such payloads") }
        result.problems = result.log.findings + mistakes
        recorded.last = last
    }

    /// Takes in the rows that the log begins with, where its first events were dropped.
    private func note(base recorded: inout RecordedRows) throws {
        try environment.read { transaction in
            guard let base = try snapshots.base(transaction) else { return }
            try snapshots.forEachRow(of: base, transaction) { recorded.note($0, $1, of: base) }
        }
    }

    /// Compares the views that the log begins with, with what the last event says that tells of it.
    private func verifyBase(_ result: inout StoreVerification) throws {
        guard let base = try environment.read({ try snapshots.base($0) }) else { return }
        var told: LogTruncated?
        var filter = EventFilter()
        filter.kinds = [.logTruncated]
        _ = try dump(filter, limit: 1, reversed: true) { told = $1.read(LogTruncated.self) }
        // One that was dropped since, or is of a log that a capsule is of, tells nothing.
        guard let told, told.last >= base.position else { return }
        let known = LogTruncated(last: base.position, root: [], views: base.digest)
        guard told.last == base.position, told.views == known.views else {
            result.problems.append(
                LogError(
                    .corruptBase, at: base.position,
                    "the views that the log begins with are not those that it tells of"))
            return
        }
    }

    private func verifyRows(
        _ result: inout StoreVerification, _ recorded: inout RecordedRows
    ) throws {
        // Each thread looks at one point of the log, and they may be different ones. None is waited
        // for within a read: who moves the map waits for that, and lets nobody begin meanwhile.
        let indexes = Background {
            Result { try self.environment.read { try self.indexDifferences($0) } }
        }
        let references = Background { Result { try RowReferences.findings(in: self) } }
        defer { _ = (indexes.value, references.value) }
        let isCurrent = try environment.read { transaction in
            let state = try views.state(transaction) ?? ViewTables.State()
            guard state.isCurrent else { return false }
            try log.forEachCommit(from: recorded.last.next, transaction) { record in
                if let mistake = recorded.note(record) { throw mistake }
                return true
            }
            let check = RowCheck(self, state.generation, recorded)
            result.problems += try check.run(transaction)
            result.rows = check.rows
            return true
        }
        guard isCurrent else {
            result.notes.append(Self.outdatedRows)
            return
        }
        if result.isFine { result.problems += try references.value.get() }
        if result.isFine {
            result.problems += try indexes.value.get().map {
                LogError(.corruptRow, at: .start, "\($0); `tidemark rebuild` mends it")
            }
        }
    }

    private func verifyFold(
        _ result: inout StoreVerification, _ scratch: String?,
        _ progress: (VerifyProgress) throws -> Void
    ) throws {
        let comparison = try ScratchDirectory.with(scratch) { scratch in
            try compareWithRebuilt(in: scratch) { step in
                try progress(.folding(done: step.done, last: step.last))
            }
        }
        result.problems += comparison.problems
    }
}

extension LogError {
    /// A damage error as a finding; other errors are rethrown.
    fileprivate init(damageIn error: any Error) throws {
        switch error {
        case let error as LogError: self = error
        case let error as ProtoError:
            self.init(.corruptRow, at: .start, "a row is damaged: \(error)")
        case let error as StoreError where error.code == .newerFormat:
            // One flipped bit of the format looks the same.
            self.init(.newerFormat, at: .start, "\(error.detail); use a newer tidemark")
        case let error as StoreError where error.code == .rolledBack:
            self.init(.rolledBack, at: .start, error.detail)
        case let error as StoreError where error.code == .otherStore:
            self.init(.otherStore, at: .start, error.detail)
        case let error as StoreError where error.code == .damagedTable:
            self.init(.corruptRow, at: .start, "\(error.detail); `tidemark rebuild` mends it")
        case let error as StoreError where [.damaged, .lost, .io, .badKey].contains(error.code):
            self.init(.corruptTable, at: .start, "\(error)")
        default: throw error
        }
    }
}

extension RebuildComparison {
    /// The differences as findings.
    package var problems: [LogError] {
        let commit = commit.map { LogError(.corruptDigest, at: $0.position, "\($0)") }
        return [commit].compactMap { $0 }
            + rows.map { LogError(.corruptRow, at: $0.commit ?? .start, $0.summary) }
            + indexes.map { LogError(.corruptRow, at: .start, "\($0)") } + snapshots
    }
}

extension [LogError] {
    /// Whether there are errors, all of which come from a newer version's data.
    package var areOfNewerFormat: Bool {
        !isEmpty && allSatisfy { $0.code == .newerFormat }
    }
}
