// ModelRegistration.swift — model and remote as one JSON document: what `model.registered` carries
// and what a model file holds. The shape is Schemas/model.schema.json.

/// A model and the server it is synced with.
public struct ModelRegistration: Sendable, Hashable {
    /// What is synced and by which rules.
    public var model: SyncModel
    /// The server, or nil for a store that is never synced.
    public var remote: Remote?

    /// A model and, if there is one, its server.
    public init(model: SyncModel, remote: Remote? = nil) {
        self.model = model
        self.remote = remote
    }
}

/// What is wrong with a model, and where.
public struct ModelError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Where in the document, as in `collections[1].conflict`; empty for the whole.
    public let path: String
    /// What is wrong and what would be right.
    public let problem: String

    /// Path and problem in one line.
    public var description: String { path.isEmpty ? problem : "\(path): \(problem)" }

    /// A problem at a path.
    public init(_ path: String, _ problem: String) {
        self.path = path
        self.problem = problem
    }
}

extension ModelRegistration {
    /// Reads a model document, in today's spelling or in that of an earlier version.
    ///
    /// - Throws: ``ModelError`` naming the member that is wrong.
    public init(parsing bytes: [UInt8]) throws(ModelError) {
        try self.init(parsing: bytes, isLogged: false)
    }

    /// Reads a model document.
    ///
    /// - Parameter isLogged: whether it comes from a log: then members that only a newer version
    ///   knows are passed over, and rules that contradict each other are taken as they are.
    /// - Throws: ``ModelError`` naming the member that is wrong.
    package init(parsing bytes: [UInt8], isLogged: Bool) throws(ModelError) {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch {
            throw ModelError("", "not a JSON document: \(error)")
        }
        try self.init(
            reading: Self.modern(value), at: ModelPlace(path: "", isLogged: isLogged))
        if !isLogged { try model.checkContradictions() }
    }

    /// The registration as it will be read back from the log, with defaults filled in.
    ///
    /// - Parameter known: the registration in the log. What its model says stands, even where it
    ///   contradicts itself, and with the defaults of the remote's adapter.
    /// - Throws: ``ModelError`` when it could not be read back, or the model is not the known one
    ///   and contradicts itself.
    package func checked(beside known: ModelRegistration? = nil) throws(ModelError)
        -> ModelRegistration
    {
        var wanted = self
        if let known { wanted.keepDefaults(of: known) }
        try wanted.remote?.check()
        // In the encoding the name is the member's, so that one of two would be lost.
        try wanted.model.settings.checkGatesOnce()
        try wanted.model.checkPoolsOnce()
        try wanted.model.checkRulesOnce()
        let read = try ModelRegistration(parsing: wanted.encoded, isLogged: true)
        var before = known?.model
        before?.fill(from: read.remote)
        if read.model != before { try read.model.checkContradictions() }
        return read
    }

    /// Takes over the adapter's defaults of a model that was logged before registrations held them.
    private mutating func keepDefaults(of known: ModelRegistration) {
        guard let server = known.remote, server.defaults == AdapterDefaults(),
            remote?.defaults == AdapterDefaults()
        else { return }
        for index in model.collections.indices where model.collections[index].takesDefaults {
            let before = known.model[model.collections[index].name]
            model.collections[index].lastChangeField = before?.lastChangeField
        }
    }

    /// The document's bytes: members in a fixed order, so that equal models are equal bytes.
    public var encoded: [UInt8] { JSONValue.object(json).encoded() }
}

extension JSONValue {
    /// A collection of a model, or a merge patch of one, in today's spelling.
    package var modernCollection: JSONValue { CollectionModel.modern(self) }

    /// The settings of a model, or a merge patch of them, in today's spelling.
    package var modernSettings: JSONValue { SyncSettings.modern(self) }
}

extension ModelRegistration: ModelObject {
    static let blank = ModelRegistration(model: SyncModel(name: "unnamed", collections: []))

    static let members: [ModelMember<ModelRegistration>] = [
        ModelMember("name", \.model.name, .text, "A name for people."),
        ModelMember(
            "collections", \.model.collections, .collections, isNeeded: true,
            "What is synced, in the order in which it is pulled and pushed."),
        ModelMember(
            "pools", \.model.pools,
            ReservedPool.codec("pool").named(
                by: \.name, "an object of name to pool is needed"),
            "Values that the server reserves in advance, to be handed out without it, by name."),
        ModelMember(
            "settings", \.model.settings, SyncSettings.codec("settings"), older: [.name("sync")],
            "How often and how much the server is asked."),
        ModelMember(
            "remote", \.remote, Remote.codec("remote"),
            "The server. Members without a meaning here are for the adapter; never a secret."),
    ]

    mutating func settle(_ given: JSONObject) -> ModelProblem? {
        model.fill(from: remote)
        return nil
    }
}

extension SyncModel {
    /// Refuses two rules of a collection under one name.
    fileprivate func checkRulesOnce() throws(ModelError) {
        for (index, collection) in collections.enumerated() {
            for (member, names) in collection.namesOfRules {
                var seen: Set<ExactString> = []
                for name in names where !seen.insert(ExactString(name)).inserted {
                    throw ModelError(
                        "collections[\(index)].\(member).\(name)",
                        "there are two of that name; leave one of them out")
                }
            }
        }
    }

    /// Gives the collections the server adapter's defaults for members that they leave out.
    fileprivate mutating func fill(from remote: Remote?) {
        for index in collections.indices where collections[index].takesDefaults {
            collections[index].lastChangeField = remote?.defaults.lastChangeField
        }
    }
}

extension CollectionModel {
    /// Whether it takes the adapter's defaults: not of what is never sent.
    fileprivate var takesDefaults: Bool { lastChangeField == nil && !localOnly }

    /// The names in each member that is encoded as an object by them.
    fileprivate var namesOfRules: [(member: String, names: [String])] {
        var names: [(member: String, names: [String])] = [
            (member: "references", names: references.map(\.field)),
            (member: "actions", names: actions.map(\.name)),
            (member: "embeds", names: embeds.map(\.member)),
            (member: "choices", names: choices.map(\.field)),
            (member: "contents", names: contents.map(\.field)),
            (member: "keyed", names: keyed.map(\.field)),
        ]
        for (index, list) in (lists ?? []).enumerated() {
            names.append((member: "lists[\(index)].from", names: list.from.map(\.parameter)))
        }
        return names
    }
}

extension ModelCodec where Value == [CollectionModel] {
    /// Collections, each once, and each after those that it names.
    static let collections: ModelCodec = {
        let wanted = "a list of at least one collection is needed"
        var list = CollectionModel.codec("collection").list(1...Int.max)
        list.wanted = wanted
        let read = list.read
        list.read = { (value, place) throws(ModelError) in
            guard let items = value.array, !items.isEmpty else { throw place.error(wanted) }
            let collections = try read(value, place)
            var earlier: Set<CollectionName> = []
            let placeable = Set(collections.filter { $0.placeholder != nil }.map(\.name))
            for (index, collection) in collections.enumerated() {
                try collection.check(earlier, placeable, place.element(index))
                earlier.insert(collection.name)
            }
            return collections
        }
        return list
    }()
}

extension CollectionModel {
    /// Checks what is said of other collections.
    ///
    /// - Parameter placeable: those with a rule for placeholders.
    fileprivate func check(
        _ earlier: Set<CollectionName>, _ placeable: Set<CollectionName>, _ place: ModelPlace
    ) throws(ModelError) {
        func isEarlier(_ name: CollectionName, _ member: String) throws(ModelError) {
            guard earlier.contains(name) else {
                throw place.member(member).error(
                    "\(name) must be a collection that stands earlier in the list")
            }
        }
        guard !earlier.contains(name) else {
            throw place.member("name").error("\(name) is there twice")
        }
        for reference in references where reference.collection != name {
            try isEarlier(reference.collection, "references.\(reference.field)")
        }
        for name in listedAfter { try isEarlier(name, "listedAfter") }
        for choice in choices {
            try isEarlier(choice.collection, "choices.\(choice.field).collection")
        }
        for reference in references where reference.placeholder != nil {
            guard !placeable.contains(reference.collection) else { continue }
            throw place.member("references.\(reference.field).placeholder").error(
                "\(reference.collection) has no \"placeholder\"")
        }
    }
}
