// ScenarioFiles.swift — files beside entities in a scenario: a text stands for a file's bytes.

import Foundation
import Tidemark
import TidemarkEvents

/// A file of the user's that an entity is to name.
struct ScenarioAttachment: Sendable {
    var key: EntityKey
    /// A top-level field that names files.
    var field: String
    var text: String
}

/// What an entity names is wanted, or no longer is.
struct ScenarioWish: Sendable {
    var key: EntityKey
    /// As it stands in the model's `contents`; nil for each of them.
    var field: String?
    var by: String
    var isWanted: Bool
}

extension ScenarioReader {
    func attachment(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioAttachment {
        let key = try key(members, "attach")
        let field = try members.neededText("field")
        let fields = model[key.collection]?.contents.map(\.field) ?? []
        guard fields.contains(field), !field.hasPrefix("/") else {
            throw ScenarioError(
                members.path("field"),
                "a field is needed that names files by the model's contents, and no path into one")
        }
        guard let text = try members.needed("text").stringValue else {
            throw ScenarioError(members.path("text"), "a text is needed")
        }
        return ScenarioAttachment(key: key, field: field, text: text)
    }

    func wish(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioWish {
        ScenarioWish(
            key: try key(members, "want"), field: try members.text("field"),
            by: try members.text("by") ?? "user",
            isWanted: try members.flag("wanted") ?? true)
    }
}

extension Replica {
    /// Takes a file in, and lets an entity name it.
    func attach(_ attachment: ScenarioAttachment) async throws {
        let path = directory + ".attached"
        try Data(attachment.text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let name = try importFile(at: path)
        let patch = Patch(set: [Patch.Field(attachment.field, name.json.encoded())])
        try await write { tx in _ = try tx.patch(attachment.key, patch) }
    }

    func want(_ wish: ScenarioWish) async throws {
        try await write { tx in
            try tx.wantFiles(of: wish.key, wish.field, by: wish.by, isWanted: wish.isWanted)
        }
    }
}

extension ReadContext {
    /// What the files hold that are in the store, in the order of these texts.
    func fileTexts() throws -> [JSONValue] {
        try storedFiles().map { try Self.text(ofFile: $0.path) }.sorted().map { .string($0) }
    }

    /// What the files hold that an entity names, in the order of the model's fields; null for one
    /// that isn't here.
    func fileTexts(of key: EntityKey) throws -> JSONValue {
        .array(
            try files(of: key).map { file in
                guard let stored = file.stored else { return .null }
                return .string(try Self.text(ofFile: stored.path))
            })
    }

    /// The longest file that is shown as its text, in bytes.
    private static let bytesShown = 1_000

    private static func text(ofFile path: String) throws -> String {
        let data = try Data(contentsOf: URL(filePath: path), options: .mappedIfSafe)
        guard data.count <= bytesShown, let text = String(data: data, encoding: .utf8) else {
            return "(\(data.count) bytes)"
        }
        return text
    }
}
