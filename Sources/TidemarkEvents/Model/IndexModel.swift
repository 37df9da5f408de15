// IndexModel.swift — which queries of a collection are answered without reading all of it.

/// An index over fields of a collection's entities.
///
/// Queries that no index fits read the whole collection.
///
/// Sorted by the first field, then by the second, and so on. Written as a list: `["list",
/// .date("due")]`.
public struct IndexModel: Sendable, Hashable, ExpressibleByArrayLiteral {
    /// The fields in the order in which they count; 1 to ``fieldsMax``, each once.
    public var fields: [IndexField]

    /// The most fields of an index.
    public static let fieldsMax = 4

    /// An index over those fields.
    public init(_ fields: [IndexField]) { self.fields = fields }

    /// An index over those fields.
    public init(arrayLiteral elements: IndexField...) { fields = elements }
}

/// One field of an index, by the server's name: a field of the entity, or a path from one down
/// through objects as in JSON Pointer, such as `/from/person`.
public struct IndexField: Sendable, Hashable, ExpressibleByStringLiteral {
    /// How the values of the field are ordered.
    @nonexhaustive public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// As JSON values: what is not there and null, then false, true, numbers by value, texts
        /// by the bytes of their UTF-8, then lists and objects.
        case value
        /// As times, read in the collection's ``DateFormat``; what is no time stands as a value.
        case date
    }

    /// The name of the field.
    public var name: String
    /// How its values are ordered.
    public var kind: Kind

    /// A field and how its values are ordered.
    public init(_ name: String, _ kind: Kind = .value) {
        self.name = name
        self.kind = kind
    }

    /// A field whose values are ordered as JSON values.
    public init(stringLiteral value: String) { self.init(value) }

    /// A field whose values are times.
    public static func date(_ name: String) -> IndexField { IndexField(name, .date) }

    /// Whether both are of one name, byte for byte, as documents have it, and of one order.
    public static func == (left: IndexField, right: IndexField) -> Bool {
        left.kind == right.kind && ExactString(left.name) == ExactString(right.name)
    }

    /// Hashes name and order.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(ExactString(name))
        hasher.combine(kind)
    }
}

extension CollectionModel {
    /// All indexes that are kept: those declared, one for each reference, and one for each choice.
    ///
    /// Those of references find the entities that refer to an entity; there is none for one that
    /// leads through lists. Those of choices find the entities with one that is open.
    package var allIndexes: [IndexModel] {
        let own = references.filter { FieldPath($0.field).isOnePlace }
            .map { IndexModel([IndexField($0.field)]) }
        let names = tree.map { IndexModel([IndexField($0.parent), IndexField($0.name)]) }
        var all = indexes + (own + [names].compactMap(\.self)).filter { !indexes.contains($0) }
        for choice in choices where !FieldPath.isPath(choice.field) {
            let index = IndexModel([IndexField(choice.field)])
            if !all.contains(index) { all.append(index) }
        }
        return all
    }
}

extension CollectionModel {
    /// A path of a reference that names no field or that its rules can't follow, or one of an index
    /// that leads to several places.
    func problemOfPaths() -> ModelProblem? {
        for reference in references {
            let place = "references.\(reference.field)"
            let isPath = FieldPath.isPath(reference.field)
            if reference.topField == "*" || (isPath && reference.topField.isEmpty) {
                return ModelProblem(
                    place, "a field is needed, or a path that begins with one: /from/person/id")
            }
            if isPath, reference.removal != nil {
                return ModelProblem(
                    place + ".removal",
                    "only a field can lose what was deleted, and this is a path into one; leave "
                        + "removal out")
            }
        }
        for (index, rule) in indexes.enumerated() {
            let field = rule.fields.first { !FieldPath($0.name).isOnePlace }
            guard let field else { continue }
            return ModelProblem(
                "indexes[\(index)]",
                "\(field.name) leads through a list, and an index has one value of each entity")
        }
        return nil
    }
}

extension ModelCodec where Value == IndexField {
    /// A field's name, or `{"date": NAME}`.
    static let indexField: ModelCodec = {
        let name = ModelCodec<String>.text
        let wanted = "a field's name or {\"date\":\"NAME\"} is needed"
        return ModelCodec(
            schema: [
                "anyOf": [
                    .object(name.schema),
                    [
                        "type": "object", "required": ["date"], "additionalProperties": false,
                        "properties": ["date": .object(name.schema)],
                    ],
                ]
            ],
            wanted: wanted,
            read: { (value, place) throws(ModelError) in
                if let name = value.stringValue, !name.isEmpty { return IndexField(name) }
                guard let object = value.object, object.keys == ["date"],
                    let name = object["date"]?.stringValue, !name.isEmpty
                else { throw place.error(wanted) }
                return .date(name)
            },
            write: { field in
                switch field.kind {
                case .value: .string(field.name)
                case .date: ["date": .string(field.name)]
                }
            })
    }()
}

extension ModelCodec where Value == IndexModel {
    /// A list of fields, each once.
    static let index: ModelCodec = {
        let fields = ModelCodec<IndexField>.indexField.list(1...IndexModel.fieldsMax)
        let wanted = "a list of 1 to \(IndexModel.fieldsMax) fields is needed"
        return ModelCodec(
            schema: fields.schema, wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let count = value.array?.count, (1...IndexModel.fieldsMax).contains(count)
                else { throw place.error(wanted) }
                let index = IndexModel(try fields.read(value, place))
                let names = index.fields.map { ExactString($0.name) }
                for (place, name) in zip(names.indices.map(place.element), names)
                where names.firstIndex(of: name) != names.lastIndex(of: name) {
                    throw place.error("\"\(name.text)\" is there twice")
                }
                return index
            },
            write: { fields.write($0.fields) })
    }()
}
