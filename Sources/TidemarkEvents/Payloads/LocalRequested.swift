// LocalRequested.swift — what the user wants the server to do with an entity, beside taking its
// changes.

/// `local.requested`: an action of the model, ``CollectionModel/actions``.
package struct LocalRequested: MemberPayload, EventPayload {
    /// The action's name.
    package var action = ""
    /// What it needs, an object of name to text.
    package var parameters: [UInt8] = Array("{}".utf8)
    /// The entity that it makes; nil for one that makes none.
    package var document: [UInt8]?

    package init() {}

    package init(
        _ action: String, _ parameters: [String: String], document: [UInt8]? = nil
    ) {
        self.action = action
        self.document = document
        var object = JSONObject()
        for (name, text) in parameters.sorted(by: { $0.key < $1.key }) {
            object[name] = .string(text)
        }
        self.parameters = JSONValue.object(object).encoded()
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("action", \.action, .text, .word),
        PayloadMember("parameters", \.parameters, .json, .body) { $0 == Array("{}".utf8) },
        PayloadMember("document", \.document, .json, .body),
    ]

    package var gist: String? { action }

    package static func words(of event: Event) -> String? {
        event.read(LocalRequested.self).map { requested in
            requested.document == nil
                ? "asked for here: \(requested.action)"
                : "made here by \(requested.action)"
        }
    }

    /// The parameters by name; none where they are no texts.
    package var texts: [String: String] {
        let object = (try? JSONValue(parsing: parameters))?.object ?? [:]
        return Dictionary(
            object.compactMap { name, value in value.stringValue.map { (name, $0) } },
            uniquingKeysWith: { first, _ in first })
    }
}

extension Event {
    /// The document of the entity that a local event makes; nil for one that makes none.
    package var made: [UInt8]? {
        kind == .localCreated ? payload : read(LocalRequested.self)?.document
    }
}
