// TriggerReceived.swift — what a gate counts began a sync run: a trigger of the app, or the user.

/// `trigger.received`.
///
/// When, the header says: by the device's clock, and by the time since its boot.
package struct TriggerReceived: MemberPayload, EventPayload {
    /// Nil where the payload does not say.
    package var trigger: SyncTrigger?

    package init() {}

    package init(_ trigger: SyncTrigger) { self.trigger = trigger }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("trigger", \.name, .text, .plain)
    ]

    private var name: String? {
        get { trigger?.rawValue }
        set { trigger = newValue.map(SyncTrigger.init(rawValue:)) }
    }

    package var gist: String? { trigger?.rawValue }
}
