// SyncModel.swift — what is synced and by which rules: a value, and JSON
// (Schemas/model.schema.json).

/// What is synced and by which rules.
public struct SyncModel: Sendable, Hashable {
    /// A name for people.
    public var name: String
    /// The collections in the order in which they are pulled and pushed: a collection stands
    /// after everything it refers to.
    public var collections: [CollectionModel]
    /// How often and how much the server is asked.
    public var settings: SyncSettings

    /// A model of those collections.
    public init(
        name: String, collections: [CollectionModel], settings: SyncSettings = SyncSettings()
    ) {
        self.name = name
        self.collections = collections
        self.settings = settings
    }

    /// The collection of that name, or nil.
    public subscript(name: CollectionName) -> CollectionModel? {
        collections.first { $0.name == name }
    }
}

/// One collection of a ``SyncModel``.
public struct CollectionModel: Sendable, Hashable {
    /// The name, as the server knows it.
    public var name: CollectionName
    /// The field that holds the id.
    public var idField: String
    /// The field that holds the server's last-change time or version; the server sets it.
    public var lastChangeField: String?
    /// What becomes of local changes when the server changed the same entity.
    public var conflict: ConflictPolicy
    /// The fields that hold the id of another entity.
    public var references: [Reference]
    /// How many entities one page of a list holds, or nil for the server's own choice.
    public var pageSize: Int?
    /// How many pages a list has at most, those of all runs that it takes; a longer one fails.
    public var pagesMax = CollectionModel.usualPagesMax
    /// The indexes that are kept for queries; references have one of their own.
    public var indexes: [IndexModel]
    /// How the server writes times.
    public var dates: DateFormat
    /// How the server names what the app's types call in camel case.
    public var keys: KeyStyle
    /// The fields that become null when they lose their value; others are left out then.
    public var nullable: [String]
    /// How documents and edits of older models are read, the oldest step first.
    public var migrations: [FieldMigration]
    /// Who names new entities.
    public var ids: IDSource = .client
    /// What may be pushed; what else was changed here is refused.
    public var pushes: [PushOperation] = PushOperation.allCases
    /// The fields by which an entity that was sent and never answered is recognised in a list,
    /// where the server names entities.
    public var match: [String] = []
    /// What it means that a list of everything does not name an entity.
    public var absence: AbsenceRule = .deletes
    /// When only what changed since a time is listed; nil where the server has cursors of its own.
    public var since: SinceRule?
    /// What is listed when everything is; nil for all.
    public var window: PullWindow?
    /// The collections whose lists must be here before this one's is asked for, where several are
    /// asked for at once.
    public var after: [CollectionName] = []
    /// The reference to what an entity belongs to and is out of reach with.
    public var owner: String?
    /// How a run ends where there is no entity of the collection after it was pulled; nil where
    /// that may be.
    public var required: String?
    /// Whether an entity that comes into reach has everything listed anew.
    public var restartsOnGain = false
    /// Fields that must name one of the entities of another collection.
    public var choices: [ChoiceRule] = []
    /// Entities that may not hold a state together.
    public var rivals: RivalRule?
    /// What stands in for an entity that is referred to and not here.
    public var placeholder: PlaceholderRule?
    /// How long entities are kept; for ever without.
    public var retention: RetentionRule?

    /// How many pages a list has at most, unless the model says otherwise.
    public static let usualPagesMax = 10_000

    /// The most indexes that a collection has.
    public static let indexesMax = 32

    /// A collection; everything but the name has a usual value.
    public init(
        _ name: CollectionName, idField: String = "id", lastChangeField: String? = nil,
        conflict: ConflictPolicy = .serverWins, references: [Reference] = [],
        pageSize: Int? = nil, indexes: [IndexModel] = [], dates: DateFormat = .iso8601,
        keys: KeyStyle = .verbatim, nullable: [String] = [], migrations: [FieldMigration] = []
    ) {
        self.name = name
        self.idField = idField
        self.lastChangeField = lastChangeField
        self.conflict = conflict
        self.references = references
        self.pageSize = pageSize
        self.indexes = indexes
        self.dates = dates
        self.keys = keys
        self.nullable = nullable
        self.migrations = migrations
    }

    /// The fields that only the server sets: never sent as a change, never in conflict.
    public var serverFields: Set<String> {
        var fields: Set<String> = [idField]
        if let lastChangeField { fields.insert(lastChangeField) }
        return fields
    }
}

/// A field that holds the id of an entity of another collection, or several.
public struct Reference: Sendable, Hashable {
    /// The top-level field.
    public var field: String
    /// Where the entity lies that the field names.
    public var collection: CollectionName
    /// When what is named and not here gets a placeholder; nil for never.
    public var placeholder: PlaceholderUse?

    /// `field` holds the id of an entity of `collection`, or a list of ids.
    public init(
        _ field: String, to collection: CollectionName, placeholder: PlaceholderUse? = nil
    ) {
        self.field = field
        self.collection = collection
        self.placeholder = placeholder
    }
}

/// A configured server: where it is, what it speaks, where the credentials come from.
public struct Remote: Sendable, Hashable {
    /// Scheme, host and port: `https://kinto.example.org`, optionally with a base path; never a
    /// user, a query or a fragment.
    public var origin: String
    /// The name of the server adapter.
    public var adapter: String
    /// What the adapter needs to know, for Kinto `bucket`; never a secret.
    public var parameters: [String: String]
    /// Where the tool takes the credentials from: the name of an environment variable, of letters
    /// and digits of ASCII and `_`, and never a credential itself.
    public var credentialsVariable: String

    /// The environment variable that the tool reads unless the model names another.
    public static let usualCredentialsVariable = "TIDEMARK_CREDENTIALS"

    /// A remote.
    public init(
        origin: String, adapter: String, parameters: [String: String] = [:],
        credentialsVariable: String = Remote.usualCredentialsVariable
    ) {
        self.origin = origin
        self.adapter = adapter
        self.parameters = parameters
        self.credentialsVariable = credentialsVariable
    }
}
