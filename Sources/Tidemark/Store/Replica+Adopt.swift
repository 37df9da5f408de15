// Replica+Adopt.swift — accepting a store as it is, where an opening refuses it.

public import TidemarkEvents
import TidemarkLog
public import TidemarkSync
import TidemarkViews

extension Replica {
    /// What adopting a store found and did.
    public struct Adoption: Sendable, Hashable {
        /// The id that the store keeps, or gets where none was known.
        public let storeID: String
        /// The account that it belongs to, where that is known.
        public let account: String?
        /// The last position of its log.
        public let position: Position
        /// What openings were refused for, in sentences; empty when for nothing.
        public let reasons: [String]
    }

    /// Accepts a store as it is: the remedy for `rolledBack`, `otherStore`, `otherDevice`,
    /// `unfitIdentity` and `interrupted`.
    ///
    /// Verifies the whole log, then writes a new `identity.json` for it and this device. What an
    /// older copy lacks stays lost, unless the server has it. A damaged store is refused, and so is
    /// another account.
    ///
    /// - Parameters:
    ///   - directory: the path of the store, which must not be open.
    ///   - isDryRun: whether to look only and change nothing.
    ///   - waitSeconds: how long to block while another process has the store open.
    ///   - dependencies: which device this is, and ids.
    /// - Throws: ``TidemarkError``.
    @discardableResult
    public static func adopt(
        at directory: String, isDryRun: Bool = false, waitSeconds: Double = 0,
        dependencies: Dependencies = .live
    ) throws -> Adoption {
        try TidemarkError.mapped {
            let adoption = try StoreAdoption.run(
                at: directory, tables: Journal.tableNames,
                StoreOpening(account: nil, waitSeconds: waitSeconds, dependencies),
                isDryRun: isDryRun)
            return Adoption(
                storeID: adoption.identity.storeID, account: adoption.identity.account,
                position: adoption.identity.position, reasons: adoption.reasons)
        }
    }
}
