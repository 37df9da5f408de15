// StoreGuard+Shrinking.swift — gives the space back that a store doesn't need any more: all records
// are written into a new data file, which is proven and takes the place of the old one.
//
// Other processes may read meanwhile; each has the file that it opened, until its next read says
// that there is another one.

package import TidemarkEvents
package import TidemarkStore

extension StoreGuard {
    /// What a shrinking did.
    package struct Shrinking: Sendable, Hashable {
        /// The data file's length before.
        package var bytesBefore: Int
        /// The data file's length now; not less where there was nothing to gain.
        package var bytesAfter: Int
        /// How many records it has.
        package var records: Int

        package var isSmaller: Bool { bytesAfter < bytesBefore }
    }

    /// How far a copying or a shrinking is.
    package enum CopyingProgress: Sendable, Hashable {
        /// So many bytes of records were copied, of a file of so many.
        case copying(bytes: Int, of: Int)
        /// The copy's log is verified: up to a position, of all.
        case proving(Position, of: Position)
    }

    /// Makes the data file of a store as small as its records allow.
    ///
    /// Needs as much free space as the new file takes. The store must not be open in this process,
    /// and is not afterwards. Cut off at any moment, the store has the one file or the other, with
    /// the same records. A copy that would not be smaller is thrown away.
    ///
    /// - Parameters:
    ///   - options: how the store is opened; as always.
    ///   - opening: what an opening for writing brings along.
    /// - Throws: ``StoreError``, ``LogError``: what an opening throws; `busy`; what is wrong with
    ///   the log; `diskFull`. The store is as it was then.
    package static func shrink(
        _ directory: String, _ options: Environment.Options, _ opening: StoreOpening,
        progress: (CopyingProgress) -> Void = { _ in }
    ) throws -> Shrinking {
        var options = options
        options.create = false
        let (environment, guardian) = try open(directory, options, opening)
        let result = Result {
            try guardian.stayAlone(with: environment, during: "shrink")
            return try guardian.shrink(environment, options, progress)
        }
        try guardian.close(environment)
        return try result.get()
    }

    private func shrink(
        _ environment: Environment, _ options: Environment.Options,
        _ progress: (CopyingProgress) -> Void
    ) throws -> Shrinking {
        defer { endLeaving() }
        try checkPlace(during: "shrink")
        let before = try environment.info()
        let folder = try StoreFiles.beginShrinking(directory)
        let copy = try Self.openCopy(of: environment, in: folder, options)
        let result = Result {
            let records = try environment.copyRecords(to: copy) {
                progress(.copying(bytes: $0, of: before.fileBytes))
            }
            let made = Shrinking(
                bytesBefore: before.fileBytes, bytesAfter: try copy.info().fileBytes,
                records: records.reduce(0) { $0 + $1.records })
            guard made.isSmaller else { return made }
            _ = try Self.prove(copy, records, in: folder, during: "shrink", progress)
            try checkPlace(during: "shrink")
            try StoreFiles.endShrinking(directory)
            environment.endReplaced("data.mdb was replaced by a smaller one")
            return made
        }
        try copy.close()
        // Nothing is left of it but what did not take the place.
        try? StoreFiles.settleShrinking(directory)
        return try result.get()
    }

    /// Opens an empty store that takes the records of another one.
    static func openCopy(
        of environment: Environment, in folder: String, _ options: Environment.Options
    ) throws(StoreError) -> Environment {
        var options = options
        options.tables = environment.copiedTables
        options.formerTables = []
        (options.create, options.readOnly) = (true, false)
        return try Environment.open(at: folder, options)
    }

    /// Reads the copy again: every record is there, every page is right, and the log is whole.
    static func prove(
        _ copy: Environment, _ records: [RecordDigest], in folder: String, during action: String,
        _ progress: (CopyingProgress) -> Void
    ) throws -> LogVerification {
        let found = try copy.recordDigests()
        if let index = zip(found, records).enumerated().first(where: { $1.0 != $1.1 })?.offset {
            throw StoreError(
                .io, during: action,
                detail: "the copy of the table \(records[index].table) is not what was written")
        }
        let pages = try PageAudit.run(at: folder, .all) { _, _ in }
        if let finding = pages.findings.first {
            throw StoreError(.io, during: action, detail: "of the copy \(finding)")
        }
        var check = try copy.read { try LogCheck(EventLog(copy), findingsMax: 1, $0) }
        while try copy.read({ try check.step($0) }) {
            progress(.proving(check.position, of: check.last))
        }
        let log = check.finished()
        if let finding = log.findings.first { throw finding }
        return log
    }
}
