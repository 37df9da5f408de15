// StoreOpened.swift — who writes: logged when any of it changed.

/// `store.opened`.
package struct StoreOpened: MemberPayload, EventPayload {
    /// The library and its version: `tidemark 0.9`.
    package var build = ""
    /// Whose data the store holds; nil where the app does not say.
    package var account: String?
    /// An id that the store was given when it was made, and another one where it was adopted with
    /// reserved values left.
    package var device = ""

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("build", \.build, .text, .plain),
        PayloadMember("account", \.account, .text, .owner),
        PayloadMember("device", \.device, .text, .owner),
    ]

    package var gist: String? { build }
}
