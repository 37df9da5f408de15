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
    /// Reads a model document.
    ///
    /// - Parameter isLogged: whether it comes from a log: then members that only a newer version
    ///   knows are passed over.
    /// - Throws: ``ModelError`` naming the member that is wrong.
    public init(parsing bytes: [UInt8], isLogged: Bool = false) throws(ModelError) {
        let value: JSONValue
        do { value = try JSONValue(parsing: bytes) } catch {
            throw ModelError("", "not a JSON document: \(error)")
        }
        let root = try Members(
            value, at: "", known: isLogged ? nil : ["name", "collections", "sync", "remote"])
        remote = try root["remote"].map { (value) throws(ModelError) in try Remote(value, isLogged)
        }
        guard let list = root["collections"]?.array, !list.isEmpty else {
            throw ModelError("collections", "a list of at least one collection is needed")
        }
        // A Kinto record carries its version in last_modified whether the model says so or not.
        let usualLastChange = remote?.adapter == "kinto" ? "last_modified" : nil
        var collections: [CollectionModel] = []
        for (index, item) in list.enumerated() {
            let path = "collections[\(index)]"
            let collection = try CollectionModel(item, at: path, isLogged, usualLastChange)
            guard !collections.contains(where: { $0.name == collection.name }) else {
                throw ModelError("\(path).name", "\(collection.name) is there twice")
            }
            for reference in collection.references
            where reference.collection != collection.name
                && !collections.contains(where: { $0.name == reference.collection })
            {
                throw ModelError(
                    "\(path).references.\(reference.field)",
                    "\(reference.collection) must be a collection that stands earlier in the list")
            }
            collections.append(collection)
        }
        try CollectionModel.checkRules(collections)
        model = SyncModel(
            name: try root.string("name") ?? "unnamed", collections: collections,
            settings: try root["sync"].map { (value) throws(ModelError) in
                try SyncSettings(value, isLogged)
            } ?? SyncSettings())
    }

    /// The registration as it will be read back from the log, with what is usual filled in.
    ///
    /// - Throws: ``ModelError`` when it could not be read back.
    public func checked() throws(ModelError) -> ModelRegistration {
        try ModelRegistration(parsing: encoded)
    }

    /// The document's bytes: members in a fixed order, so that equal models are equal bytes.
    public var encoded: [UInt8] {
        var root: JSONObject = ["name": .string(model.name)]
        root["collections"] = .array(model.collections.map { .object($0.json) })
        if model.settings != SyncSettings() { root["sync"] = .object(model.settings.json) }
        if let remote { root["remote"] = .object(remote.json) }
        return JSONValue.object(root).encoded()
    }
}

extension Remote {
    fileprivate init(_ value: JSONValue, _ isLogged: Bool) throws(ModelError) {
        let members = try Members(value, at: "remote", known: nil)
        guard let origin = try members.string("origin"),
            let scheme = ["http://", "https://"].first(where: origin.hasPrefix),
            let host = origin.dropFirst(scheme.count).first, host != "/"
        else { throw ModelError("remote.origin", "an http:// or https:// address is needed") }
        guard let adapter = try members.string("adapter") else {
            throw ModelError("remote.adapter", "the name of a server adapter is needed: \"kinto\"")
        }
        self.init(
            origin: origin.hasSuffix("/") ? String(origin.dropLast()) : origin, adapter: adapter)
        for (name, value) in members.object
        where !["origin", "adapter", "credentialsVariable"].contains(name) {
            guard let text = value.stringValue else {
                throw ModelError("remote.\(name)", "a text is needed")
            }
            parameters[name] = text
        }
        credentialsVariable =
            try members.string("credentialsVariable") ?? Remote.usualCredentialsVariable
        if !isLogged { try check() }
    }

    fileprivate var json: JSONObject {
        var object: JSONObject = ["origin": .string(origin), "adapter": .string(adapter)]
        for (name, value) in parameters.sorted(by: { $0.key < $1.key }) {
            object[name] = .string(value)
        }
        object["credentialsVariable"] = .string(credentialsVariable)
        return object
    }
}
