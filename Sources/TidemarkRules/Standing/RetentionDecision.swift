// RetentionDecision.swift — whether an entity was kept long enough.

package import TidemarkEvents

extension RetentionRule {
    /// Whether a time lies back longer than entities are kept: strictly, so that one of just so
    /// long ago is kept.
    ///
    /// - Parameters:
    ///   - time: what the rule's field says.
    ///   - now: the server's time.
    package func isOver(_ time: Timestamp, at now: Timestamp) -> Bool {
        time < now.subtracting(ageMax)
    }
}
