// Replica+Actions.swift — what actions granted.

public import TidemarkEvents
import TidemarkRules
import TidemarkViews

extension Replica {
    /// Until when holds what an action of that name granted last, by the server's clock; nil where
    /// none granted anything, and where it is over: ``CollectionModel/ActionRule/grants``.
    ///
    /// - Parameters:
    ///   - action: the action's name.
    ///   - key: the entity.
    /// - Throws: errors of the storage.
    public func grant(_ action: String, of key: EntityKey) throws -> Timestamp? {
        let moment = dependencies.moment
        return try read { tx in
            let now = try tx.views.serverClock()?.time(at: moment) ?? moment.now
            return try tx.views.grant(action, of: key).map(\.until).flatMap { $0 > now ? $0 : nil }
        }
    }
}
