// TidemarkError.swift — the public error of the library: what is wrong, and what to do.

import TidemarkCapsule
public import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

/// An error of a replica.
public struct TidemarkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// A reason, in a word.
    @nonexhaustive public enum Code: String, Sendable, CaseIterable {
        /// There is no store in the directory.
        case noStore
        /// The store has no model yet, or its model lacks the collection, the pool or the action,
        /// or does not say that the collection is a tree.
        case noModel
        /// The model or the remote says what can't be, or what the adapter can't do; the message
        /// begins with the place in the model.
        case invalidModel
        /// The name of a collection, an id, or the key of a pool is not valid.
        case invalidKey
        /// The bytes are not a JSON object, or lack a required member.
        case invalidDocument
        /// The document of an entity can't be read as the app's type.
        case undecodable
        /// The document exceeds the size of a local write, or a capsule the size of any capsule.
        case tooLarge
        /// A query uses a property without a name in the type's `fields`, or a field that is to
        /// name files is none of the model's `contents`.
        case unknownField
        /// There is no such entity, or no such event.
        case notFound
        /// The entity already exists.
        case alreadyExists
        /// No reserved value is left that can be used.
        case poolEmpty
        /// The issue does not take that answer.
        case invalidAnswer
        /// The idempotency key is too old to know whether its write was made.
        case keyExpired
        /// What was there at the position is not known any more.
        case anchorExpired
        /// The store belongs to another server.
        case otherRemote
        /// Another engine syncs the store; only one may at a time, and nothing is taken over
        /// meanwhile.
        case engineRunning
        /// There are changes that the server has not acknowledged, or has refused, or files that
        /// only this device has; they would be lost, or could never be sent.
        case pendingChanges
        /// Another process has the store open for writing, or this one has it open elsewhere, also
        /// for reading only; or it is open in a process of another container that has the number
        /// of this one.
        case busy
        /// A store was here, but its data is missing; or, to who only reads, another file lies in
        /// its place, as after another process made it smaller: open the store again.
        case lost
        /// The log ends before what is known to have been written, or differs from it: an older
        /// copy has replaced it.
        case rolledBack
        /// `data.mdb` and `identity.json` belong to two different stores.
        case otherStore
        /// The store was last used on another device.
        case otherDevice
        /// The store belongs to another account.
        case otherAccount
        /// `identity.json` is missing or damaged, although there is a log.
        case unfitIdentity
        /// The process died while opening the store, twice in a row.
        case interrupted
        /// The file, the log or a view is damaged, or a capsule holds something that no store can
        /// hold.
        case damaged
        /// The store was written by a newer version.
        case newerFormat
        /// The tables are those of another version until the store is opened for writing, and the
        /// log is too long to be folded for each reader.
        case otherVersion
        /// The events that it would need were dropped from the log, or can't be.
        case dropped
        /// The store has reached the largest size that it may have.
        case storeFull
        /// There is no space left on the disk; nothing of this write was stored.
        case diskFull
        /// The file may not grow further; nothing of this write was stored.
        case fileTooLarge
        /// The process may not read or write the store.
        case notPermitted
        /// The store is open for reading only, or is on a disk that can't be written.
        case readOnly
        /// The path, or what is at the path, can't be a store, or the folder that the store, or a
        /// capsule, is to lie in is not there.
        case invalidPath
        /// A file of an entity, or one that was to be stored as such, is not there, or is not what
        /// it should be; or copies were to be dropped that the model has fetched again.
        case unfitFile
        /// The store is on a file system of another machine, where locks are not reliable.
        case remoteFileSystem
        /// A write failed, and it is not known how much of it is on disk. Writes are refused, and
        /// reads where it was the file's first pages that could not be written, until every replica
        /// of the store in this process is closed, and one opened again.
        case poisoned
        /// The store was closed.
        case closed
        /// A write was begun, or the store closed, inside a read or a write of the same store,
        /// where it would wait for itself; or a run, within the closure that gives a run its
        /// credentials. Nothing was done; what is outside goes on.
        case nested
        /// Any other error of the storage.
        case storage
    }

    /// What to switch on.
    public let code: Code
    /// What is wrong and what to do, in a sentence.
    public let message: String
    /// The entity it is about; nil where it is about none or about several.
    public let key: EntityKey?
    /// The event that causes the problem; nil where there is none.
    public let position: Position?

    /// An error with its message.
    public init(
        _ code: Code, _ message: String, key: EntityKey? = nil, position: Position? = nil
    ) {
        self.code = code
        self.message = message
        self.key = key
        self.position = position
    }

    public var description: String { message }

    /// The public form of an internal error; other errors are returned unchanged.
    package static func wrapping(_ error: any Error) -> any Error {
        switch error {
        case let error as StoreError:
            TidemarkError(Code(error.code), "\(error)")
        case let error as LogError:
            switch error.code {
            case .newerFormat: TidemarkError(.newerFormat, "\(error)")
            case .dropped, .needed:
                TidemarkError(.dropped, "\(error.position): \(error.detail)")
            default: TidemarkError(.damaged, "\(error)")
            }
        case let error as ProtoError:
            TidemarkError(.damaged, "a view row is damaged (\(error)); rebuild the store's views")
        case let error as ChangesSinceError: TidemarkError(error)
        case let error as CapsuleError: TidemarkError(Code(error.code), "\(error)")
        case let error as JSONError: TidemarkError(.invalidDocument, "not a JSON object: \(error)")
        case let error as ModelError: TidemarkError(.invalidModel, "\(error)")
        default: error
        }
    }

    /// What ended a run, or the engine, as an error of the API's.
    init(ending error: any Error) {
        self = error as? TidemarkError ?? TidemarkError(.storage, "\(error)")
    }

    static func mapped<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw wrapping(error) }
    }
}

extension TidemarkError.Code {
    init(_ code: CapsuleError.Code) {
        self =
            switch code {
            case .notACapsule: .invalidPath
            case .newerFormat: .newerFormat
            case .tooLarge, .rowsTooLarge: .tooLarge
            case .truncated, .damaged, .invalid: .damaged
            }
    }

    init(_ code: StoreError.Code) {
        self =
            switch code {
            case .missing: .noStore
            case .busy: .busy
            case .lost: .lost
            case .rolledBack: .rolledBack
            case .otherStore: .otherStore
            case .otherDevice: .otherDevice
            case .otherAccount: .otherAccount
            case .unfitIdentity: .unfitIdentity
            case .interrupted: .interrupted
            case .damaged, .damagedTable: .damaged
            case .newerFormat: .newerFormat
            case .otherVersion: .otherVersion
            case .storeFull, .mapFull: .storeFull
            case .diskFull: .diskFull
            case .fileTooLarge: .fileTooLarge
            case .notPermitted: .notPermitted
            case .readOnly: .readOnly
            case .invalidPath: .invalidPath
            case .unfitFile: .unfitFile
            case .remoteFileSystem: .remoteFileSystem
            case .poisoned: .poisoned
            case .closed: .closed
            case .nested: .nested
            case .readersFull, .alreadyOpen, .keyExists, .badKey, .io: .storage
            }
    }
}
