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
        /// Whether the server knows entities by their paths, as a file server does.
        ///
        /// A path is the names from the root down, joined by `/`. The ids of entities are this
        /// store's own then, and no server hears of them; ``parent`` and ``name`` of what the
        /// server says follow from where it lies. It is listed folder by folder.
        public var isByPath: Bool
        /// The field in which a server that knows entities by their paths tells an id of its own,
        /// which stays where the entity is moved.
        ///
        /// Without it, one that was moved on the server is deleted here and found again as another,
        /// unless it is a file that is known by its version.
        public var serverID: String?
        /// Whether the version of a folder moves with everything that lies below it.
        ///
        /// A folder is not listed then whose version is the one at which it was listed last. Every
        /// seventh day all are, and where something changed in one whose version did not, all are
        /// from then on.
        public var folderVersionsMove: Bool
        /// The field that names the content of a file, which must be one of the collection's
        /// ``CollectionModel/contents``; nil where the contents of files are not synced.
        ///
        /// A file of the user's is sent in it, as the write of its entity; else it is named by a
        /// text that tells entity and version apart from all others.
        public var content: String?

        /// What ``folder`` is unless given.
        public static let usualFolder = "folder"

        /// A tree by the fields of its entities.
        public init(
            parent: String, name: String, kind: String? = nil, folder: String = usualFolder,
            isByPath: Bool = false, serverID: String? = nil, folderVersionsMove: Bool = false,
            content: String? = nil
        ) {
            self.parent = parent
            self.name = name
            self.kind = kind
            self.folder = folder
            self.isByPath = isByPath
            self.serverID = serverID
            self.folderVersionsMove = folderVersionsMove
            self.content = content
        }
    }

    /// Whether it is a tree whose server knows entities by their paths.
    package var isByPath: Bool { tree?.isByPath ?? false }

    /// The reference by which its entities lie in each other; nil for no tree.
    package var treeReference: Reference? {
        tree.flatMap { tree in
            references.first { $0.collection == name && $0.field == tree.parent }
        }
    }
}

package typealias TreeRule = CollectionModel.TreeRule

extension TreeRule {
    /// Where a write of a tree that the server knows by paths leaves its entity: the path.
    ///
    /// - Parameter body: the document of the write, whose ``parent`` is the path of the folder.
    /// - Returns: nil where it has no name, or one that can't be part of a path.
    public func path(in body: [UInt8]) -> String? {
        guard let document = try? JSONDocument(parsing: body),
            let name = document.value(name)?.stringValue, !name.isEmpty,
            !name.utf8.contains(UInt8(ascii: "/"))
        else { return nil }
        guard let parent = document.ids(in: parent).first else { return name }
        return "\(parent)/\(name)"
    }

    /// What a server that knows the tree by paths changes in one request.
    private enum Part: CaseIterable {
        case content
        case others
        case place
    }

    private func part(of field: String) -> Part {
        let field = ExactString(field)
        if content.map({ ExactString($0) }) == field { return .content }
        return [name, parent].contains { ExactString($0) == field } ? .place : .others
    }

    /// A change as those that a server which knows the tree by paths takes by themselves: content,
    /// other fields, and place, in this order.
    package func parts(of patch: Patch) -> [Patch] {
        Part.allCases.compactMap { part in
            let own = Patch(
                set: patch.set.filter { self.part(of: $0.name) == part },
                unset: patch.unset.filter { self.part(of: $0) == part })
            return own.isEmpty ? nil : own
        }
    }

    /// Whether such a server takes changes together: all of the content, or of the place, or of
    /// neither.
    package func isOnePart(_ patches: [Patch]) -> Bool {
        Set(patches.flatMap(\.fieldNames).map { part(of: $0) }).count <= 1
    }

    /// The id that the server tells in a document, where it stays when the entity is moved.
    package func serverID(in document: JSONDocument) -> ExactString? {
        serverID.flatMap { document.value($0)?.idText }.map { ExactString($0) }
    }

    /// A document of the server's with where its entity lies, and by what its content is named.
    ///
    /// - Parameters:
    ///   - id: the id of the entity.
    ///   - parent: the id of the folder; nil for the root.
    package func placing(
        _ document: JSONDocument, of id: String, _ revision: Revision?, in parent: String?,
        as name: String
    ) -> JSONDocument {
        var fields = [(key: self.name, value: JSONValue.string(name).encoded())]
        var absent = [self.parent]
        if let parent {
            fields.append((key: self.parent, value: JSONValue.string(parent).encoded()))
        }
        if let content {
            absent.append(content)
            if !isFolder(document), let name = contentName(of: id, revision) {
                fields.append((key: content, value: JSONValue.string(name).encoded()))
            }
        }
        let bytes = document.applying(set: fields, unset: absent)
        return (try? JSONDocument(parsing: bytes)) ?? document
    }

    /// By what a document names the content of a file that the server has; nil without a version.
    ///
    /// It is of entity and version, as two files may have the same version. A weak one names what
    /// the strong one with the same tag does.
    package func contentName(of id: String, _ revision: Revision?) -> String? {
        guard content != nil, let tag = revision?.tag, !tag.isEmpty else { return nil }
        let name = "\(id) \(tag)"
        return name.utf8.count <= ContentName.bytesMax ? name : nil
    }

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
        ModelMember(
            "isByPath", \.isByPath, .flag,
            """
            Whether the server knows entities by their paths and is listed folder by folder, as a \
            file server is.
            """),
        ModelMember(
            "serverID", \.serverID, .text,
            """
            The field in which such a server tells an id of its own, which stays where the entity \
            is moved.
            """),
        ModelMember(
            "folderVersionsMove", \.folderVersionsMove, .flag,
            """
            Whether the version of a folder moves with everything below it, so that one is not \
            listed whose version is still the same.
            """),
        ModelMember(
            "content", \.content, .text,
            """
            The field of contents that names the content of a file; contents are not synced unless \
            given.
            """),
    ]
}

extension Contradiction {
    static let trees =
        [
            Contradiction("tree.parent", "references") { collection, _ in
                guard let tree = collection.tree, collection.treeReference == nil else {
                    return nil
                }
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
            Contradiction("tree.serverID", "tree.isByPath") { collection, _ in
                guard let tree = collection.tree, tree.serverID != nil, !tree.isByPath else {
                    return nil
                }
                return "other servers name entities by their ids; leave serverID out"
            },
            Contradiction("tree.folderVersionsMove", "tree.isByPath") { collection, _ in
                guard let tree = collection.tree, tree.folderVersionsMove, !tree.isByPath else {
                    return nil
                }
                return "others are not listed by folders; leave folderVersionsMove out"
            },
            Contradiction("tree.isByPath", "tree.kind") { collection, _ in
                guard let tree = collection.tree, tree.isByPath, tree.kind == nil else {
                    return nil
                }
                return "a server lists folders; name the field that tells them from files"
            },
            Contradiction("tree.content", "tree.isByPath") { collection, _ in
                guard let tree = collection.tree, tree.content != nil, !tree.isByPath else {
                    return nil
                }
                return "other servers name files by fields of their own; leave content out"
            },
            Contradiction("tree.content", "contents") { collection, _ in
                guard let content = collection.tree?.content,
                    !collection.contents.contains(where: { $0.field == content })
                else { return nil }
                return "it names files; add \"\(content)\": {} to contents"
            },
            Contradiction("tree.content", "tree.name") { collection, _ in
                guard let tree = collection.tree, let content = tree.content,
                    [tree.name, tree.parent, tree.kind, tree.serverID].contains(content)
                else { return nil }
                return "the field says something else of the entity; name one of its own"
            },
            Contradiction("contents", "tree.content") { collection, _ in
                guard let content = collection.tree?.content,
                    collection.contents.contains(where: {
                        $0.field == content && ($0.upload != nil || $0.sha256 != nil)
                    })
                else { return nil }
                return """
                    the content of a file is sent where it lies, and its version tells it; leave \
                    upload and sha256 of \(content) out
                    """
            },
            Contradiction("ids", "tree.isByPath") { collection, _ in
                guard let tree = collection.tree, tree.isByPath, collection.ids != .client else {
                    return nil
                }
                return "what is known by its path has ids of this store alone; leave ids out"
            },
            Contradiction("retention", "tree") { collection, _ in
                guard collection.tree != nil, collection.retention != nil else { return nil }
                return "a folder would go while something lies in it; leave retention out"
            },
        ] + listsByPath

    /// What is listed folder by folder is listed in no other way.
    private static let listsByPath = [
        byPath("since") { $0.since != nil }, byPath("window") { $0.window != nil },
        byPath("feed") { $0.feed != nil }, byPath("lists") { $0.lists != nil },
    ]

    private static func byPath(
        _ member: String, _ isThere: @escaping @Sendable (CollectionModel) -> Bool
    ) -> Contradiction {
        Contradiction(member, "tree.isByPath") { collection, _ in
            guard collection.isByPath, isThere(collection) else { return nil }
            return "it is listed folder by folder, always all of it; leave \(member) out"
        }
    }
}
