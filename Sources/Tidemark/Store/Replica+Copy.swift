// Replica+Copy.swift — a copy of a store that is in use.

public import TidemarkEvents
package import TidemarkLog
import TidemarkStore
import TidemarkViews

extension Replica {
    /// Copies the store as it is now into a new directory, while it is read and written to, also by
    /// other processes.
    ///
    /// The copy is closed and verified, and has the files beside entities, but for the parts of
    /// those that are being fetched. It is the same store: by its id, its account and its device.
    /// To put it in the place of that store, `adopt(at:isDryRun:waiting:dependencies:)` it,
    /// as reserved values that it has left may have been handed out since. What was logged since
    /// is lost, unless the server has it. Only one of the two may go on: both would contradict each
    /// other.
    ///
    /// It takes as long as verifying the store, and needs free space for the copy. Meanwhile the
    /// store's own file may grow, as pages that are still read are not used again. Where it grows
    /// beyond what is mapped of it, reads and writes of this process wait until all records are
    /// copied, as does a closing in any case.
    ///
    /// - Parameters:
    ///   - directory: the path of the copy; nothing may be there, and its parent must exist. What
    ///     is not complete lies beside it, under its name and `.tidemark-making`.
    ///   - progress: called now and then, also within a read of the store: a write in it is
    ///     `nested`, and it must not wait for anybody who reads, writes or closes the store.
    /// - Returns: the last event that the copy has.
    /// - Throws: ``TidemarkError``: `invalidPath` where something is there; `busy` while another
    ///   copy to that path is made; `lost` where the store was removed meanwhile; `damaged`;
    ///   `diskFull`; why a file beside an entity can't be read. There is no copy then. A file whose
    ///   bytes are damaged is left out, as are those that are gone: verifying tells of both.
    @available(*, noasync, message: "it blocks; `await` it, in top-level code within a function")
    @discardableResult
    public func copy(
        to directory: String, progress: (CopyingProgress) -> Void = { _ in }
    ) throws -> Position {
        try TidemarkError.mapped {
            try journal.copy(of: self.directory, to: directory) {
                progress(CopyingProgress($0))
            }.last
        }
    }

    /// The same without blocking the caller's thread; `progress` is called on another one.
    @discardableResult
    public func copy(
        to directory: String, progress: @escaping @Sendable (CopyingProgress) -> Void = { _ in }
    ) async throws -> Position {
        try await BlockingWork.run { [self] in try copy(to: directory, progress: progress) }
    }

    /// The same of a store that is not open here; no table of it is read.
    package static func copy(
        of directory: String, to target: String,
        progress: (CopyingProgress) -> Void = { _ in }
    ) throws -> StoreGuard.CopyResult {
        try TidemarkError.mapped {
            let journal = try Journal.open(at: directory, readOnly: true)
            let copied = Result {
                try journal.copy(of: directory, to: target) { progress(CopyingProgress($0)) }
            }
            try journal.close()
            return try copied.get()
        }
    }
}
