// ReservedAdded.swift — values that a server reserved for this device.

/// The members by which a payload names a pool and what of it.
package struct PoolPlace: MemberPayload {
    package var pool = ""
    package var texts: [String] = []

    package init() {}

    package init(_ key: PoolKey) { (pool, texts) = (key.pool, key.texts) }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("pool", \.pool, .text, .text) { $0.isEmpty },
        PayloadMember("key", \.texts, .list(of: .text), .text) { $0.isEmpty },
    ]

    /// Nil where the payload names none that can be used.
    package var key: PoolKey? {
        let key = PoolKey(pool, texts)
        return key.problem == nil ? key : nil
    }
}

/// `reserved.added`.
package struct ReservedAdded: MemberPayload, EventPayload {
    package var place = PoolPlace()
    /// By what the server made the values; nil where it says nothing of that.
    package var pattern: String?
    /// The values, in the server's order.
    package var values: [String] = []
    /// Of each, the moment of the device's clock from which on it can't be used; nil for none.
    package var until: [Timestamp?] = []
    /// Whether values that were made by another pattern go.
    package var replaces = false

    package init() {}

    package init(_ key: PoolKey, pattern: String?) {
        place = PoolPlace(key)
        self.pattern = pattern
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember(of: \.place),
        PayloadMember("pattern", \.pattern, .text, .text),
        PayloadMember("values", \.values, .list(of: .text), .text),
        PayloadMember("until", \.until, .list(of: .end), .time),
        PayloadMember("replaces", \.replaces, .flag, .plain) { !$0 },
    ]

    /// `51 values for numbers`.
    package var gist: String? {
        "\(values.count == 1 ? "1 value" : "\(values.count) values") for \(place.pool)"
    }
}

extension PayloadCodec<Timestamp?> {
    /// Microseconds since 1970, or null for no end.
    fileprivate static var end: Self {
        PayloadCodec(
            "microseconds since 1970, or null",
            { value in
                if value == .null { return .some(nil) }
                return value.int64Value.map { .some(Timestamp(rawValue: $0)) }
            },
            append: { $1 += ($0.map { String($0.rawValue) } ?? "null").utf8 })
    }
}
