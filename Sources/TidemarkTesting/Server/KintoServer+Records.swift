// KintoServer+Records.swift — the records of the server's bucket, as another client reads and
// changes them.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension KintoServer {
    /// Writes a whole record, as another client does.
    ///
    /// For a server that was made with a bucket. What it does not take is the caller's mistake,
    /// such as a collection that it has not, an id of other characters than letters, digits, `-`
    /// and `_`, or what is no object.
    ///
    /// - Parameters:
    ///   - key: collection and id: `tasks/t1`.
    ///   - json: the record's object; the server adds `id` and `last_modified`.
    public func put(_ key: String, _ json: String) {
        if let refusal = refusal(putting: key, json) { fatalError(refusal) }
    }

    /// Deletes a record, as another client does; does nothing where there is none.
    ///
    /// For a server that was made with a bucket, which has the collection.
    public func delete(_ key: String) {
        if let refusal = refusal(deleting: key) { fatalError(refusal) }
    }

    /// Writes a whole record; returns why the server did not take it, nil where it did.
    func refusal(putting key: String, _ json: String) -> String? {
        let answer = request(.put, path(key), body: #"{"data":\#(json)}"#)
        return answer.response.status.kind == .successful ? nil : Self.text(answer, to: "PUT", key)
    }

    /// Deletes a record; returns why the server did not, nil where it is not there now.
    func refusal(deleting key: String) -> String? {
        let answer = request(.delete, path(key))
        if answer.response.status.kind == .successful { return nil }
        let error = try? JSONValue(parsing: answer.body)
        return error?["errno"]?.int64Value == 110 ? nil : Self.text(answer, to: "DELETE", key)
    }

    private static func text(
        _ answer: TransportResponse, to method: String, _ key: String
    ) -> String {
        "\(method) \(key): \(answer.response.status.code) "
            + String(decoding: answer.body, as: UTF8.self)
    }

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
        guard let bucket else { fatalError("the server was made without a bucket") }
        guard let key = EntityKey(text) else { fatalError("\(text) is no record") }
        return "/v1/buckets/\(bucket)/collections/\(key.collection)/records/\(key.id)"
    }
}

extension FaultPlan {
    /// There is no network: nothing is sent.
    public static var offline: FaultPlan { FaultPlan([FaultRule(.offline)]) }
}
