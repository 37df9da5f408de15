// RedactionWords.swift — the words that are no secrets, as they are ours or those of a protocol.

import TidemarkEvents
import TidemarkSync

enum RedactionWords {
    /// Words of our own payloads.
    static let all: Set<String> = Set(SyncTrigger.allCases.map(\.rawValue))
        .union(TransportError.Code.allCases.map(\.rawValue))
        .union(FailureKind.allCases.map(\.rawValue))
        .union(IssueKind.allCases.map(\.rawValue))
        .union(WriteEffect.allCases.map(\.rawValue))
        .union(ServerRefusal.ownMessages)
        .union([
            "=", "absent", "cleanUp", "cursorExpired", "discard", "dismiss", "entity", "incomplete",
            "keepMine", "keepTheirs", "list", "local", "push", "refetch", "retry", "server",
            "synced", "unchanged",
            "GET", "PUT", "POST", "PATCH", "DELETE", "HEAD", "OPTIONS", "REPORT", "PROPFIND",
            "VCALENDAR", "VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE", "VALARM",
            "STANDARD", "DAYLIGHT", "VCARD", "GREGORIAN", "1.0", "2.0", "2.1", "3.0", "4.0",
        ])

    /// Segments of paths, and names in queries; those of collections stand in the model.
    static let paths: Set<String> = [
        ".", "..", ".well-known", "_before", "_fields", "_limit", "_since", "_sort", "_token",
        "api", "batch", "buckets", "caldav", "carddav", "clients", "collections", "dav",
        "end_date", "features", "me", "page", "preferences", "projects", "reports", "search",
        "tags", "tasks",
        "v3", "workspace", "workspaces",
        "per_page", "records", "since", "start_date", "sync-token", "v0", "v1", "v2", "v9",
    ]

    /// Names in queries that are no segments of paths.
    static let queries: Set<String> = ["deleted", "in_id"]

    /// Names in queries whose numbers say how much is asked for.
    static let counts: Set<String> = ["_limit", "page", "per_page"]

    /// Properties of calendars and address books by whose values an item is built.
    static let structure: Set<String> = ["BEGIN", "CALSCALE", "END", "VERSION"]

    /// Those whose values are times.
    static let timeProperties: Set<String> = [
        "COMPLETED", "CREATED", "DTEND", "DTSTAMP", "DTSTART", "DUE", "EXDATE", "LAST-MODIFIED",
        "RDATE", "RECURRENCE-ID", "REV",
    ]

    /// All that keep their names.
    static let properties = structure.union(timeProperties).union([
        "ACTION", "ADR", "ATTACH", "ATTENDEE", "BDAY", "CATEGORIES", "CLASS", "COMMENT", "CONTACT",
        "DESCRIPTION", "DURATION", "EMAIL", "FN", "GEO", "LOCATION", "N", "NICKNAME", "NOTE", "ORG",
        "ORGANIZER", "PERCENT-COMPLETE", "PHOTO", "PRIORITY", "PRODID", "RELATED-TO", "RESOURCES",
        "RRULE", "SEQUENCE", "STATUS", "SUMMARY", "TEL", "TITLE", "TRANSP", "TRIGGER", "TZID",
        "TZNAME", "TZOFFSETFROM", "TZOFFSETTO", "UID", "URL",
    ])
}
