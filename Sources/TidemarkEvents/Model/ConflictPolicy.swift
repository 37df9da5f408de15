// ConflictPolicy.swift — the conflict policies of a model, and how they are written.

/// One of the two sides of a conflict.
public enum ConflictSide: String, Sendable, Hashable, CaseIterable {
    /// The server's version stands; the local change that lost is reported.
    case serverWins
    /// The local change is applied on the server's version and sent again.
    case localWins
}

/// What happens to local changes when the server changed the same entity.
///
/// Changes of different fields don't conflict, unless the policy keeps entities whole.
@nonexhaustive public enum ConflictPolicy: Sendable, Hashable {
    /// The server's version stands; the mutation in conflict is superseded and reported.
    case serverWins
    /// The local change is applied on the server's version and sent again.
    case localWins
    /// The newer side wins, by the server's clock.
    ///
    /// `field` of the server's document holds the time of its last change: RFC 3339, or seconds
    /// or, from 10^11 on, milliseconds since 1970. The local change wins when the server's is less
    /// than `margin` newer. A tie, an unknown time and a deletion by the server go to the server. A
    /// server's clock is known to the second only, so with a margin of 0 the server wins against a
    /// local change of about the same age.
    case preferNewer(field: String, margin: TimeSpan)
    /// An entity with changes that the server has not refused stays whole as it is here, and is
    /// sent whole. One whose changes were refused becomes the server's.
    ///
    /// A deletion by the server wins.
    case overwriteUnlessDirty
    /// An entity with any pending change, refused or not, stays whole as it is here, and is sent
    /// whole.
    ///
    /// A deletion by the server wins.
    case overwriteIfSynced
    /// The server's version stands, and all pending changes are dropped.
    case overwriteAlways
    /// Field by field: for a field that both sides changed, the given side's value. A deletion
    /// against a change goes to that side as a whole.
    case mergeFields(ConflictSide)
    /// Nothing is decided: what is pending on the entity waits, as an issue, until a person says
    /// which side stays.
    case ask
    /// Of the content of a file both sides stay: the server's under its name, and the local one as
    /// a new file beside it, under a name with the time of the server's answer. What is refused
    /// because its name is taken goes under such a name, once. In any other conflict the server's
    /// version stands.
    ///
    /// For trees of files that the server knows by their paths.
    case keepBoth
    /// A ``ConflictRule`` of the app, by its name.
    case custom(String)

    /// The word for logs and tools; of an app's rule its own name.
    package var name: String {
        switch self {
        case .serverWins: "serverWins"
        case .localWins: "localWins"
        case .preferNewer: "preferNewer"
        case .overwriteUnlessDirty: "overwriteUnlessDirty"
        case .overwriteIfSynced: "overwriteIfSynced"
        case .overwriteAlways: "overwriteAlways"
        case .mergeFields: "mergeFields"
        case .ask: "ask"
        case .keepBoth: "keepBoth"
        case .custom(let name): name
        }
    }

    /// Whether it needs the time of a local change by the server's clock.
    package var comparesTimes: Bool {
        switch self {
        case .preferNewer, .custom: true
        case .serverWins, .localWins, .overwriteUnlessDirty, .overwriteIfSynced,
            .overwriteAlways, .mergeFields, .ask, .keepBoth:
            false
        }
    }
}

/// The members of ``ConflictPolicy/preferNewer(field:margin:)``.
struct PreferNewerMembers: ModelObject {
    var field: String
    var margin: TimeSpan

    static let blank = PreferNewerMembers(field: "", margin: .zero)

    static let members: [ModelMember<PreferNewerMembers>] = [
        ModelMember(
            "field", \.field, .text, isNeeded: true,
            "The field of the server's document with the time of its last change."),
        ModelMember(
            "margin", \.margin, .span(to: .days(1), such: "PT5S"),
            older: [.span("marginSeconds", 0...86_400) { .seconds($0) }],
            "How much newer the server's side must be at least to win."),
    ]
}

extension ModelCodec where Value == ConflictPolicy {
    private static let plain: [ConflictPolicy] = [
        .serverWins, .localWins, .overwriteUnlessDirty, .overwriteIfSynced, .overwriteAlways,
        .ask, .keepBoth,
    ]
    private static let preferNewer = PreferNewerMembers.codec("preferNewer")
    private static let side = ModelCodec<ConflictSide>.word
    private static let custom = ModelCodec<String>.text
    private static let shapes = ["preferNewer", "mergeFields", "custom"]

    private static let description = """
        The server's version stands where both changed a field; the local change is sent again; an \
        entity with changes that were not refused, or with any, stays whole as it is here; the \
        server's version stands; a person is asked, and what is pending waits; both contents of a \
        file stay, the local one as a file beside the server's. Or: the newer side wins, by the \
        server's clock; field by field, of one that both changed that side's; or a rule of the \
        app, by its name.
        """

    /// A word, or an object of one member.
    static let conflict = ModelCodec(
        schema: [
            "description": .string(description),
            "anyOf": [
                ["enum": .array(plain.map { .string($0.name) })],
                shape("preferNewer", preferNewer.schema), shape("mergeFields", side.schema),
                shape("custom", custom.schema),
            ],
        ],
        wanted: "a conflict policy is needed", read: read, write: write,
        modern: { value in
            guard var object = value.object, let inner = object["preferNewer"] else { return value }
            object["preferNewer"] = preferNewer.modern(inner)
            return .object(object)
        })

    private static func shape(_ name: String, _ schema: JSONObject) -> JSONValue {
        [
            "type": "object", "required": [.string(name)], "additionalProperties": false,
            "properties": [name: .object(schema)],
        ]
    }

    @Sendable private static func read(
        _ value: JSONValue, _ place: ModelPlace
    ) throws(ModelError) -> ConflictPolicy {
        if let text = value.stringValue {
            if let policy = plain.first(where: { $0.name == text }) { return policy }
            let names = plain.map(\.name) + shapes.map { "{\"\($0)\":…}" }
            throw place.error("\"\(text)\" is none of \(names.joined(separator: ", "))")
        }
        guard let object = value.object else { throw place.error("a text or an object is needed") }
        if let name = object.keys.first(where: { !shapes.contains($0) }) {
            throw place.error("\"\(name)\" is none of \(shapes.joined(separator: ", "))")
        }
        guard object.count == 1, let (name, value) = object.first(where: { _ in true }) else {
            throw place.error("one of \(shapes.joined(separator: ", ")) is needed")
        }
        let place = place.member(name)
        switch name {
        case "preferNewer":
            let members = try preferNewer.read(value, place)
            return .preferNewer(field: members.field, margin: members.margin)
        case "mergeFields": return .mergeFields(try side.read(value, place))
        default: return .custom(try custom.read(value, place))
        }
    }

    @Sendable private static func write(_ policy: ConflictPolicy) -> JSONValue {
        switch policy {
        case .serverWins, .localWins, .overwriteUnlessDirty, .overwriteIfSynced,
            .overwriteAlways, .ask, .keepBoth:
            .string(policy.name)
        case .preferNewer(let field, let margin):
            [
                "preferNewer": preferNewer.write(
                    PreferNewerMembers(field: field, margin: margin))
            ]
        case .mergeFields(let winner): ["mergeFields": side.write(winner)]
        case .custom(let name): ["custom": custom.write(name)]
        }
    }
}

extension Contradiction {
    static let policies = [
        Contradiction("conflict", "tree.content") { collection, _ in
            guard collection.conflict == .keepBoth, collection.tree?.content == nil else {
                return nil
            }
            return """
                keepBoth makes a second file of a content, so it is for trees by paths with \
                content; name another policy
                """
        },
        Contradiction("conflict", "retriesRefused") { collection, _ in
            guard collection.conflict == .ask, collection.retriesRefused else { return nil }
            return "what waits for a person would be sent all the same; leave retriesRefused out"
        },
    ]
}
