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

    /// Whether the write may have had its effect all the same.
    ///
    /// A network library may send a request again without saying so; the second then finds its
    /// precondition broken (412), or what it deletes gone (404), by the first. And a machine in
    /// between may give up waiting (408, 503) on a server that did its work. One that turns away
    /// who asks too often (429) does so before it looks at the request: that answers the second of
    /// two as well, and says nothing of the first.
    ///
    /// - Parameter isRepeatable: whether the request may have been sent twice.
    package static func mayHaveArrived(status: Int, isRepeatable: Bool = false) -> Bool {
        [404, 408, 412, 503].contains(status) || isRepeatable && status == 429
    }

    /// Whether the answer comes with the server's word on how the entity stands.
    package static func tellsEntity(status: Int) -> Bool { status == 404 || status == 412 }

    /// Whether an entity may have been made all the same, where the server names entities, so that
    /// making it again would make another one.
    ///
    /// Of a creation, unlike other writes, 404 and 412 are answers to what was sent, not to its
    /// traces.
    package static func mayHaveMade(status: Int) -> Bool { [408, 503].contains(status) }
}
