// Replica+Adopt.swift — accepting a store as it is, where an opening refuses it.

public import TidemarkEvents
import TidemarkLog
import TidemarkStore
public import TidemarkSync
import TidemarkViews

extension Replica {
    /// The result of adopting a store.
    public struct Adoption: Sendable, Hashable {
        /// The id that the store keeps, or its new id where none was known.
        public let storeID: String
        /// The account that it belongs to, where known.
        public let account: String?
        /// The last position of its log.
        public let position: Position
        /// Why openings were refused, in sentences; empty when they were not.
        public let reasons: [String]
    }

    /// Accepts a store as it is: the remedy for `rolledBack`, `otherStore`, `otherDevice`,
    /// `unfitIdentity` and `interrupted`.
    ///
    /// It verifies the whole log, then writes a new `identity.json` for the store and this device;
    /// where `dependencies` don't tell which that is, for the one that opens the store next.
    /// Data that an older copy lacks stays lost, unless the server has it. Reserved values that are
    /// left may have been handed out by the other copy: they go before, and sync runs reserve new
    /// ones. A damaged store is refused. The store keeps its account: an opening for another one is
    /// refused as before, `otherAccount`.
    ///
    /// - Parameters:
    ///   - directory: the path of the store, which must not be open.
    ///   - isDryRun: whether to only check, without changing anything.
    ///   - waiting: how long to block while another process has the store open.
    ///   - dependencies: those of the openings: they give this device's id, and new ids.
    /// - Throws: ``TidemarkError``. Where it throws, or the process dies, the store is not adopted,
    ///   and openings refuse it as before.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    @discardableResult
    public static func adopt(
        at directory: String, isDryRun: Bool = false, waiting: Duration = .zero,
        dependencies: Dependencies = .live
    ) throws -> Adoption {
        try TidemarkError.mapped {
            let opening = StoreOpening(account: nil, waiting: waiting, dependencies)
            let adoption = try StoreAdoption.run(
                at: directory, Journal.options(create: false), opening, isDryRun: isDryRun
            ) { environment, transaction in
                ViewTables(environment).account(transaction)
            }
            var position = adoption.identity.position
            if !isDryRun {
                var opening = opening
                opening.adopted = adoption.identity
                let journal = try Journal.open(at: directory, opening: opening)
                let noted = Result { try journal.endAdoption(dependencies) }
                try journal.close()
                position = try noted.get() ?? position
            }
            return Adoption(
                storeID: adoption.identity.storeID, account: adoption.identity.account,
                position: position, reasons: adoption.reasons)
        }
    }

    /// The same without blocking the caller's thread.
    @discardableResult
    public static func adopt(
        at directory: String, isDryRun: Bool = false, waiting: Duration = .zero,
        dependencies: Dependencies = .live
    ) async throws -> Adoption {
        try await BlockingWork.run(waits: true) {
            try adopt(
                at: directory, isDryRun: isDryRun, waiting: waiting,
                dependencies: dependencies)
        }
    }
}

extension Journal {
    /// Lets go of reserved values that are left, then ends the adoption.
    ///
    /// Values go also where nothing is wrong with the store: a whole folder that was put back shows
    /// nothing.
    ///
    /// - Returns: where it is logged that another device goes on; nil where no values are left.
    fileprivate func endAdoption(_ dependencies: Dependencies) throws -> Position? {
        var noted: Position?
        if try read({ try $0.hasValues() }) {
            noted = try write(at: dependencies.now()) { try $0.noteAdoption(dependencies) }
        }
        try endAdoption()
        return noted
    }
}
