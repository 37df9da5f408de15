// PrefixSearchTests.swift — which events are the log where records are lost and events compete.

import Testing
import TidemarkEvents

@testable import TidemarkLog

@Suite struct `the search for the log among what was found` {
    private typealias Leaf = PrefixSearch.Leaf

    /// A leaf that says which event it is.
    private func leaf(_ position: UInt64, _ history: UInt8 = 0, page: UInt64 = 0) -> Leaf {
        Leaf(
            hash: MerkleEdge.leaf(
                position: Position(position), header: [history],
                payloadHash: Array(repeating: 0, count: 32)),
            page: page, name: Int(history))
    }

    /// The commit whose events are those of the histories, one for each position from 1 on.
    private func commit(_ first: UInt64, _ histories: [UInt8]) -> FoundCommit {
        var edge = MerkleEdge()
        for (index, history) in histories.enumerated() {
            edge.append(leaf: leaf(UInt64(index + 1), history).hash)
        }
        return FoundCommit(
            first: Position(first), last: Position(UInt64(histories.count)), root: edge.root)
    }

    private func search(
        _ commits: [FoundCommit], anchors: [PrefixSearch.Anchor] = [], _ leaves: [[Leaf]]
    ) -> PrefixSearch.Way {
        var search = PrefixSearch(commits: commits, anchors: anchors)
        for leaves in leaves { search.meet(leaves) }
        return search.best
    }

    private func spans(_ way: PrefixSearch.Way) -> [[UInt64]] {
        way.spans().map { [$0.first.rawValue, $0.last.rawValue] }
    }

    @Test func `ends with the last commit whose root is met`() {
        let commits = [commit(1, [0, 0]), commit(3, [0, 0, 0]), commit(4, [0, 0, 0, 9])]

        let way = search(commits, (1...5).map { [leaf($0)] })

        #expect(way.proven == Position(3))
        #expect(way.root == commits[1].root)
        #expect(spans(way) == [[1, 2], [3, 3]])
        #expect(way.unrecorded == 0)
    }

    @Test func `needs no record but a later one`() {
        let way = search(
            [commit(1, [0]), commit(6, Array(repeating: 0, count: 7))], (1...9).map { [leaf($0)] })

        #expect(way.proven == Position(7))
        #expect(spans(way) == [[1, 1], [2, 5], [6, 7]])
        #expect(way.unrecorded == 1)
    }

    @Test func `makes commits of some size where the records of many are lost`() {
        let root = commit(1, Array(repeating: 0, count: 600)).root
        let edge = FoundCommit(first: .start, last: Position(600), root: root)

        let way = search([edge], (1...600).map { [leaf($0)] })

        #expect(spans(way) == [[1, 256], [257, 512], [513, 600]])
        #expect(way.unrecorded == 3)
    }

    @Test func `finds nothing where no root is met`() {
        let way = search([commit(1, [5])], [[leaf(1)], [leaf(2)]])

        #expect(way.proven == .start)
        #expect(spans(way).isEmpty)
    }

    @Test func `goes with the history that reaches further`() {
        // Two commits were written behind @1; one of them never counted, and nothing follows it.
        let commits = [
            commit(1, [0]), commit(2, [0, 1, 1, 1]), commit(2, [0, 2]), commit(3, [0, 2, 2, 2, 2]),
        ]
        let leaves = (1...UInt64(5)).map { position in
            switch position {
            case 1: [leaf(1)]
            case 5: [leaf(5, 2)]
            default: [leaf(position, 1, page: 1), leaf(position, 2, page: 2)]
            }
        }

        let way = search(commits, leaves)

        #expect(way.proven == Position(5))
        #expect((2...4).map { way.choice(at: Position($0)) } == [2, 2, 2])
        #expect(way.choice(at: Position(1)) == nil)
        #expect(spans(way) == [[1, 1], [2, 2], [3, 5]])
    }

    @Test func `goes with the history that the store is known to have had`() {
        let commits = [commit(1, [1, 1, 1]), commit(1, [2, 2])]
        let leaves = [
            [leaf(1, 1), leaf(1, 2, page: 1)], [leaf(2, 1), leaf(2, 2, page: 1)], [leaf(3, 1)],
        ]

        #expect(search(commits, leaves).proven == Position(3))
        let anchor = PrefixSearch.Anchor(position: Position(2), root: commits[1].root)
        let way = search(commits, anchors: [anchor], leaves)
        #expect(way.proven == Position(2))
        #expect(way.choice(at: Position(1)) == 2)
    }

    @Test func `follows two long histories without trying every mixture of them`() {
        let count = 400
        let commits = [commit(1, Array(repeating: 2, count: count))]
        let leaves = (1...UInt64(count)).map { position in
            [
                leaf(position, 1, page: position / 30),
                leaf(position, 2, page: 1_000 + position / 400),
            ]
        }

        #expect(search(commits, leaves).proven == Position(UInt64(count)))
    }
}
