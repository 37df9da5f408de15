// NestingTests.swift — a write inside a read or a write of the same store is refused; the outer one
// goes on.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkTesting

@testable import SyncSupport

@Suite struct `what would wait for itself` {
    private let key = EntityKey("tasks", "t1")

    private func put(_ replica: Replica, _ json: String) throws {
        try replica.write { tx in _ = try tx.put(key, Array(json.utf8)) }
    }

    @Test func `a write inside a read is refused`() throws {
        try withReplica { replica in
            try put(replica, #"{"a":1}"#)
            let before = try replica.position
            try replica.read { store throws in
                expect(.nested) { try put(replica, #"{"a":2}"#) }
                expect(.nested) { try replica.close() }
                #expect(try store.document(key) == Array(#"{"a":1}"#.utf8))
            }
            #expect(try replica.position == before)
            try put(replica, #"{"a":3}"#)
            #expect(try replica.text(key) == #"{"a":3}"#)
        }
    }

    @Test func `a write inside a write is refused, and the outer one is stored`() throws {
        try withReplica { replica in
            try replica.write { tx in
                _ = try tx.put(key, Array(#"{"a":1}"#.utf8))
                expect(.nested) { try put(replica, #"{"b":1}"#) }
                expect(.nested) { try replica.close() }
            }
            #expect(try replica.text(key) == #"{"a":1}"#)
        }
    }

    @Test func `not caught, it ends the outer write, which stores nothing`() throws {
        try withReplica { replica in
            let before = try replica.position
            expect(.nested) {
                try replica.write { tx in
                    _ = try tx.put(key, Array(#"{"a":1}"#.utf8))
                    try put(replica, #"{"b":1}"#)
                }
            }
            #expect(try replica.position == before)
        }
    }

    @Test func `inside a write that is awaited it is refused as well`() async throws {
        let replica = try Replica.temporary(
            model: SyncWorld.usualModel, dependencies: .seeded(0, clock: ManualClock()))
        let key = key
        let code = try await replica.write { tx -> TidemarkError.Code? in
            _ = try tx.put(key, Array(#"{"a":1}"#.utf8))
            do {
                try replica.write { inner in _ = try inner.put(key, Array(#"{"b":1}"#.utf8)) }
                return nil
            } catch let error as TidemarkError { return error.code }
        }
        #expect(code == .nested)
        #expect(try replica.text(key) == #"{"a":1}"#)
        try replica.deleteTemporary()
    }

    @Test func `a read inside a write sees what was there before`() throws {
        try withReplica { replica in
            try put(replica, #"{"a":1}"#)
            try replica.write { tx in
                _ = try tx.put(key, Array(#"{"a":2}"#.utf8))
                #expect(try replica.text(key) == #"{"a":1}"#)
                #expect(try tx.document(key) == Array(#"{"a":2}"#.utf8))
            }
            #expect(try replica.text(key) == #"{"a":2}"#)
        }
    }

    @Test func `another store can be written inside of both`() throws {
        try withReplica { replica in
            try withReplica { other in
                try replica.read { _ in try put(other, #"{"a":1}"#) }
                try replica.write { tx in
                    _ = try tx.put(key, Array(#"{"a":1}"#.utf8))
                    try put(other, #"{"a":2}"#)
                }
                #expect(try other.text(key) == #"{"a":2}"#)
            }
        }
    }
}
