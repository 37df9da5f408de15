// ScenarioFiles.swift — files beside entities in a scenario: a text stands for a file's bytes.

import Foundation
import Tidemark
import TidemarkEvents

/// A file of the user's that an entity is to name.
struct ScenarioAttachment: Sendable {
    var key: EntityKey
    /// A field that names files, or a path to a member of a keyed list's element.
    var field: String
    var text: String
}

/// What an entity names is wanted, or no longer is.
struct ScenarioWish: Sendable {
    var key: EntityKey
    /// As it stands in the model's `contents`; nil for each of them.
    var field: String?
    var by: String
    /// Whether also of all that lies in the entity.
    var isTree: Bool
    var isWanted: Bool
}

extension ScenarioReader {
    func attachment(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioAttachment {
        let key = try key(members, "attach")
        let field = try members.neededText("field")
        let fields = model[key.collection]?.contents.map(\.field) ?? []
        let lists = model[key.collection]?.keyed ?? []
        guard fields.contains(field),
            !FieldPath.isPath(field) || ScenarioAttachment.element(field, lists) != nil
        else {
            throw ScenarioError(
                members.path("field"),
                "a field is needed that names files by the model's contents, and no path but to a "
                    + "member of an element that is told by its key")
        }
        guard let text = try members.needed("text").stringValue else {
            throw ScenarioError(members.path("text"), "a text is needed")
        }
        return ScenarioAttachment(key: key, field: field, text: text)
    }

    func wish(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioWish {
        ScenarioWish(
            key: try key(members, "want"), field: try members.text("field"),
            by: try members.text("by") ?? "user", isTree: try members.flag("below") ?? false,
            isWanted: try members.flag("wanted") ?? true)
    }
}

extension ScenarioAttachment {
    /// The element of a keyed list that a path leads to, and the member of it.
    fileprivate static func element(
        _ path: String, _ lists: [KeyedList]
    ) -> (list: KeyedList, key: String, member: String)? {
        let steps = FieldPath(path).steps
        guard FieldPath.isPath(path), steps.count == 3, steps[1] != "*",
            let list = lists.list(in: steps[0])
        else { return nil }
        return (list, steps[1], steps[2])
    }

    /// The change that has the entity's document name a file.
    fileprivate func patch(
        _ name: ContentName, _ document: JSONValue?, _ lists: [KeyedList]
    ) -> Patch {
        guard let (list, key, member) = Self.element(field, lists) else {
            return Patch(set: [Patch.Field(field, name.json.encoded())])
        }
        let elements = document?[list.field]?.array ?? []
        let known = elements.first { $0[list.key].flatMap(KeyedList.key) == key }
        var element = known?.object ?? [list.key: .string(key)]
        element[member] = name.json
        return Patch(set: [Patch.Field(list.name(of: key), JSONValue.object(element).encoded())])
    }
}

extension Replica {
    /// Takes a file in, and lets an entity name it.
    func attach(
        _ attachment: ScenarioAttachment, _ lists: [KeyedList]
    ) async throws {
        let name = try importText(attachment.text)
        try await write { tx in
            let document = try tx.document(attachment.key).map { try JSONValue(parsing: $0) }
            _ = try tx.patch(attachment.key, attachment.patch(name, document, lists))
        }
    }

    /// Takes a file in before any other step has one of that name.
    private func importText(_ text: String) throws -> ContentName {
        let path = directory + ".attached"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try importFile(at: path)
    }

    func want(_ wish: ScenarioWish) async throws {
        try await write { tx in
            try tx.wantFiles(
                of: wish.key, wish.field, by: wish.by, below: wish.isTree, isWanted: wish.isWanted)
        }
    }
}

extension ReadContext {
    /// What the files hold that are in the store, in the order of these texts.
    func fileTexts() throws -> [JSONValue] {
        try storedFiles().compactMap(\.path).map { try Self.text(ofFile: $0) }.sorted()
            .map { .string($0) }
    }

    /// What the files hold that an entity names, in the order of the model's fields; null for one
    /// that isn't here.
    func fileTexts(of key: EntityKey) throws -> JSONValue {
        .array(
            try files(of: key).map { file in
                guard let path = file.stored?.path else { return .null }
                return .string(try Self.text(ofFile: path))
            })
    }

    private static func text(ofFile path: String) throws -> String {
        ScenarioText.shown(
            try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe))
    }
}
