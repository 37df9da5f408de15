// KeyedList.swift — lists whose elements are told by the value of a member, and the names that such
// elements have in edits, conflicts and decisions.
//
// A name is a JSON Pointer (RFC 6901) with a key in the place of an index: `/answers/q1` is the
// element of `answers` whose key is `q1`.

extension CollectionModel {
    /// A list in an entity's document whose elements are objects, told by the value of a member.
    ///
    /// Its elements are changed, merged and in conflict one by one, and each has a name: a JSON
    /// Pointer with the key in the place of an index, such as `/answers/q1`.
    public struct KeyedList: Sendable, Hashable {
        /// The field that holds the list.
        public var field: String
        /// The member of each element that tells it from the others: a text or a number.
        public var key: String

        /// A list in `field`, of which `key` tells the elements.
        public init(_ field: String, by key: String) {
            self.field = field
            self.key = key
        }
    }
}

package typealias KeyedList = CollectionModel.KeyedList

extension KeyedList {
    /// The name of the element with a key.
    package func name(of key: String) -> String { prefix + Self.escaped(key) }

    /// The key of an element, from its name; nil for any other name.
    package func key(in name: String) -> String? {
        let prefix = prefix
        guard name.utf8.starts(with: prefix.utf8) else { return nil }
        let rest = name.utf8.dropFirst(prefix.utf8.count)
        let key = Self.unescaped(String(Substring(rest)))
        // What is not escaped as above is the name of a field.
        return ExactString(self.name(of: key)) == ExactString(name) ? key : nil
    }

    /// The field that a name leads into if it is that of an element; nil for any other name.
    package static func field(ofElement name: String) -> String? {
        guard name.utf8.first == UInt8(ascii: "/") else { return nil }
        let parts = name.utf8.dropFirst().split(
            separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return nil }
        return unescaped(String(Substring(parts[0])))
    }

    /// The key that a value is: a text, or a number in its one writing; nil for none.
    package static func key(_ value: JSONValue) -> String? {
        switch value {
        case .string(let text): text
        case .number(let number): number.canonicalText
        case .null, .bool, .array, .object: nil
        }
    }

    /// What all names of its elements begin with.
    private var prefix: String { "/" + Self.escaped(field) + "/" }

    private static func escaped(_ text: String) -> String {
        text.replacing("~", with: "~0").replacing("/", with: "~1")
    }

    private static func unescaped(_ text: String) -> String {
        text.replacing("~1", with: "/").replacing("~0", with: "~")
    }
}

extension [CollectionModel.KeyedList] {
    /// The list that an element's name leads to, and the element's key; nil for a field's name.
    package func element(_ name: String) -> (list: KeyedList, key: String)? {
        guard !isEmpty, name.utf8.first == UInt8(ascii: "/") else { return nil }
        for list in self {
            if let key = list.key(in: name) { return (list, key) }
        }
        return nil
    }

    /// The list in a field; nil where there is none.
    package func list(in field: String) -> KeyedList? {
        isEmpty ? nil : first { ExactString($0.field) == ExactString(field) }
    }
}

// MARK: - JSON

extension CollectionModel {
    /// What is wrong with a list of keyed lists; nil for nothing.
    func problemOfKeyed() -> ModelProblem? {
        var seen: Set<ExactString> = []
        for list in keyed {
            if list.field.isEmpty || list.key.isEmpty {
                return ModelProblem(
                    "keyed.\(list.field)",
                    "a field and the member that tells its elements are needed")
            }
            if !seen.insert(ExactString(list.field)).inserted {
                return ModelProblem("keyed.\(list.field)", "it is there twice")
            }
        }
        return nil
    }
}

extension ModelCodec where Value == [KeyedList] {
    /// An object of fields, each with the member that tells its elements.
    static let keyedLists: ModelCodec = {
        let wanted = "an object of field to member is needed, as in {\"answers\":\"question\"}"
        return ModelCodec(
            schema: [
                "type": "object", "additionalProperties": .object(ModelCodec<String>.text.schema),
            ],
            wanted: wanted,
            read: { (value, place) throws(ModelError) in
                guard let object = value.object else { throw place.error(wanted) }
                var lists: [KeyedList] = []
                for (field, key) in object {
                    let key = try ModelCodec<String>.text.read(key, place.member(field))
                    lists.append(KeyedList(field, by: key))
                }
                return lists
            },
            write: { lists in
                var object = JSONObject()
                for list in lists { object[list.field] = .string(list.key) }
                return .object(object)
            })
    }()
}
