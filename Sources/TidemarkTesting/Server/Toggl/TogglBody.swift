// TogglBody.swift — the object that came with a request.
//
// Old names of references are accepted: `wid`, `pid`, `tid`, `uid`, `cid`. Which one counts when an
// old and a new name contradict each other is not known; here the new one does, and nothing is
// refused.

import TidemarkEvents

/// The members of a request's object, by the names of today.
struct TogglBody: Sendable {
    let members: JSONObject

    /// - Throws: 400 when the bytes are no JSON object.
    init(_ bytes: [UInt8]) throws(TogglRejection) {
        guard let value = try? JSONValue(parsing: bytes), let object = value.object else {
            throw TogglRejection(400, "JSON is not valid")
        }
        self.init(object)
    }

    init(_ object: JSONObject) { members = Self.withNamesOfToday(object) }

    /// The old names of members, and the new ones.
    private static let names = [
        ("wid", "workspace_id"), ("pid", "project_id"), ("tid", "task_id"), ("uid", "user_id"),
        ("cid", "client_id"),
    ]

    /// An object in which only the new names occur.
    static func withNamesOfToday(_ object: JSONObject) -> JSONObject {
        var object = object
        for (old, new) in names {
            if object[new] == .none { object[new] = object[old] }
            object[old] = nil
        }
        return object
    }

    /// Whether a member is there with a value or with null.
    func has(_ key: String) -> Bool { members[key] != .none }

    /// A text; nil for null and where there is none.
    func text(_ key: String) throws(TogglRejection) -> String? {
        try value(key, \.stringValue)
    }

    func integer(_ key: String) throws(TogglRejection) -> Int64? {
        try value(key, \.int64Value)
    }

    func bool(_ key: String) throws(TogglRejection) -> Bool? {
        try value(key, \.boolValue)
    }

    func texts(_ key: String) throws(TogglRejection) -> [String]? {
        try value(key) { value in value.array.flatMap { Self.all($0, \.stringValue) } }
    }

    func integers(_ key: String) throws(TogglRejection) -> [Int64]? {
        try value(key) { value in value.array.flatMap { Self.all($0, \.int64Value) } }
    }

    /// A time, cut to whole seconds.
    func time(_ key: String) throws(TogglRejection) -> Timestamp? {
        try value(key) { value in value.stringValue.flatMap(TogglTime.parse)?.cut }
    }

    private func value<T>(
        _ key: String, _ read: (JSONValue) -> T?
    ) throws(TogglRejection) -> T? {
        guard let value = members[key], value != .null else { return nil }
        guard let read = read(value) else {
            throw TogglRejection(400, "Invalid value for \(key)")
        }
        return read
    }

    private static func all<T>(_ list: [JSONValue], _ read: (JSONValue) -> T?) -> [T]? {
        let read = list.compactMap(read)
        return read.count == list.count ? read : nil
    }
}

extension TogglServerModel {
    /// Keeps the members of a request that Toggl does not know, where tests want that.
    func keepUnknown(of body: TogglBody, in item: inout TogglItem, _ kind: TogglKind) {
        guard keepsUnknownMembers else { return }
        let others: Set = [
            "workspace_id", "created_with", "tag_action", "pid", "tid", "deleted_at", "notes",
            "external_reference",
        ]
        for (key, value) in body.members
        where kind.members[key] == .none && !others.contains(key) {
            item.fields[key] = value
        }
    }
}
