// TogglTestSupport.swift — the adapter, the model's collections and short words for calls.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// The adapter and the collections that it is for.
struct TogglCase: AdapterCase {
    var adapter = TogglAdapter()

    /// A collection of the model, or one that it has not.
    func collection(_ name: CollectionName) -> CollectionModel {
        SyncModel.toggl[name] ?? CollectionModel(name)
    }

    func list(_ name: CollectionName, after: String? = nil) -> ServerCall {
        .list(collection(name), after: after.map { Revision($0) }, page: nil)
    }

    func create(_ name: CollectionName, _ body: String) -> ServerCall {
        .create(collection(name), id: "here-1", body: Array(body.utf8))
    }

    func update(
        _ name: CollectionName, _ id: String, _ body: String, changes: String = "{}"
    ) -> ServerCall {
        .update(
            collection(name), id: id, body: Array(body.utf8), changes: Array(changes.utf8),
            revision: Revision("-"))
    }

    func delete(_ name: CollectionName, _ id: String, revision: String) -> ServerCall {
        .delete(collection(name), id: id, revision: Revision(revision))
    }

    var read: ServerCall { .read(collection("time_entries"), id: "7") }
    var refetch: ServerCall { .refetch(collection("projects"), ids: ["5"], together: nil) }
    var writes: [ServerCall] {
        [
            create("time_entries", #"{"workspace_id":1}"#),
            update("time_entries", "7", #"{"workspace_id":1}"#),
            delete("time_entries", "7", revision: "-@1"),
        ]
    }
    var reads: [ServerCall] { [list("tags"), list("user"), read, refetch] }

    /// A request in one line: method, path, body.
    func line(_ call: ServerCall) throws -> String {
        let request = try adapter.request(for: call)
        let body = request.body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
        return "\(request.method) \(request.path)\(body)"
    }

    /// The page that a list is, or nil.
    func page(_ name: CollectionName, _ body: String) -> ListPage? {
        if case .page(let page) = answer(to: list(name), 200, body) { page } else { nil }
    }
}
