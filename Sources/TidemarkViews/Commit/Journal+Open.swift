// Journal+Open.swift — opening and closing a store.

import TidemarkEvents
package import TidemarkLog
import TidemarkStore

extension Journal {
    /// Opens the store in a directory; with `create`, makes one that isn't there.
    ///
    /// For writing, this process alone has it open until it is closed, and a store whose views were
    /// made by other rules is rebuilt before this returns, unless those are of a newer version.
    ///
    /// Read-only, nothing on disk changes but LMDB's table of readers, other processes may write
    /// meanwhile, and neither account nor device are asked for, nor whether the log is all there.
    ///
    /// - Parameters:
    ///   - opening: what an opening for writing brings along.
    ///   - checking: told how many pages were looked at, where it takes long.
    ///   - progress: told how far a rebuild is.
    /// - Throws: ``StoreError`` or ``LogError``: see their codes.
    package static func open(
        at directory: String, readOnly: Bool = false, create: Bool = false,
        opening: StoreOpening = StoreOpening(),
        checking: (_ page: UInt64, _ of: UInt64) -> Void = { _, _ in },
        progress: (RebuildProgress) -> Void = { _ in }
    ) throws -> Journal {
        var options = options(readOnly: readOnly, create: create)
        if let bytes = opening.mapBytes { options.mapBytes = bytes }
        if readOnly {
            options.create = false
            return try openReadOnly(directory, options)
        }
        let opened = try StoreGuard.open(directory, options, opening, checking: checking)
        let journal = Journal(opened.environment, guardian: opened.guardian)
        do {
            try journal.settleRows(progress)
        } catch {
            try? journal.close()
            throw error
        }
        return journal
    }

    /// Makes rows and indexes anew where other rules made them, or where they are damaged as far
    /// as this needs to read them.
    private func settleRows(_ progress: (RebuildProgress) -> Void) throws {
        // Another opening in this process may be at it.
        try shared.rebuildTurn.take { try settleRowsAlone(progress) }
    }

    private func settleRowsAlone(_ progress: (RebuildProgress) -> Void) throws {
        let state = try environment.read { transaction in
            try views.state(try log.lastPosition(transaction), transaction)
        }
        // What it knows of the log and this version doesn't would be in no row.
        if let why = state.madeByNewer {
            throw LogError(
                .newerFormat, at: .start,
                "a newer version of Tidemark made the store's tables (\(why)); use that version")
        }
        let damaged = guardian?.takeDamagedTables() ?? [:]
        // Those that are not live are made anew before they are read again.
        let found = views.allTables(of: state.generation).lazy.compactMap { damaged[$0.name] }.first
        let damage: StoreError? =
            state.isDamaged
            ? state.problem
            : found.map { StoreError(.damagedTable, during: "open", detail: $0) }
        if damage != nil || !state.isCurrent { try remake(insteadOf: damage, progress) }
        do { try settleIndexes() } catch let error as StoreError where error.code == .damagedTable {
            try remake(insteadOf: error, progress)
        }
    }

    /// Rebuilds; where the rows of an earlier rebuild take the room for it, once more without them.
    ///
    /// - Throws: where there is no room, an error that says what for.
    private func remake(
        insteadOf damage: StoreError?, _ progress: (RebuildProgress) -> Void
    ) throws {
        func run() throws {
            if let damage {
                try rebuild(insteadOf: damage, progress: progress)
            } else {
                try rebuild(progress: progress)
            }
        }
        func bytes(_ generation: Generation) throws -> Int {
            try environment.read { transaction in
                try views.allTables(of: generation).reduce(0) {
                    try $0 + transaction.pageBytes($1)
                }
            }
        }
        let live = try environment.read { try views.state($0)?.generation } ?? .a
        // Only for words, and for whether it is worth a second try.
        let (needed, former) = ((try? bytes(live)) ?? 0, (try? bytes(live.other)) ?? 0)
        do {
            do { try run() } catch let error as StoreError where error.saysNoRoom && former > 0 {
                // A page can be used in the second transaction behind the one that freed it.
                for _ in 0..<2 {
                    try environment.write(freeing: true) { try self.views.clear(live.other, $0) }
                }
                try run()
            }
        } catch let error as StoreError where error.saysNoRoom {
            let why =
                damage.map { "the store's tables are damaged (\($0.detail))" }
                ?? "another version made the store's tables"
            throw StoreError(
                error.code, number: error.number, during: "rebuild",
                detail: "\(why), and there is no room to make them anew, some \(needed) bytes: "
                    + error.detail)
        }
    }

    private static func openReadOnly(
        _ directory: String, _ options: Environment.Options
    ) throws -> Journal {
        var triesLeft = 3
        while true {
            do { return try tryReadOnly(directory, options) } catch let error as StoreError
                where error.code == .lost && triesLeft > 0
            {
                // Another process may have put a smaller file in its place just then.
                triesLeft -= 1
            }
        }
    }

    private static func tryReadOnly(
        _ directory: String, _ options: Environment.Options
    ) throws -> Journal {
        let identity = try StoreIdentity.find(in: directory).identity
        if let identity, identity.isInitialised, case .missing = try StoreFiles.data(directory) {
            throw StoreIdentity.lost(identity, in: directory)
        }
        let journal = Journal(try StoreGuard.openToRead(directory, options))
        do { try journal.environment.read { try journal.log.checkFormat($0) } } catch {
            try? journal.close()
            throw error
        }
        return journal
    }

    /// Whether a directory holds a store with events; one whose creation was cut off has none.
    package static func holdsEvents(at directory: String) throws -> Bool {
        if case .missing = try StoreFiles.data(directory) { return false }
        let identity = try StoreIdentity.find(in: directory).identity
        if let identity, !identity.isInitialised { return false }
        let journal = try open(at: directory, readOnly: true)
        let last = Result { try journal.read { $0.last } }
        try journal.close()
        return try last.get() != .start
    }

    /// Ends the adoption of a store that was opened as what it becomes: identity.json says so.
    package func endAdoption() throws { try guardian?.writeDown() }

    /// Whose data the store holds, if anybody has said so.
    package var account: String? { guardian?.identity.account }

    /// Closes the store.
    ///
    /// What was acknowledged is on disk already.
    package func close() throws {
        try environment.checkNotInside("close")
        waitUntilTidy()
        try end()
        if let guardian { try guardian.close(environment) } else { try environment.close() }
    }

    /// Whether it was closed.
    package var isClosed: Bool { phase.withLock(\.self) == .closed }

    // MARK: Leaving

    /// Closes the store and removes its folder, unless `check` objects.
    ///
    /// `check` sees every write that was or will be acknowledged: later ones are refused as
    /// `closed`. When it throws, or others in this process have the store open, nothing changes.
    ///
    /// - Parameter ending: run between the check and the end, to stop who still uses the store.
    /// - Throws: what `check` throws; ``StoreError``: `busy`; `closed`; or why the folder could not
    ///   be removed, which is closed then and can be opened again.
    package func closeRemoving(
        unless check: @escaping @Sendable (ViewReader) throws -> Void,
        ending: () async -> Void
    ) async throws {
        guard let guardian else {
            throw StoreError(.readOnly, during: "remove", detail: "the store is open read-only")
        }
        try guardian.beginLeaving(environment)
        do {
            // In turn with the writes: what came before is seen, what comes after is refused.
            try await environment.perform { [self] _ in
                try read(check)
                try phase.withLock { phase throws(StoreError) in
                    guard phase == .open else { throw Self.closed("close") }
                    phase = .leaving
                }
            }
        } catch {
            guardian.endLeaving()
            throw error
        }
        await ending()
        try await BlockingWork.run(waits: true) { [self] in
            waitUntilTidy()
            try end()
            try guardian.closeRemoving(environment)
        }
    }

    private func end() throws {
        let wasOpen = phase.withLock { phase in
            defer { phase = .closed }
            return phase != .closed
        }
        guard wasOpen else { throw Self.closed("close") }
        shared.feed.end(ObjectIdentifier(self))
    }

    static func closed(_ action: String) -> StoreError {
        StoreError(.closed, during: action, detail: "the store was closed")
    }
}
