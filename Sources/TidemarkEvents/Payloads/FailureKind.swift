// FailureKind.swift — the closed list of reasons why a call or a sync run failed, as they stand in
// the log.

/// Why a call, or a whole sync run, failed.
///
/// What each means for the runs that follow is decided by a switch without a `default`: a new one
/// does not compile until it is placed.
package enum FailureKind: String, Sendable, CaseIterable {
    case offline, timeout, server, tooManyRequests, client, unauthorized, forbidden
    case apiDeprecated, clientDeprecated, malformed, backoff, deadline, foreign, ruleMissing
    case ruleFailed, missing, cancelled, noProgress, gated, diskFull
}

/// A failure's name in the log: one of ours, or of another version.
package struct FailureName: RawRepresentable, Sendable, Hashable {
    package var rawValue: String

    package init(rawValue: String) { self.rawValue = rawValue }

    package init(_ kind: FailureKind) { rawValue = kind.rawValue }

    /// Nil for one that this version does not know.
    package var kind: FailureKind? { FailureKind(rawValue: rawValue) }
}
