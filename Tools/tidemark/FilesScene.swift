// FilesScene.swift — `tidemark demo --story files`: a folder of a trip on a laptop and a phone,
// with a file server between them that speaks WebDAV.

import Foundation
import HTTPTypes
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkStore
import TidemarkSync
import TidemarkTesting
import TidemarkViews

/// Server, network and the two replicas.
struct FilesScene: DemoStory {
    private static let model: SyncModel = {
        var files = CollectionModel(
            "files", conflict: .keepBoth, references: [Reference("parent", to: "files")],
            tree: .init(
                parent: "parent", name: "name", kind: "kind", isByPath: true, serverID: "fileId",
                content: "content"))
        files.contents = [.init("content")]
        return SyncModel(
            name: "files", collections: [files],
            settings: SyncSettings(parallel: 4, budgets: .init(actions: 4)))
    }()

    private let laptop: DemoReplica
    private let phone: DemoReplica
    private let network = DemoNetwork()
    private let server: WebDAVServer
    private let listener: LoopbackServer
    private let folder: String

    static let further = [
        "tidemark files ls phone -R", "tidemark files changes laptop --since @20",
        "tidemark why laptop files/menu", "tidemark dump laptop -o verbose",
    ]

    init(_ folder: String) async throws {
        var options = WebDAVOptions()
        options.hasFileIDs = true
        server = WebDAVServer(WebDAVServerModel(options), now: Dependencies.live.now)
        server.put("Trip/Plan.txt", "Monday: by train\n")
        server.put("Trip/Photos/Beach.txt", "sand and sea\n")
        server.put("Home/Rent.txt", "paid\n")
        listener = try await LoopbackServer.start(server)
        let remote = Remote.webdav(origin: listener.origin, home: "/")
        laptop = try DemoReplica("laptop", folder, Self.model, remote, network, columns: 80)
        phone = try DemoReplica("phone", folder, Self.model, remote, network, columns: 80)
        self.folder = folder
    }

    func end() async throws {
        try laptop.close()
        try phone.close()
        await listener.stop()
    }

    // MARK: The story

    func tell() async throws {
        try await Demo.chapter("1  Both list the tree; the phone wants what lies in Trip") {
            try await laptop.sync()
            try await phone.sync()
            let trip = try phone.key(of: "Trip")
            try phone.edit { try $0.wantFiles(of: trip, below: true) }
            try await phone.transfer()
        }
        try await Demo.chapter("2  On the train, no network: all of it is seen at once") {
            network.isDown = true
            let trip = try laptop.key(of: "Trip")
            let rent = try laptop.key(of: "Home/Rent.txt")
            try laptop.edit { try $0.patch(trip, Patch(set: [field("name", "Lisbon")])) }
            try laptop.edit { try $0.patch(rent, Patch(set: [field("parent", trip.id)])) }
            try laptop.edit(
                content: "Tuesday: fish\n", named: "Menu.txt", "files/menu", in: trip, folder)
            try laptop.sayTree()
            network.isDown = false
        }
        try await Demo.chapter("3  Back again: what needs nothing else goes at the same time") {
            try await laptop.sync()
            sayServer()
        }
        try await Demo.chapter("4  The phone has what came into the folder, also what was moved") {
            try await phone.sync()
            try await phone.transfer()
            try phone.sayTree()
        }
        try await Demo.chapter("5  The plan is changed on both: both contents stay") {
            let plan = "Lisbon/Plan.txt"
            try laptop.edit(content: "Monday: by plane\n", of: try laptop.key(of: plan), folder)
            try await laptop.sync()
            try phone.edit(content: "Monday: by bus\n", of: try phone.key(of: plan), folder)
            try await phone.sync()
            try await phone.sync()
            sayServer()
        }
        try await Demo.chapter("6  The answer to an upload is lost: it is read, not sent again") {
            let menu = EntityKey("files", "menu")
            try laptop.edit(content: "Tuesday: more fish\n", of: menu, folder)
            network.loseNextAnswer(to: "PUT")
            try await laptop.sync()
            server.clearRequestLog()
            try await laptop.sync()
            let puts = server.requestLog.count { $0.method == .put }
            Terminal.write("   server  was sent it \(puts == 0 ? "no more" : "\(puts) times more")")
        }
        try await Demo.chapter("7  Photos is deleted here, where a new one came: it is not lost") {
            server.put("Lisbon/Photos/Tram.txt", "yellow\n")
            let photos = try laptop.key(of: "Lisbon/Photos")
            try laptop.edit { try $0.delete(photos) }
            try await laptop.sync()
            if try laptop.replica.read({ try $0.document(photos) }) == nil {
                // The server told nothing new of the folder itself: the deletion was refused.
                try laptop.edit { try $0.discard(photos) }
            }
            try laptop.sayTree(below: "Lisbon/Photos")
        }
        try await Demo.chapter("8  A notification names a folder: one request tells") {
            server.put("Lisbon/Ticket.txt", "seat 12\n")
            server.clearRequestLog()
            try await phone.sync(.folders([SyncScope.Folder(try phone.key(of: "Lisbon"))]))
            for request in server.requestLog {
                Terminal.write("   server  was asked \(request.method.rawValue) \(request.path)")
            }
            try await phone.transfer()
            try phone.sayTree(below: "Lisbon")
        }
    }

    private func field(_ name: String, _ text: String) -> Patch.Field {
        Patch.Field(name, JSONValue.string(text).encoded())
    }

    /// Prints what the server has.
    private func sayServer() {
        for entry in server.entries where !entry.isFolder {
            let first = entry.text.split(separator: "\n").first ?? ""
            Terminal.write("   server  \(entry.path): \(first)")
        }
    }
}

extension DemoReplica {
    /// The entity at a path.
    fileprivate func key(of path: String) throws -> EntityKey {
        try paths().first { $0.path == path }?.key ?? EntityKey("files", path)
    }

    /// Gives a file another content.
    fileprivate func edit(content: String, of key: EntityKey, _ folder: String) throws {
        let name = try stored(content, folder)
        try edit { try $0.patch(key, Patch(set: [.init("content", name)])) }
    }

    /// Makes a file.
    fileprivate func edit(
        content: String, named name: String, _ entity: String, in parent: EntityKey,
        _ folder: String
    ) throws {
        let stored = try stored(content, folder)
        let document: [(name: String, json: [UInt8])] = [
            ("kind", JSONValue.string("file").encoded()),
            ("name", JSONValue.string(name).encoded()),
            ("parent", JSONValue.string(parent.id).encoded()), ("content", stored),
        ]
        let members = document.map { Array("\"\($0.name)\":".utf8) + $0.json }
        try edit {
            try $0.create(
                try Name.entity(entity),
                [UInt8(ascii: "{")] + members.joined(separator: [UInt8(ascii: ",")]) + [
                    UInt8(ascii: "}")
                ])
        }
    }

    /// The name of a content, after a file with it was imported.
    private func stored(_ content: String, _ folder: String) throws -> [UInt8] {
        let path = "\(folder)/\(name)-import.txt"
        try SmallFile(at: path).replace(with: Array(content.utf8), isDurable: false)
        defer { try? FileManager.default.removeItem(atPath: path) }
        return Array(try JSONEncoder().encode(try replica.importFile(at: path)))
    }

    /// Fetches what is wanted, and prints how much came.
    fileprivate func transfer() async throws {
        let outcome = try await fetchFiles()
        say("  \(outcome.stored) \(outcome.stored == 1 ? "file" : "files") fetched")
    }

    /// Prints the files of the tree, or of a part of it, with those that are here.
    fileprivate func sayTree(below folder: String = "") throws {
        for (path, key) in try paths() where folder.isEmpty || path.hasPrefix(folder + "/") {
            let (status, file) = try replica.read {
                (try $0.status(of: key), try $0.files(of: key).first)
            }
            guard let file else { continue }
            let words = [status.map { "\($0)" }, file.stored.map { _ in "is here" }]
            say("  \(path)  " + words.compactMap(\.self).joined(separator: ", "))
        }
    }

    private func paths() throws -> [(path: String, key: EntityKey)] {
        try replica.read { context in
            var paths: [(path: String, key: EntityKey)] = []
            try context.forEachDocument(in: "files") { key, _, _ in
                if let path = try context.path(of: key) {
                    paths.append((path.joined(separator: "/"), key))
                }
                return true
            }
            return paths.sorted { $0.path < $1.path }
        }
    }
}
