// TogglBody.swift — what is sent of a document.
//
//   created   the document; a time entry names the app that made it (created_with), and a project
//             is active unless it says otherwise: Toggl archives it else
//   changed   what changed, and the workspace
//
// In both, of two members that say one thing only one is sent: start and duration without stop, one
// of tags and tag_ids, and none of the older names that Toggl returns beside today's. They would
// contradict each other once one of them is changed.

import TidemarkEvents
import TidemarkSync

/// The body of a creation or a change.
struct TogglBody {
    /// Older names of members, which Toggl returns beside today's; a client has only `wid`.
    private static let older = [
        (old: "pid", new: "project_id"), (old: "tid", new: "task_id"),
        (old: "wid", new: "workspace_id"), (old: "uid", new: "user_id"),
        (old: "cid", new: "client_id"),
    ]
    private static let (start, stop, duration) = ("start", "stop", "duration")
    private static let emptyList = Array("[]".utf8)

    private let type: TogglType
    /// The whole document.
    private let whole: JSONDocument
    /// What of it is sent.
    private var sent: JSONDocument

    /// The body of a creation.
    ///
    /// - Throws: a failure `client` for what is no object, and for an older name alone.
    static func created(
        _ type: TogglType, _ body: [UInt8], with app: String
    ) throws(SyncFailure) -> [UInt8] {
        var made = try TogglBody(type, body, sending: body)
        try made.dropOlder(isNew: true)
        switch type {
        case .timeEntries:
            if made.sent.value("created_with")?.idText == nil {
                try made.change(set: ["created_with": JSONValue.string(app).encoded()])
            }
            try made.dropStop(isNew: true)
            let namesIDs = made.sent.value("tag_ids")?.array?.isEmpty == false
            try made.change(unset: [namesIDs ? "tags" : "tag_ids"])
        case .projects where made.sent.value("active") ?? .null == .null:
            try made.change(set: ["active": Array("true".utf8)])
        default: break
        }
        return made.sent.bytes
    }

    /// The body of a change.
    ///
    /// - Parameter changes: the members that changed; empty where that is not known.
    /// - Throws: a failure `client` for what is no object, and for an older name alone.
    static func changed(
        _ type: TogglType, _ body: [UInt8], _ changes: [UInt8]
    ) throws(SyncFailure) -> [UInt8] {
        var made = try TogglBody(type, body, sending: changes.isEmpty ? body : changes)
        guard !type.isSingle else { return made.sent.bytes }
        try made.dropOlder(isNew: false)
        if type == .timeEntries {
            try made.dropStop(isNew: false)
            if let ids = made.sent.value("tag_ids") {
                let none = ids == .null ? ["tag_ids": emptyList] : [:]
                try made.change(set: none, unset: ["tags"])
            }
        }
        let place = type.workspaceField
        if made.sent.rawValue(place) == nil, let workspace = made.whole.rawValue(place) {
            try made.change(set: [place: Array(workspace)])
        }
        return made.sent.bytes
    }

    private init(
        _ type: TogglType, _ whole: [UInt8], sending sent: [UInt8]
    ) throws(SyncFailure) {
        self.type = type
        self.whole = try Self.object(whole)
        self.sent = try Self.object(sent)
    }

    private static func object(_ bytes: [UInt8]) throws(SyncFailure) -> JSONDocument {
        do { return try JSONDocument(parsing: bytes) } catch {
            throw .client(status: 0, "a document that can't be read: \(error)")
        }
    }

    private mutating func change(
        set: [String: [UInt8]] = [:], unset: [String] = []
    ) throws(SyncFailure) {
        let members = set.sorted { $0.key < $1.key }.map { (key: $0.key, value: $0.value) }
        sent = try Self.object(sent.applying(set: members, unset: unset))
    }

    // MARK: One of two that say the same

    /// Leaves out older names; one that alone says something is not lost without a word.
    private mutating func dropOlder(isNew: Bool) throws(SyncFailure) {
        guard type != .clients else { return }
        for (old, new) in Self.older where sent.rawValue(old) != nil {
            let saysNothing = isNew && sent.value(old) == .null
            guard saysNothing || sent.rawValue(new) != nil else {
                throw .client(
                    status: 0, "\(old) is an older name of \(new): \(new) is to be changed")
            }
            try change(unset: [old])
        }
    }

    /// Sends start and duration where one of the times is sent, and no stop: it follows from them.
    ///
    /// Where the duration can't be told, what was to be sent is, and Toggl says what is wrong.
    private mutating func dropStop(isNew: Bool) throws(SyncFailure) {
        let isSent = [Self.start, Self.stop, Self.duration].contains { sent.rawValue($0) != nil }
        guard isSent || isNew, let length = duration(isNew: isNew) else { return }
        var times = [Self.duration: Array(String(length).utf8)]
        if let start = whole.rawValue(Self.start) { times[Self.start] = Array(start) }
        try change(set: times, unset: [Self.stop])
    }

    /// The duration in seconds, negative while the entry runs; nil where it can't be told.
    private func duration(isNew: Bool) -> Int64? {
        let value = whole.value(Self.duration) ?? .null
        let given = value.int64Value
        guard value == .null || given != nil else { return nil }
        let stop = time(Self.stop)
        // What was changed counts. Without a duration the entry runs, unless it has a stop.
        let isChanged = !isNew && sent.rawValue(Self.duration) != nil
        let hasOther = given.map { $0 >= 0 } ?? false
        let isStopNew = isNew ? !hasOther : sent.rawValue(Self.stop) != nil || given == nil
        // Of two edits that contradict each other neither is dropped without a word.
        if isChanged, hasOther, sent.rawValue(Self.stop) != nil, let stop,
            let start = time(Self.start), (stop.rawValue - start.rawValue) / 1_000_000 != given
        {
            return nil
        }
        guard let stop, isStopNew, !isChanged else { return given ?? -1 }
        guard let start = time(Self.start), start <= stop else { return nil }
        return (stop.rawValue - start.rawValue) / 1_000_000
    }

    private func time(_ field: String) -> Timestamp? {
        whole.rawValue(field).flatMap { DateFormat.iso8601.timestamp($0) }
    }
}
