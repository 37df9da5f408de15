// ListRule.swift — the parts that a collection is listed in, and where their parameters come from.

extension CollectionModel {
    /// A part of a collection that has a list of its own, and a watermark; or several parts, by
    /// values that stand in documents.
    public struct ListRule: Sendable, Hashable {
        /// Of which entities the list is; what they mean the server's adapter says.
        public var parameters: ListParameters
        /// How many entities a list of everything asks for at most; nil for all.
        ///
        /// Of what such a list does not name nothing follows.
        public var limit: Int?
        /// More parameters, whose values stand in documents of other collections.
        ///
        /// Where there are none of one, there is no such list, and nothing is asked for.
        public var from: [ListSource]

        /// The part with these parameters.
        public init(_ parameters: ListParameters, from: [ListSource] = [], limit: Int? = nil) {
            self.parameters = parameters
            self.limit = limit
            self.from = from
        }
    }

    /// Where the values of a list's parameter stand: in documents of another collection that are
    /// here.
    public struct ListSource: Sendable, Hashable {
        /// The parameter.
        public var parameter: String
        /// The collection whose documents have the values.
        public var collection: CollectionName
        /// The field of them, or a path as in JSON Pointer, in which `*` stands for every element;
        /// nil for the ids of the entities.
        public var field: String?
        /// Whether each value has a list of its own; else one has all of them, with commas between.
        ///
        /// Values that are too many for one list are shared by several.
        public var each: Bool

        /// The values of `parameter` are those in documents of `collection`.
        public init(
            _ parameter: String, in collection: CollectionName, field: String? = nil,
            each: Bool = false
        ) {
            self.parameter = parameter
            self.collection = collection
            self.field = field
            self.each = each
        }
    }
}

package typealias ListRule = CollectionModel.ListRule
package typealias ListSource = CollectionModel.ListSource

extension ListRule: ModelObject {
    static let blank = ListRule([:])

    static let members: [ModelMember<ListRule>] = [
        ModelMember(
            "parameters", \.parameters, .parameters,
            """
            The parameters of its requests, by name. An entity is of the list where it has fields \
            of these names and values: only such ones are deleted when the list leaves them out.
            """),
        ModelMember(
            "limit", \.limit, .number(1...1_000_000),
            """
            How many entities a list of everything asks for at most; nothing follows from what it \
            leaves out. All unless given.
            """),
        ModelMember(
            "from", \.from, .sources,
            """
            More parameters, by name, whose values stand in documents of other collections. \
            Without a value of one there is no such list.
            """),
    ]

    mutating func settle(_ given: JSONObject) -> ModelProblem? {
        for source in from where parameters[source.parameter] != nil {
            return ModelProblem(
                "from.\(source.parameter)",
                "parameters has a value for it; leave it out of one of them")
        }
        guard !from.isEmpty else { return nil }
        // The shortest value there can be.
        let least = with(from.map { ($0.parameter, "0") }).scope.utf8.count
        guard least + ListSource.valueBytesMin > ListParameters.bytesMax else { return nil }
        return ModelProblem(
            "parameters",
            "they leave no room for values from documents: all are at most "
                + "\(ListParameters.bytesMax) bytes as JSON; make them shorter")
    }

    /// Its parameters and some more.
    package func with(_ more: [(name: String, value: String)]) -> ListParameters {
        var values = Dictionary(
            parameters.all.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        for (name, value) in more { values[name] = value }
        return ListParameters(values)
    }
}

extension ListSource: ModelObject {
    static let blank = ListSource("", in: "")

    /// How many bytes of values a list must have room for.
    static let valueBytesMin = 64

    static let members: [ModelMember<ListSource>] = [
        ModelMember(
            "collection", \.collection, .collectionName, isNeeded: true,
            "The collection whose documents have the values."),
        ModelMember(
            "field", \.field, .text,
            """
            The field of them, or a path as in JSON Pointer, in which * stands for every element; \
            the ids of the entities unless given.
            """),
        ModelMember(
            "each", \.each, .flag,
            """
            Whether each value has a list of its own; else one has all of them, with commas \
            between.
            """),
    ]
}

extension ModelCodec where Value == [ListSource] {
    /// An object of parameter to source.
    fileprivate static let sources = ListSource.codec("listSource").named(
        by: \.parameter, "an object of parameter to where its values stand is needed")
}

extension ModelCodec where Value == ListParameters {
    fileprivate static let parameters = ModelCodec(
        schema: [
            "type": "object", "additionalProperties": ["type": "string", "minLength": 1],
            "propertyNames": ["minLength": 1],
        ],
        wanted: "an object of name to text is needed, as in {\"program\": \"P1\"}",
        read: { (value, place) throws(ModelError) in
            guard let parameters = ListParameters(value) else {
                throw place.error(
                    "an object of name to text is needed, as in {\"program\": \"P1\"}")
            }
            let count = parameters.scope.utf8.count
            guard count <= ListParameters.bytesMax else {
                throw place.error(
                    "they are \(count) bytes as JSON, and \(ListParameters.bytesMax) are the most; "
                        + "make several lists of it")
            }
            return parameters
        },
        write: { .object($0.json) })
}

extension CollectionModel {
    /// Two lists of the same part.
    func problemOfLists() -> ModelProblem? {
        let lists = lists ?? []
        for (index, rule) in lists.enumerated() {
            let same = lists[..<index].firstIndex {
                $0.parameters.scope == rule.parameters.scope && $0.from == rule.from
            }
            if let same {
                return ModelProblem(
                    "lists[\(index)].parameters",
                    "lists[\(same)] has the same; leave one of them out")
            }
        }
        if listLimit != nil, window != nil {
            return ModelProblem(
                "listLimit", "a collection with a window has no such limit; leave one of them out")
        }
        if let listLimit, limitOfShares == nil {
            return ModelProblem(
                "listLimit",
                "\(listLimit) is no more than the limits of its lists together; leave it out, or "
                    + "say how many all of them ask for")
        }
        return nil
    }
}

extension Contradiction {
    /// Lists whose parameters come from documents that could not be here before.
    static let sources = [
        Contradiction("lists", "from") { collection, model in
            for source in (collection.lists ?? []).flatMap(\.from) {
                guard let other = model[source.collection] else {
                    return "there is no collection \(source.collection); name one of the model"
                }
                let names = model.collections.map(\.name)
                guard let place = names.firstIndex(of: other.name),
                    let own = names.firstIndex(of: collection.name), place < own
                else {
                    return """
                        \(other.name) is listed later; put it before \(collection.name) in the \
                        model
                        """
                }
                let set = other.allOrNone.map(ExactString.init)
                let later = model.collections[own...].first {
                    set != nil && $0.allOrNone.map(ExactString.init) == set
                }
                if let later {
                    return """
                        \(other.name) is seen once \(later.name) is listed, which is later; put it \
                        before \(collection.name) in the model, or leave it out of allOrNone
                        """
                }
            }
            return nil
        }
    ]
}
