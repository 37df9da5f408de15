// Redaction.swift — a capsule without its secrets that replays as the one that it was made of.

public import TidemarkEvents
public import TidemarkSync
import TidemarkViews

/// What of a capsule is replaced, and what stays.
///
/// Texts, numbers, ids, tokens, bytes, and the names of fields that no model mentions are replaced,
/// and so are paths and whatever else a server has a word of its own for, but for ``words``.
/// Equal values stay equal, also ids wherever they stand; lengths stay, in bytes of UTF-8; orders
/// stay, of texts by their bytes and of numbers by their size. Punctuation, white space, true,
/// false, null and 0 stay, and so do positions, HTTP status codes, and the model but for what it
/// says of the server.
public struct Redaction: Sendable, Hashable {
    /// What becomes of times.
    public enum Times: Sendable, Hashable {
        /// They stay, the server's and the device's.
        case kept
        /// All of them are so many days later, or earlier.
        case shifted(days: Int)
    }

    /// What becomes of times.
    public var times: Times
    /// Fields whose values stay, by collection and name, as in `tasks.done`.
    ///
    /// A text that one of them holds stays wherever else it stands.
    public var keep: [String]
    /// Names of fields that stay beside those of the model; all of them where it is nil.
    public var names: Set<String>?
    /// The words of the server that are no secrets, which its adapter knows (`adapter.words`).
    ///
    /// Without them none of its words stays:
    /// its requests are others.
    public var words: ServerWords

    /// A policy; without arguments, the one that gives away least but for times.
    public init(
        times: Times = .kept, keep: [String] = [], names: Set<String>? = [],
        words: ServerWords = ServerWords()
    ) {
        self.times = times
        self.keep = keep
        self.names = names
        self.words = words
    }

    /// What it does, for the recipient of the capsule; not how far times were shifted.
    var summary: String {
        var words = ["texts, numbers, ids and tokens replaced"]
        words.append(times == .kept ? "times kept" : "times shifted")
        if names == nil { words.append("names of fields kept") }
        if let names, !names.isEmpty {
            words.append("names kept: \(names.sorted().joined(separator: ", "))")
        }
        if !keep.isEmpty { words.append("values kept: \(keep.joined(separator: ", "))") }
        return words.joined(separator: "; ")
    }

    /// A field whose values stay.
    struct Field: Hashable {
        var collection: String
        var name: String
    }

    /// The fields of ``keep``.
    func keptFields() throws(RedactionError) -> Set<Field> {
        var fields: Set<Field> = []
        for text in keep {
            guard let dot = text.firstIndex(of: "."), dot > text.startIndex,
                text.index(after: dot) < text.endIndex
            else {
                throw RedactionError(
                    .policy, "\"\(text)\" names no field; write COLLECTION.FIELD, as in tasks.done")
            }
            fields.insert(
                Field(
                    collection: String(text[..<dot]), name: String(text[text.index(after: dot)...]))
            )
        }
        return fields
    }
}

/// Why a capsule was not redacted.
public struct RedactionError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What to switch on.
    public enum Code: String, Sendable {
        /// The policy can't be read.
        case policy
        /// An event or a row is of a kind that this version knows no secrets of.
        case unknown
        /// Redacted, the capsule would be decided otherwise.
        case decision
        /// Other rules recorded the capsule, and today's make other rows of it.
        case otherRules
    }

    /// What to switch on.
    public let code: Code
    /// The event that it is about.
    public let position: Position?
    /// What is wrong, and what to do.
    public let problem: String

    init(_ code: Code, at position: Position? = nil, _ problem: String) {
        self.code = code
        self.position = position
        self.problem = problem
    }

    /// Position and problem in one line.
    public var description: String { position.map { "\($0): \(problem)" } ?? problem }
}

extension Capsule {
    /// The capsule without its secrets, folded again, with the digests of what it is now.
    ///
    /// - Parameter key: what the new values are functions of, together with all of the old ones; 32
    ///   random bytes that are used once and thrown away.
    /// - Throws: ``RedactionError`` where a decision would be another one, or there is something of
    ///   which this version does not know what it means.
    package func redacted(_ policy: Redaction, key: [UInt8]) throws -> Capsule {
        guard base.position == .start || base.fingerprints == View.allFingerprints else {
            throw RedactionError(
                .otherRules, at: base.position,
                "what the capsule begins with was made by another version; make it again")
        }
        let redactor = try Redactor(policy, models: try registeredModels(), key: key)
        try redactor.collect {
            _ = try rewritten(redactor)
        }
        return try checked(rewritten(redactor), redactor)
    }

    /// The capsule without its secrets, with a key of its own.
    ///
    /// - Parameter random: sixty-four random bits.
    package func redacted(_ policy: Redaction, random: () -> UInt64) throws -> Capsule {
        try redacted(policy, key: (0..<4).flatMap { _ in Position(random()).bigEndianBytes })
    }

    /// Events, rows and bodies with other values, as yet with the digests of the old ones.
    private func rewritten(_ redactor: Redactor) throws -> Capsule {
        var capsule = self
        for index in bodies.indices {
            capsule.bodies[index] = try redactor.body(bodies[index])
            redactor.note(bodies[index], became: capsule.bodies[index])
        }
        for commit in commits.indices {
            for index in commits[commit].entries.indices {
                let entry = commits[commit].entries[index]
                do {
                    capsule.commits[commit].entries[index].event = try redactor.event(entry.event)
                } catch let error as RedactionError {
                    throw RedactionError(error.code, at: entry.position, error.problem)
                }
            }
        }
        let old = Dictionary(
            base.rows.map { ($0.key, $0.value) }, uniquingKeysWith: { first, _ in first })
        capsule.base.rows = try base.rows.map { row in
            SnapshotRow(
                key: try redactor.key(row.key),
                value: try redactor.row(row.key, row.value) { old[$0] })
        }
        capsule.base.rows.sort { $0.key < $1.key }
        capsule.provenance.isRedacted = true
        capsule.provenance.redaction = redactor.policy.summary
        capsule.provenance.namesRemote = false
        // What came as it came says everything.
        capsule.answers = []
        // Who wrote it did not know that it would be handed on.
        capsule.provenance.note = ""
        return capsule
    }
}
