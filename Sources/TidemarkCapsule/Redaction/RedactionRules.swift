// RedactionRules.swift — what the models of a capsule tell of its values: which are times, which
// are computed, and which names and constants are no secrets.

package import TidemarkEvents
import TidemarkSync
import TidemarkViews

extension Capsule {
    /// The models in the capsule, in the order of registration.
    func registeredModels() throws -> [[UInt8]] {
        var models: [[UInt8]] = []
        for row in base.rows where row.key == .store("model") {
            models.append(try StoreFactRow(parsing: row.value).payload)
        }
        for commit in commits {
            for entry in commit.entries where entry.event.kind == .modelRegistered {
                models.append(entry.event.payload)
            }
        }
        return models
    }

    /// The server of the last model in the capsule; nil where there is none.
    package func remote() throws -> Remote? {
        let model = try registeredModels().last
        let known = model.flatMap { try? ModelRegistration(parsing: $0, isLogged: true) }
        return known?.remote
    }
}

/// What is done with the value of a field.
enum RedactionRole: Hashable {
    /// It stays.
    case kept
    /// It is treated as a time, if it can be parsed as one.
    case time(DateFormat)
    /// It stays, but for a negative number: that is -1, whichever it was.
    case keptOrNegative
    case replaced
}

/// The rules for fields, names and words.
struct RedactionRules {
    private(set) var fields: [Redaction.Field: RedactionRole] = [:]
    /// By name alone, for values that may be of any collection: a field that one collection keeps
    /// is replaced here.
    private var fieldsByName: [String: RedactionRole] = [:]
    /// How times of a collection are written.
    private(set) var dates: [String: DateFormat] = [:]
    /// Names and words that stay.
    private(set) var words: Set<[UInt8]> = []
    /// Numbers that the models set in fields.
    private(set) var constants: Set<String> = []
    /// The collections of the models.
    private var collections: [String] = []
    /// The names of the models' actions.
    private(set) var actions: Set<String> = []
    /// The lists of which edits and decisions name elements by their keys.
    private(set) var lists: [(collection: String, list: KeyedList)] = []
    /// Whether entities may name files.
    private(set) var namesFiles = false
    /// Names of members that belong to Tidemark or to the server.
    let ownNames: Set<String>
    /// Names that stay only as names of members.
    private let names: Set<String>?

    init(_ policy: Redaction, _ models: [[UInt8]]) throws {
        let ownNames = Set(["document", "set", "unset"]).union(policy.words.members.keys)
        self.ownNames = ownNames
        names = policy.names.map { $0.union(ownNames) }
        for bytes in models {
            guard let value = try? JSONValue(parsing: bytes) else { continue }
            read(value, isConstant: false)
            guard let known = try? ModelRegistration(parsing: bytes, isLogged: true) else {
                continue
            }
            for collection in known.model.collections {
                if !collections.contains(collection.name.rawValue) {
                    collections.append(collection.name.rawValue)
                }
                read(collection)
            }
        }
        let kept = try policy.keptFields()
        let collections = self.collections
        for field in kept.sorted(by: { $0.collection < $1.collection }) {
            guard collections.isEmpty || collections.contains(field.collection) else {
                throw RedactionError(
                    .policy,
                    "\(field.collection).\(field.name): there is no such collection, but "
                        + collections.joined(separator: ", "))
            }
            set(.kept, field.name, field.collection)
            words.insert(Array(field.name.utf8))
        }
    }

    /// What is done with a field's value.
    func role(_ field: String, _ collection: String?) -> RedactionRole {
        guard let collection else { return fieldsByName[field] ?? .replaced }
        return fields[Redaction.Field(collection: collection, name: field)] ?? .replaced
    }

    /// Whether a member keeps its name.
    func keeps(name: String) -> Bool {
        names?.contains(name) ?? true
    }

    private mutating func set(_ role: RedactionRole, _ field: String, _ collection: String) {
        fields[Redaction.Field(collection: collection, name: field)] = role
        if case .time = role { fieldsByName[field] = role }
    }

    private mutating func read(_ collection: CollectionModel) {
        let name = collection.name.rawValue
        dates[name] = collection.dates
        actions.formUnion(collection.actions.map(\.name))
        let indexed = collection.indexes.flatMap(\.fields)
        var times = indexed.filter { $0.kind == .date }.compactMap { FieldPath($0.name).steps.last }
        times += [
            collection.lastChangeField, collection.rivals?.start, collection.rivals?.stopped,
            collection.retention?.field,
        ]
        .compactMap(\.self)
        if case .preferNewer(let field, _) = collection.conflict { times.append(field) }
        if let feed = collection.feed { times += [feed.order, feed.change] }
        for field in times { set(.time(collection.dates), field, name) }
        // The fold writes a time there, or a value computed from times.
        if let rule = collection.rivals {
            let role = rule.end == .stopTime ? RedactionRole.time(collection.dates) : .kept
            set(role, rule.whileNull, name)
        }
        for form in collection.forms {
            switch form {
            case .negativeIsNull(let field, _):
                if role(field, name) == .kept { set(.keptOrNegative, field, name) }
            case .wholeSeconds(let field): set(.time(collection.dates), field, name)
            }
        }
        for list in collection.keyed where !lists.contains(where: { $0 == (name, list) }) {
            lists.append((name, list))
        }
        // By these names the fold finds what a document refers to, and indexes what they are of.
        let places = collection.references.map(\.field) + indexed.map(\.name)
        for name in places.flatMap({ FieldPath($0).steps }) { words.insert(Array(name.utf8)) }
        // A scope has several values in an order of its own.
        for rule in collection.lists ?? [] {
            for parameter in ListParameters(scope: rule.parameters.scope)?.all ?? [] {
                words.insert(Array(parameter.value.utf8))
            }
        }
        // By these, the values of lists' parameters are found.
        for field in (collection.lists ?? []).flatMap(\.from).compactMap(\.field) {
            for name in FieldPath(field).steps { words.insert(Array(name.utf8)) }
        }
        // The fold writes placeholders with it, also where the model leaves it out.
        words.insert(Array(collection.idField.utf8))
        // By this, what may hold others, also where the model leaves it out.
        if let tree = collection.tree { words.insert(Array(tree.folder.utf8)) }
        // By these, what a document calls a file.
        for name in collection.contents.flatMap(\.steps) { words.insert(Array(name.utf8)) }
        if !collection.contents.isEmpty {
            namesFiles = true
            for name in ["sha256", "bytes"] { words.insert(Array(name.utf8)) }
        }
        for migration in collection.migrations.reversed() {
            guard case .rename(let old, let new) = migration else { continue }
            let role = role(new, name)
            if role != .replaced { set(role, old, name) }
        }
    }

    /// Collects the words of a model, except those of its remote.
    private mutating func read(_ value: JSONValue, isConstant: Bool) {
        switch value {
        case .string(let text): words.insert(Array(text.utf8))
        case .number(let number): if isConstant { constants.insert(number.text) }
        case .array(let list): for item in list { read(item, isConstant: isConstant) }
        case .object(let object):
            for (key, value) in object where key != "remote" {
                words.insert(Array(key.utf8))
                // The values of a placeholder's fields, and the default of a required field.
                let isConstant = isConstant || key == "fields" || key == "default"
                read(value, isConstant: isConstant)
            }
        case .null, .bool: break
        }
    }
}
