// Replica+Accounts.swift — one store per account, in folders below one root.
//
// The folder is named after the account: lower-case letters, digits, "-" and "_" as they are, every
// other byte of its UTF-8 as "%41". So no two names differ by case alone, which some file systems
// can't tell apart. A name over 100 bytes is cut there and ends in "~" and its SHA-256.

import Foundation
public import TidemarkEvents
import TidemarkLog
import TidemarkStore
public import TidemarkSync

extension Replica {
    /// Opens the store of one account below a root, or creates it; the root is created, too.
    ///
    /// The remains of an interrupted ``signOut(ifPending:)`` below the root are removed, with the
    /// first opening of a process and with one an hour or more later.
    ///
    /// - Parameters:
    ///   - root: the folder of all accounts; nothing else should lie in it.
    ///   - account: a name that stays the same and is not empty; better the user's id on the server
    ///     than an address.
    ///   - model: what is synced and by which rules.
    ///   - remote: the server to be synced with, if it is known already.
    ///   - rules: the app's own rules for conflicts.
    ///   - waiting: how long to block while another process has the store open.
    ///   - dependencies: clock, ids and randomness; the system's unless a test gives others.
    ///   - progress: called while pages are checked and while the tables are rebuilt.
    /// - Throws: ``TidemarkError``: as when it is opened by its path.
    public static func open(
        in root: String, account: String, model: SyncModel, remote: Remote? = nil,
        rules: [ConflictRule] = [], waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: (OpeningProgress) -> Void = { _ in }
    ) throws -> Replica {
        let directory = try directory(in: root, account: account)
        do {
            try FileManager.default.createDirectory(
                atPath: root, withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        } catch {
            throw TidemarkError(.invalidPath, "\(root) can't be made: \(error)")
        }
        try TidemarkError.mapped { try sweep(root, at: dependencies.now()) }
        return try open(
            at: directory, account: account, model: model, remote: remote, rules: rules,
            waiting: waiting, dependencies: dependencies, progress: progress)
    }

    /// The same without blocking the caller's thread; `progress` is called on another one.
    public static func open(
        in root: String, account: String, model: SyncModel, remote: Remote? = nil,
        rules: [ConflictRule] = [], waiting: Duration = .zero, dependencies: Dependencies = .live,
        progress: @escaping @Sendable (OpeningProgress) -> Void = { _ in }
    ) async throws -> Replica {
        try await BlockingWork.run(waits: true) {
            try open(
                in: root, account: account, model: model, remote: remote, rules: rules,
                waiting: waiting, dependencies: dependencies, progress: progress)
        }
    }

    /// The directory of an account's store below a root, whether or not there is one.
    ///
    /// For what takes a directory, as `adopt(at:isDryRun:waiting:dependencies:)` of a store
    /// that an opening refuses.
    ///
    /// - Throws: ``TidemarkError`` `invalidPath` where the account is empty.
    public static func directory(in root: String, account: String) throws -> String {
        guard !account.isEmpty else {
            throw TidemarkError(.invalidPath, "an account needs a name; this one is empty")
        }
        return root + "/" + AccountFolder.name(of: account)
    }

    /// The accounts that have a store below a root, sorted by name; empty when the folder does not
    /// exist.
    ///
    /// One whose identity can't be read is told by the name of its folder.
    ///
    /// - Throws: ``TidemarkError`` when the folder can't be read.
    public static func accounts(in root: String) throws -> [String] {
        try TidemarkError.mapped {
            try folders(root).compactMap { folder in
                let directory = root + "/" + folder
                let found = try? StoreIdentity.find(in: directory)
                if let identity = found?.identity {
                    return identity.isInitialised ? identity.account : nil
                }
                // A store without its identity can't be opened, but still exists.
                if let data = try? StoreFiles.data(directory), case .missing = data { return nil }
                return AccountFolder.account(of: folder)
            }.sorted()
        }
    }

    /// When the remains below a root were removed, by the device's clock.
    private static let sweptAt = Lock<[FileIdentity: Timestamp]>([:])

    /// Removes the remains of interrupted removals; not with each opening, as it looks through the
    /// whole root.
    private static func sweep(_ root: String, at now: Timestamp) throws {
        let place = try FileIdentity(ofDirectory: root)
        if let last = sweptAt.withLock({ $0[place] }), last <= now, now < last.adding(.hours(1)) {
            return
        }
        for folder in try folders(root, isRemoved: true) {
            StoreFiles.sweep(root + "/" + folder.dropLast(StoreFiles.removedSuffix.count))
        }
        sweptAt.withLock { $0[place] = now }
    }

    private static func folders(_ root: String, isRemoved: Bool = false) throws -> [String] {
        let manager = FileManager.default
        guard manager.fileExists(atPath: root) else { return [] }
        let names: [String]
        do { names = try manager.contentsOfDirectory(atPath: root) } catch {
            throw TidemarkError(.invalidPath, "\(root) can't be read: \(error)")
        }
        return names.filter { name in
            guard name.hasSuffix(StoreFiles.removedSuffix) == isRemoved else { return false }
            let attributes = try? manager.attributesOfItem(atPath: root + "/" + name)
            return attributes?[.type] as? FileAttributeType == .typeDirectory
        }.sorted()
    }
}

/// The folder of an account's store.
enum AccountFolder {
    /// The longest name that is written in full, in bytes.
    private static let bytesMax = 100

    static func name(of account: String) -> String {
        var name = ""
        for byte in account.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                name.unicodeScalars.append(Unicode.Scalar(byte))
            default: name += "%" + Hexadecimal.encode([byte]).uppercased()
            }
        }
        guard name.utf8.count > bytesMax else { return name }
        let hash = Hexadecimal.encode(SHA256Digest.of(Array(account.utf8)))
        return name.prefix(bytesMax) + "~" + hash
    }

    /// The account of a folder's name; nil when the name does not tell it.
    static func account(of folder: String) -> String? {
        guard let account = folder.removingPercentEncoding, name(of: account) == folder else {
            return nil
        }
        return account
    }
}
