// RefillRule.swift — how many values of a pool are asked for.

package import TidemarkEvents

/// When a key of a pool is filled, and how far.
package enum RefillRule {
    /// How many values are asked for; 0 for none.
    ///
    /// A run that is asked for a number has so many here at its end; other runs fill a key when
    /// fewer than the threshold are left: not when as many are.
    ///
    /// - Parameters:
    ///   - left: how many can be used.
    ///   - explicit: how many the run is asked to have.
    ///   - remembered: how many an earlier run was asked to have last, instead of the model.
    package static func count(
        left: Int, of pool: SyncModel.Pool, explicit: Int?, remembered: Int?
    ) -> Int {
        let fill = explicit ?? remembered ?? pool.fill
        let threshold = explicit ?? min(pool.refillBelow ?? max(fill / 2, 1), fill)
        return left < threshold ? fill - left : 0
    }
}
