// StoreAdoption.swift — accepting a store as it is, after its log was verified in full.
//
// The one remedy where a store is whole but isn't what identity.json speaks of: an older copy, a
// copy on another device, an identity.json that is gone or of another store, openings that died.

import TidemarkEvents
package import TidemarkStore

/// A store that was looked at in order to be accepted as it is.
package struct StoreAdoption: Sendable, Hashable {
    /// The identity that it gets, by an opening with ``StoreOpening/adopted``.
    package var identity: StoreIdentity
    /// How many events were verified.
    package var events: UInt64
    /// What an opening is refused for now, in sentences; empty when for nothing.
    package var reasons: [String]

    /// Verifies the log of the store in a directory, and finds the identity for what is there.
    ///
    /// The store keeps its id and, where that is known, its account. Its device becomes that of
    /// `opening`, also where that is nil; the account of `opening` is not looked at. Only the
    /// store's own tables are written to, where they lack its id.
    ///
    /// - Parameters:
    ///   - options: how the store is opened.
    ///   - isDryRun: whether to change nothing.
    ///   - accountInRows: the account by the rows, asked where no event that is left names one.
    /// - Throws: ``StoreError``, ``LogError``: `busy`, `missing`, `lost`, `newerFormat`, `damaged`,
    ///   or what else is wrong with the store itself.
    package static func run(
        at directory: String, _ options: Environment.Options, _ opening: StoreOpening,
        isDryRun: Bool,
        accountInRows: (Environment, borrowing ReadTransaction) throws -> String?
    ) throws -> StoreAdoption {
        try StoreFiles.prepare(directory, mayCreate: false)
        let lock = try StoreGuard.waiting(for: directory, opening) { try DirectoryLock(directory) }
        defer { lock.release() }
        if !isDryRun { try StoreFiles.settleShrinking(directory) }
        try StoreFiles.checkNames(directory)
        let found = try StoreIdentity.find(in: directory)
        switch try StoreFiles.data(directory) {
        case .whole: break
        case .unfit(let error): throw error
        case .missing:
            if let identity = found.identity { throw StoreIdentity.lost(identity, in: directory) }
            throw StoreError(.missing, during: "adopt", detail: "no data.mdb in \(directory)")
        }
        let (result, isMarked) = try examine(directory, options, found, opening, accountInRows)
        guard !isDryRun else { return result }
        try StoreFiles.makePrivate(directory)
        if !isMarked {
            let environment = try Environment.open(at: directory, options)
            let marking = Result {
                try environment.write { transaction in
                    try EventLog(environment).setIdentity(result.identity, transaction)
                }
            }
            try environment.close()
            try marking.get()
        }
        return result
    }

    /// The identity for what is there, and whether the store itself bears its id already.
    private static func examine(
        _ directory: String, _ options: Environment.Options, _ found: StoreIdentity.Found,
        _ opening: StoreOpening,
        _ accountInRows: (Environment, borrowing ReadTransaction) throws -> String?
    ) throws -> (StoreAdoption, isMarked: Bool) {
        var options = options
        options.readOnly = true
        let environment = try Environment.open(at: directory, options)
        let result = Result {
            try environment.read { transaction in
                let log = EventLog(environment)
                try log.checkFormat(transaction)
                let verified = try log.verify(findingsMax: 1, transaction)
                if let finding = verified.findings.first { throw finding }
                let marked = try log.storeID(transaction)
                let known = found.identity
                let isOurs = marked == nil || known?.storeID == marked
                let account =
                    try log.account(transaction) ?? accountInRows(environment, transaction)
                var identity = StoreIdentity(
                    storeID: marked ?? known?.storeID ?? opening.makeID(),
                    account: account ?? (isOurs ? known?.account : nil), isInitialised: true)
                // Not the one known: where this one can't be told, whoever opens next names it.
                identity.device = opening.device
                identity.position = try log.lastPosition(transaction)
                identity.root = identity.position == .start ? [] : verified.root
                let reasons = reasons(found, opening) { old in
                    try log.checkIdentity(old, transaction)
                }
                return (
                    StoreAdoption(identity: identity, events: verified.events, reasons: reasons),
                    isMarked: marked != nil
                )
            }
        }
        try environment.close()
        return try result.get()
    }

    private static func reasons(
        _ found: StoreIdentity.Found, _ opening: StoreOpening,
        _ checkLog: (StoreIdentity) throws -> Void
    ) -> [String] {
        switch found {
        case .nothing: return ["identity.json is missing"]
        case .unfit(let problem): return [problem]
        case .whole(let old):
            guard old.isInitialised else {
                return ["identity.json says that the store was never finished"]
            }
            return [
                reason { try opening.checkDevice(old) }, reason { try opening.checkAttempts(old) },
                reason { try checkLog(old) },
            ].compactMap(\.self)
        }
    }

    private static func reason(_ check: () throws -> Void) -> String? {
        do {
            try check()
            return nil
        } catch { return (error as? StoreError)?.detail ?? "\(error)" }
    }
}

extension EventLog {
    /// The account that the last `store.opened` with one names.
    fileprivate func account(
        _ transaction: borrowing some TableReading & ~Copyable
    ) throws -> String? {
        var account: String?
        try forEach(transaction) { _, event in
            guard event.kind == .storeOpened else { return true }
            let payload = try? JSONValue(parsing: event.payload)
            account = payload?.object?["account"]?.stringValue ?? account
            return true
        }
        return account
    }
}
