// ChaosServer.swift — what a chaos run needs of a server.

import TestSupport
import TidemarkEvents

@testable import SyncSupport

/// A real server: others edit there, and everything that happened there can be told afterwards.
protocol ChaosServer: Sendable {
    associatedtype World: RealWorld
    /// Where the replicas lie, and their model.
    var world: World { get }
    /// What its documents are made of.
    var form: ChaosEdit.Form { get }
    /// All that took effect there, as far as ``readHistory()`` has read.
    var history: ChaosHistory { get }

    /// Somebody else's edit, whatever is there.
    func edit(_ edit: ChaosEdit) async throws

    /// Drops a collection and makes it anew from a backup that lacks a few of its records.
    func restore(_ collection: CollectionName, without isLost: () -> Bool) async throws

    /// Lets nobody else write a record any more, nor ``ChaosEdit/closed``, where there are
    /// permissions of single records.
    ///
    /// - Parameter record: `collection/id`.
    mutating func close(_ record: String) async throws

    /// Lets everybody write again what was closed.
    mutating func open() async throws

    /// The documents as replicas are to hold them.
    func documents() async throws -> [EntityKey: String]

    /// Reads what is new; in order.
    mutating func readHistory() async throws -> [ChaosVersion]
}

extension ChaosServer {
    func close(_ record: String) async throws {}
    func open() async throws {}
}
