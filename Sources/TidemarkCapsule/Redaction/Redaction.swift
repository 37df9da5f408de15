// Redaction.swift — removes the secrets of a capsule, so that it still replays the same.

public import TidemarkEvents
public import TidemarkSync
import TidemarkViews

/// The policy of a redaction: which values of a capsule are replaced, and which stay.
///
/// Texts, numbers, ids, tokens, bytes and the names of fields that no model mentions are replaced,
/// and so are paths and all other words of the server, except ``words``. Equal values stay equal,
/// ids included, wherever they occur. Lengths in UTF-8 bytes stay, unless too many texts share a
/// beginning for that. The order of texts by bytes and of numbers by size stays. Punctuation, white
/// space, true, false, null and 0 stay, and so do positions, HTTP status codes, the exact lengths
/// of files beside entities, and the model except for its remote.
public struct Redaction: Sendable, Hashable {
    /// What is done with times.
    @nonexhaustive public enum Times: Sendable, Hashable {
        /// They stay, both the server's and the device's.
        case kept
        /// All of them are moved by that many days; a negative number moves them back.
        case shifted(days: Int)
    }

    /// What is done with times.
    public var times: Times
    /// Fields whose values stay, by collection and name, as in `tasks.done`.
    ///
    /// A text in one of these fields stays wherever else it occurs.
    public var keep: [String]
    /// Field names that stay besides those of the model; nil for all names.
    public var names: Set<String>?
    /// The server's words that are no secrets, from its adapter (`adapter.words`).
    ///
    /// Without them, all of the server's words are replaced, and its requests look different.
    public var words: ServerWords

    /// A policy; the default replaces everything that it can, except times.
    public init(
        times: Times = .kept, keep: [String] = [], names: Set<String>? = [],
        words: ServerWords = ServerWords()
    ) {
        self.times = times
        self.keep = keep
        self.names = names
        self.words = words
    }

    /// A summary for the recipient of the capsule; it does not tell how far times were shifted.
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
    @nonexhaustive public enum Code: String, Sendable {
        /// The policy can't be read.
        case policy
        /// This version does not know which parts of an event or a row are secrets.
        case unknown
        /// A decision would come out differently in the redacted capsule.
        case decision
        /// The capsule was recorded by other rules, and today's rules make other rows of it.
        case otherRules
    }

    /// What to switch on.
    public let code: Code
    /// The event at which it failed.
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
    /// The capsule without its secrets, folded again, with new digests.
    ///
    /// - Parameter key: 32 random bytes, used once and thrown away; the new values are a function
    ///   of this key and all old values.
    /// - Throws: ``RedactionError`` where a decision would come out differently, or where this
    ///   version does not know the meaning of a part.
    package func redacted(_ policy: Redaction, key: [UInt8]) throws -> Capsule {
        guard base.position == .start || base.fingerprints == View.allFingerprints else {
            throw RedactionError(
                .otherRules, at: base.position,
                "what the capsule begins with was made by another version; make it again")
        }
        let redactor = try Redactor(policy, models: try registeredModels(), key: key)
        redactor.requests = requestedCollections()
        try redactor.collect {
            _ = try rewritten(redactor)
        }
        return try checked(rewritten(redactor), redactor)
    }

    /// The capsule without its secrets, with a new random key.
    ///
    /// - Parameter random: sixty-four random bits.
    package func redacted(_ policy: Redaction, random: () -> UInt64) throws -> Capsule {
        try redacted(policy, key: (0..<4).flatMap { _ in Position(random()).bigEndianBytes })
    }

    /// Of which collections each request is; a batch is of those of its writes.
    private func requestedCollections() -> [Position: Set<CollectionName>] {
        var requests: [Position: Set<CollectionName>] = [:]
        for entry in commits.lazy.flatMap(\.entries) where entry.event.kind == .requestSent {
            guard let collection = entry.event.collection else { continue }
            requests[entry.position, default: []].insert(collection)
            // Each write of a batch names the batch as its cause.
            if let batch = entry.event.cause { requests[batch, default: []].insert(collection) }
        }
        return requests
    }

    /// Events, rows and bodies with replaced values, still with the old digests.
    private func rewritten(_ redactor: Redactor) throws -> Capsule {
        var capsule = self
        capsule.contents = []
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
        // Verbatim answers would give everything away.
        capsule.answers = []
        // The author of the note did not know that the capsule would be passed on.
        capsule.provenance.note = ""
        return capsule
    }
}
