// ReservedPool.swift — values that a server reserves for this device in advance, so that they can
// be handed out without it; part of a model.

extension SyncModel {
    /// Values that a server reserves for this device in advance.
    ///
    /// Each key has values of its own; what a key means the server's adapter says. Those named here
    /// are kept filled, and those that a run was once asked to fill: ``SyncScope/reserve(_:)``.
    public struct Pool: Sendable, Hashable {
        /// The name, 1 to 64 bytes.
        public var name: String
        /// What values are kept for: such as an attribute, or an attribute and a unit.
        public var keys: [[String]]
        /// How many values a key has after it was filled, from 1 to 1,000.
        public var fill: Int
        /// Values are asked for where fewer are left, at most ``fill``; nil for half of that.
        public var refillBelow: Int?

        /// A pool of that name.
        public init(
            _ name: String, keys: [[String]] = [], fill: Int = 100, refillBelow: Int? = nil
        ) {
            self.name = name
            self.keys = keys
            self.fill = fill
            self.refillBelow = refillBelow
        }
    }

    /// The pool of that name, or nil.
    package func pool(_ name: String) -> Pool? {
        pools.first { ExactString($0.name) == ExactString(name) }
    }

    /// The keys for which its pools keep values.
    package var poolKeys: [PoolKey] {
        pools.flatMap { pool in pool.keys.map { PoolKey(pool.name, $0) } }
    }

    /// What is wrong with a key of which values are wanted; nil where it can be used.
    package func problem(with key: PoolKey) -> (code: PoolProblem, words: String)? {
        guard pool(key.pool) != nil else {
            let names = pools.map(\.name).joined(separator: ", ")
            return (
                .noPool,
                "the model has no pool \"\(key.pool)\"; "
                    + (names.isEmpty ? "it has none" : "it has \(names)")
            )
        }
        return PoolKey.problem(texts: key.texts).map { (.key, "the key of \(key.pool): \($0)") }
    }

    /// What of a key can't be used.
    package enum PoolProblem { case noPool, key }
}

package typealias ReservedPool = SyncModel.Pool

extension SyncModel {
    /// Refuses names that no pool can have.
    ///
    /// - Throws: ``ModelError`` at the first of them.
    func checkPools() throws(ModelError) {
        for pool in pools {
            if let problem = PoolKey.problem(name: pool.name) {
                throw ModelError("pools.\(pool.name)", problem)
            }
        }
    }

    /// Refuses two pools of one name, of which one would be lost.
    ///
    /// - Throws: ``ModelError`` at the second of them.
    func checkPoolsOnce() throws(ModelError) {
        var names: Set<ExactString> = []
        for pool in pools where !names.insert(ExactString(pool.name)).inserted {
            throw ModelError(
                "pools.\(pool.name)", "there are two of that name; leave one of them out")
        }
    }
}

extension ReservedPool: ModelObject {
    static let blank = ReservedPool("")

    /// How many values a key may have.
    package static let fillRange: ClosedRange<Int64> = 1...1000

    static let members: [ModelMember<ReservedPool>] = [
        ModelMember(
            "keys", \.keys, ModelCodec<String>.text.list(1...PoolKey.textsMax).list(isSet: true),
            """
            What values are kept for, each a list of texts of which the server's adapter says what \
            they mean; others are added by runs that are asked to fill them.
            """),
        ModelMember(
            "fill", \.fill, .number(fillRange),
            "How many values each of them has after it was filled."),
        ModelMember(
            "refillBelow", \.refillBelow, .number(0...fillRange.upperBound),
            """
            Values are asked for where fewer are left, at most fill; half of that unless given, \
            and with 0 only where a run is asked to.
            """),
    ]

    mutating func settle(_ given: JSONObject) -> ModelProblem? {
        if let problem = keys.lazy.compactMap({ PoolKey.problem(texts: $0) }).first {
            return ModelProblem("keys", problem)
        }
        if let refillBelow, refillBelow > fill {
            return ModelProblem("refillBelow", "at most fill, \(fill), is needed")
        }
        return nil
    }
}
