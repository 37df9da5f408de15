// KintoWords.swift — what header fields of a Kinto server mean, and which of its words are no
// secrets.

public import TidemarkSync

extension KintoAdapter {
    /// `Alert` announces the end of an API in advance; `Backoff` and `Next-Page` are kept, too.
    public var words: ServerWords { Self.words }

    static let words = ServerWords(
        fields: [
            .init("Alert", .notice), .init("Backoff", .rest), .init("Next-Page", .nextPage),
        ],
        segments: ["v0", "v1", "buckets", "collections", "records", "batch"],
        parameters: [
            "_before": .version, "_fields": .field, "_limit": .count, "_since": .version,
            "_sort": .field, "_token": .version, "deleted": .flag, "gt_id": .ids, "in_id": .ids,
        ],
        comparisons: ["max_", "lt_", "min_", "gt_", "eq_", "not_"],
        members: members,
        // The name of the personal bucket is the same for all users.
        constants: ["buckets": ["default"], "bucket": ["default"]])

    /// The names of members in requests, answers and records.
    private static let members: [String: ServerWords.Member] = {
        let names = [
            "body", "bucket", "collection", "collections", "defaults", "deleted", "description",
            "error", "field", "headers", "id", "info", "issues", "last_modified", "location",
            "message", "method", "name", "permissions", "requests", "responses", "schema", "value",
        ]
        var members = Dictionary(
            uniqueKeysWithValues: names.map { ($0, ServerWords.Member.anything) })
        for name in ["data", "details", "existing"] { members[name] = .content }
        for name in ["status", "code", "errno"] { members[name] = .number }
        members["path"] = .path
        return members
    }()
}
