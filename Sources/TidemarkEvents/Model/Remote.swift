// Remote.swift — the server of a model: where it is, what it speaks, and what may stand there: the
// log keeps it, so no credential may.

/// A configured server: where it is, what it speaks, where the credentials come from.
public struct Remote: Sendable, Hashable {
    /// Scheme, host and port: `https://sync.example.org`, optionally with a base path; never a
    /// user, a query or a fragment.
    public var origin: String
    /// The name of the server adapter.
    public var adapter: String
    /// What the adapter gives to collections that don't say it themselves.
    public var defaults: AdapterDefaults
    /// Where the tool takes the credentials from: the name of an environment variable, of letters
    /// and digits of ASCII and `_`, and never a credential itself.
    public var credentialsVariable: String
    /// What the adapter needs to know, such as where in the server the data lies; never a secret.
    public var parameters: [String: String]

    /// The environment variable that the tool reads unless the model names another.
    public static let usualCredentialsVariable = "TIDEMARK_CREDENTIALS"

    /// A remote.
    public init(
        origin: String, adapter: String, parameters: [String: String] = [:],
        credentialsVariable: String = Remote.usualCredentialsVariable,
        defaults: AdapterDefaults = AdapterDefaults()
    ) {
        self.origin = origin
        self.adapter = adapter
        self.parameters = parameters
        self.credentialsVariable = credentialsVariable
        self.defaults = defaults
    }

    /// The first member by which another one is another server, or another place on it: `origin` or
    /// the name of a parameter; nil where it is the same.
    ///
    /// - Parameter place: what parameters say of where the data lies.
    package func placeMember(
        differingFrom other: Remote, place: ([String: String]) -> [String: String]
    ) -> String? {
        if origin != other.origin { return "origin" }
        let (own, others) = (place(parameters), place(other.parameters))
        let names = Set(own.keys).union(others.keys).subtracting([Self.preconditions])
        return names.sorted().first { own[$0] != others[$0] }
    }

    /// The parameter that says whether a server heeds the preconditions of writes.
    package static let preconditions = "preconditions"
}

/// What an adapter gives to collections that don't say it themselves; the log keeps it with the
/// remote.
public struct AdapterDefaults: Sendable, Hashable {
    /// The field in which the server writes an entity's last change, or its version.
    public var lastChangeField: String?

    /// Nothing, unless said otherwise.
    public init(lastChangeField: String? = nil) { self.lastChangeField = lastChangeField }
}

extension AdapterDefaults: ModelObject {
    static let blank = AdapterDefaults()

    static let members: [ModelMember<AdapterDefaults>] = [
        ModelMember(
            "lastChangeField", \.lastChangeField, .text,
            "The field in which the server writes an entity's last change, or its version.")
    ]
}

extension Remote: ModelObject {
    static let blank = Remote(origin: "", adapter: "")

    static let members: [ModelMember<Remote>] = [
        ModelMember(
            "origin", \.origin, .origin, isNeeded: true,
            """
            Scheme, host and port, and a base path if there is one; no credentials, no query and \
            no fragment.
            """),
        ModelMember(
            "adapter", \.adapter, .adapter, isNeeded: true, "What the server speaks."),
        ModelMember(
            "defaults", \.defaults, AdapterDefaults.codec("defaults"),
            "What the adapter gives to collections that don't say it themselves."),
        ModelMember(
            "credentialsVariable", \.credentialsVariable, .variable,
            "The environment variable from which the tool takes the credentials."),
    ]

    static let more: ModelMore<Remote>? = ModelMore(
        schema: ["type": "string"],
        read: { (name, value, place, remote) throws(ModelError) in
            guard let text = value.stringValue else { throw place.error("a text is needed") }
            remote.parameters[name] = text
        },
        write: { remote in
            remote.parameters.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) }
        })
}

extension ModelCodec where Value == String {
    /// The address of a server, without a slash at its end.
    fileprivate static let origin = ModelCodec(
        schema: ["type": "string", "pattern": "^https?://[^/@?#][^@?#]*$"],
        wanted: "an http:// or https:// address is needed",
        read: { (value, place) throws(ModelError) in
            guard let origin = value.stringValue,
                let scheme = ["http://", "https://"].first(where: origin.hasPrefix),
                let host = origin.dropFirst(scheme.count).first, host != "/"
            else { throw place.error("an http:// or https:// address is needed") }
            let address = origin.hasSuffix("/") ? String(origin.dropLast()) : origin
            if !place.isLogged { try Remote.check(origin: address) }
            return address
        },
        write: { .string($0) })

    /// The name of an adapter.
    fileprivate static let adapter: ModelCodec = {
        var codec = ModelCodec.text
        codec.wanted = "the name of a server adapter is needed"
        return codec
    }()

    /// The name of an environment variable.
    fileprivate static let variable = ModelCodec(
        schema: ["type": "string", "pattern": "^[A-Za-z_][A-Za-z0-9_]*$"],
        wanted: "the name of an environment variable is needed",
        read: { (value, place) throws(ModelError) in
            let name = try text.read(value, place)
            if !place.isLogged { try Remote.check(variable: name) }
            return name
        },
        write: { .string($0) })
}

extension Remote {
    /// The remote as a model document has it.
    package var document: JSONValue { .object(json) }

    /// Refuses an origin with more than scheme, host, port and path, and a variable whose name is
    /// none; what is wrong is told without it.
    ///
    /// - Throws: ``ModelError``.
    package func check() throws(ModelError) {
        try Self.check(origin: origin)
        try Self.check(variable: credentialsVariable)
    }

    fileprivate static func check(origin: String) throws(ModelError) {
        guard !origin.contains("@") else {
            throw ModelError("remote.origin", "credentials don't belong here; name a variable")
        }
        guard !origin.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw ModelError(
                "remote.origin",
                "a query or a fragment doesn't belong here; only scheme, host, port and path do")
        }
    }

    fileprivate static func check(variable: String) throws(ModelError) {
        guard isVariable(variable) else {
            throw ModelError(
                "remote.credentialsVariable",
                "the name of an environment variable is needed: letters, digits and _ (ASCII), "
                    + "and no digit first")
        }
    }

    private static func isVariable(_ name: String) -> Bool {
        let isFirst = { (byte: UInt8) in byte == UInt8(ascii: "_") || byte.isLetter }
        guard let first = name.utf8.first, isFirst(first) else { return false }
        return name.utf8.allSatisfy { isFirst($0) || (0x30...0x39).contains($0) }
    }
}

extension UInt8 {
    fileprivate var isLetter: Bool { (0x41...0x5A).contains(self & 0xDF) }
}
