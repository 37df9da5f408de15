// ServerWords.swift — the vocabulary of an adapter's server: which header fields of an answer it
// reads, and which words in paths, bodies and versions are no secrets.

/// The vocabulary of one kind of server.
///
/// A header field that is not named here is neither handed to the adapter nor logged. A word that
/// is not named here is replaced in a redacted capsule.
public struct ServerWords: Sendable, Hashable {
    /// A header field that the adapter reads, and that is logged with the answer.
    public struct Field: Sendable, Hashable {
        /// What a field's value means.
        @nonexhaustive public enum Meaning: Sendable, Hashable {
            /// A notice to the operator of the app: ``SyncOutcome/alert``.
            case notice
            /// For how many seconds only necessary calls are to be made; at most a day is honoured.
            case rest
            /// The path or the address of the next page, as in ``ListPage/next``.
            case nextPage
            /// A number of the protocol that only the adapter knows the meaning of; it is no
            /// secret.
            case number
            /// Something that only the adapter knows the meaning of; redacted like any text.
            case other
        }

        /// The name as the log has it; it begins with a capital letter.
        public let name: String
        /// What its value means.
        public let meaning: Meaning

        /// A header field; neither Date nor ETag, which are always kept, nor a name that means
        /// something else in the log.
        public init(_ name: String, _ meaning: Meaning) {
            precondition(
                Self.isUsable(name, meaning), "\(name) is no name that the log can have for it")
            self.name = name
            self.meaning = meaning
        }
    }

    /// What a parameter of a query holds.
    @nonexhaustive public enum Parameter: Sendable, Hashable {
        /// A version, a time, or any other text.
        case version
        /// Seconds since 1970.
        case seconds
        /// A number of entities to return.
        case count
        /// `true`.
        case flag
        /// Ids in quotes, with commas between them.
        case ids
        /// Names of fields, each perhaps after a minus, with commas between them.
        case field
    }

    /// What a member of a body or a document holds; its name is never a secret.
    @nonexhaustive public enum Member: Sendable, Hashable {
        /// Anything.
        case anything
        /// User content and no longer part of the protocol: numbers in it are secrets, too.
        case content
        /// A number of the protocol, such as a status.
        case number
        /// The path of a request.
        case path
        /// Bytes in Base64.
        case base64
    }

    /// The form of versions that an adapter makes of a time and something else: `TIME@TEXT`.
    public struct Versions: Sendable, Hashable {
        /// The separator between time and text.
        public var separator: Character
        /// The text for an unknown time.
        public var unknown: String

        /// Versions of a time, a separator and a text.
        public init(separator: Character, unknown: String) {
            self.separator = separator
            self.unknown = unknown
        }
    }

    /// Texts made of lines `NAME;PARAMETERS:VALUE`, where a long line is folded by a line break
    /// before a space or a tab, as in RFC 5545 and RFC 6350.
    public struct Lines: Sendable, Hashable {
        /// What such a text begins with.
        public var beginnings: [String]
        /// The names of lines that structure the text, whose values are ``ServerWords/others``.
        public var structure: Set<String>
        /// The names of lines whose values are times, as in `20261121T120544Z`.
        public var times: Set<String>
        /// All other line names that are no secrets.
        public var names: Set<String>

        /// Texts with one of several beginnings.
        public init(
            beginnings: [String], structure: Set<String>, times: Set<String>, names: Set<String>
        ) {
            self.beginnings = beginnings
            self.structure = structure
            self.times = times
            self.names = names
        }
    }

    /// Header fields of answers that the adapter reads, in the order in which the log has them.
    ///
    /// The adapter is also handed Date, ETag, Content-Type, Content-Location, Last-Modified,
    /// Location and Retry-After, and no others.
    public var fields: [Field]
    /// Segments of paths that are neither an id nor a name.
    public var segments: Set<String>
    /// Suffixes that a segment may have after an id.
    public var suffixes: [String]
    /// Parameters of queries.
    public var parameters: [String: Parameter]
    /// What parameters begin with that go on with the name of a field, and hold a value of it as
    /// JSON: `max_`.
    public var comparisons: [String]
    /// Members of bodies and documents.
    public var members: [String: Member]
    /// Values that are the same for every user, by the path segment or the member of the remote
    /// that they follow.
    public var constants: [String: Set<String>]
    /// Members of the remote that hold the version of the server: the number in it is no secret,
    /// `2.41` of `2.41-ours`.
    public var remoteVersions: Set<String>
    /// Any other words: methods, and values of ``Lines/structure``.
    public var others: Set<String>
    /// The form of versions that hold a time among other things.
    public var versions: Versions?
    /// Texts made of lines.
    public var lines: [Lines]

    /// No words, but those that are given.
    public init(
        fields: [Field] = [], segments: Set<String> = [], suffixes: [String] = [],
        parameters: [String: Parameter] = [:], comparisons: [String] = [],
        members: [String: Member] = [:],
        constants: [String: Set<String>] = [:], remoteVersions: Set<String> = [],
        others: Set<String> = [], versions: Versions? = nil, lines: [Lines] = []
    ) {
        self.fields = fields
        self.segments = segments
        self.suffixes = suffixes
        self.parameters = parameters
        self.comparisons = comparisons
        self.members = members
        self.constants = constants
        self.remoteVersions = remoteVersions
        self.others = others
        self.versions = versions
        self.lines = lines
    }
}
