// ModelSchema.swift — the JSON Schema of model documents and the tables of the documentation, both
// made of the members' tables.

/// The members of `remote` for one kind of adapter.
package struct AdapterMembers: Sendable {
    /// The name of the adapter.
    package var name: String
    /// The members that it needs, each with its description.
    package var parameters: [(name: String, line: String)]

    /// The members that it may have, each with its description.
    package var options: [(name: String, line: String)]

    package init(
        _ name: String, parameters: [(name: String, line: String)] = [],
        options: [(name: String, line: String)] = []
    ) {
        self.name = name
        self.parameters = parameters
        self.options = options
    }
}

extension ModelObject {
    /// The JSON Schema of such objects.
    ///
    /// The names of earlier versions are allowed, and marked as deprecated.
    static func schema(_ description: String) -> JSONObject {
        var schema: JSONObject = ["description": .string(description), "type": "object"]
        var (needed, either): ([JSONValue], [JSONValue]) = ([], [])
        var properties = JSONObject()
        for member in members {
            properties[member.name] = .object(member.described)
            guard member.isNeeded else { continue }
            let older = member.older.flatMap(\.names)
            if older.isEmpty {
                needed.append(.string(member.name))
            } else {
                let names = [member.name] + older
                either.append(["anyOf": .array(names.map { ["required": [.string($0)]] })])
            }
        }
        for member in members {
            for older in member.older {
                for name in older.names {
                    properties[name] = .object(member.deprecated(older, properties[name]))
                }
            }
        }
        if !needed.isEmpty { schema["required"] = .array(needed) }
        if !either.isEmpty { schema["allOf"] = .array(either) }
        schema["additionalProperties"] = more.map { .object($0.schema) } ?? false
        schema["properties"] = .object(properties)
        return schema
    }

    /// The rows of a table of the documentation.
    fileprivate static var rows: [String] {
        members.map { member in
            var usual = member.isNeeded ? "needed" : "—"
            if let value = member.usual, value != [:], value != [] { usual = "`\(value)`" }
            return "| `\(member.name)` | \(usual) | \(member.line) |"
        }
    }
}

extension ModelMember {
    /// Its schema with what it says and what stands for its absence.
    fileprivate var described: JSONObject {
        let more = schema["description"]?.stringValue.map { " \($0)" } ?? ""
        var object: JSONObject = ["description": .string(line + more)]
        for (name, value) in schema where name != "description" { object[name] = value }
        if let usual, usual != [:] { object["default"] = usual }
        return object
    }

    /// The schema of an older spelling, which may be that of a member of today with more values.
    fileprivate func deprecated(_ older: OlderSpelling, _ today: JSONValue?) -> JSONObject {
        if let today { return ["anyOf": [today, .object(older.schema)]] }
        var object: JSONObject = [
            "description": .string(
                "In earlier versions; today `\(older.member.map { "\(name).\($0)" } ?? name)`."),
            "deprecated": true,
        ]
        let schema = older.schema.isEmpty && older.isRenamed ? self.schema : older.schema
        for (name, value) in schema { object[name] = value }
        return object
    }
}

extension OlderSpelling {
    /// Whether the value is the member's own, under another name.
    fileprivate var isRenamed: Bool { modern([true]) == true }
}

/// The schema and the tables of a whole model.
package enum ModelSchema {
    /// Objects with a name of their own, in the order of the schema and of the documentation.
    static let objects: [(name: String, type: any ModelObject.Type, title: String)] = [
        ("collection", CollectionModel.self, "One collection."),
        ("reference", Reference.self, "A field that holds the id of another entity."),
        ("removal", RemovalRule.self, "How what is deleted goes out of what refers to it."),
        ("preferNewer", PreferNewerMembers.self, "The newer side of a conflict wins."),
        ("access", AccessRule.self, "How the user gets and loses access to entities."),
        ("since", SinceRule.self, "When only what changed since a time is listed."),
        ("window", PullWindow.self, "The span around now that is listed."),
        ("list", ListRule.self, "A part of a collection with a list of its own."),
        ("listSource", ListSource.self, "Where the values of a list's parameter stand."),
        ("feed", FeedRule.self, "How it is listed in blocks."),
        ("action", ActionRule.self, "Something that the server does when it is asked to."),
        ("choice", ChoiceRule.self, "A field that must name an entity."),
        ("tree", TreeRule.self, "How entities lie in each other under names."),
        ("rivals", RivalRule.self, "Entities that may not hold a state together."),
        ("placeholder", PlaceholderRule.self, "What stands in for a missing entity."),
        ("refetch", RefetchRule.self, "When the server is asked for it again."),
        ("retention", RetentionRule.self, "How long entities are kept."),
        ("content", ContentRule.self, "A field that names a file."),
        ("pool", ReservedPool.self, "Values that are reserved in advance."),
        ("settings", SyncSettings.self, "How often and how much the server is asked."),
        ("backoff", BackoffSpan.self, "The waits after runs that failed."),
        ("limit", RequestLimit.self, "How many requests may be sent in which time."),
        ("answers", SyncSettings.KeptAnswers.self, "How many answers are kept."),
        ("budgets", TransferBudgets.self, "How many files are fetched and sent at the same time."),
        ("gate", TriggerGate.self, "How often a trigger of the app may begin a run."),
        ("remote", Remote.self, "The server."),
        ("defaults", AdapterDefaults.self, "What an adapter gives to collections."),
    ]

    private static let values: JSONObject = [
        "text": ["type": "string", "minLength": 1],
        "duration": [
            "description": "ISO 8601, whole numbers: P2M, P7D, PT12H, P1DT30M.",
            "type": "string",
            "pattern":
                "^P(?=.)(\\d+Y)?(\\d+M)?(\\d+W)?(\\d+D)?(T(?=.)(\\d+H)?(\\d+M)?(\\d+S)?)?$",
        ],
        "collectionName": [
            "type": "string", "maxLength": .number(JSONNumber(CollectionName.bytesMax)),
            "pattern": "^[^\\u0000-\\u001f\\u007f/]+$",
        ],
    ]

    /// The schema, for servers of those adapters.
    package static func document(
        adapters: [AdapterMembers], examples: [JSONValue]
    ) -> JSONValue {
        var schema: JSONObject = [
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "A model: what Tidemark syncs, by which rules, and with which server",
        ]
        let root = ModelRegistration.schema(
            """
            The file that `tidemark init --model` reads, and the payload of model.registered. \
            Beyond what is said here: no key stands twice in an object, a collection's name is \
            there once, and is at most \(CollectionName.bytesMax) bytes of UTF-8.
            """)
        for (name, value) in root { schema[name] = value }
        var definitions = values
        for (name, type, title) in objects {
            let object = type.schema(title)
            definitions[name] = .object(name == "remote" ? remote(object, adapters) : object)
        }
        schema["$defs"] = .object(definitions)
        schema["examples"] = .array(examples)
        return .object(schema)
    }

    /// The schema of the server with what each adapter needs.
    private static func remote(_ schema: JSONObject, _ adapters: [AdapterMembers]) -> JSONObject {
        var schema = schema
        var properties = schema["properties"]?.object ?? [:]
        var needs: [JSONValue] = []
        for adapter in adapters {
            for (name, line) in adapter.parameters + adapter.options
            where properties[name] == nil {
                properties[name] = ["description": .string(line), "type": "string"]
            }
            if adapter.parameters.isEmpty { continue }
            let names = adapter.parameters.map { JSONValue.string($0.name) }
            needs.append([
                "if": ["properties": ["adapter": ["const": .string(adapter.name)]]],
                "then": ["required": .array(names)],
            ])
        }
        schema["properties"] = .object(properties)
        if !needs.isEmpty { schema["allOf"] = .array(needs) }
        return schema
    }

    /// The names of all members, as the documentation has to name them.
    package static var memberNames: [String] {
        let rows = ModelRegistration.rows + objects.flatMap { $0.type.rows }
        return rows.compactMap { $0.split(separator: "`").dropFirst().first.map(String.init) }
    }

    /// Every member in Markdown: a table for each object.
    package static var tables: String {
        let document = ("", ModelRegistration.self as any ModelObject.Type, "The document.")
        return ([document] + objects).map { name, type, title in
            let head = name.isEmpty ? title : "`\(name)`: \(title)"
            return "\(head)\n\n| member | unless given | is |\n|---|---|---|\n"
                + type.rows.joined(separator: "\n")
        }.joined(separator: "\n\n")
    }
}
