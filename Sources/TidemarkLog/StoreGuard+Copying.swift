// StoreGuard+Copying.swift — copies a store while others read and write it.
//
//   1. the files beside entities are copied to where the copy is made: who stores one names it only
//      then
//   2. so are all records, as they are at one moment, and proven
//   3. the files that came meanwhile are copied, identity.json is written, and the folder gets its
//      name

package import TidemarkEvents
package import TidemarkStore

extension StoreGuard {
    /// What was copied, and what was not.
    package struct CopyResult: Sendable {
        /// The last event.
        package let last: Position
        /// The files beside entities that it lacks because they are damaged, by their digests.
        package let damagedFiles: [String]
    }

    /// Copies a store as it is at one moment, with the files beside entities.
    ///
    /// The copy is closed, and is the same store by its id, account and device.
    ///
    /// - Parameters:
    ///   - environment: the store, open to read at least.
    ///   - directory: where it is.
    ///   - place: which directory that is.
    ///   - identity: what is known of it; the log may have gone on since.
    ///   - target: where the copy is to be; nothing may be there.
    ///   - options: how a store is opened; as always.
    /// - Throws: ``StoreError``, ``LogError``: `invalidPath`; `busy` while another copy to there is
    ///   made; `rolledBack`, `otherStore`; `lost` where the store's folder is not at its path any
    ///   more; what is wrong with the log, or with the files; `diskFull`. Nothing is left of the
    ///   copy then.
    package static func copy(
        _ environment: Environment, in directory: String, at place: FileIdentity,
        as identity: StoreIdentity, to target: String, _ options: Environment.Options,
        progress: (CopyingProgress) -> Void = { _ in }
    ) throws -> CopyResult {
        try StoreFiles.make(at: target, from: directory) { folder, _ in
            let (files, copied) = (ContentFiles(of: directory), ContentFiles(of: folder))
            try files.copyWhole(to: copied, isLossy: false)
            let made = try copyRecords(environment, as: identity, to: folder, options, progress)
            let damaged = try files.copyWhole(to: copied, isLossy: false)
            // Else the files were another store's, or none.
            try place.checkPlace(directory, during: "copy")
            try made.write(to: folder, isDurable: true)
            return CopyResult(last: made.position, damagedFiles: damaged)
        }
    }

    /// - Returns: the identity of the copy.
    private static func copyRecords(
        _ environment: Environment, as identity: StoreIdentity, to folder: String,
        _ options: Environment.Options, _ progress: (CopyingProgress) -> Void
    ) throws -> StoreIdentity {
        let copy = try openCopy(of: environment, in: folder, options)
        let result = Result { () throws -> StoreIdentity in
            let fileBytes = try environment.info().fileBytes
            let records = try environment.copyRecords(to: copy) {
                progress(.copying(bytes: $0, of: fileBytes))
            }
            let proven = try prove(copy, records, in: folder, during: "copy", progress)
            return try copy.read { transaction in
                let log = EventLog(copy)
                try log.checkIdentity(identity, transaction)
                var made = identity
                made.position = try log.lastPosition(transaction)
                made.root = made.position == .start ? [] : proven.root
                // The first opening looks at the pages of its log.
                (made.opening, made.closed, made.bootID) = (nil, nil, nil)
                return made
            }
        }
        try copy.close()
        return try result.get()
    }
}
