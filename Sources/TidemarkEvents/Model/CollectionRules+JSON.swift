// CollectionRules+JSON.swift — the rules of a collection in a model document.

extension CollectionModel {
    static let ruleMembers = [
        "ids", "push", "match", "absence", "since", "window", "after", "owner", "required",
        "restartsOnGain", "choices", "rivals", "placeholder", "retention",
    ]

    mutating func readRules(
        _ members: Members, _ path: String, _ isLogged: Bool
    ) throws(ModelError) {
        ids = try members.word("ids", IDSource.self) ?? .client
        if members["push"] != nil {
            pushes = []
            for (index, value) in try members.list("push").enumerated() {
                guard let word = value.stringValue.flatMap(PushOperation.init(rawValue:)) else {
                    throw ModelError(
                        "\(path).push[\(index)]", "one of create, update, delete is needed")
                }
                if !pushes.contains(word) { pushes.append(word) }
            }
            pushes = PushOperation.allCases.filter(pushes.contains)
        }
        match = try members.texts("match")
        absence = try members.word("absence", AbsenceRule.self) ?? .deletes
        since = try members.object("since", known: isLogged ? nil : SinceRule.members)
            .map { (inner) throws(ModelError) in try SinceRule(inner) }
        window = try members.object("window", known: isLogged ? nil : PullWindow.members)
            .map { (inner) throws(ModelError) in try PullWindow(inner) }
        after = try members.texts("after").map { CollectionName($0) }
        owner = try members.string("owner")
        if let owner, !references.contains(where: { $0.field == owner }) {
            throw ModelError("\(path).owner", "\"\(owner)\" must be one of the references")
        }
        required = try members.string("required")
        restartsOnGain = try members.flag("restartsOnGain") ?? false
        if let value = members["choices"] {
            let inner = try Members(value, at: "\(path).choices", known: nil)
            for (field, value) in inner.object {
                let path = "\(path).choices.\(field)"
                choices.append(
                    try ChoiceRule(
                        field, Members(value, at: path, known: isLogged ? nil : ["of", "else"])))
            }
        }
        rivals = try members.object("rivals", known: isLogged ? nil : RivalRule.members)
            .map { (inner) throws(ModelError) in try RivalRule(inner) }
        placeholder = try members.object(
            "placeholder", known: isLogged ? nil : PlaceholderRule.members
        ).map { (inner) throws(ModelError) in try PlaceholderRule(inner) }
        retention = try members.object("retention", known: isLogged ? nil : RetentionRule.members)
            .map { (inner) throws(ModelError) in try RetentionRule(inner) }
    }

    func addRules(to object: inout JSONObject) {
        func add(_ name: String, _ texts: [String]) {
            if !texts.isEmpty { object[name] = .array(texts.map(JSONValue.string)) }
        }
        if ids != .client { object["ids"] = .string(ids.rawValue) }
        if pushes != PushOperation.allCases {
            object["push"] = .array(pushes.map { .string($0.rawValue) })
        }
        add("match", match)
        if absence != .deletes { object["absence"] = .string(absence.rawValue) }
        if let since { object["since"] = since.json }
        if let window { object["window"] = window.json }
        add("after", after.map(\.rawValue))
        if let owner { object["owner"] = .string(owner) }
        if let required { object["required"] = .string(required) }
        if restartsOnGain { object["restartsOnGain"] = true }
        if !choices.isEmpty {
            var inner = JSONObject()
            for choice in choices { inner[choice.field] = choice.json }
            object["choices"] = .object(inner)
        }
        if let rivals { object["rivals"] = rivals.json }
        if let placeholder { object["placeholder"] = placeholder.json }
        if let retention { object["retention"] = retention.json }
    }

    /// What the rules of a model's collections say of each other.
    static func checkRules(_ collections: [CollectionModel]) throws(ModelError) {
        for (index, collection) in collections.enumerated() {
            let path = "collections[\(index)]"
            let earlier = collections[..<index].map(\.name)
            for name in collection.after where !earlier.contains(name) {
                throw ModelError(
                    "\(path).after",
                    "\(name) must be a collection that stands earlier in the list")
            }
            for choice in collection.choices where !earlier.contains(choice.collection) {
                throw ModelError(
                    "\(path).choices.\(choice.field).of",
                    "\(choice.collection) must be a collection that stands earlier in the list")
            }
            for reference in collection.references where reference.placeholder != nil {
                let target = collections.first { $0.name == reference.collection }
                guard target?.placeholder == nil else { continue }
                throw ModelError(
                    "\(path).references.\(reference.field).placeholder",
                    "\(reference.collection) has no \"placeholder\"")
            }
            if let together = collection.placeholder?.together,
                !collection.references.contains(where: { $0.field == together })
            {
                throw ModelError(
                    "\(path).placeholder.together",
                    "\"\(together)\" must be one of the references")
            }
        }
    }
}

extension Reference {
    init(
        _ field: String, _ value: JSONValue, at path: String, _ isLogged: Bool
    ) throws(ModelError) {
        if let name = value.stringValue {
            guard CollectionName(name).isValid else {
                throw ModelError(path, "a collection name is needed")
            }
            self.init(field, to: CollectionName(name))
            return
        }
        guard value.object != nil else { throw ModelError(path, "a collection name is needed") }
        let members = try Members(value, at: path, known: isLogged ? nil : ["to", "placeholder"])
        guard let name = try members.string("to"), CollectionName(name).isValid else {
            throw ModelError("\(path).to", "a collection name is needed")
        }
        self.init(
            field, to: CollectionName(name),
            placeholder: try members.word("placeholder", PlaceholderUse.self))
    }

    var json: JSONValue {
        guard let placeholder else { return .string(collection.rawValue) }
        return [
            "to": .string(collection.rawValue), "placeholder": .string(placeholder.rawValue),
        ]
    }
}

private let monthsRange: ClosedRange<Int64> = 1...1200
private let daysRange: ClosedRange<Int64> = 0...36_500

extension SinceRule {
    static let members = ["months", "serverDate"]

    init(_ members: Members) throws(ModelError) {
        guard let months = try members.integer("months", in: monthsRange) else {
            throw members.isNeeded("months")
        }
        self.init(months: months, serverDate: try members.flag("serverDate") ?? false)
    }

    var json: JSONValue {
        var object: JSONObject = ["months": .number(JSONNumber(months))]
        if serverDate { object["serverDate"] = true }
        return .object(object)
    }
}

extension PullWindow {
    static let members = ["months", "daysAhead"]

    init(_ members: Members) throws(ModelError) {
        guard let months = try members.integer("months", in: monthsRange) else {
            throw members.isNeeded("months")
        }
        self.init(months: months, daysAhead: try members.integer("daysAhead", in: daysRange) ?? 0)
    }

    var json: JSONValue {
        ["months": .number(JSONNumber(months)), "daysAhead": .number(JSONNumber(daysAhead))]
    }
}

extension RivalRule {
    static let members = ["whileNull", "start", "among", "stop", "ties"]

    init(_ members: Members) throws(ModelError) {
        guard let field = try members.string("whileNull") else {
            throw members.isNeeded("whileNull")
        }
        guard let start = try members.string("start") else { throw members.isNeeded("start") }
        self.init(
            whileNull: field, start: start, among: try members.texts("among"),
            stop: try members.word("stop", Stop.self) ?? .nextStart,
            ties: try members.word("ties", Ties.self) ?? .start)
    }

    var json: JSONValue {
        var object: JSONObject = ["whileNull": .string(field), "start": .string(start)]
        if !among.isEmpty { object["among"] = .array(among.map(JSONValue.string)) }
        if stop != .nextStart { object["stop"] = .string(stop.rawValue) }
        if ties != .start { object["ties"] = .string(ties.rawValue) }
        return .object(object)
    }
}

extension PlaceholderRule {
    static let members = ["fields", "copies", "refetchHours", "together"]

    init(_ members: Members) throws(ModelError) {
        self.init(
            fields: try members.object("fields", known: nil)?.object ?? [:],
            copies: try members.texts("copies"),
            refetchHours: try members.integer("refetchHours", in: 0...87_600) ?? 0,
            together: try members.string("together"))
    }

    var json: JSONValue {
        var object = JSONObject()
        if !fields.isEmpty { object["fields"] = .object(fields) }
        if !copies.isEmpty { object["copies"] = .array(copies.map(JSONValue.string)) }
        if refetchHours > 0 { object["refetchHours"] = .number(JSONNumber(refetchHours)) }
        if let together { object["together"] = .string(together) }
        return .object(object)
    }
}

extension RetentionRule {
    static let members = ["field", "months", "days"]

    init(_ members: Members) throws(ModelError) {
        guard let field = try members.string("field") else { throw members.isNeeded("field") }
        self.init(
            field: field, months: try members.integer("months", in: 0...1200) ?? 0,
            days: try members.integer("days", in: daysRange) ?? 0)
        guard self.months + self.days > 0 else { throw members.isNeeded("months or days") }
    }

    var json: JSONValue {
        var object: JSONObject = ["field": .string(field)]
        if months > 0 { object["months"] = .number(JSONNumber(months)) }
        if days > 0 { object["days"] = .number(JSONNumber(days)) }
        return .object(object)
    }
}

extension ChoiceRule {
    init(_ field: String, _ members: Members) throws(ModelError) {
        guard let name = try members.string("of"), CollectionName(name).isValid else {
            throw members.isNeeded("of")
        }
        guard let otherwise = try members.string("else") else { throw members.isNeeded("else") }
        self.init(field, of: CollectionName(name), otherwise: otherwise)
    }

    var json: JSONValue {
        ["of": .string(collection.rawValue), "else": .string(otherwise)]
    }
}
