// LocalWiped.swift — the app dropped what is here of all collections but some, to begin anew.

/// `local.wiped`.
package struct LocalWiped: MemberPayload, EventPayload {
    /// The names of the collections that stay; nil where the payload says nothing, so that nothing
    /// goes.
    package var keeps: [String]?

    package init() {}

    package init(keeping kept: [CollectionName]) { keeps = kept.map(\.rawValue) }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("keeps", \.keeps, .list(of: .text), .text)
    ]

    /// The collections that stay.
    package var kept: Set<ExactString>? { keeps.map { Set($0.map { ExactString($0) }) } }

    package static func words(of event: Event) -> String? { "wiped here" }

    package var gist: String? {
        keeps.map { $0.isEmpty ? "all" : "all but \($0.joined(separator: ", "))" }
    }
}
