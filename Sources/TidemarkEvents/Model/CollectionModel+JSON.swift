// CollectionModel+JSON.swift — one collection of a model document.

extension CollectionModel {
    init(
        _ value: JSONValue, at path: String, _ isLogged: Bool, _ usualLastChange: String?
    ) throws(ModelError) {
        let members = try Members(
            value, at: path,
            known: isLogged ? nil : Self.members)
        guard let text = try members.string("name"), CollectionName(text).isValid else {
            throw ModelError(
                "\(path).name", "1 to \(CollectionName.bytesMax) bytes without / are needed")
        }
        self.init(CollectionName(text))
        idField = try members.string("id") ?? "id"
        lastChangeField = try members.string("lastChange") ?? usualLastChange
        if let value = members["conflict"] {
            conflict = try ConflictPolicy(value, at: "\(path).conflict", isLogged)
        }
        if let value = members["references"] {
            guard let object = value.object else {
                throw ModelError("\(path).references", "an object of field to collection is needed")
            }
            for (field, target) in object {
                let path = "\(path).references.\(field)"
                references.append(try Reference(field, target, at: path, isLogged))
            }
        }
        pageSize = try members.integer("pageSize", in: 1...10_000)
        pagesMax = try members.integer("pagesMax", in: 1...1_000_000) ?? pagesMax
        try readFormats(members, path)
        for (index, value) in try members.list("indexes").prefix(Self.indexesMax + 1).enumerated() {
            let index = try IndexModel(value, at: "\(path).indexes[\(index)]")
            guard !indexes.contains(index) else {
                throw ModelError("\(path).indexes", "the same index is there twice")
            }
            indexes.append(index)
        }
        guard indexes.count <= Self.indexesMax else {
            throw ModelError("\(path).indexes", "\(Self.indexesMax) are the most")
        }
        try readMigrations(members, path)
        try readRules(members, path, isLogged)
    }

    private mutating func readFormats(_ members: Members, _ path: String) throws(ModelError) {
        dates = try members.word("dates", DateFormat.self) ?? .iso8601
        keys = try members.word("keys", KeyStyle.self) ?? .verbatim
        for (index, value) in try members.list("nullable").enumerated() {
            guard let name = value.stringValue, !name.isEmpty else {
                throw ModelError("\(path).nullable[\(index)]", "a field's name is needed")
            }
            nullable.append(name)
        }
    }

    private mutating func readMigrations(_ members: Members, _ path: String) throws(ModelError) {
        for (index, value) in try members.list("migrations").enumerated() {
            let migration = try FieldMigration(value, at: "\(path).migrations[\(index)]")
            if let name = migration.retired {
                var used = indexes.flatMap { $0.fields.map(\.name) } + references.map(\.field)
                used += [idField] + [lastChangeField].compactMap(\.self)
                guard !used.contains(name) else {
                    throw ModelError(
                        "\(path).migrations[\(index)]",
                        "\"\(name)\" is gone, but the model still names it")
                }
            }
            migrations.append(migration)
        }
    }

    private static let members =
        [
            "name", "id", "lastChange", "conflict", "references", "pageSize", "pagesMax",
            "dates", "keys", "nullable", "indexes", "migrations",
        ] + ruleMembers

    var json: JSONObject {
        var object: JSONObject = ["name": .string(name.rawValue), "id": .string(idField)]
        if let lastChangeField { object["lastChange"] = .string(lastChangeField) }
        object["conflict"] = conflict.json
        if !references.isEmpty {
            var targets = JSONObject()
            for reference in references {
                targets[reference.field] = reference.json
            }
            object["references"] = .object(targets)
        }
        if let pageSize { object["pageSize"] = .number(JSONNumber(pageSize)) }
        if pagesMax != Self.usualPagesMax {
            object["pagesMax"] = .number(JSONNumber(pagesMax))
        }
        if dates != .iso8601 { object["dates"] = .string(dates.rawValue) }
        if keys != .verbatim { object["keys"] = .string(keys.rawValue) }
        if !nullable.isEmpty { object["nullable"] = .array(nullable.map(JSONValue.string)) }
        if !indexes.isEmpty { object["indexes"] = .array(indexes.map(\.json)) }
        if !migrations.isEmpty { object["migrations"] = .array(migrations.map(\.json)) }
        addRules(to: &object)
        return object
    }
}
