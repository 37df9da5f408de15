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
    /// Why not everything was asked for that was due: the first reason; nil when all was.
    ///
    /// After `diskFull` nothing more was fetched; what is here was sent all the same. Where a
    /// server can't be had, or does not accept the credentials, the files of others were asked for.
    public package(set) var failure: SyncFailure?
    /// When the next request is due, by the device's clock; nil for never.
    public package(set) var nextAt: Timestamp?
    /// The servers that could not be had, each with until when the file is not asked for that it
    /// did not give.
    package var away: [FileServer: Away] = [:]
    /// The servers that gave, took or refused something.
    package var reached: Set<FileServer> = []
    /// Whether so many servers could not be had, and none could, that no other one is tried.
    package var isOffline: Bool { reached.isEmpty && away.count >= 3 }
    /// Whether there was no room for what came.
    package var isFull = false

    /// Why a server could not be had, and until when it is not to be asked for a file at least.
    package struct Away: Sendable, Hashable {
        package var failure: SyncFailure
        package var until: Timestamp?

        package init(_ failure: SyncFailure, until: Timestamp? = nil) {
            self.failure = failure
            self.until = until
        }
    }

    package init(_ failure: SyncFailure? = nil) { self.failure = failure }
}
