// LocalOnlyAdapterTests.swift — what is kept on the device alone is nothing to any adapter.

import Testing
import TidemarkEvents
import TidemarkHTTP

@Suite struct `collections that are kept on the device alone` {
    private static let tree = CollectionModel.TreeRule(
        parent: "parent", name: "name", kind: "kind", isByPath: true)

    @Test func `go with every server, and get nothing from it`() throws {
        let files = CollectionModel(
            "files", references: [Reference("parent", to: "files")], tree: Self.tree)
        let drafts = CollectionModel("drafts", localOnly: true)
        let remotes: [(Remote, CollectionModel)] = [
            (.kinto(origin: "https://kinto.test", bucket: "b"), CollectionModel("tasks")),
            (.webdav(origin: "https://dav.test", home: "/me/"), files),
        ]
        for (remote, synced) in remotes {
            let registration = ModelRegistration(
                model: SyncModel(name: "m", collections: [drafts, synced]), remote: remote)

            let whole = try registration.withAdapterDefaults()

            #expect(whole.model["drafts"] == drafts, "\(remote.adapter)")
        }
        // What is synced is looked at in its place.
        let wrong = ModelRegistration(
            model: SyncModel(name: "m", collections: [drafts, CollectionModel("tasks")]),
            remote: .webdav(origin: "https://dav.test", home: "/me/"))
        let error = #expect(throws: ModelError.self) { try wrong.withAdapterDefaults() }
        #expect(error?.path == "collections[1].tree")
    }
}
