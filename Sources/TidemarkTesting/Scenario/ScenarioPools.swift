// ScenarioPools.swift — values of pools in a scenario: taken by the user, reserved by a run, and
// how many are left.

import Tidemark
import TidemarkEvents

/// Values that the user takes.
struct ScenarioTake: Sendable {
    var key: PoolKey
    /// How many, each in a commit of its own.
    var times: Int
}

/// How many values are to be left.
struct ScenarioPool: Sendable {
    var path: String
    var key: PoolKey
    var left: Int
}

extension ScenarioMembers {
    /// A key of a pool that the model has: the members `pool` and `key`.
    fileprivate func pool(_ model: SyncModel) throws(ScenarioError) -> PoolKey {
        let name = try neededText("pool")
        guard model.pool(name) != nil else {
            throw ScenarioError(path("pool"), "the model has no such pool")
        }
        var texts: [String] = []
        for (path, item) in try list("key") {
            guard let text = item.stringValue else {
                throw ScenarioError(path, "a text is needed")
            }
            texts.append(text)
        }
        let key = PoolKey(name, texts)
        if let problem = key.problem { throw ScenarioError(path("key"), problem) }
        return key
    }
}

extension ScenarioReader {
    func take(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioTake {
        let take = try ScenarioMembers(
            try members.needed("take"), at: members.path("take"), ["pool", "key"])
        return ScenarioTake(
            key: try take.pool(model), times: try members.integer("times", in: 1...1000) ?? 1)
    }

    /// What a run is to have reserved.
    func reservations(
        _ value: JSONValue, at path: String
    ) throws(ScenarioError) -> [SyncScope.Reservation] {
        var wanted: [SyncScope.Reservation] = []
        for (path, item) in try ScenarioMembers(value, at: path, ["reserve"]).list("reserve") {
            let members = try ScenarioMembers(item, at: path, ["pool", "key", "count"])
            let key = try members.pool(model)
            wanted.append(
                SyncScope.Reservation(
                    key.pool, key.texts,
                    count: try members.integer("count", in: ReservedPool.fillRange)))
        }
        guard !wanted.isEmpty else { throw ScenarioError("\(path).reserve", "is needed") }
        return wanted
    }
}

extension ScenarioExpectation {
    /// Reads how many values are to be left.
    static func pools(
        _ members: ScenarioMembers, _ model: SyncModel
    ) throws(ScenarioError) -> [ScenarioPool] {
        var pools: [ScenarioPool] = []
        for (path, item) in try members.list("pools") {
            let pool = try ScenarioMembers(item, at: path, ["pool", "key", "left"])
            guard let left = try pool.integer("left", in: 0...1_000_000) else {
                throw ScenarioError(pool.path("left"), "is needed")
            }
            pools.append(ScenarioPool(path: path, key: try pool.pool(model), left: left))
        }
        return pools
    }
}

extension Replica {
    /// Takes values as the user does.
    func take(_ take: ScenarioTake) async throws {
        for _ in 0..<take.times {
            _ = try await self.take(from: take.key.pool, key: take.key.texts)
        }
    }
}
