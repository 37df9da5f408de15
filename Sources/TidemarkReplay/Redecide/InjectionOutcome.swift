// InjectionOutcome.swift — how a mishap changes the views.

package import TidemarkCapsule
package import TidemarkEvents
package import TidemarkInspect

/// The effect of a mishap on the views, and the invariants that it breaks.
package struct InjectionOutcome: Sendable, Hashable {
    /// The difference of the views at the end.
    package var difference: ViewsDifference
    /// Invariants that the views break, for example a lost mutation.
    package var faults: [ViewsFault]
    /// Whether every row is the same, visible or not.
    package var isSame: Bool
}

extension ViewsDifference {
    /// The difference between the views of two folds.
    init(before: FoldReplay, after: FoldReplay) throws {
        self = try before.fold.read { views in
            try after.fold.read { try ViewsDifference(before: views, after: $0) }
        }
    }
}

extension Capsule {
    /// Folds it by today's rules, once as it is and once with mishaps.
    ///
    /// - Throws: ``ReplayMistake`` for an event that is not in the capsule, ``Divergence`` where a
    ///   fold throws an error.
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
