// TidemarkError.swift — the one public error: what is wrong, and what to do.

import TidemarkEvents
import TidemarkLog
import TidemarkStore

/// What went wrong with a replica.
public struct TidemarkError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The closed set of reasons.
    public enum Code: String, Sendable, CaseIterable {
        /// There is no store in that directory.
        case noStore
        /// There is a store in that directory already.
        case storeExists
        /// The store has no model yet, or not this collection.
        case noModel
        /// The name of a collection or an id can't be used.
        case invalidKey
        /// The bytes are not a JSON object, or lack what they need.
        case invalidDocument
        /// The document is larger than a local write may be.
        case tooLarge
        /// There is no such entity.
        case notFound
        /// There is such an entity already.
        case alreadyExists
        /// The store belongs to another server.
        case otherRemote
        /// The log or a view is damaged.
        case damaged
        /// The store was written by a newer version.
        case newerFormat
        /// The storage failed.
        case storage
    }

    /// What to switch on.
    public let code: Code
    /// What is wrong and what to do, in a sentence.
    public let message: String

    /// An error with its sentence.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// The sentence.
    public var description: String { message }

    /// The public form of an error of an inner layer; others are returned as they are.
    package static func wrapping(_ error: any Error) -> any Error {
        switch error {
        case let error as StoreError:
            TidemarkError(error.code == .missing ? .noStore : .storage, "\(error)")
        case let error as LogError:
            TidemarkError(error.code == .newerFormat ? .newerFormat : .damaged, "\(error)")
        case let error as ProtoError:
            TidemarkError(.damaged, "a view row is damaged (\(error)); rebuild the store's views")
        case let error as JSONError: TidemarkError(.invalidDocument, "not a JSON object: \(error)")
        default: error
        }
    }

    static func mapped<R>(_ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw wrapping(error) }
    }
}
