// ConflictRule.swift — the app's own rules for conflicts: the question and the answer.

/// A rule of the app that decides conflicts, for collections of ``ConflictPolicy/custom(_:)``.
///
/// The rule is asked once, when the server's change arrives. Its answer is logged with that change,
/// and is read from the log afterwards: folding the log again never asks the rule.
public struct ConflictRule: Sendable {
    /// The name that a model refers to.
    public var name: String
    /// To be raised when the same case is decided differently; logged with each answer.
    public var version: Int
    /// Decides a case, given the collection's model.
    private let answer: @Sendable (ConflictCase, CollectionModel) throws -> ConflictAnswer

    /// A rule.
    ///
    /// - Parameter decide: the answer to a case. Pure: the same case gives the same answer; it may
    ///   be called more than once, on any thread. While it throws, the server's change is not
    ///   taken, and the collection is paused.
    public init(
        name: String, version: Int = 1,
        decide: @escaping @Sendable (ConflictCase) throws -> ConflictAnswer
    ) {
        self.init(name, version) { question, _ in try decide(question) }
    }

    package init(
        _ name: String, _ version: Int,
        _ answer: @escaping @Sendable (ConflictCase, CollectionModel) throws -> ConflictAnswer
    ) {
        self.name = name
        self.version = version
        self.answer = { question, collection in
            var question = question
            question.collection = collection
            return try answer(question, collection)
        }
    }

    /// The answer to a case, as a run is given it; also for an app's tests of its rule.
    ///
    /// A run takes no document of more than 1 MiB, or that is no JSON object: it is not looked at
    /// here.
    ///
    /// - Parameter collection: the model of the case's collection.
    /// - Throws: what the rule throws; of a rule over the app's own type also `TidemarkError`,
    ///   where a side can't be read as that type, or the case is of another collection.
    public func decide(
        _ question: ConflictCase, in collection: CollectionModel
    ) throws -> ConflictAnswer {
        try answer(question, collection)
    }
}

/// A conflict: one entity that both sides changed.
public struct ConflictCase: Sendable, Hashable {
    /// The entity.
    public var key: EntityKey
    /// The server's document before, or nil when there was none.
    public var base: [UInt8]?
    /// The local entity; nil when it was deleted here.
    public var local: [UInt8]?
    /// The server's document now; nil when it was deleted there.
    public var server: [UInt8]?
    /// The fields that pending changes touch, in the order of the changes.
    public var fields: [String]
    /// The server's last change by its own clock, where the server tells it.
    public var serverTime: Timestamp?
    /// The last local change by the server's clock, where that was known.
    public var localTime: Timestamp?
    /// The model of the collection whose rule is asked.
    package var collection: CollectionModel?

    /// A conflict from its parts.
    public init(
        key: EntityKey, base: [UInt8]?, local: [UInt8]?, server: [UInt8]?, fields: [String],
        serverTime: Timestamp? = nil, localTime: Timestamp? = nil
    ) {
        self.key = key
        self.base = base
        self.local = local
        self.server = server
        self.fields = fields
        self.serverTime = serverTime
        self.localTime = localTime
    }

    /// Both sides, merged field by field; nil where one of them deleted the entity.
    ///
    /// It is the server's document with all that only the local side changed since ``base``. An
    /// answer begins with it: what it leaves out of the local side is given up. A rule that a run
    /// asks is given the elements of ``CollectionModel/keyed`` lists merged one by one.
    public var merged: [UInt8]? {
        guard let local, let server, let mine = try? JSONDocument(parsing: local),
            let theirs = try? JSONDocument(parsing: server),
            let before = try? JSONDocument(parsing: base ?? Array("{}".utf8))
        else { return nil }
        let (lists, left) = (collection?.keyed ?? [], collection?.serverFields ?? [])
        let there = Patch(from: before, to: theirs, except: left, lists)
        let here = Patch(from: before, to: mine, except: left, lists)
        return here.without(Set(there.fieldNames.map(ExactString.init)), lists)
            .applied(to: theirs, lists)
    }

    /// The case as one JSON object, whose hash is logged with the answer: members in this order,
    /// documents byte for byte, times in microseconds, `null` for what is not there.
    package var canonical: [UInt8] {
        var bytes = Array(#"{"key":"#.utf8)
        JSON.appendString(key.description, to: &bytes)
        for (name, document) in [("base", base), ("local", local), ("server", server)] {
            bytes += Array(",\"\(name)\":".utf8) + (document ?? Array("null".utf8))
        }
        bytes += Array(#","fields":"#.utf8)
        bytes += JSONValue.array(fields.map(JSONValue.string)).encoded()
        for (name, time) in [("serverTime", serverTime), ("localTime", localTime)] {
            bytes += Array(",\"\(name)\":\(time.map { "\($0.rawValue)" } ?? "null")".utf8)
        }
        return bytes + [UInt8(ascii: "}")]
    }
}

/// How a rule decides a conflict.
@nonexhaustive public enum ConflictAnswer: Sendable, Hashable {
    /// The server's version stands; the mutations in conflict are superseded and reported.
    case server
    /// The local changes are applied on the server's version and sent again.
    case local
    /// The entity becomes this document, a JSON object of at most 1 MiB, and is sent.
    case document([UInt8])

    /// The largest document of an answer, in bytes.
    package static let documentBytesMax = 1 << 20

    /// The form in the log: `"server"`, `"local"` or `{"document":{…}}`.
    package var json: [UInt8] {
        switch self {
        case .server: Array(#""server""#.utf8)
        case .local: Array(#""local""#.utf8)
        case .document(let bytes): Array(#"{"document":"#.utf8) + bytes + [UInt8(ascii: "}")]
        }
    }

    /// Reads what ``json`` wrote; nil for anything else.
    package init?(json: [UInt8]) {
        if let document = try? JSONDocument(parsing: json) {
            guard let bytes = document.rawValue("document").map(Array.init), JSON.isObject(bytes)
            else { return nil }
            self = .document(bytes)
            return
        }
        switch try? JSONValue(parsing: json) {
        case "server": self = .server
        case "local": self = .local
        default: return nil
        }
    }
}
