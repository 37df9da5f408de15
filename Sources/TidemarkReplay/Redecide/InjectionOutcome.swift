// InjectionOutcome.swift — what becomes of the views when something happens otherwise.

package import TidemarkCapsule
package import TidemarkEvents
package import TidemarkInspect

/// How the outcome differs when something happened otherwise, and what no longer holds.
package struct InjectionOutcome: Sendable, Hashable {
    /// How the views differ in the end.
    package var difference: ViewsDifference
    /// What must hold of any views and does not: a mutation that is lost, for example.
    package var faults: [ViewsFault]
    /// Whether every row is the same, seen or not.
    package var isSame: Bool
}

extension ViewsDifference {
    /// The difference of what two folds made.
    init(before: FoldReplay, after: FoldReplay) throws {
        self = try before.fold.read { views in
            try after.fold.read { try ViewsDifference(before: views, after: $0) }
        }
    }
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
            difference: try ViewsDifference(before: plain, after: other),
            faults: try other.faults(), isSame: plain.fold.rows == other.fold.rows)
    }
}
