// InjectionOutcome.swift — what becomes of the views when something happens otherwise.

package import TidemarkEvents

/// How the outcome differs when something happened otherwise, and what no longer holds.
public struct InjectionOutcome: Sendable, Hashable {
    /// How the views differ in the end.
    public var difference: ReplayDifference
    /// What must hold of any views and does not: a mutation that is lost, for example.
    public var faults: [String]

    /// Whether it made no difference.
    public var isSame: Bool { difference.isEmpty && faults.isEmpty }
}

extension Capsule {
    /// Folds it as it is and with something happening otherwise, by today's rules.
    ///
    /// - Throws: ``ReplayMistake`` for an event that is not there, ``Divergence`` where a fold
    ///   throws.
    package func outcome(
        injecting: [Injection], through: Position? = nil
    ) throws -> InjectionOutcome {
        let plain = try FoldReplay(self, through: through, compares: false)
        let other = try FoldReplay(self, through: through, inject: injecting, compares: false)
        for replay in [plain, other] { if let error = replay.report.divergence { throw error } }
        return InjectionOutcome(
            difference: try ReplayDifference(before: plain.fold.rows, after: other.fold.rows),
            faults: try other.faults().map(\.description))
    }
}
