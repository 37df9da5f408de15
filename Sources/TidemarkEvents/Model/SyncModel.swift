// SyncModel.swift — the model: which collections are synced, and by which rules; a value, and JSON
// (Schemas/model.schema.json).

/// The model: which collections are synced, and by which rules.
public struct SyncModel: Sendable, Hashable {
    /// A name for people.
    public var name: String
    /// The collections in the order in which they are pulled and pushed: a collection stands
    /// after everything it refers to.
    public var collections: [CollectionModel]
    /// The values that are reserved in advance, each under a name of its own.
    public var pools: [Pool]
    /// How often and how much the server is asked.
    public var settings: SyncSettings

    /// A model of those collections.
    public init(
        name: String, collections: [CollectionModel], pools: [Pool] = [],
        settings: SyncSettings = SyncSettings()
    ) {
        self.name = name
        self.collections = collections
        self.pools = pools
        self.settings = settings
    }

    /// The collections that a pull of some lists: those, and all that are listed with them.
    package func pulled(_ names: [CollectionName]) -> [CollectionModel] {
        let sets = Set(
            collections.filter { names.contains($0.name) }.compactMap(\.allOrNone)
                .map(ExactString.init))
        return collections.filter { collection in
            names.contains(collection.name)
                || collection.allOrNone.map { sets.contains(ExactString($0)) } ?? false
        }
    }

    /// The model as runs and adapters see it: without what is kept on this device alone.
    package var synced: SyncModel {
        guard collections.contains(where: \.localOnly) else { return self }
        var model = self
        model.collections.removeAll(where: \.localOnly)
        return model
    }

    /// The collection of that name, or nil.
    public subscript(name: CollectionName) -> CollectionModel? {
        // By its place: whoever walks over the collections copies each.
        collections.indices.first { collections[$0].name == name }.map { collections[$0] }
    }

    /// Some collections, and those in whose records their entities stand: by the lists of these all
    /// of them come.
    package func bringing(_ names: Set<CollectionName>) -> [CollectionModel] {
        var found = names
        var count = -1
        while count != found.count {
            count = found.count
            for holder in collections
            where holder.embeds.contains(where: { found.contains($0.collection) }) {
                found.insert(holder.name)
            }
        }
        return collections.filter { found.contains($0.name) }
    }
}

/// A field that holds the id of an entity of another collection, or several; or a place in one.
public struct Reference: Sendable, Hashable {
    /// The field, or a path into one as in JSON Pointer: `project`, `/from/person/id`.
    ///
    /// In a path `*` stands for every element, and what it leads to may be missing.
    public var field: String
    /// The collection of the entity that the field refers to.
    public var collection: CollectionName
    /// When a referenced entity that is not here gets a placeholder; nil for never.
    public var placeholder: CollectionModel.PlaceholderUse?
    /// How a referenced entity that the server deletes is taken out of the field; nil for not.
    public var removal: CollectionModel.RemovalRule?
    /// When an entity counts in the one that it refers to: what waits for the server, was refused
    /// or is a placeholder shows there, too; nil for never.
    public var rollUp: RollUp?

    /// When an entity counts in the one that it refers to.
    @nonexhaustive public enum RollUp: Sendable, Hashable {
        case always
        /// Where the field of that name is true.
        case whereTrue(String)
    }
    /// What becomes of the entity when the app deletes the one that the field refers to.
    public var onDelete: CollectionModel.ReferentialAction
    /// What becomes of the entity while the one that the field refers to can't be had.
    public var missing: CollectionModel.MissingAction

    /// `field` holds the id of an entity of `collection`, or a list of ids.
    public init(
        _ field: String, to collection: CollectionName,
        placeholder: CollectionModel.PlaceholderUse? = nil,
        removal: CollectionModel.RemovalRule? = nil, rollUp: RollUp? = nil,
        onDelete: CollectionModel.ReferentialAction = .keep,
        missing: CollectionModel.MissingAction = .keeps
    ) {
        self.field = field
        self.collection = collection
        self.placeholder = placeholder
        self.removal = removal
        self.rollUp = rollUp
        self.onDelete = onDelete
        self.missing = missing
    }
}

extension Reference {
    /// The field of the document that holds it.
    package var topField: String { FieldPath(field).top }

    /// The other fields of the document by which its rules go.
    var ruleFields: [String] {
        var fields = [removal?.names].compactMap(\.self)
        if case .whereTrue(let field)? = rollUp { fields.append(field) }
        return fields
    }
}

extension Reference: ModelObject {
    static let blank = Reference("", to: "")

    static let members: [ModelMember<Reference>] = [
        ModelMember(
            "collection", \.collection, .collectionName, isNeeded: true, older: [.name("to")],
            "The collection of the entity that the field names."),
        ModelMember(
            "placeholder", \.placeholder, .word,
            """
            When what is named and not here gets a placeholder: in every pull, or only in one of \
            some collections; never unless given.
            """),
        ModelMember(
            "removal", \.removal, RemovalRule.codec("removal"),
            """
            What is named and deleted by the server is taken out of the field here, as the server \
            does without saying so; it stays unless given.
            """),
        ModelMember(
            "rollUp", \.rollUp, .rollUp,
            """
            What waits for the server, was refused or is a placeholder counts in the entity that \
            the field names, and on from there: always with true, or where the field of that \
            name is true; never unless given.
            """),
        ModelMember(
            "onDelete", \.onDelete, .word,
            """
            What becomes of the entity when the app deletes the one that is named: it is kept, or \
            deleted with it.
            """),
        ModelMember(
            "missing", \.missing, .word,
            """
            What becomes of the entity while the one that is named can't be had: it is kept, or \
            hidden.
            """),
    ]
}

extension ModelCodec where Value == Reference.RollUp {
    fileprivate static let rollUp = ModelCodec(
        schema: ["anyOf": [["const": true], ["type": "string", "minLength": 1]]],
        wanted: "true is needed, or the name of a field",
        read: { (value, place) throws(ModelError) in
            if value == true { return .always }
            guard let field = value.stringValue, !field.isEmpty else {
                throw place.error("true is needed, or the name of a field")
            }
            return .whereTrue(field)
        },
        write: { rule in
            switch rule {
            case .always: true
            case .whereTrue(let field): .string(field)
            }
        })
}

extension ModelCodec where Value == [Reference] {
    /// An object of field to collection; a reference that is only a collection is its name.
    static let references: ModelCodec = {
        let object = Reference.codec("reference"), name = ModelCodec<CollectionName>.collectionName
        let one = ModelCodec<Reference>(
            schema: ["anyOf": [.object(name.schema), .object(object.schema)]],
            wanted: "a collection name is needed",
            read: { (value, place) throws(ModelError) in
                if value.object != nil { return try object.read(value, place) }
                return Reference("", to: try name.read(value, place))
            },
            write: { reference in
                guard
                    reference.placeholder != nil || reference.removal != nil
                        || reference.rollUp != nil
                        || reference.onDelete != .keep || reference.missing != .keeps
                else {
                    return name.write(reference.collection)
                }
                return object.write(reference)
            },
            modern: object.modern)
        return one.named(by: \.field, "an object of field to collection is needed")
    }()
}
