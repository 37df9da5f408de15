// ModelTable.swift — the members of one object of a model, each once: reading, writing, the schema
// and the documentation come from such tables.

/// An object of a model whose members stand in a table.
protocol ModelObject: Sendable, Equatable {
    /// What it is before anything was read: usual values, and empty ones where a value is needed.
    static var blank: Self { get }
    /// Its members, in the order in which they are written.
    static var members: [ModelMember<Self>] { get }
    /// Members that have no name of their own in the table; nil where there are none.
    static var more: ModelMore<Self>? { get }
    /// Fills in what depends on several members, and tells which member is wrong beside the others.
    ///
    /// - Parameter given: what was read.
    mutating func settle(_ given: JSONObject) -> ModelProblem?
}

extension ModelObject {
    static var more: ModelMore<Self>? { nil }
    mutating func settle(_ given: JSONObject) -> ModelProblem? { nil }
}

/// A member that is wrong beside the others, and what would be right.
struct ModelProblem {
    let member: String
    let text: String

    init(_ member: String, _ text: String) {
        self.member = member
        self.text = text
    }
}

/// Members of any other name.
struct ModelMore<Root: Sendable>: Sendable {
    let schema: JSONObject
    let read: @Sendable (String, JSONValue, ModelPlace, inout Root) throws(ModelError) -> Void
    let write: @Sendable (Root) -> [(name: String, value: JSONValue)]
}

/// Where a value lies in a document, and how strictly it is read.
struct ModelPlace: Sendable {
    var path: String
    /// Whether the document comes from a log: then members that only a newer version knows are
    /// passed over.
    var isLogged: Bool

    func member(_ name: String) -> ModelPlace {
        ModelPlace(path: path.isEmpty ? name : "\(path).\(name)", isLogged: isLogged)
    }

    func element(_ index: Int) -> ModelPlace {
        ModelPlace(path: "\(path)[\(index)]", isLogged: isLogged)
    }

    func error(_ problem: String) -> ModelError { ModelError(path, problem) }
}

/// How a value lies in JSON: read, written, and described.
struct ModelCodec<Value: Sendable>: Sendable {
    /// Its JSON Schema.
    var schema: JSONObject
    /// What would be right, as a sentence.
    var wanted: String
    /// Reads a value; its error names the place and what would be right.
    var read: @Sendable (JSONValue, ModelPlace) throws(ModelError) -> Value
    /// Writes a value.
    var write: @Sendable (Value) -> JSONValue
    /// The same JSON as today's version spells it.
    var modern: @Sendable (JSONValue) -> JSONValue = { $0 }
}

/// How a member was spelled by earlier versions, in logs and in files.
struct OlderSpelling: Sendable {
    /// The members that said it.
    let names: [String]
    /// The schema of each.
    let schema: JSONObject
    /// The member of today's object that it is, where the value is a group.
    var member: String?
    /// Today's value, from those members in their order; nil where it is none of an earlier
    /// version.
    let modern: @Sendable ([JSONValue?]) -> JSONValue?

    /// The same value under another name.
    static func name(_ name: String) -> OlderSpelling {
        OlderSpelling(names: [name], schema: [:]) { $0[0] }
    }
}

/// One member of an object.
struct ModelMember<Root: Sendable>: Sendable {
    /// Its name: that of the property, too.
    let name: String
    /// What it says, in one line.
    let line: String
    let schema: JSONObject
    /// What would be right, as a sentence.
    let wanted: String
    /// Whether it has to be there.
    let isNeeded: Bool
    /// The value that stands for its absence, as JSON; nil where there is none.
    let usual: JSONValue?
    let older: [OlderSpelling]
    let read: @Sendable (JSONValue, ModelPlace, inout Root) throws(ModelError) -> Void
    /// Nil where it is left out.
    let write: @Sendable (Root) -> JSONValue?
    let modern: @Sendable (JSONValue) -> JSONValue
}

extension ModelMember where Root: ModelObject {
    /// A member that is left out where it has its usual value.
    init<Value: Equatable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value> & Sendable,
        _ codec: ModelCodec<Value>, isNeeded: Bool = false, older: [OlderSpelling] = [],
        _ line: String
    ) {
        let usual = Root.blank[keyPath: path]
        self.init(
            name: name, line: line, schema: codec.schema, wanted: codec.wanted,
            isNeeded: isNeeded, usual: isNeeded ? JSONValue?.none : codec.write(usual),
            older: older,
            read: { (value, place, root) throws(ModelError) in
                root[keyPath: path] = try codec.read(value, place)
            },
            write: { root in
                let value = root[keyPath: path]
                guard isNeeded || value != usual else { return Optional.none }
                return codec.write(value)
            },
            modern: codec.modern)
    }

    /// A member that is left out where there is none.
    init<Value: Equatable>(
        _ name: String, _ path: any WritableKeyPath<Root, Value?> & Sendable,
        _ codec: ModelCodec<Value>, older: [OlderSpelling] = [], _ line: String
    ) {
        self.init(
            name: name, line: line, schema: codec.schema, wanted: codec.wanted, isNeeded: false,
            usual: nil, older: older,
            read: { (value, place, root) throws(ModelError) in
                root[keyPath: path] = try codec.read(value, place)
            },
            write: { $0[keyPath: path].map(codec.write) }, modern: codec.modern)
    }
}

extension ModelObject {
    /// The JSON of such objects.
    static func codec(_ name: String) -> ModelCodec<Self> {
        ModelCodec(
            schema: ["$ref": .string("#/$defs/\(name)")], wanted: "an object is needed",
            read: { (value, place) throws(ModelError) in try Self(reading: value, at: place) },
            write: { .object($0.json) }, modern: modern)
    }

    /// Reads an object that is spelled as today.
    init(reading value: JSONValue, at place: ModelPlace) throws(ModelError) {
        guard let object = value.object else { throw place.error("an object is needed") }
        let members = Self.members
        let names = members.map(\.name)
        self = .blank
        for (name, value) in object where !names.contains(name) {
            if let more = Self.more {
                try more.read(name, value, place.member(name), &self)
            } else if !place.isLogged {
                throw place.error("\"\(name)\" is none of \(names.joined(separator: ", "))")
            }
        }
        for member in members {
            if let value = object[member.name] {
                try member.read(value, place.member(member.name), &self)
            } else if member.isNeeded {
                throw place.member(member.name).error("\(member.wanted): \(member.line)")
            }
        }
        if let problem = settle(object) {
            throw place.member(problem.member).error(problem.text)
        }
    }

    /// The members that differ from what is usual.
    var json: JSONObject {
        var object = JSONObject()
        for member in Self.members {
            if let value = member.write(self) { object[member.name] = value }
        }
        for (name, value) in Self.more?.write(self) ?? [] { object[name] = value }
        return object
    }

    /// An object, or a merge patch of one, with the names and notations of today.
    ///
    /// What is none of an earlier version stays as it is.
    static func modern(_ value: JSONValue) -> JSONValue {
        guard var object = value.object else { return value }
        for member in members {
            for older in member.older {
                let found = older.names.map { object[$0] }
                guard found.contains(where: { $0 != nil }), let said = older.modern(found) else {
                    continue
                }
                let known = older.names.contains(member.name) ? nil : object[member.name]
                guard let both = merged(known, said) else { continue }
                for name in older.names { object[name] = Optional<JSONValue>.none }
                object[member.name] = both
            }
            if let value = object[member.name] { object[member.name] = member.modern(value) }
        }
        return .object(object)
    }

    /// Two objects' members; nil where both say the same, or one is none.
    private static func merged(_ one: JSONValue?, _ other: JSONValue) -> JSONValue? {
        guard let one else { return other }
        guard var object = one.object, let more = other.object else { return nil }
        for (name, value) in more {
            guard object[name] == nil else { return nil }
            object[name] = value
        }
        return .object(object)
    }
}
