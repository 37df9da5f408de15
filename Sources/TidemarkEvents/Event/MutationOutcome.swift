// MutationOutcome.swift — what may become of a mutation.

/// How a mutation left the outbox, or that the server refused it and it waits there.
@nonexhaustive public enum MutationOutcome: String, Sendable, Hashable, CaseIterable {
    /// All of it was stored.
    case accepted
    /// Part of it was stored, and a decision names what was kept and what was lost; or nothing was
    /// lost, because the server already had the same values, from someone else as far as is known.
    case merged
    /// None of it was stored: the server's side won a conflict.
    case superseded
    /// It was overtaken by later mutations, which went with it or lost with it.
    case coalesced
    /// What it made was deleted again before anything was sent; or a folder of files was, in which
    /// it made or changed something.
    case annihilated
    /// It was derived, and its cause is gone.
    case withdrawn
    /// The server refused it. It stays in the outbox until it is mended, sent again or given up,
    /// and ends otherwise then: no one who waits for the outcome is given this one.
    case rejected
    /// The user gave it up.
    case discarded

    package var number: UInt64 {
        switch self {
        case .accepted: 1
        case .merged: 2
        case .superseded: 3
        case .coalesced: 4
        case .annihilated: 5
        case .withdrawn: 6
        case .rejected: 7
        case .discarded: 8
        }
    }

    package init?(number: UInt64) {
        guard let outcome = Self.allCases.first(where: { $0.number == number }) else { return nil }
        self = outcome
    }
}
