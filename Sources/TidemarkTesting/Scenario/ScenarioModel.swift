// ScenarioModel.swift — the model of a scenario: a known one, a changed one, or one written in
// full.

import TidemarkEvents
import TidemarkHTTP

enum ScenarioModel {
    /// The models with a name.
    private static let known: [(name: String, model: SyncModel)] = [("toggl", .toggl)]

    /// Reads the member `model`.
    static func read(
        _ value: JSONValue, at path: String, _ remote: Remote
    ) throws(ScenarioError) -> SyncModel {
        if value.stringValue != nil { return try base(value, at: path) }
        guard value.object != nil else {
            throw ScenarioError(path, "a model's name, or an object, is needed")
        }
        guard value["base"] != nil else { return try model(value, at: path, remote) }
        let members = try ScenarioMembers(value, at: path, ["base", "change"])
        let base = try base(try members.needed("base"), at: members.path("base"))
        let change = members["change"] ?? [:]
        let changed = try changed(base, change, at: members.path("change"))
        return try model(changed, at: members.path("change"), remote)
    }

    private static func base(
        _ value: JSONValue, at path: String
    ) throws(ScenarioError) -> SyncModel {
        guard let model = known.first(where: { .string($0.name) == value })?.model else {
            let names = known.map { "\"\($0.name)\"" }.joined(separator: ", ")
            throw ScenarioError(path, "no such model; known are \(names)")
        }
        return model
    }

    /// Reads a model document, as in a model file, but without its remote.
    private static func model(
        _ value: JSONValue, at path: String, _ remote: Remote
    ) throws(ScenarioError) -> SyncModel {
        var document = value.object ?? [:]
        guard document["remote"] == nil else {
            throw ScenarioError(
                "\(path).remote", "does not belong here; the server is the scenario's")
        }
        var remote = remote
        remote.credentialsVariable = Remote.usualCredentialsVariable
        document["remote"] = remote.document
        do throws(ModelError) {
            return try ModelRegistration(parsing: JSONValue.object(document).encoded()).model
        } catch {
            throw ScenarioError(
                error.path.isEmpty ? path : "\(path).\(error.path)", error.problem)
        }
    }

    /// A model's document with a merge patch applied (RFC 7396); in the patch, collections are
    /// members by their name.
    private static func changed(
        _ base: SyncModel, _ change: JSONValue, at path: String
    ) throws(ScenarioError) -> JSONValue {
        let patch = try ScenarioMembers(
            change, at: path, ["name", "settings", "sync", "collections"])
        let encoded = ModelRegistration(model: base).encoded
        guard var document = (try? JSONValue(parsing: encoded))?.object else { return [:] }
        var collections = document["collections"]?.array ?? []
        for (name, path, value) in try patch.members("collections") {
            let place = collections.firstIndex { $0["name"] == .string(name) }
            guard value != .null else {
                guard let place else { throw ScenarioError(path, "there is no such collection") }
                collections.remove(at: place)
                continue
            }
            guard value.object != nil else { throw ScenarioError(path, "an object is needed") }
            let value = value.modernCollection
            if let place {
                collections[place] = merged(collections[place], value)
            } else {
                collections.append(merged(["name": .string(name)], value))
            }
        }
        if let name = patch["name"] { document["name"] = name }
        // Earlier versions called the settings `sync`.
        for case let settings? in [patch["settings"], patch["sync"]] {
            document["settings"] = merged(document["settings"], settings.modernSettings)
        }
        document["collections"] = .array(collections)
        return .object(document)
    }

    private static func merged(_ value: JSONValue?, _ patch: JSONValue) -> JSONValue {
        guard let patch = patch.object else { return patch }
        var object = value?.object ?? [:]
        for (name, change) in patch {
            let value: JSONValue? = change == .null ? .none : .some(merged(object[name], change))
            object[name] = value
        }
        return .object(object)
    }
}
