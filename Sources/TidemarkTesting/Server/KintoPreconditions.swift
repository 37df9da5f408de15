// KintoPreconditions.swift — If-Match and If-None-Match.

import HTTPTypes

/// The preconditions of a request.
struct KintoPreconditions {
    private enum Condition: Equatable {
        case any
        case timestamp(Int64)
    }

    private let ifMatch: Condition?
    private let ifNoneMatch: Condition?

    /// Reads the two fields; 400 unless each is `*` or an integer in double quotes.
    init(_ request: HTTPRequest) throws(KintoRefusal) {
        ifMatch = try Self.condition(.ifMatch, "If-Match", request)
        ifNoneMatch = try Self.condition(.ifNoneMatch, "If-None-Match", request)
    }

    /// Whether the client already has this version.
    func isNotModified(since timestamp: Int64) -> Bool { ifNoneMatch == .timestamp(timestamp) }

    /// Refuses a read or write of an object whose version is not the client's.
    ///
    /// The list's timestamp is only read for the refusal, because reading it may set it.
    func check(
        _ existing: KintoObject?, listTimestamp: @autoclosure () -> Int64
    ) throws(KintoRefusal) {
        let isRefused =
            switch (existing, ifMatch, ifNoneMatch) {
            case (.some, _, .any): true
            case (.none, .some, _): true
            case (.some(let object), .timestamp(let expected), _): object.lastModified != expected
            default: false
            }
        guard !isRefused else {
            throw KintoRefusal.precondition(existing, listTimestamp: listTimestamp())
        }
    }

    /// Refuses to read a list that has changed, or that must not exist: a list always does.
    func checkList(timestamp: Int64) throws(KintoRefusal) {
        let isRefused =
            switch (ifMatch, ifNoneMatch) {
            case (_, .any): true
            case (.timestamp(let expected), _): expected != timestamp
            default: false
            }
        guard !isRefused else { throw KintoRefusal.precondition(nil, listTimestamp: timestamp) }
    }

    private static func condition(
        _ name: HTTPField.Name, _ label: String, _ request: HTTPRequest
    ) throws(KintoRefusal) -> Condition? {
        guard let text = request.headerFields[name] else { return nil }
        if text == "*" || text == "\"*\"" { return .any }
        let isQuoted = text.count > 2 && text.hasPrefix("\"") && text.hasSuffix("\"")
        guard isQuoted, let value = Int64(text.dropFirst().dropLast()) else {
            throw KintoRefusal.invalid(
                "header", label, "The value should be integer between double quotes.")
        }
        return .timestamp(value)
    }
}
