// Journal+Open.swift — opening and closing a store.

import TidemarkEvents
package import TidemarkLog
import TidemarkStore

extension Journal {
    /// Opens the store in a directory; with `create`, makes one that isn't there.
    ///
    /// For writing, this process alone has it open until it is closed, and a store whose views were
    /// made by other rules is rebuilt before this returns.
    ///
    /// Read-only, nothing on disk changes but LMDB's table of readers, other processes may write
    /// meanwhile, and neither account nor device are asked for, nor whether the log is all there.
    ///
    /// - Parameter opening: what an opening for writing brings along.
    /// - Throws: ``StoreError`` or ``LogError``: see their codes.
    package static func open(
        at directory: String, readOnly: Bool = false, create: Bool = false,
        opening: StoreOpening = StoreOpening(), progress: (RebuildProgress) -> Void = { _ in }
    ) throws -> Journal {
        var options = Environment.Options(tables: tableNames, readOnly: readOnly, create: create)
        if readOnly {
            options.create = false
            return try openReadOnly(directory, options)
        }
        let opened = try StoreGuard.open(directory, options, opening)
        let journal = Journal(opened.environment, guardian: opened.guardian)
        do {
            let state = try journal.environment.read { try journal.views.state($0) }
            if let state, !state.isCurrent { try journal.rebuild(progress: progress) }
            try journal.settleIndexes()
        } catch {
            try? journal.close()
            throw error
        }
        return journal
    }

    private static func openReadOnly(
        _ directory: String, _ options: Environment.Options
    ) throws -> Journal {
        let identity = try StoreIdentity.find(in: directory).identity
        if let identity, identity.isInitialised, case .missing = try StoreFiles.data(directory) {
            throw StoreIdentity.lost(identity, in: directory)
        }
        let journal = Journal(try Environment.open(at: directory, options))
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

    /// Whose data the store holds, if anybody has said so.
    package var account: String? { guardian?.identity.account }

    /// Closes the store.
    ///
    /// What was acknowledged is on disk already.
    package func close() throws {
        let wasOpen = isOpen.withLock { isOpen in
            defer { isOpen = false }
            return isOpen
        }
        guard wasOpen else {
            throw StoreError(.closed, during: "close", detail: "the store was closed before")
        }
        if let guardian { try guardian.close(environment) } else { try environment.close() }
    }
}
