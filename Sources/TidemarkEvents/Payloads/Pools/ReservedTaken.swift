// ReservedTaken.swift — a reserved value was handed out, and is never again.

/// `reserved.taken`; what uses the value is in the same commit, or is yet to come.
package struct ReservedTaken: MemberPayload, EventPayload {
    package var place = PoolPlace()
    package var value = ""

    package init() {}

    package init(_ value: String, of key: PoolKey) {
        place = PoolPlace(key)
        self.value = value
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember(of: \.place),
        PayloadMember("value", \.value, .text, .text),
    ]

    /// `A-17 of numbers`.
    package var gist: String? { "\(value) of \(place.pool)" }
}
