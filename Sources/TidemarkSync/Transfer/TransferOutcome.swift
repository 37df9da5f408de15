// TransferOutcome.swift — what came of fetching and sending files.

public import TidemarkEvents

/// The result of fetching and sending the files that were due.
public struct TransferOutcome: Sendable, Hashable {
    /// How many files are here that were not.
    public package(set) var stored = 0
    /// How many files of the user's the server has that it had not: what names them can be pushed.
    public package(set) var sent = 0
    /// How many bytes of files came, also of those that are not whole.
    public package(set) var bytes = 0
    /// How many requests brought nothing, and are made again later.
    public package(set) var failed = 0
    /// How many files can't be had, or are not taken, as they are; they are tried again after a
    /// day.
    public package(set) var refused = 0
    /// Why it ended before everything was asked for that was due; nil when it went to its end.
    ///
    /// After `diskFull` nothing more was fetched; what is here was sent all the same.
    /// After `unauthorized` the files of other servers that come before the remote's were asked
    /// for.
    public package(set) var failure: SyncFailure?
    /// When the next request is due, by the device's clock; nil for never.
    public package(set) var nextAt: Timestamp?
    /// Until when the file is not asked for whose server could not be had; nil for none.
    package var heldUntil: Timestamp?
    /// Whether there was no room for what came.
    package var isFull = false
    /// Whether it was the remote that could not be had, and no other server.
    package var isRemoteAway = false

    package init(_ failure: SyncFailure? = nil) { self.failure = failure }
}
