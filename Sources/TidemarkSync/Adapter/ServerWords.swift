// ServerWords.swift — what an adapter says of its server's words: which header fields of an answer
// it reads, and what in paths, bodies and versions is no secret.

/// Words of one kind of server.
///
/// A header field that is not named here is neither handed to the adapter nor logged. A word that
/// is not named here is replaced in a redacted capsule.
public struct ServerWords: Sendable, Hashable {
    /// A header field that the adapter reads, and that is logged with the answer.
    public struct Field: Sendable, Hashable {
        /// What it says.
        public enum Meaning: Sendable, Hashable {
            /// A notice to the operator of the app: ``SyncOutcome/alert``.
            case notice
            /// For how many seconds only necessary calls are to be made; at most a day is honoured.
            case rest
            /// The path or the address of the next page, as in ``ListPage/next``.
            case nextPage
            /// Something that only the adapter knows the meaning of; redacted like any text.
            case other
        }

        /// Its name, which begins with a capital letter, as the log has it.
        public let name: String
        /// What it says.
        public let meaning: Meaning

        /// A header field; neither Date nor ETag, which are always kept, nor one by whose name the
        /// log has another meaning.
        public init(_ name: String, _ meaning: Meaning) {
            precondition(
                Self.isUsable(name, meaning), "\(name) is no name that the log can have for it")
            self.name = name
            self.meaning = meaning
        }
    }

    /// What a parameter of a query holds.
    public enum Parameter: Sendable, Hashable {
        /// A version, a time, or any other text.
        case version
        /// Seconds since 1970.
        case seconds
        /// A number that says how much is asked for.
        case count
        /// `true`.
        case flag
        /// Ids in quotes, with commas between them.
        case ids
    }

    /// What a member of a body or a document holds, beside that its name is no secret.
    public enum Member: Sendable, Hashable {
        /// Anything.
        case anything
        /// What is no part of the protocol any more: numbers in it are secrets, too.
        case content
        /// A number of the protocol, such as a status.
        case number
        /// The path of a request.
        case path
        /// Bytes in Base64.
        case base64
    }

    /// How versions look that an adapter makes of a time and something else: `TIME@TEXT`.
    public struct Versions: Sendable, Hashable {
        /// What stands between the two.
        public var separator: Character
        /// What stands for a time that is not known.
        public var unknown: String

        /// Versions of a time, a separator and a text.
        public init(separator: Character, unknown: String) {
            self.separator = separator
            self.unknown = unknown
        }
    }

    /// Texts of lines `NAME;PARAMETERS:VALUE`, of which long ones go on after a space or a tab, as
    /// in RFC 5545 and RFC 6350.
    public struct Lines: Sendable, Hashable {
        /// What such a text begins with.
        public var beginnings: [String]
        /// The names of lines by which the text is built, whose values are ``ServerWords/others``.
        public var structure: Set<String>
        /// Those whose values are times, as in `20261121T120544Z`.
        public var times: Set<String>
        /// All others that are no secrets.
        public var names: Set<String>

        /// Texts that begin in one of some ways.
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
    /// Besides them it is handed Date, ETag, Content-Type, Content-Location, Last-Modified,
    /// Location and Retry-After, and no other.
    public var fields: [Field]
    /// Segments of paths that are neither an id nor a name.
    public var segments: Set<String>
    /// What a segment may end with, behind an id.
    public var suffixes: [String]
    /// Parameters of queries.
    public var parameters: [String: Parameter]
    /// Members of bodies and documents.
    public var members: [String: Member]
    /// What is the same for every user, by the segment of the path, or the member of the remote,
    /// that it follows.
    public var constants: [String: Set<String>]
    /// Any other words: methods, and values of ``Lines/structure``.
    public var others: Set<String>
    /// How versions look, where times stand in them among other things.
    public var versions: Versions?
    /// Texts of lines.
    public var lines: [Lines]

    /// No words, but those that are given.
    public init(
        fields: [Field] = [], segments: Set<String> = [], suffixes: [String] = [],
        parameters: [String: Parameter] = [:], members: [String: Member] = [:],
        constants: [String: Set<String>] = [:], others: Set<String> = [],
        versions: Versions? = nil, lines: [Lines] = []
    ) {
        self.fields = fields
        self.segments = segments
        self.suffixes = suffixes
        self.parameters = parameters
        self.members = members
        self.constants = constants
        self.others = others
        self.versions = versions
        self.lines = lines
    }
}
