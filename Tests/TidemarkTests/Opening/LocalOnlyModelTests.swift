// LocalOnlyModelTests.swift — a newer app's model keeps a collection on the device alone, or syncs
// it.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

@Suite struct `a model that keeps a collection on the device alone` {
    private static let key = EntityKey("drafts", "1")

    /// One of tasks and, where it is said how they are kept, of drafts.
    private static func model(localOnly: Bool?) -> SyncModel {
        var model = SyncModel(name: "m", collections: [CollectionModel("tasks")])
        if let localOnly {
            model.collections.append(CollectionModel("drafts", localOnly: localOnly))
        }
        return model
    }

    private func reopen(_ replica: Replica, localOnly: Bool?) throws {
        try Replica.open(
            at: replica.directory, model: Self.model(localOnly: localOnly),
            dependencies: .seeded(9, clock: ManualClock())
        ).close()
    }

    private func write(_ replica: Replica) throws {
        try replica.write { tx in _ = try tx.put(Self.key, Array(#"{"n":1}"#.utf8)) }
    }

    @Test(arguments: [false, true])
    func `is no other where entities are there, whichever was first, and says what to do`(
        _ isFirst: Bool
    ) throws {
        try withReplica(Self.model(localOnly: isFirst)) { replica in
            try write(replica)

            #expect {
                try reopen(replica, localOnly: !isFirst)
            } throws: { error in
                guard let error = error as? TidemarkError else { return false }
                return error.code == .invalidModel && error.message.hasPrefix("drafts has entities")
                    && error.message.contains("another name")
                    && error.message.contains("wipe(keeping:)") == !isFirst
                    && error.message.contains("delete") == isFirst
            }
            #expect(try replica.registration?.model == Self.model(localOnly: isFirst))
        }
    }

    @Test func `is taken where nothing is there, or no longer`() throws {
        try withReplica(Self.model(localOnly: false)) { replica in
            try reopen(replica, localOnly: true)
            try reopen(replica, localOnly: false)
            try reopen(replica, localOnly: true)
            try write(replica)
            try replica.write { tx in _ = try tx.delete(Self.key) }

            try reopen(replica, localOnly: false)
            #expect(try replica.registration?.model == Self.model(localOnly: false))
        }
    }

    @Test func `is known by its entities where a model between had it not at all`() throws {
        try withReplica(Self.model(localOnly: true)) { replica in
            try write(replica)
            try reopen(replica, localOnly: nil)

            expect(.invalidModel) { try reopen(replica, localOnly: false) }
            try reopen(replica, localOnly: true)
            #expect(try replica.text(Self.key) == #"{"n":1}"#)
        }
    }

    @Test func `loses nothing by a wipe under a model that has it not at all`() throws {
        try withReplica(Self.model(localOnly: true)) { replica in
            try write(replica)
            try reopen(replica, localOnly: nil)
            try replica.wipe(keeping: [])

            try reopen(replica, localOnly: true)
            #expect(try replica.text(Self.key) == #"{"n":1}"#)
        }
    }

    @Test func `has outcomes at once, and is what a wipe keeps`() throws {
        try withReplica(Self.model(localOnly: true)) { replica in
            try write(replica)
            let change = try replica.position
            #expect(try replica.read { try $0.outcome(of: change) } == .accepted)
            #expect(try replica.read { try $0.outboxCount() } == 0)

            try replica.wipe(keeping: [])
            #expect(try replica.text(Self.key) == #"{"n":1}"#)
        }
    }
}
