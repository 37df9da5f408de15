// FieldFormats.swift — how a server writes times and names fields, where the app's types differ.

/// How a server writes times.
@nonexhaustive public enum DateFormat: String, Sendable, Hashable, CaseIterable {
    /// A text as in RFC 3339: `2026-11-18T11:06:40Z`, with an offset or fractions of a second where
    /// they come; written in UTC, with fractions down to the microsecond where there are any.
    case iso8601
    /// Seconds since 1970, fractions allowed.
    case seconds
    /// Whole milliseconds since 1970.
    case milliseconds
}

/// How a server names fields, where the app names them in camel case.
@nonexhaustive public enum KeyStyle: String, Sendable, Hashable, CaseIterable {
    /// The same as the coding keys.
    case verbatim
    /// `startedAt` is `started_at`, and `userID` is `user_id`.
    case snakeCase
}
