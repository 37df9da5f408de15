// AssetWanted.swift — somebody wants what a record names to be here, or no longer does.

/// `asset.wanted`; the header's entity is the record.
package struct AssetWanted: MemberPayload, EventPayload {
    /// What else than the record's own content is wanted.
    package enum Scope: String, Sendable {
        /// Nothing.
        case entity
        /// All that lies below it.
        case tree
    }

    /// The field that names it, as it stands in the model's `contents`; empty for each of them.
    package var field = ""
    /// Who wants it: `user`, or a name of the app's.
    package var by = AssetWanted.user
    /// Nil where the payload names a scope of a newer version.
    package var scope: Scope? = .entity
    /// False where it is taken back: the last event about a record, a field and a name holds.
    package var isWanted = true

    package init() {}

    package init(_ field: String, by: String, scope: Scope = .entity, isWanted: Bool = true) {
        self.field = field
        self.by = by
        self.scope = scope
        self.isWanted = isWanted
    }

    /// Who wants something, unless somebody else is named.
    package static let user = "user"

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("field", \.field, .text, .text) { $0.isEmpty },
        PayloadMember("by", \.by, .text, .word),
        PayloadMember("scope", \.scope, .word, .plain),
        PayloadMember("wanted", \.isWanted, .flag, .plain),
    ]

    package static func words(of event: Event) -> String? {
        let said = Self(stored: event.payload)
        let what = said.field.isEmpty ? "what it names" : "what \(said.field) names"
        let by = said.by == user ? "by the user" : "by \(said.by)"
        return said.isWanted ? "\(what) is wanted \(by)" : "\(what) is no longer wanted \(by)"
    }
}
