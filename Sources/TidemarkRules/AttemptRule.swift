// AttemptRule.swift — what an HTTP status says about whether a write took effect.

/// What an answer to a write, other than success, says about it.
package enum AttemptRule {
    /// Whether the status proves that the write had no effect.
    ///
    /// A refusal (4xx) and a server that turns work away (503) did nothing. Any other 5xx may come
    /// from a machine in between, after the server did its work: the attempt stays unknown.
    package static func provesNoEffect(status: Int) -> Bool {
        (400..<500).contains(status) || status == 503
    }

    /// Whether the refusal may be the echo of the write itself.
    ///
    /// A network library may send a request again without saying so; the second then finds its
    /// precondition broken by the first.
    package static func mayBeEcho(status: Int) -> Bool { status == 412 }
}
