// TreeRule.swift — the rule of a collection whose entities lie in each other, as files in folders
// do.

extension CollectionModel {
    /// Entities that lie in each other, each under a name that no other one there has.
    ///
    /// A path is never stored: it follows from the entities above. What is sent waits for whatever
    /// was done before in the same place: see <doc:FilesAndFolders>.
    public struct TreeRule: Sendable, Hashable {
        /// The field with the id of the entity in which one lies, which must be a reference to the
        /// collection itself; an entity without a value there lies at the root.
        public var parent: String
        /// The field with the name.
        public var name: String
        /// The field that says what an entity is; nil where others may lie in any.
        public var kind: String?
        /// What it says of an entity in which others may lie.
        public var folder: String

        /// What ``folder`` is unless given.
        public static let usualFolder = "folder"

        /// A tree by the fields of its entities.
        public init(
            parent: String, name: String, kind: String? = nil, folder: String = usualFolder
        ) {
            self.parent = parent
            self.name = name
            self.kind = kind
            self.folder = folder
        }
    }

    /// The reference by which its entities lie in each other; nil for no tree.
    package var treeReference: Reference? {
        tree.flatMap { tree in
            references.first { $0.collection == name && $0.field == tree.parent }
        }
    }
}

package typealias TreeRule = CollectionModel.TreeRule

extension TreeRule {
    /// Whether others may lie in an entity with that document.
    package func isFolder(_ document: JSONDocument) -> Bool {
        guard let kind else { return true }
        return document.value(kind)?.stringValue.map(ExactString.init) == ExactString(folder)
    }
}

extension TreeRule: ModelObject {
    static let blank = TreeRule(parent: "", name: "")

    static let members: [ModelMember<TreeRule>] = [
        ModelMember(
            "parent", \.parent, .text, isNeeded: true,
            """
            The field with the id of the entity in which one lies, a reference to the collection \
            itself; without a value there it lies at the root.
            """),
        ModelMember(
            "name", \.name, .text, isNeeded: true,
            "The field with the name, which no other entity in the same one has."),
        ModelMember(
            "kind", \.kind, .text,
            "The field that says what an entity is; others may lie in any unless given."),
        ModelMember(
            "folder", \.folder, .text,
            "What the field kind says of an entity in which others may lie."),
    ]
}

extension Contradiction {
    static let trees = [
        Contradiction("tree.parent", "references") { collection, _ in
            guard let tree = collection.tree, collection.treeReference == nil else { return nil }
            return """
                entities lie in entities of the same collection; add "\(tree.parent)": \
                "\(collection.name)" to references
                """
        },
        Contradiction("tree.name", "tree.parent") { collection, _ in
            guard let tree = collection.tree, [tree.parent, tree.kind].contains(tree.name)
            else { return nil }
            return "one field can't say both; name one field for each of parent, name and kind"
        },
    ]
}
