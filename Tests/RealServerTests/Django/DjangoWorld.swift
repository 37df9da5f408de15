// DjangoWorld.swift — a user of their own on a real server by Django REST framework, and replicas
// that speak to it by the adapter of the article on an everyday server.

import DocExamples
import Foundation
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

/// One test's part of the server.
struct DjangoWorld: RealWorld {
    let client: DjangoClient
    let directory: String
    let model: SyncModel

    /// Makes a user.
    ///
    /// - Parameters:
    ///   - pageSize: how many entities a page of a list has; the adapter's choice unless given.
    ///   - hasDates: whether lists are asked for what changed since a time.
    ///   - isTrial: whether more than five requests a second are refused.
    static func run(
        pageSize: Int? = nil, hasDates: Bool = true, isTrial: Bool = false,
        _ body: (DjangoWorld) async throws -> Void
    ) async throws {
        let origin = try #require(DjangoClient.url)
        let client = try await DjangoClient(signingUpAt: origin, isTrial: isTrial)
        var model = AnEverydayServer.model
        for index in model.collections.indices {
            model.collections[index].pageSize = pageSize
            if !hasDates { model.collections[index].since = nil }
        }
        let directory = FileManager.default.temporaryDirectory
            .appending(path: "django-\(UUID().uuidString.lowercased())")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: directory) }
        try await body(
            DjangoWorld(
                client: client, directory: directory.path(percentEncoded: false), model: model))
    }

    var remote: Remote { Remote(origin: client.origin, adapter: "everyday") }

    /// A device of the user.
    func device(_ name: String, signIn: RealDevice.SignIn? = nil) throws -> RealDevice {
        let authorization = client.authorization
        let usual: RealDevice.SignIn = { .authorization(authorization) }
        return try RealDevice(
            name, of: RealServer(remote: remote), over: KintoTransport(), model: model,
            at: path(name), adapter: EverydayAdapter(), dependencies: .counting(name),
            signIn: signIn ?? usual)
    }

    func contents(_ collection: CollectionName) async throws -> [String: String] {
        try await client.entities(collection)
    }

    /// Every replica holds what the server has byte for byte, its outbox is empty, and its store is
    /// whole.
    func expectSame(_ devices: RealDevice...) async throws {
        for collection in model.collections.map(\.name) {
            let expected = try await contents(collection)
            for device in devices {
                var documents: [String: String] = [:]
                // What was made here has another key.
                for document in try device.documents(collection).values {
                    documents[JSON.value("id", of: Array(document.utf8))?.idText ?? ""] = document
                }
                for id in Set(expected.keys).union(documents.keys).sorted() {
                    #expect(documents[id] == expected[id], "\(device.name) \(collection)/\(id)")
                }
            }
        }
        for device in devices {
            #expect(try device.outbox() == [], "\(device.name)")
            try device.verify("\(device.name)")
        }
    }

    /// The titles of the items on the server, in order.
    func titles() async throws -> [String] {
        try await contents("items").values.map {
            JSON.value("title", of: Array($0.utf8))?.stringValue ?? ""
        }.sorted()
    }
}
