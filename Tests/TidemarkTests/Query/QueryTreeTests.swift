// QueryTreeTests.swift — queries for how trees stand.

import TestSupport
import Testing
import Tidemark
import TidemarkEvents
import TidemarkRules
import TidemarkTesting
import TidemarkViews

@testable import SyncSupport

private typealias Patient = TreePatient
private typealias Visit = TreeVisit

extension EntityReading {
    fileprivate func found(_ query: EntityQuery<TreePatient>) throws -> String {
        try all(query).map(\.id.rawValue).joined(separator: " ")
    }
}

@Suite struct `a query for trees` {
    private func withTrees(_ body: (Replica) throws -> Void) throws {
        try withReplica(TreeStore.model()) { replica in
            try replica.serverSays(
                ("patients/1", #"{"id":"1","name":"Zoe"}"#),
                ("patients/2", #"{"id":"2","name":"Ada"}"#),
                ("patients/3", #"{"id":"3","name":"Max"}"#),
                ("stays/1", #"{"id":"1","patient":"1"}"#),
                ("stays/2", #"{"id":"2","patient":"2"}"#),
                ("visits/1", #"{"id":"1","stay":"1","ward":"a"}"#),
                ("visits/2", #"{"id":"2","stay":"2","ward":"a"}"#))
            try body(replica)
        }
    }

    @Test func `finds those with errors, and combines with other conditions and any order`() throws
    {
        try withTrees { replica throws in
            try replica.edit("visits/1")
            try replica.refuse("visits/1")
            try replica.edit("stays/2")
            try replica.refuse("stays/2")
            try replica.edit("patients/3")

            try replica.read { store throws in
                let errors = Patient.where(.tree(has: .error))
                #expect(try store.found(errors) == "1 2")
                #expect(try store.found(errors.order(by: \.id, .descending)) == "2 1")
                #expect(try store.found(errors.order(by: \.name)) == "2 1")
                #expect(try store.found(errors.where(\.name > "B")) == "1")
                #expect(try store.found(errors.limit(1)) == "1")
                #expect(try store.found(errors.offset(1)) == "2")
                #expect(try store.count(errors) == 2)
                let open = Patient.where(.tree(has: .error) || .tree(has: .updated))
                #expect(try store.found(open) == "1 2 3")
                #expect(try store.found(Patient.where(!.tree(has: .error))) == "3")
            }
        }
    }

    @Test func `finds an entity's own error, and what is synced, placeholders and pending`() throws
    {
        try withTrees { replica throws in
            func found(_ status: EntityStatus) throws -> String {
                try replica.read { try $0.found(Patient.where(.tree(has: status))) }
            }
            #expect(try found(.synced) == "1 2 3")
            #expect(try found(.error) == "")
            try replica.edit("patients/2")
            for status in [EntityStatus.created, .updated, .deleted, .uploading] {
                #expect(try found(status) == "2")
            }
            #expect(try found(.synced) == "1 3")
            try replica.refuse("patients/2")
            #expect(try found(.error) == "2")
            #expect(try found(.placeholder) == "")
        }
    }

    @Test func `reads the trees that are not synced, and no index`() throws {
        try withTrees { replica throws in
            func words<T>(_ query: EntityQuery<T>) throws -> String {
                try replica.read { try $0.explain(query).description }
            }
            #expect(
                try words(Visit.where(\.ward == "a" && .tree(has: .error)))
                    == "trees of visits: tree has error; checked: ward = \"a\"")
            #expect(
                try words(Patient.where(.tree(has: .updated)).order(by: \.name))
                    == "trees of patients: tree has updated; sorted by name")
            #expect(
                try words(Patient.where(.tree(has: .synced)))
                    == "scan of patients; checked: tree has synced")
            #expect(
                try words(Patient.where(\.id == ID("1") && .tree(has: .error)))
                    == "ids of patients: id = \"1\"; checked: tree has error")
        }
    }

    @Test func `without roll-ups asks for how entities stand themselves`() throws {
        try withReplica(TreeStore.model(nil)) { replica throws in
            try replica.serverSays(
                ("patients/1", #"{"id":"1"}"#), ("stays/1", #"{"id":"1","patient":"1"}"#))
            try replica.edit("stays/1")
            try replica.read { store throws in
                #expect(try store.found(Patient.where(.tree(has: .updated))) == "")
                #expect(
                    try store.explain(Patient.where(.tree(has: .updated))).access == .scan)
            }
            try replica.edit("patients/1")
            try replica.refuse("patients/1")
            #expect(try replica.read { try $0.found(Patient.where(.tree(has: .error))) } == "1")
        }
    }

    @Test func `in a write sees the commit's own edits`() throws {
        try withTrees { replica throws in
            let pending = Patient.where(.tree(has: .updated))
            try replica.write { tx throws in
                #expect(try tx.found(pending) == "")
                _ = try tx.delete(EntityKey("visits", "1"))
                #expect(try tx.found(pending) == "1")
                #expect(try tx.count(pending) == 1)
            }
        }
    }

    @Test(arguments: 1...(TestRun.isWhole ? 40 : 8))
    func `finds what a look at each tree finds, whatever happened`(_ seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        let statuses: [EntityStatus] = [.error, .updated, .synced, .placeholder]
        try withTrees { replica throws in
            for _ in 0..<40 {
                let name = random.pick(["patients", "stays", "visits"])
                let id = random.pick(["1", "2", "3"])
                let key = "\(name)/\(id)"
                let parent = random.pick(["1", "2", "3"])
                let isThere = try replica.text(EntityKey(CollectionName(name), id)) != nil
                switch random.below(5) {
                case 0:
                    try replica.serverSays(
                        (key, #"{"id":"\#(id)","patient":"\#(parent)","stay":"\#(parent)"}"#))
                case 1 where isThere: try replica.edit(key, "patient", .string(parent))
                case 2 where isThere:
                    try replica.edit(key, "n", .number(JSONNumber(random.below(9) + 1000)))
                    try? replica.refuse(key)
                case 3: try? replica.discard(key)
                default: continue
                }
            }
            try replica.read { store throws in
                for status in statuses {
                    let found = try store.all(Patient.where(.tree(has: status))).map(\.id)
                    let looked = try store.rows(Patient.all).filter { row in
                        let key = EntityKey("patients", row.entity.id.rawValue)
                        let row = try store.views.entity(key) ?? EntityRow()
                        let tree = try store.views.tree(of: key, row)
                        switch status {
                        case .synced: return tree == []
                        case .error: return tree.all.contains(.error)
                        case .placeholder: return tree.all.contains(.placeholder)
                        default: return tree.all.contains(.pending)
                        }
                    }
                    #expect(found == looked.map(\.id), "seed \(seed), \(status)")
                }
            }
        }
    }
}
