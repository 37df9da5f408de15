// ModelCodecs.swift — how the plain values of a model lie in JSON: texts, numbers, words, spans of
// time, and lists.

extension ModelCodec where Value == String {
    /// A text that is not empty.
    static let text = ModelCodec(
        schema: ["$ref": "#/$defs/text"], wanted: "a text is needed",
        read: { (value, place) throws(ModelError) in
            guard let text = value.stringValue, !text.isEmpty else {
                throw place.error("a text is needed")
            }
            return text
        },
        write: { .string($0) })
}

extension ModelCodec where Value == CollectionName {
    /// The name of a collection.
    static let collectionName: ModelCodec = {
        let wanted =
            "a collection's name is needed: 1 to \(CollectionName.bytesMax) bytes without /"
        return ModelCodec(
            schema: ["$ref": "#/$defs/collectionName"], wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let text = value.stringValue, CollectionName(text).isValid else {
                    throw place.error(wanted)
                }
                return CollectionName(text)
            },
            write: { .string($0.rawValue) })
    }()
}

extension ModelCodec where Value == Bool {
    static let flag = ModelCodec(
        schema: ["type": "boolean"], wanted: "true or false is needed",
        read: { (value, place) throws(ModelError) in
            guard let flag = value.boolValue else { throw place.error("true or false is needed") }
            return flag
        },
        write: { .bool($0) })
}

extension ModelCodec where Value == Int {
    /// A whole number within bounds.
    static func number(_ range: ClosedRange<Int64>) -> ModelCodec {
        let wanted = "a number from \(range.lowerBound) to \(range.upperBound) is needed"
        return ModelCodec(
            schema: [
                "type": "integer", "minimum": .number(JSONNumber(range.lowerBound)),
                "maximum": .number(JSONNumber(range.upperBound)),
            ],
            wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let number = value.int64Value, range.contains(number) else {
                    throw place.error(wanted)
                }
                return Int(number)
            },
            write: { .number(JSONNumber($0)) })
    }
}

extension ModelCodec where Value == TimeSpan {
    /// A span of time within bounds.
    ///
    /// - Parameters:
    ///   - least: the shortest one.
    ///   - monthsMax: the most calendar months; with 0 the span has days and what is shorter.
    ///   - most: the most of days and what is shorter.
    static func span(
        from least: TimeSpan = .zero, monthsMax: Int = 0, to most: TimeSpan, such example: String
    ) -> ModelCodec {
        let longest = monthsMax > 0 ? TimeSpan.months(monthsMax) + most : most
        let bounds = least == .zero ? "of at most \(longest)" : "from \(least) to \(longest)"
        let wanted = "a duration \(bounds) is needed, as in \"\(example)\""
        return ModelCodec(
            schema: ["$ref": "#/$defs/duration"], wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let span = value.stringValue.flatMap({ TimeSpan($0) }),
                    span.months <= monthsMax, span.seconds <= most.seconds,
                    span.months > 0 || span.seconds >= least.seconds
                else { throw place.error(wanted) }
                return span
            },
            write: { .string($0.description) })
    }
}

extension ModelCodec where Value: RawRepresentable<String> & CaseIterable {
    /// One of a closed list of words.
    static var word: ModelCodec {
        let words = Value.allCases.map(\.rawValue)
        let wanted = "one of \(words.joined(separator: ", ")) is needed"
        return ModelCodec(
            schema: ["enum": .array(words.map(JSONValue.string))], wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let word = value.stringValue.flatMap(Value.init(rawValue:)) else {
                    throw place.error(wanted)
                }
                return word
            },
            write: { .string($0.rawValue) })
    }
}

extension ModelCodec where Value == JSONObject {
    /// Any object.
    static let members = ModelCodec(
        schema: ["type": "object"], wanted: "an object is needed",
        read: { (value, place) throws(ModelError) in
            guard let object = value.object else { throw place.error("an object is needed") }
            return object
        },
        write: { .object($0) })
}

extension ModelCodec {
    /// A list of such values.
    ///
    /// - Parameters:
    ///   - count: how many elements it may have.
    ///   - isSet: whether no element may be there twice.
    func list(
        _ count: ClosedRange<Int> = 0...Int.max, isSet: Bool = false
    ) -> ModelCodec<[Value]> where Value: Equatable {
        var schema: JSONObject = ["type": "array"]
        if count.lowerBound > 0 { schema["minItems"] = .number(JSONNumber(count.lowerBound)) }
        if count.upperBound < .max { schema["maxItems"] = .number(JSONNumber(count.upperBound)) }
        if isSet { schema["uniqueItems"] = true }
        schema["items"] = .object(self.schema)
        let least = count.lowerBound > 0 ? " of at least \(count.lowerBound)" : ""
        let most = count.upperBound < .max ? " of at most \(count.upperBound)" : ""
        let wanted = "a list\(least)\(most) is needed"
        return ModelCodec<[Value]>(
            schema: schema, wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let list = value.array, count.contains(list.count) else {
                    throw place.error(wanted)
                }
                var values: [Value] = []
                for (index, item) in list.enumerated() {
                    let value = try read(item, place.element(index))
                    guard !isSet || !values.contains(value) else {
                        throw place.element(index).error("it is there twice")
                    }
                    values.append(value)
                }
                return values
            },
            write: { .array($0.map(write)) },
            modern: { value in value.array.map { .array($0.map(modern)) } ?? value })
    }

    /// An object whose members are such values, each under a name of its own.
    ///
    /// - Parameter name: where a value has that name.
    func named(
        by name: any WritableKeyPath<Value, String> & Sendable, _ wanted: String
    ) -> ModelCodec<[Value]> {
        ModelCodec<[Value]>(
            schema: ["type": "object", "additionalProperties": .object(schema)], wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let object = value.object else { throw place.error(wanted) }
                var values: [Value] = []
                for (key, item) in object {
                    var value = try read(item, place.member(key))
                    value[keyPath: name] = key
                    values.append(value)
                }
                return values
            },
            write: { values in
                var object = JSONObject()
                for value in values { object[value[keyPath: name]] = write(value) }
                return .object(object)
            },
            modern: { value in
                guard let object = value.object else { return value }
                var members = JSONObject()
                for (name, value) in object { members[name] = modern(value) }
                return .object(members)
            })
    }
}

extension OlderSpelling {
    /// A number of some unit, which is a span today.
    static func span(
        _ name: String, _ range: ClosedRange<Int64>, _ span: @escaping @Sendable (Int) -> TimeSpan
    ) -> OlderSpelling {
        spans([name], range) { span($0[0]) }
    }

    /// Numbers of several units, which are one span today; those that are left out are 0.
    static func spans(
        _ names: [String], _ range: ClosedRange<Int64>,
        _ span: @escaping @Sendable ([Int]) -> TimeSpan
    ) -> OlderSpelling {
        let schema: JSONObject = [
            "type": "integer", "minimum": .number(JSONNumber(range.lowerBound)),
            "maximum": .number(JSONNumber(range.upperBound)),
        ]
        return OlderSpelling(names: names, schema: schema) { values in
            // A merge patch takes a member away with null.
            guard values.contains(where: { $0 != nil && $0 != .null }) else { return .null }
            var numbers: [Int] = []
            for value in values {
                let number = (value ?? .null) == .null ? 0 : value?.int64Value
                guard let number, range.contains(number) || value ?? .null == .null else {
                    return nil
                }
                numbers.append(Int(number))
            }
            return .string(span(numbers).description)
        }
    }

    /// The same value, which is a member of a group today.
    static func inGroup(
        _ name: String, as member: String, _ schema: JSONObject
    ) -> OlderSpelling {
        OlderSpelling(names: [name], schema: schema, member: member) { values in
            values[0].map { .object([member: $0]) }
        }
    }

    /// A number of some unit, which is a span in a group today.
    static func spanInGroup(
        _ name: String, as member: String, _ range: ClosedRange<Int64>,
        _ span: @escaping @Sendable (Int) -> TimeSpan
    ) -> OlderSpelling {
        let inner = OlderSpelling.span(name, range, span)
        return OlderSpelling(names: [name], schema: inner.schema, member: member) { values in
            inner.modern(values).map { .object([member: $0]) }
        }
    }
}
