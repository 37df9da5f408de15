// HeldSnapshot.swift — one moment of a store that is read piece by piece, while writes go on.
//
// Between two reads no thread is inside of one, so the thread that reads may write, too. Whoever
// moves the map, or closes, doesn't wait for it but lets go of it: a write that waits for the map
// may be one that the next read waits for.

/// The store as it was when it was held; for reads that are too long, or write too much between
/// them, to be one.
///
/// End it soon: pages that it may still see can't be used again, so the file grows meanwhile.
package final class HeldSnapshot: Sendable {
    private let environment: Environment

    fileprivate init(_ environment: Environment) throws(StoreError) {
        self.environment = environment
        try environment.checkNotInside("hold")
        try environment.handle.hold(ObjectIdentifier(self))
    }

    deinit { end() }

    /// Runs `body` on it.
    ///
    /// - Throws: what `body` throws; `busy` where it was let go of; `closed`; `nested` inside a
    ///   read or a write of the environment.
    package func read<R>(_ body: (borrowing ReadTransaction) throws -> R) throws -> R {
        try environment.checkNotInside("read")
        return try environment.handle.read(heldBy: ObjectIdentifier(self), body)
    }

    /// Lets go of it, if nobody did yet.
    package func end() { environment.handle.release(ObjectIdentifier(self)) }
}

extension Environment {
    /// Holds a snapshot of the last commit.
    ///
    /// The caller keeps other processes from replacing or removing the data file.
    ///
    /// - Throws: as a read; `nested` inside a read or a write of the environment.
    package func hold() throws(StoreError) -> HeldSnapshot { try HeldSnapshot(self) }
}
