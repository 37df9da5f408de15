// InMemoryServer+Records.swift — the records of the server's bucket, as another client reads and
// changes them.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension InMemoryServer {
    /// Writes a whole record, as another client does.
    ///
    /// For a server that was made with a bucket.
    ///
    /// - Parameters:
    ///   - key: collection and id: `tasks/t1`.
    ///   - json: the record's object; the server adds `id` and `last_modified`.
    public func put(_ key: String, _ json: String) {
        request(.put, path(key), body: #"{"data":\#(json)}"#)
    }

    /// Deletes a record, as another client does.
    ///
    /// For a server that was made with a bucket.
    public func delete(_ key: String) { request(.delete, path(key)) }

    /// A record without `id` and `last_modified`, as JSON text; nil when there is none.
    ///
    /// For a server that was made with a bucket.
    public func record(_ key: String) -> String? {
        let answer = request(.get, path(key))
        guard answer.response.status.code == 200,
            let document = try? JSONDocument(parsing: answer.body),
            let raw = document.rawValue("data"),
            let data = try? JSONDocument(parsing: Array(raw))
        else { return nil }
        return String(
            decoding: data.applying(set: [], unset: ["id", "last_modified"]), as: UTF8.self)
    }

    private func path(_ text: String) -> String {
        guard let bucket else { preconditionFailure("the server was made without a bucket") }
        guard let key = EntityKey(text) else { preconditionFailure("\(text) is no record") }
        return "/v1/buckets/\(bucket)/collections/\(key.collection)/records/\(key.id)"
    }
}

extension FaultPlan {
    /// There is no network: nothing is sent.
    public static var offline: FaultPlan { FaultPlan([FaultRule(.offline)]) }
}
