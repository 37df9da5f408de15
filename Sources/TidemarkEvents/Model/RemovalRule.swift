// RemovalRule.swift — the rule of a reference to entities that go out of it when they are deleted.

extension CollectionModel {
    /// How an entity that the server deletes is taken out of what refers to it, where the server
    /// does so, too, without a word on each.
    public struct RemovalRule: Sendable, Hashable {
        /// A field that lists the same entities by their names; nil for none.
        ///
        /// A name without the id beside it stays, as it may be another's.
        public var names: String?
        /// The field of the deleted entity with its name.
        public var name: String

        /// Takes entities out by their ids, and by their names where a field has these.
        public init(names: String? = nil, name: String = "name") {
            self.names = names
            self.name = name
        }
    }
}

package typealias RemovalRule = CollectionModel.RemovalRule

extension RemovalRule: ModelObject {
    static let blank = RemovalRule()

    static let members: [ModelMember<RemovalRule>] = [
        ModelMember(
            "names", \.names, .text, "A field that lists the same entities by their names."),
        ModelMember(
            "name", \.name, .text, "The field of the deleted entity with its name."),
    ]
}
