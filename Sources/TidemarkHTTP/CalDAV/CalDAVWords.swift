// CalDAVWords.swift — which words of CalDAV and CardDAV servers and of items are no secrets.

public import TidemarkSync

extension CalDAVAdapter {
    /// No header field is kept; items keep their property names.
    public var words: ServerWords { Self.words }

    static let words = ServerWords(
        segments: [".well-known", "caldav", "carddav", "dav", "v1", "v2"],
        suffixes: [".ics", ".vcf"],
        members: ["id": .anything, CalDAVItem.text: .anything, CalDAVItem.bytes: .base64],
        others: [
            "REPORT", "PROPFIND",
            "VCALENDAR", "VEVENT", "VTODO", "VJOURNAL", "VFREEBUSY", "VTIMEZONE", "VALARM",
            "STANDARD", "DAYLIGHT", "VCARD", "GREGORIAN", "1.0", "2.0", "2.1", "3.0", "4.0",
        ],
        lines: [items])

    /// Items of RFC 5545 and RFC 6350.
    private static let items = ServerWords.Lines(
        beginnings: ["BEGIN:VCALENDAR", "BEGIN:VCARD"],
        structure: ["BEGIN", "CALSCALE", "END", "VERSION"],
        times: [
            "COMPLETED", "CREATED", "DTEND", "DTSTAMP", "DTSTART", "DUE", "EXDATE",
            "LAST-MODIFIED", "RDATE", "RECURRENCE-ID", "REV",
        ],
        names: [
            "ACTION", "ADR", "ATTACH", "ATTENDEE", "BDAY", "CATEGORIES", "CLASS", "COMMENT",
            "CONTACT", "DESCRIPTION", "DURATION", "EMAIL", "FN", "GEO", "LOCATION", "N", "NICKNAME",
            "NOTE", "ORG", "ORGANIZER", "PERCENT-COMPLETE", "PHOTO", "PRIORITY", "PRODID",
            "RELATED-TO", "RESOURCES", "RRULE", "SEQUENCE", "STATUS", "SUMMARY", "TEL", "TITLE",
            "TRANSP", "TRIGGER", "TZID", "TZNAME", "TZOFFSETFROM", "TZOFFSETTO", "UID", "URL",
        ])
}
