// FieldMigration.swift — how documents and edits of an older model are read by a newer one. The log
// and the server's bytes are never rewritten.

extension CollectionModel {
    /// One step from an older shape of a collection's entities to a newer one.
    ///
    /// A new field that may be missing needs no step. Steps are only ever added at the end of a
    /// collection's list: each applies to documents after the steps before it. What was renamed or
    /// removed leaves a name that no other field can have.
    @nonexhaustive public enum FieldMigration: Sendable, Hashable {
        /// A field was renamed: where only the old one is present, it is read as the new one, and
        /// pending changes of it are sent under the new name.
        case rename(String, to: String)
        /// A field was removed: pending changes of it are not sent, and an edit of nothing else is
        /// superseded.
        case remove(String)
        /// A field is required: where it is missing or null it has this value, also in pending
        /// changes that were not sent yet.
        case require(String, default: JSONValue)
    }
}

package typealias FieldMigration = CollectionModel.FieldMigration

extension FieldMigration {
    /// The step as a model says it; the names of indexes are made of it.
    package var json: JSONValue { ModelCodec.migration.write(self) }

    /// The fields that were removed.
    package var retired: String? {
        switch self {
        case .rename(let name, _), .remove(let name): name
        case .require: nil
        }
    }
}

extension CollectionModel {
    /// A document after all steps.
    ///
    /// A field that was removed stays: the server may still know it.
    func migrated(_ document: JSONDocument) throws(JSONError) -> JSONDocument {
        try migrated(document, isCreation: false)
    }

    /// A creation after all steps, without what was removed.
    func migratedCreation(_ document: JSONDocument) throws(JSONError) -> JSONDocument {
        try migrated(document, isCreation: true)
    }

    private func migrated(
        _ document: JSONDocument, isCreation: Bool
    ) throws(JSONError) -> JSONDocument {
        var document = document
        for migration in migrations {
            switch migration {
            case .rename(let old, let new):
                guard let raw = document.rawValue(old), document.rawValue(new) == nil else {
                    continue
                }
                let bytes = document.applying(set: [(key: new, value: Array(raw))], unset: [old])
                document = try JSONDocument(parsing: bytes)
            case .remove(let name):
                guard isCreation, document.rawValue(name) != nil else { continue }
                let bytes = document.applying(set: [], unset: [name])
                document = try JSONDocument(parsing: bytes)
            case .require(let name, let value):
                guard document.value(name) ?? .null == .null else { continue }
                let bytes = document.applying(set: [(key: name, value: value.encoded())], unset: [])
                document = try JSONDocument(parsing: bytes)
            }
        }
        return document
    }

    /// An edit after all steps.
    func migrated(_ patch: Patch) -> Patch {
        var patch = patch
        for (step, migration) in migrations.enumerated() {
            switch migration {
            case .rename(let old, let new):
                let isKnown = patch.fieldNames.contains(new)
                patch.set = patch.set.compactMap { field in
                    if let name = element(field.name, of: old, in: new, step) {
                        return Patch.Field(name, field.value)
                    }
                    guard field.name == old else { return field }
                    return isKnown ? nil : Patch.Field(new, field.value)
                }
                patch.unset = patch.unset.compactMap { name in
                    if let name = element(name, of: old, in: new, step) { return name }
                    guard name == old else { return name }
                    return isKnown ? nil : new
                }
            case .remove(let name):
                patch.set.removeAll { $0.name == name }
                patch.unset.removeAll { $0 == name }
            case .require(let name, let value):
                let isNull = patch.set.contains {
                    $0.name == name && (try? JSONValue(parsing: $0.value)) == .null
                }
                guard isNull || patch.unset.contains(name) else { continue }
                patch.set.removeAll { $0.name == name }
                patch.unset.removeAll { $0 == name }
                patch.set.append(Patch.Field(name, value.encoded()))
            }
        }
        return patch
    }

    /// The name of an element of a list that a step renames; nil for any other name.
    ///
    /// - Parameter step: the place of the step: later ones may rename the list again, and the rule
    ///   names it as it is after all of them.
    private func element(
        _ name: String, of old: String, in new: String, _ step: Int
    ) -> String? {
        guard name.utf8.first == UInt8(ascii: "/"),
            let list = keyed.list(in: renamed(new, from: step + 1)),
            let key = KeyedList(old, by: list.key).key(in: name)
        else { return nil }
        return KeyedList(new, by: list.key).name(of: key)
    }

    /// The names that are gone after all steps, and the first one that a step gives to another
    /// field than the one that had it.
    ///
    /// A document of today goes through all steps, too: under such a name it would be read as one
    /// of before. A field may get back the name that it had.
    var goneNames: (names: Set<String>, reused: String?) {
        var became: [String: String] = [:]
        var removed: Set<String> = []
        var reused: String?
        func isGone(_ name: String) -> Bool { became[name] != nil || removed.contains(name) }
        for migration in migrations {
            switch migration {
            case .rename(let old, let new):
                if became[new] == old {
                    became[new] = nil
                } else if isGone(new) {
                    reused = reused ?? new
                }
                became = became.mapValues { $0 == old ? new : $0 }
                became[old] = new
            case .remove(let name):
                removed.formUnion(became.filter { $0.value == name }.keys)
                became = became.filter { $0.value != name }
                removed.insert(name)
            case .require(let name, _):
                if isGone(name) { reused = reused ?? name }
            }
        }
        return (removed.union(became.keys), reused)
    }

    /// The name that a field has after steps that another model did not have.
    package func renamed(_ field: String, since older: CollectionModel) -> String {
        renamed(field, from: older.migrations.count)
    }

    /// The name that a field has after all steps from one on.
    private func renamed(_ field: String, from step: Int) -> String {
        migrations.dropFirst(step).reduce(field) { name, step in
            if case .rename(name, let new) = step { new } else { name }
        }
    }
}

/// The members of a step that renames a field.
private struct RenameStep: ModelObject {
    var rename = ""
    var to = ""

    static let blank = RenameStep()
    static let members: [ModelMember<RenameStep>] = [
        ModelMember("rename", \.rename, .text, isNeeded: true, "The field's name so far."),
        ModelMember("to", \.to, .text, isNeeded: true, "Its name from now on."),
    ]
}

/// The members of a step that removes a field.
private struct RemoveStep: ModelObject {
    var remove = ""

    static let blank = RemoveStep()
    static let members: [ModelMember<RemoveStep>] = [
        ModelMember("remove", \.remove, .text, isNeeded: true, "The field that is gone.")
    ]
}

/// The members of a step that gives a field a value where it has none.
private struct RequireStep: ModelObject {
    var require = ""
    var `default` = JSONValue.null

    static let blank = RequireStep()
    static let members: [ModelMember<RequireStep>] = [
        ModelMember(
            "require", \.require, .text, isNeeded: true, "The field that must have a value."),
        ModelMember(
            "default", \.default, .notNull, isNeeded: true,
            "The value that it has where it is missing or null."),
    ]
}

extension ModelCodec where Value == JSONValue {
    /// Any value but null.
    fileprivate static let notNull = ModelCodec(
        schema: ["not": ["type": "null"]], wanted: "a value is needed",
        read: { (value, place) throws(ModelError) in
            guard value != .null else { throw place.error("null is no default") }
            return value
        },
        write: { $0 })
}

extension ModelCodec where Value == FieldMigration {
    /// An object of one of three shapes.
    static let migration: ModelCodec = {
        let wanted = "{\"rename\":…,\"to\":…}, {\"remove\":…} or {\"require\":…,\"default\":…}"
        return ModelCodec(
            schema: [
                "anyOf": [
                    .object(RenameStep.schema("A field has another name.")),
                    .object(RemoveStep.schema("A field is gone.")),
                    .object(
                        RequireStep.schema(
                            "A field has this value where it is missing or null.")),
                ]
            ],
            wanted: wanted,
            read: { (value, place) throws(ModelError) in
                switch value.object?.keys.sorted() {
                case ["rename", "to"]:
                    let step = try RenameStep(reading: value, at: place)
                    guard step.rename != step.to else {
                        throw place.error("both names are \"\(step.rename)\"")
                    }
                    return .rename(step.rename, to: step.to)
                case ["remove"]:
                    return .remove(try RemoveStep(reading: value, at: place).remove)
                case ["default", "require"]:
                    let step = try RequireStep(reading: value, at: place)
                    return .require(step.require, default: step.default)
                default: throw place.error(wanted)
                }
            },
            write: { step in
                switch step {
                case .rename(let old, let new): .object(RenameStep(rename: old, to: new).json)
                case .remove(let name): .object(RemoveStep(remove: name).json)
                case .require(let name, let value):
                    .object(RequireStep(require: name, default: value).json)
                }
            })
    }()
}
