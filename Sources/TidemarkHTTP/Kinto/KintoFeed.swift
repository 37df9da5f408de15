// KintoFeed.swift — blocks of a feed: which query asks for one, and what its answer means.
//
//   up to K    max_F=K&not_F=null&_sort=-F&_limit=N       before K   lt_F=K&…
//   from K     min_F=K&lt_F=false&_sort=F&_limit=N        after K    gt_F=K&…
//   equal K    eq_F=K&gt_id="ID"&_sort=id&_limit=N
//   ids        _fields=id,F&gt_id="ID"&_sort=id&_limit=N
//
// Kinto compares texts byte by byte and numbers by value, and its order is null, texts, numbers,
// false, and so on to what has no such field: without the second filter, blocks would be full of
// null and of what has no such field. (`has_F` would do, but with its storage in memory Kinto
// forgets the filters before it.) `last_modified` is always a number, and takes no other values.
// A value is read as JSON where it is JSON, as 1e5 is, so a text is sent in quotes. `F=K` would be
// another filter for a field `not_before`, and none for one that begins with `_`.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension KintoAdapter {
    /// The field of the versions, by which tombstones are listed, too.
    static let versionField = "last_modified"

    // MARK: Queries

    /// The query for a block.
    ///
    /// - Throws: ``SyncFailure/client(status:_:)`` for a field whose name has other characters than
    ///   ASCII letters, digits and `_`: Kinto takes a `.` for a path, and ignores a filter and an
    ///   order by other names.
    static func query(of block: FeedBlock) throws(SyncFailure) -> String {
        let items =
            switch block.bound {
            case .upTo(let key): try descending("max", block.field, key)
            case .before(let key): try descending("lt", block.field, key)
            case .from(let key): try ascending("min", block.field, key)
            case .after(let key): try ascending("gt", block.field, key)
            case .equal(let key, let id): [try filter("eq", block.field, key)] + byID(after: id)
            case .ids(let id): [try fields(with: block.keyField)] + byID(after: id)
            }
        return (items + ["_limit=\(block.limit)"]).joined(separator: "&")
    }

    private static func descending(
        _ comparison: String, _ field: String, _ key: FeedKey
    ) throws(SyncFailure) -> [String] {
        let isKey = field == versionField ? [] : ["not_\(field)=null"]
        return [try filter(comparison, field, key)] + isKey + ["_sort=-\(field)"]
    }

    private static func ascending(
        _ comparison: String, _ field: String, _ key: FeedKey
    ) throws(SyncFailure) -> [String] {
        let isKey = field == versionField ? [] : ["lt_\(field)=false"]
        return [try filter(comparison, field, key)] + isKey + ["_sort=\(field)"]
    }

    private static func byID(after id: String?) -> [String] {
        (id.map { ["gt_id=\(value(FeedKey($0)))"] } ?? []) + ["_sort=id"]
    }

    private static func fields(with field: String?) throws(SyncFailure) -> String {
        guard let field else { return "_fields=id" }
        try check(field)
        return "_fields=id,\(field)"
    }

    private static func filter(
        _ comparison: String, _ field: String, _ key: FeedKey
    ) throws(SyncFailure) -> String {
        try check(field)
        return "\(comparison)_\(field)=\(value(key))"
    }

    private static func check(_ field: String) throws(SyncFailure) {
        guard !field.isEmpty, field.utf8.allSatisfy({ isPlain($0) }) else {
            throw .client(
                status: 0,
                "Kinto can't list by the field \"\(field)\": name one in the model's feed that has "
                    + "only letters, digits and _ (ASCII)")
        }
    }

    /// A key as a value of a query.
    private static func value(_ key: FeedKey) -> String {
        ServerRequest.percentEncoded(key.value.encoded())
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    // MARK: Answers

    /// The page that a block is.
    static func block(
        _ block: FeedBlock, _ headers: HTTPFields, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        var page = ListPage(records: [], next: nextPage(headers), cursor: nil)
        for range in try elements(of: body) {
            let bytes = Array(body[range])
            do throws(SyncFailure) {
                var (record, isLikeTombstone) = try element(bytes)
                if case .ids = block.bound {
                    let key = block.keyField.flatMap { JSON.value($0, of: bytes) }
                    page.references.append(
                        ServerReference(
                            id: record.id, revision: nil, feedKey: key.flatMap { FeedKey($0) }))
                    continue
                }
                // Elsewhere it is a record that looks like one.
                if isLikeTombstone, block.field == versionField {
                    record.isDeleted = true
                    record.feedKey = JSON.value(versionField, of: bytes).flatMap { FeedKey($0) }
                }
                page.records.append(record)
            } catch {
                page.unreadable.append(
                    UnreadableRecord(id: id(in: bytes), bytes: bytes, problem: error.detail))
            }
        }
        return .page(page)
    }
}
