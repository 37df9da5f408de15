// FeedCursor.swift — where a feed goes on.

/// Where a part of a feed goes on: the backfill, or the list of changes.
package enum FeedCursor: Sendable, Hashable {
    /// At what is at most the key, going back.
    case upTo(FeedKey)
    /// At what is less than the key, going back.
    case before(FeedKey)
    /// At what is at least the key, going forward.
    case from(FeedKey)
    /// At what is greater than the key, going forward.
    case after(FeedKey)
    /// Among those with this one key, after an id; nil for the first of them.
    case equal(FeedKey, after: String?)
    /// Nowhere: everything was listed.
    case end

    /// The key; nil at the end.
    package var key: FeedKey? {
        switch self {
        case .upTo(let key), .before(let key), .from(let key), .after(let key),
            .equal(let key, _):
            key
        case .end: nil
        }
    }

    /// An object of one member, or two: `{"upTo":"2026-11-17T00:00:00Z"}`.
    package var json: JSONValue {
        switch self {
        case .upTo(let key): .object(["upTo": key.value])
        case .before(let key): .object(["before": key.value])
        case .from(let key): .object(["from": key.value])
        case .after(let key): .object(["after": key.value])
        case .equal(let key, nil): .object(["equal": key.value])
        case .equal(let key, let id?): .object(["equal": key.value, "id": .string(id)])
        case .end: .object(["end": true])
        }
    }

    /// Reads what ``json`` gave; nil for anything else.
    package init?(_ value: JSONValue) {
        guard let object = value.object else { return nil }
        func key(_ name: String) -> FeedKey? { object[name].flatMap { FeedKey($0) } }
        if let upTo = key("upTo") {
            self = .upTo(upTo)
        } else if let before = key("before") {
            self = .before(before)
        } else if let from = key("from") {
            self = .from(from)
        } else if let after = key("after") {
            self = .after(after)
        } else if let equal = key("equal") {
            self = .equal(equal, after: object["id"]?.stringValue)
        } else if object["end"] == true {
            self = .end
        } else {
            return nil
        }
    }

    /// The cursor as a watermark keeps it.
    package var revision: Revision { Revision(rawValue: json.encoded()) }

    /// Reads a watermark's cursor; nil for one of a list.
    package init?(_ revision: Revision) {
        guard let value = try? JSONValue(parsing: revision.rawValue) else { return nil }
        self.init(value)
    }
}

extension PullTarget {
    /// The part of a feed that goes back from now.
    package static let back = "back"
    /// The part of a feed that lists what changed.
    package static let forward = "forward"

    /// Whether it is a part of a feed, and no list.
    package var isFeed: Bool { scope == Self.back || scope == Self.forward }
}

extension FeedCursor: CustomStringConvertible {
    /// `up to K`, `before K`, `from K`, `after K`, `equal to K after ID`, `end`.
    package var description: String {
        switch self {
        case .upTo(let key): "up to \(key)"
        case .before(let key): "before \(key)"
        case .from(let key): "from \(key)"
        case .after(let key): "after \(key)"
        case .equal(let key, nil): "equal to \(key)"
        case .equal(let key, let id?): "equal to \(key) after \(id)"
        case .end: "end"
        }
    }
}
