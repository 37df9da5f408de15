// TogglItem.swift — a row as the server keeps it, and the forms of its times.

import TidemarkEvents

/// A row, by the names of today: `workspace_id` and not `wid`.
struct TogglItem: Sendable, Hashable {
    var id: Int64
    /// When it was last changed.
    var at: Timestamp
    var deletedAt: Timestamp?
    /// From when on other requests see it; nil for at once.
    var visibleFrom: Timestamp?
    /// What was given: members with the value that they have by default are not needed.
    var fields: JSONObject

    var isDeleted: Bool { deletedAt != nil }

    var workspace: Int64? { fields["workspace_id"]?.int64Value }
    var project: Int64? { fields["project_id"]?.int64Value }
    var client: Int64? { fields["client_id"]?.int64Value }
    var user: Int64? { fields["user_id"]?.int64Value }
    var name: String { fields["name"]?.stringValue ?? "" }
    /// Of a project or a task: only an archived one is not.
    var isActive: Bool { fields["active"]?.boolValue ?? true }

    func isVisible(_ now: Timestamp) -> Bool { visibleFrom.map { $0 <= now } ?? true }

    // MARK: Time entries

    /// When it began, in whole seconds.
    var start: Timestamp {
        get { fields["start"]?.stringValue.flatMap(TogglTime.parse) ?? at }
        set { fields["start"] = .string(TogglTime.utc(newValue)) }
    }

    /// In seconds; negative while it runs, and then as it was sent.
    var duration: Int64 {
        get { fields["duration"]?.int64Value ?? 0 }
        set { fields["duration"] = .integer(newValue) }
    }

    var isRunning: Bool { duration < 0 }

    /// Nil while it runs.
    var stop: Timestamp? { isRunning ? nil : start.adding(seconds: duration) }

    var tags: [Int64] {
        get { fields["tag_ids"]?.array?.compactMap(\.int64Value) ?? [] }
        set { fields["tag_ids"] = .array(newValue.map { .integer($0) }) }
    }
}

/// The forms of times in requests and answers.
enum TogglTime {
    /// `2024-12-16T01:29:40Z`, cut to whole seconds.
    static func utc(_ time: Timestamp) -> String { time.toTheSecond }

    /// `2024-12-16T01:29:40+00:00`, cut to whole seconds.
    static func offset(_ time: Timestamp) -> String { time.toTheSecond.dropLast() + "+00:00" }

    /// `2024-12-16T01:38:02.0344Z`: microseconds without the zeros at their end.
    static func micros(_ time: Timestamp) -> String {
        var text = time.description.dropLast()
        while text.last == "0" { text = text.dropLast() }
        if text.last == "." { return time.toTheSecond }
        return text + "Z"
    }

    /// `2024-12-16`, in UTC.
    static func date(_ time: Timestamp) -> String { String(time.description.prefix(10)) }

    /// A time with seconds and an offset from UTC.
    static func parse(_ text: String) -> Timestamp? {
        Timestamp(text)
    }

    /// A date, which is its midnight in UTC, or a time.
    static func parseDay(_ text: String) -> Timestamp? {
        text.utf8.count == 10 ? parse(text + "T00:00:00Z") : parse(text)
    }
}

extension Timestamp {
    /// Whole seconds since 1970, rounded down.
    var wholeSeconds: Int64 {
        let (seconds, rest) = rawValue.quotientAndRemainder(dividingBy: 1_000_000)
        return rest < 0 ? seconds - 1 : seconds
    }

    /// The same without a fraction of a second.
    var cut: Timestamp { Timestamp(rawValue: wholeSeconds * 1_000_000) }
}

extension JSONValue {
    static func integer(_ number: Int64) -> JSONValue { .number(JSONNumber(number)) }

    static func integer(_ number: Int64?) -> JSONValue { number.map { .integer($0) } ?? .null }
}
