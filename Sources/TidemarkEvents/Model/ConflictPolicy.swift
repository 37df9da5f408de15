// ConflictPolicy.swift — what becomes of local changes when the server changed the same entity; and
// how a model says so.

/// One of the two sides of a conflict.
public enum ConflictSide: String, Sendable, Hashable, CaseIterable {
    /// The server's version stands; what lost to it is reported.
    case serverWins
    /// The local change is applied on the server's version and sent again.
    case localWins
}

/// What becomes of local changes when the server changed the same entity.
///
/// Changes of different fields don't meet, but where an entity is kept whole.
public enum ConflictPolicy: Sendable, Hashable {
    /// The server's version stands; the mutation in conflict is superseded and reported.
    case serverWins
    /// The local change is applied on the server's version and sent again.
    case localWins
    /// The newer side wins, by the server's clock.
    ///
    /// `field` of the server's document holds the time of its last change: RFC 3339, or seconds
    /// or, from 10^11 on, milliseconds since 1970. The local change wins when the server's is less
    /// than `marginSeconds` newer than it; a tie, a time that is not known, and a deletion by the
    /// server go to the server. A server's clock is known to the second only, so a margin of 0
    /// gives what is about as old to the server.
    case preferNewer(field: String, marginSeconds: Int)
    /// An entity with changes that the server has not refused stays whole as it is here, and is
    /// sent whole; one whose changes were refused becomes the server's.
    ///
    /// A deletion by the server wins.
    case overwriteUnlessDirty
    /// An entity with any pending change, refused or not, stays whole as it is here, and is sent
    /// whole.
    ///
    /// A deletion by the server wins.
    case overwriteIfSynced
    /// The server's version stands, and nothing that was pending stays on it.
    case overwriteAlways
    /// Field by field: of one that both sides changed, that side's value; a deletion against a
    /// change as a whole.
    case mergeFields(ConflictSide)
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
        case .custom(let name): name
        }
    }

    /// Whether it asks when, by the server's clock, a local change was made.
    package var comparesTimes: Bool {
        switch self {
        case .preferNewer, .custom: true
        case .serverWins, .localWins, .overwriteUnlessDirty, .overwriteIfSynced,
            .overwriteAlways, .mergeFields:
            false
        }
    }

    /// The largest margin that a model may declare, in seconds.
    package static let marginSecondsMax = 86_400
}

extension ConflictPolicy {
    private static let plain: [ConflictPolicy] = [
        .serverWins, .localWins, .overwriteUnlessDirty, .overwriteIfSynced, .overwriteAlways,
    ]

    /// What is usual without a word, a text, or an object of one member.
    init(_ value: JSONValue, at path: String, _ isLogged: Bool) throws(ModelError) {
        let objects = ["preferNewer", "mergeFields", "custom"]
        if let text = value.stringValue {
            guard let policy = Self.plain.first(where: { $0.name == text }) else {
                let names = Self.plain.map(\.name) + objects.map { "{\"\($0)\":…}" }
                throw ModelError(
                    path, "\"\(text)\" is none of \(names.joined(separator: ", "))")
            }
            self = policy
            return
        }
        let members = try Members(value, at: path, known: objects)
        guard members.object.count == 1 else {
            throw ModelError(path, "one of \(objects.joined(separator: ", ")) is needed")
        }
        if let name = try members.string("custom") {
            self = .custom(name)
        } else if let text = try members.string("mergeFields") {
            guard let side = ConflictSide(rawValue: text) else {
                throw ModelError(
                    "\(path).mergeFields", "\"\(text)\" is none of serverWins, localWins")
            }
            self = .mergeFields(side)
        } else {
            self = try Self.preferNewer(members["preferNewer"], "\(path).preferNewer", isLogged)
        }
    }

    private static func preferNewer(
        _ value: JSONValue?, _ path: String, _ isLogged: Bool
    ) throws(ModelError) -> ConflictPolicy {
        let members = try Members(
            value ?? .null, at: path, known: isLogged ? nil : ["field", "marginSeconds"])
        guard let field = try members.string("field") else {
            throw ModelError("\(path).field", "the field with the server's time is needed")
        }
        let margin = members["marginSeconds"] ?? 0
        guard let seconds = margin.int64Value, (0...Int64(marginSecondsMax)).contains(seconds)
        else {
            throw ModelError(
                "\(path).marginSeconds", "a number from 0 to \(marginSecondsMax) is needed")
        }
        return .preferNewer(field: field, marginSeconds: Int(seconds))
    }

    /// As a model says it.
    var json: JSONValue {
        switch self {
        case .serverWins, .localWins, .overwriteUnlessDirty, .overwriteIfSynced,
            .overwriteAlways:
            .string(name)
        case .preferNewer(let field, let margin):
            [
                "preferNewer": [
                    "field": .string(field), "marginSeconds": .number(JSONNumber(margin)),
                ]
            ]
        case .mergeFields(let side): ["mergeFields": .string(side.rawValue)]
        case .custom(let name): ["custom": .string(name)]
        }
    }
}
