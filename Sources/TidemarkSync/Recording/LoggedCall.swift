// LoggedCall.swift — what the events name that tell what a call brought.

import TidemarkEvents

/// A call that is logged.
struct LoggedCall {
    /// The run's `sync.started`.
    let start: Position
    /// Its `request.sent`.
    let call: Position
    /// The log's last position when it was sent; a write is as of itself.
    let asOf: Position
}

extension LoggedCall {
    /// - Parameter write: the `request.sent` of a write.
    init(start: Position, write: Position) { self.init(start: start, call: write, asOf: write) }
}
