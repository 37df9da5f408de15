// StoreVerification.swift — whether a store is what was written, and its views what the log says.

import TidemarkEvents
package import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// The result of a verification.
package struct StoreVerification: Sendable {
    package var log: LogVerification
    /// The rows that a new fold makes differently; empty when the log itself is damaged, since
    /// nothing can be folded then.
    package var rows: [RowDifference] = []

    package var isFine: Bool { log.findings.isEmpty && rows.isEmpty }
    /// Whether all that is wrong is that a newer version wrote it.
    package var isNewer: Bool {
        rows.isEmpty && log.findings.areOfNewerFormat
    }
    package var events: UInt64 { log.events }
    package var commits: UInt64 { log.commits }

    /// What is wrong, a line each, with the position.
    package var findings: [String] { log.findings.map { "\($0)" } + rows.map { "\($0)" } }

    /// The Merkle root over all events, as hexadecimal digits.
    package var root: String {
        log.root.map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }
}

extension Journal {
    /// Recomputes the log's checksums and roots, then folds it again and compares every row.
    package func verify() throws -> StoreVerification {
        var result = StoreVerification(
            log: try environment.read { transaction in try log.verify(transaction) })
        guard result.log.findings.isEmpty else { return result }
        do { result.rows = try compareWithRebuilt() } catch let error as ProtoError {
            result.log.findings.append(
                LogError(.corruptMeta, at: .start, "a view row is damaged: \(error)"))
        }
        return result
    }
}

extension [LogError] {
    /// Whether there is something, and all of it is that a newer version wrote it.
    package var areOfNewerFormat: Bool {
        !isEmpty && allSatisfy { $0.code == .newerFormat }
    }
}
