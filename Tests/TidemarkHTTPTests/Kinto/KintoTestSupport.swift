// KintoTestSupport.swift — an adapter, a collection and short words for calls and answers.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

/// One adapter and one collection.
struct KintoCase: AdapterCase {
    var adapter = KintoAdapter(origin: "https://kinto.test:8443", bucket: "todo")
    var tasks = CollectionModel("tasks", lastChangeField: "last_modified")

    static let records = "/v1/buckets/todo/collections/tasks/records"

    func request(_ call: ServerCall) throws -> ServerRequest { try adapter.request(for: call) }

    var read: ServerCall { .read(tasks, id: "t1") }
    var list: ServerCall { .list(tasks, after: nil, page: nil) }
    var create: ServerCall { .create(tasks, id: "t1", body: Array("{}".utf8)) }
    var update: ServerCall {
        .update(tasks, id: "t1", body: Array("{}".utf8), revision: Revision("7"))
    }
    var delete: ServerCall { .delete(tasks, id: "t1", revision: Revision("7")) }
    var writes: [ServerCall] { [create, update, delete] }
    var all: [ServerCall] { [list, read] + writes }
}

extension ServerAnswer {
    /// Whether the answer is a failure `malformed`.
    var isMalformed: Bool {
        if case .failure(.malformed) = self { true } else { false }
    }
}

extension ServerRecord {
    /// The document as text.
    var text: String? { document.map { String(decoding: $0, as: UTF8.self) } }
}

extension HTTPFields {
    static func nextPage(_ address: String) -> HTTPFields {
        var fields = HTTPFields()
        if let name = HTTPField.Name("Next-Page") { fields[name] = address }
        return fields
    }
}
