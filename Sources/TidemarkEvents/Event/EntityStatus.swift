// EntityStatus.swift — how an entity stands with the server, in one word.

/// How an entity stands with the server.
@nonexhaustive public enum EntityStatus: String, Sendable, Hashable, CaseIterable {
    /// Equal to what the server last said, or kept on this device alone.
    case synced
    /// Made here, not yet on the server.
    case created
    /// Changed here, not yet on the server.
    case updated
    /// Deleted here, not yet on the server.
    case deleted
    /// Sent, and the outcome not yet known.
    case uploading
    /// Changed here and sent another way, by a text message for example; not yet on the server as
    /// far as is known. It is still sent.
    case relayed
    /// The same, and the other side said that it arrived; the server's next word on it counts.
    case confirmed
    /// On the server, which took it and has something to say about it.
    case warning
    /// Refused by the server, or in a conflict about which a person is asked.
    case error
    /// Known in part: it came because something refers to it. It takes no edits, and nothing new
    /// may count in it, until the server sends the whole.
    case stub
    /// Not here: made up because something refers to it.
    case placeholder
}
