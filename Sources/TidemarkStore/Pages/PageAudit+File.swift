// PageAudit+File.swift — where the data file comes from that is looked at: one in a directory,
// beside a writer or not; or that of a transaction that is about to free a table's pages.

import CLMDB

// MARK: - Where a file is looked at

extension PageAudit {
    /// Called now and then: how many pages were read, and of how many at most.
    package typealias Progress = (_ read: UInt64, _ of: UInt64) throws -> Void

    /// Looks at the pages of the data file in a directory, whether or not LMDB could open it.
    ///
    /// Beside a writer it looks at what one commit left; where commits come too fast for that, it
    /// holds a read transaction meanwhile.
    ///
    /// - Throws: ``StoreError``: `damaged`, `lost`, where there are no meta pages to go by; what
    ///   the system says.
    package static func run(
        at directory: String, _ extent: Extent = .all,
        progress: @escaping Progress = { _, _ in }
    ) throws -> Result {
        let path = directory + "/data.mdb"
        try DataFile.check(path)
        let file = try OpenDataFile(path)
        for _ in 0..<3 {
            guard let meta = try file.metas().last else { break }
            let result = try run(file, meta, extent, progress)
            // What a commit frees, the one after it may write over.
            if try file.metas().last?.transaction == meta.transaction { return result }
        }
        let options = Environment.Options(tables: [], readOnly: true, create: false)
        let environment = try Environment.open(at: directory, options)
        let result = Swift.Result { try run(file, pinnedBy: environment, extent, progress) }
        try environment.close()
        return try result.get()
    }

    private static func run(
        _ file: OpenDataFile, pinnedBy environment: Environment, _ extent: Extent,
        _ progress: @escaping Progress
    ) throws -> Result {
        for _ in 0..<1000 {
            let result = try environment.read { transaction in
                let metas = try file.metas()
                // Of a commit before the last two there is no meta page any more.
                let meta = metas.first { $0.transaction == transaction.number }
                return try meta.map { try run(file, $0, extent, progress) }
            }
            if let result { return result }
        }
        throw StoreError(
            .damaged, during: "read", detail: "no meta page of data.mdb is of the commit read")
    }

    private static func run(
        _ file: OpenDataFile, _ meta: DataFile.Meta, _ extent: Extent,
        _ progress: @escaping Progress
    ) throws -> Result {
        var audit = PageAudit(
            try file.pages(of: meta.pageBytes), meta, extent, progress: progress)
        return try audit.run()
    }
}

/// A data file that is open for reading; closed when it goes.
private final class OpenDataFile {
    private let descriptor: Int32

    init(_ path: String) throws(StoreError) {
        do throws(SystemNumber) { descriptor = try Platform.openForReading(path) } catch {
            throw .system(error.number, during: "open", path)
        }
    }

    deinit { Platform.closeFile(descriptor) }

    /// The whole meta pages, the one that counts last.
    func metas() throws(StoreError) -> [DataFile.Meta] {
        do throws(SystemNumber) { return try DataFile(descriptor: descriptor).metas() } catch {
            throw .system(error.number, during: "read", "data.mdb")
        }
    }

    func pages(of bytes: Int) throws(StoreError) -> PageFile {
        do throws(SystemNumber) { return try PageFile(descriptor, pageBytes: bytes) } catch {
            throw .system(error.number, during: "read", "data.mdb")
        }
    }
}

// MARK: - Before pages are freed

extension TreeReader {
    /// Whether a table's pages, as the last commit left them, are its own and all that they should
    /// be: LMDB frees them by numbers that it reads there, whatever they are.
    ///
    /// Of a table without checksums no other page of the file may be in doubt: its records may lie
    /// where another one's do.
    func hasOwnPages(_ table: Table) throws(StoreError) -> Bool {
        guard table.handle != 0, let record = try get(.catalog, Array(table.name.utf8)) else {
            return true
        }
        guard record.count == DataFile.Tree.bytes else { return false }
        let tree = DataFile.Tree(record, at: 0)
        guard tree.root != DataFile.Meta.noRoot else { return true }
        var descriptor: Int32 = -1
        let code = unsafe mdb_env_get_fd(mdb_txn_env(raw), &descriptor)
        guard code == 0 else { throw failure(code, during: "read") }
        do { return try Self.hasOwnPages(table, tree, descriptor) } catch {
            if let error = error as? StoreError { throw error }
            let number = (error as? SystemNumber)?.number ?? Platform.inputOutput
            throw .system(number, during: "read", "data.mdb")
        }
    }

    private static func hasOwnPages(
        _ table: Table, _ tree: DataFile.Tree, _ descriptor: Int32
    ) throws -> Bool {
        guard let meta = try DataFile(descriptor: descriptor).metas().last else { return false }
        let file = try PageFile(descriptor, pageBytes: meta.pageBytes)
        // Else there is not one bit for each.
        guard meta.lastPage < file.wholePages + 1 << 20 else { return false }
        var audit = PageAudit(file, meta, .all) { _, _ in }
        guard table.isChecked else {
            // What two tables claim is noted of the one whose name comes later.
            return try audit.run().findings.allSatisfy { finding in
                finding.table.map { Array($0.utf8).lexicographicallyPrecedes(table.name.utf8) }
                    ?? false
            }
        }
        return try audit.run(table: table.name, tree) { key, value in
            CheckedRecord.isRight(value, key, table)
        }.isFine
    }
}
