// WriteEffect.swift — what an answer to a write proves of it; logged with the answer.

/// What an answer proves of its write.
///
/// It decides whether the write is sent again, read back, or counts as refused. What the answer
/// says of the entity stands in the events that follow it.
@nonexhaustive public enum WriteEffect: String, Sendable, Hashable, CaseIterable {
    /// The write was done.
    case done
    /// Nothing was done, and nothing will be.
    case nothing
    /// Nothing was done by this request, because the entity stands otherwise: it is gone, or of
    /// another version. A first sending of the same request may be why.
    case precondition
    /// The server did not take the request, or something in between gave up waiting for it: it may
    /// have been done all the same, and is sent again.
    case turnedAway
    /// The answer proves nothing: the entity is read back before anything else is sent.
    case unknown

    /// What an HTTP status usually proves; a server that means something else by it says so in its
    /// adapter.
    ///
    /// | status | proves |
    /// |---|---|
    /// | 200 to 299 | ``done`` |
    /// | 404, 412 | ``precondition`` |
    /// | 408, 503 | ``turnedAway``: a machine in between may have given up waiting |
    /// | 400 to 499 otherwise | ``nothing`` |
    /// | all others | ``unknown``: a machine in between may say so of what the server did |
    public init(status: Int) {
        self =
            switch status {
            case 200..<300: .done
            case 404, 412: .precondition
            case 408, 503: .turnedAway
            case 400..<500: .nothing
            default: .unknown
            }
    }

    /// Whether this request was not carried out.
    package var isNothing: Bool {
        switch self {
        case .nothing, .precondition, .turnedAway: true
        case .done, .unknown: false
        }
    }

    /// Whether the write may have been done all the same: by a first sending of the request, or
    /// behind the back of the machine that answered.
    package var mayHaveArrived: Bool {
        switch self {
        case .precondition, .turnedAway: true
        case .done, .nothing, .unknown: false
        }
    }
}
