// PoolModelTests.swift — pools of reserved values in a model, and in the scope of a run.

import Testing

@testable import TidemarkEvents

@Suite struct `a model with pools` {
    private func parsed(_ pools: String) throws(ModelError) -> ModelRegistration {
        try ModelRegistration(
            parsing: Array(#"{"collections":[{"name":"a"}],"pools":\#(pools)}"#.utf8))
    }

    @Test func `is read and written as it was, with what is usual left out`() throws {
        let text = #"{"numbers":{"keys":[["A1"],["A1","U"]],"fill":20,"refillBelow":5},"codes":{}}"#
        let registration = try parsed(text)

        let pools = registration.model.pools
        #expect(
            pools == [
                .init("numbers", keys: [["A1"], ["A1", "U"]], fill: 20, refillBelow: 5),
                .init("codes"),
            ])
        #expect(pools[1].fill == 100 && pools[1].refillBelow == nil && pools[1].keys == [])
        let written = String(decoding: registration.encoded, as: UTF8.self)
        #expect(written.contains(#""pools":\#(text)"#), "\(written)")
        #expect(try registration.checked() == registration)
        let without = ModelRegistration(model: SyncModel(name: "m", collections: []))
        #expect(!String(decoding: without.encoded, as: UTF8.self).contains("pools"))
    }

    @Test(arguments: [
        ("[]", "pools", "an object of name to pool is needed"),
        (#"{"":{}}"#, "pools.", "a name of 1 to 64 bytes without control characters is needed"),
        (#"{"p":{"fill":0}}"#, "pools.p.fill", "a number from 1 to 1000 is needed"),
        (#"{"p":{"fill":1001}}"#, "pools.p.fill", "a number from 1 to 1000 is needed"),
        (
            #"{"p":{"fill":10,"refillBelow":11}}"#, "pools.p.refillBelow",
            "at most fill, 10, is needed"
        ),
        (
            #"{"p":{"keys":["A1"]}}"#, "pools.p.keys[0]",
            "a list of at least 1 of at most 8 is needed"
        ),
        (
            #"{"p":{"keys":[[]]}}"#, "pools.p.keys[0]",
            "a list of at least 1 of at most 8 is needed"
        ),
        (#"{"p":{"keys":[["A1"],["A1"]]}}"#, "pools.p.keys[1]", "it is there twice"),
        (
            #"{"p":{"keys":[["a\u0000"]]}}"#, "pools.p.keys",
            "1 to 8 texts are needed, none of them empty or with control characters, of at most "
                + "160 bytes together"
        ),
        (#"{"p":{"size":1}}"#, "pools.p", "\"size\" is none of keys, fill, refillBelow"),
    ])
    func `that can't be is refused with the place and what would be right`(
        _ pools: String, _ path: String, _ problem: String
    ) {
        let error = #expect(throws: ModelError.self) { try parsed(pools) }
        #expect(error?.path == path && error?.problem == problem, "\(error.map { "\($0)" } ?? "")")
    }

    @Test func `with two of a name is refused, as one of them would be lost`() {
        let model = SyncModel(
            name: "m", collections: [CollectionModel("a")], pools: [.init("p"), .init("p")])
        let error = #expect(throws: ModelError.self) {
            try ModelRegistration(model: model).checked()
        }
        #expect(error?.path == "pools.p")
        #expect(error?.problem == "there are two of that name; leave one of them out")
    }

    @Test func `is filled by a run whose scope says so, in a shape of its own`() {
        let scope = SyncScope.reserve([
            .init("numbers", ["A1", "U"], count: 20), .init("codes", ["B"]),
        ])
        #expect(
            scope.json?.description
                == #"{"reserve":[{"pool":"numbers","key":["A1","U"],"count":20},"#
                + #"{"pool":"codes","key":["B"]}]}"#)
        #expect(SyncScope(scope.json) == scope)
        #expect(scope.schema == 3 && !scope.isPartialPull)
    }

    @Test func `has keys whose bytes tell them apart`() {
        let keys = [
            PoolKey("p", ["a"]), PoolKey("p", ["a", "b"]), PoolKey("p", ["ab"]),
            PoolKey("pa", ["b"]), PoolKey("p", ["é"]), PoolKey("p", ["e\u{301}"]),
        ]
        #expect(Set(keys).count == keys.count)
        for key in keys {
            let read = PoolKey.reading((key.bytes + [7])[...])
            #expect(read?.key == key && read.map { Array($0.rest) } == [7])
            // None begins as another one does.
            let others = keys.filter { $0 != key }
            #expect(!others.contains { $0.bytes.starts(with: key.bytes) })
        }
    }
}
