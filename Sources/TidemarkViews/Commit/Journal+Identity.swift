// Journal+Identity.swift — what a reader is told of a store that is not what it was known to be,
// and a copy that is what it is known to be.

import TidemarkEvents
package import TidemarkLog
package import TidemarkStore

extension Journal {
    /// What is wrong with the log by the identity beside it: it lost its end, or is an older copy.
    ///
    /// Nil where nothing is, and where damage keeps it from being told. Nobody is kept from reading
    /// such a log.
    ///
    /// - Throws: ``StoreError``: `otherStore` when data and identity are of different stores.
    package func rollBack(in directory: String) throws(StoreError) -> String? {
        // First what was known, then what is there: a writer may go on meanwhile.
        guard let identity = try StoreIdentity.find(in: directory).identity, identity.isInitialised
        else { return nil }
        do {
            try environment.read { try log.checkIdentity(identity, $0) }
        } catch let error as StoreError where error.code == .otherStore {
            throw error
        } catch let error as StoreError where error.code == .rolledBack {
            return error.detail
        } catch {
            return nil
        }
        return nil
    }

    /// Copies the store as it is now, while others write; see ``StoreGuard``.
    ///
    /// - Parameter directory: where the store is.
    package func copy(
        of directory: String, to target: String,
        progress: (StoreGuard.CopyingProgress) -> Void = { _ in }
    ) throws -> StoreGuard.CopyResult {
        guard !isClosed else { throw Self.closed("copy") }
        let place = try guardian?.place ?? FileIdentity(ofDirectory: directory)
        // First what is known, then what is there: a writer may go on meanwhile.
        let known = try guardian?.identity ?? StoreIdentity.find(in: directory).identity
        guard let known, known.isInitialised else {
            throw StoreError(
                .unfitIdentity, during: "copy",
                detail: "\(directory)/\(StoreIdentity.fileName) does not say which store it is")
        }
        return try StoreGuard.copy(
            environment, in: directory, at: place, as: known, to: target, Self.options(),
            progress: progress)
    }
}
