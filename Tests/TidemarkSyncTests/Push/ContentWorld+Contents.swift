// ContentWorld+Contents.swift — the contents of files in a day of a tree by paths: what is written,
// and what has to have become of it in the end.

import Foundation
import HTTPTypes
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

/// A content that a device wrote.
struct WrittenContent {
    var device: ContentWorld.Device
    var key: EntityKey
    var text: String
    var position: Position
}

extension ContentWorld {
    func pickFile(_ entries: [WebDAVEntry]) -> String? {
        let files = entries.filter { !$0.isFolder }
        return files.isEmpty ? nil : random.pick(files).path
    }

    /// Makes a file with a content, or gives a known one another.
    func editContent(
        _ device: Device, _ parent: String?, _ name: String, _ id: String,
        _ one: (key: EntityKey, path: String, isFolder: Bool)?, _ text: String
    ) async throws {
        let path = device.replica.directory + ".content"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        let content = try device.replica.importFile(at: path).json
        let known = one.flatMap { $0.isFolder ? nil : $0 }
        let renames = random.chance(30)
        do {
            let position = try await device.replica.write { tx -> Position? in
                guard let known else {
                    var document: JSONObject = [
                        "name": .string(name), "kind": "file", "content": content,
                    ]
                    if let parent { document["parent"] = .string(parent) }
                    return try tx.create(
                        EntityKey("files", id), JSONValue.object(document).encoded())
                }
                let position = try tx.patch(
                    known.key, Patch(set: [.init("content", content.encoded())]))
                guard renames else { return position }
                _ = try tx.patch(
                    known.key, Patch(set: [.init("name", JSONValue.string(name).encoded())]))
                return position
            }
            steps.append("\(device.name): \(text) of \(known?.path ?? id) \(renames)")
            guard let position else { return }
            written.append(
                WrittenContent(
                    device: device, key: known?.key ?? EntityKey("files", id), text: text,
                    position: position))
        } catch is TidemarkError {
            // It can't lie there.
        }
    }

    /// The files of a device with what is in them.
    func contents(_ device: Device) throws -> [String: String] {
        let files = try seen(device).filter { !$0.isFolder }
        return try device.replica.read { store in
            var contents: [String: String] = [:]
            for file in files {
                let stored = try store.files(of: file.key).first?.stored
                contents[file.path] = try stored.map {
                    String(decoding: try Data(contentsOf: URL(filePath: $0.path)), as: UTF8.self)
                }
            }
            return contents
        }
    }

    /// Whether each file of a device has the bytes that it has on the server.
    func hasContents(_ device: Device) throws -> Bool {
        let there = server.entries.filter { !$0.isFolder }.map { ($0.path, $0.text) }
        return try contents(device) == Dictionary(uniqueKeysWithValues: there)
    }

    /// Whether the same device gave the file another content later.
    private func isOverwritten(_ content: WrittenContent) -> Bool {
        written.contains { other in
            other.device.name == content.device.name && other.key == content.key
                && other.position > content.position
        }
    }

    /// Checks what became of the contents that were written: what was accepted the server got, and
    /// nothing waits; and that no upload went without a condition.
    func checkContents() throws {
        let uploads = server.requestLog.filter { $0.method == .put }
        for upload in uploads where upload.fields[.ifMatch] == nil {
            guard upload.fields[.ifNoneMatch] == "*" else {
                throw failure("an upload to \(upload.path) without a condition")
            }
        }
        let sent = Set(
            uploads.filter(\.isApplied).map { String(decoding: $0.body ?? [], as: UTF8.self) })
        for content in written {
            let outcome = try content.device.replica.read { store in
                try store.views.mutation(content.position)?.outcome
            }
            switch outcome {
            case nil: throw failure("nothing became of \(content.text)")
            case .accepted?, .merged?:
                if !sent.contains(content.text), !isOverwritten(content) {
                    throw failure("\(content.text) was accepted, and never sent")
                }
            case .superseded?, .coalesced?, .annihilated?, .withdrawn?, .rejected?, .discarded?:
                break
            }
        }
    }
}
