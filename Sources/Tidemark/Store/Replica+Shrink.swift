// Replica+Shrink.swift — makes the file of a store as small as what it holds.

import TidemarkEvents
import TidemarkLog
import TidemarkStore
public import TidemarkSync
import TidemarkViews

extension Replica {
    /// The data file's length, before it was made smaller and after, in bytes.
    public struct Shrinking: Sendable, Hashable {
        /// What it was.
        public let bytesBefore: Int
        /// The same as before where there was nothing to gain.
        public let bytesAfter: Int
    }

    /// How far a copying or a shrinking is.
    @nonexhaustive public enum CopyingProgress: Sendable, Hashable {
        /// So many bytes of records were copied, of a file of so many.
        case copying(bytes: Int, of: Int)
        /// The copy's log was verified up to a position, of all.
        case proving(Position, of: Position)
    }

    /// Gives the space of a store's free pages back to the disk.
    ///
    /// A store that had many events sealed, dropped or pruned uses its free pages again, but its
    /// file stays as long as it was. This writes all records into a new file, verifies that file,
    /// and puts it in the place of the old one. It takes as long as verifying the store, and needs
    /// free space for the new file meanwhile. When the process dies, the store has one of the two
    /// files, whole.
    ///
    /// The store must not be open in this process. Other processes may read it meanwhile; a read
    /// after the end of it throws, and they open the store again.
    ///
    /// - Parameters:
    ///   - directory: the path of the store.
    ///   - waiting: how long to block while another process has it open for writing.
    ///   - dependencies: give this device's id.
    ///   - progress: called now and then.
    /// - Throws: ``TidemarkError``: what an opening throws; `busy` when the store is open;
    ///   `diskFull`; `damaged`. The store is as it was then.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    @discardableResult
    public static func shrink(
        at directory: String, waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: (CopyingProgress) -> Void = { _ in }
    ) throws -> Shrinking {
        try TidemarkError.mapped {
            let made = try StoreGuard.shrink(
                directory, Journal.options(create: false),
                StoreOpening(account: nil, waiting: waiting, dependencies)
            ) { progress(CopyingProgress($0)) }
            return Shrinking(
                bytesBefore: made.bytesBefore,
                bytesAfter: made.isSmaller ? made.bytesAfter : made.bytesBefore)
        }
    }

    /// The same without blocking the caller's thread; `progress` is called on another one.
    @discardableResult
    public static func shrink(
        at directory: String, waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: @escaping @Sendable (CopyingProgress) -> Void = { _ in }
    ) async throws -> Shrinking {
        try await BlockingWork.run(waits: true) {
            try shrink(
                at: directory, waiting: waiting, dependencies: dependencies,
                progress: progress)
        }
    }
}

extension Replica.CopyingProgress {
    init(_ progress: StoreGuard.CopyingProgress) {
        switch progress {
        case .copying(let bytes, let all): self = .copying(bytes: bytes, of: all)
        case .proving(let position, let last): self = .proving(position, of: last)
        }
    }
}
