// ChaosRadicale.swift — a chaos run on Radicale. It keeps no history: the history is what everybody
// wrote down who sent it something, and the items must be what comes of that.

import HTTPTypes
import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

/// The calendars of one user.
struct ChaosRadicale: ChaosServer {
    private static let plain = "plain"

    let radicale: RadicaleWorld
    let form = ChaosEdit.Form.items
    private(set) var history = ChaosHistory()
    private let writes: ChaosWrites
    /// How many of them are in the history.
    private var writesRead = 0

    var world: RadicaleWorld { radicale }

    init(_ radicale: RadicaleWorld, users: [String]) throws {
        self.radicale = radicale
        writes = ChaosWrites(folder: radicale.directory)
        for name in users { try radicale.device(name).replica.close() }
    }

    // MARK: What others do

    func edit(_ edit: ChaosEdit) async throws {
        switch edit.action {
        case .put, .patch: try await write("PUT", "\(edit.key).ics", edit.text)
        case .delete: try await write("DELETE", "\(edit.key).ics")
        }
    }

    func restore(_ collection: CollectionName, without isLost: () -> Bool) async throws {
        let items = try await radicale.client.items(collection.rawValue).sorted { $0.key < $1.key }
        try await write("DELETE", "\(collection)/")
        try await radicale.client.makeCalendar(collection.rawValue)
        for (name, text) in items where !isLost() {
            try await write("PUT", "\(collection)/\(name)", text)
        }
    }

    private func write(_ method: String, _ path: String, _ text: String? = nil) async throws {
        let body = text.map { Array($0.utf8) }
        let answer = try radicale.client.answer(method, path, body)
        guard (200..<300).contains(answer.status) || answer.status == 404 else {
            throw RadicaleClient.Refused(description: "\(method) \(path): \(answer.status)")
        }
        try writes.append(
            ChaosWrite(
                user: Self.plain, method, "/\(radicale.client.user)/\(path)", body, answer))
    }

    // MARK: What is there

    func documents() async throws -> [EntityKey: String] {
        var documents: [EntityKey: String] = [:]
        for collection in world.model.collections.map(\.name) {
            var uids: Set<String> = []
            for (id, text) in try await radicale.texts(collection) {
                let key = EntityKey(collection, id)
                let line = text.split(separator: "\r\n").first { $0.hasPrefix("UID:") }
                #expect(uids.insert(String(line ?? "")).inserted, "\(key) is there twice")
                #expect(
                    history.present(key)?.document == .item(text), "nobody wrote \(key)")
                documents[key] = RadicaleWorld.document(id, text)
            }
        }
        for key in history.versions.keys.sorted() where history.present(key) != nil {
            #expect(documents[key] != nil, "nobody deleted \(key)")
        }
        return documents
    }

    mutating func readHistory() async throws -> [ChaosVersion] {
        let new = try writes.read(after: writesRead)
        writesRead += new.count
        return try new.enumerated().compactMap { index, write in
            try note(write, number: writesRead - new.count + index)
        }
    }

    private mutating func note(_ write: ChaosWrite, number: Int) throws -> ChaosVersion? {
        guard write.tookEffect else { return nil }
        let names = write.path.split(separator: "/").dropFirst()
        let collection = CollectionName(String(try #require(names.first)))
        guard let name = names.dropFirst().first else {
            history.noteDrop(collection)
            return nil
        }
        let isDeletion = write.method == "DELETE"
        let revision = isDeletion ? "deleted by \(number)" : try #require(write.revision)
        return history.note(
            ChaosVersion(
                key: EntityKey(collection, String(name.dropLast(".ics".count))),
                user: write.user, revision: revision, isDeletion: isDeletion,
                document: .item(write.body)))
    }
}

extension JSONDocument {
    /// The document of an item, without its id.
    static func item(_ text: String) -> JSONDocument {
        var bytes = Array(#"{"data":"#.utf8)
        JSON.appendString(text, to: &bytes)
        guard let document = try? JSONDocument(parsing: bytes + [UInt8(ascii: "}")]) else {
            preconditionFailure("an object with one string is JSON")
        }
        return document
    }
}
