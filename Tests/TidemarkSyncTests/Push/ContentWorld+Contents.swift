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
        let content = try device.replica.importText(text)
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
                    replica: device.replica, key: known?.key ?? EntityKey("files", id), text: text,
                    position: position))
        } catch is TidemarkError {
            // It can't lie there.
        }
    }

    /// The files of a device with what is in them.
    func contents(_ device: Device) throws -> [String: String] {
        let files = try device.replica.seenFiles().filter { !$0.isFolder }
        return try device.replica.read { store in
            var contents: [String: String] = [:]
            for file in files {
                let path = try store.files(of: file.key).first?.stored?.path
                contents[file.path] = try path.map {
                    String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self)
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

    /// Checks what became of the contents that were written.
    func checkContents() throws {
        let uploads = server.requestLog.filter { $0.method == .put }.map { request in
            ContentUpload(
                path: request.path, fields: request.fields,
                text: String(decoding: request.body ?? [], as: UTF8.self),
                isApplied: request.isApplied)
        }
        if let problem = try written.problem(uploads) { throw failure(problem) }
    }
}
