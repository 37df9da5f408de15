// PrefixSearch.swift — which of the events that were found are the log: values in, values out.
//
// Events come position after position, each with all the leaves that were found for it. A way is
// one choice among them. Where a commit's record is found that ends at a position and has the root
// of a way, all events of that way up to there are proven, whatever became of the records before:
// nothing but the events that were written makes that root. So a way's end is the last root that it
// met. Where ways compete, one that met a root that the store is known to have had counts more,
// then the one that reaches further.
//
// Ways would double with each position that has two leaves. Events that were written together lie
// together, so ways that change from page to page the least are followed, some dozens of them.

package import TidemarkEvents
import TidemarkStore

/// The search for the longest beginning of the log that roots prove.
package struct PrefixSearch: Sendable {
    /// One of the events that were found for a position.
    package struct Leaf: Sendable {
        package var hash: Hash
        /// The page that it lies on.
        package var page: UInt64
        /// What the caller knows it by.
        package var name: Int

        package init(hash: Hash, page: UInt64, name: Int) {
            self.hash = hash
            self.page = page
            self.name = name
        }
    }

    /// A position that the log is known to have reached, and its root there.
    package struct Anchor: Hashable, Sendable {
        package var position: Position
        package var root: Hash

        package init(position: Position, root: Hash) {
            self.position = position
            self.root = root
        }
    }

    /// One choice of events.
    package struct Way: Sendable {
        fileprivate(set) var edge = MerkleEdge()
        /// The last event that a root proves.
        package fileprivate(set) var proven = Position.start
        /// The root there.
        package fileprivate(set) var root: Hash = []
        /// The commits whose roots were met, in order.
        package fileprivate(set) var commits: [FoundCommit] = []
        /// Which leaf was chosen, for each position that has more than one.
        package fileprivate(set) var choices: [(position: Position, name: Int)] = []
        /// The last anchor that it met.
        package fileprivate(set) var anchor = Position.start
        fileprivate var page = UInt64.max
        /// How often it went to another page where there was a choice, since a root was met.
        fileprivate var turns = 0

        /// The name of the leaf that it takes; nil where there was no choice.
        package func choice(at position: Position) -> Int? {
            var (low, high) = (0, choices.count)
            while low < high {
                let middle = (low + high) / 2
                if choices[middle].position < position { low = middle + 1 } else { high = middle }
            }
            guard low < choices.count, choices[low].position == position else { return nil }
            return choices[low].name
        }

        fileprivate static func isBetter(_ left: Way, _ right: Way) -> Bool {
            (left.anchor.rawValue, left.proven.rawValue)
                > (right.anchor.rawValue, right.proven.rawValue)
        }
    }

    private static let waysMax = 48
    /// How far behind the furthest a way may be that no record promises a root.
    private static let lagMax: UInt64 = 1024

    private let commits: [Position: [FoundCommit]]
    /// The last end of a commit that begins at a position.
    private let ends: [Position: Position]
    private let anchors: [Position: [Hash]]
    private var ways = [Way()]
    /// The best of those that are not followed any more.
    private var left: Way?
    /// The last position that events came for.
    package private(set) var position = Position.start

    package init(commits: [FoundCommit], anchors: [Anchor] = []) {
        self.commits = Dictionary(grouping: commits, by: \.last)
        ends = commits.reduce(into: [:]) { ends, commit in
            ends[commit.first] = max(ends[commit.first] ?? .start, commit.last)
        }
        self.anchors = Dictionary(grouping: anchors, by: \.position).mapValues { $0.map(\.root) }
    }

    /// Takes the events that were found for the next position, at least one.
    package mutating func meet(_ leaves: [Leaf]) {
        position = position.next
        if leaves.count == 1 {
            for index in ways.indices {
                ways[index].edge.append(leaf: leaves[0].hash)
                if ways.count > 1 { ways[index].goOn(to: leaves[0].page) }
                ways[index].page = leaves[0].page
            }
        } else {
            var branched: [Way] = []
            for way in ways {
                for leaf in leaves {
                    var branch = way
                    branch.edge.append(leaf: leaf.hash)
                    branch.goOn(to: leaf.page)
                    branch.choices.append((position, leaf.name))
                    branched.append(branch)
                }
            }
            ways = branched
        }
        meetRoots()
        if ways.count > 1 { thinOut() }
    }

    private mutating func meetRoots() {
        let ending = commits[position] ?? []
        let known = anchors[position] ?? []
        guard !ending.isEmpty || !known.isEmpty else { return }
        for index in ways.indices {
            let root = ways[index].edge.root
            // Of copies of a record with another beginning, the one that goes on is the commit.
            let after = ways[index].proven.next
            let met = ending.filter { $0.root == root }
            let commit = met.first { $0.first == after } ?? met.first
            let isAnchor = known.contains(root)
            guard commit != nil || isAnchor else { continue }
            ways[index].proven = position
            ways[index].root = root
            ways[index].turns = 0
            if let commit { ways[index].commits.append(commit) }
            if isAnchor { ways[index].anchor = position }
        }
    }

    /// Leaves ways that lead nowhere, and the worst of too many.
    private mutating func thinOut() {
        let furthest = ways.reduce(Position.start) { max($0, $1.proven) }
        let (position, ends) = (position, ends)
        var kept: [Way] = []
        for way in ways {
            let isPromised = (ends[way.proven.next] ?? .start) > position
            let lag = furthest.rawValue - way.proven.rawValue
            if lag == 0 || isPromised || lag <= Self.lagMax { kept.append(way) } else { leave(way) }
        }
        if kept.count > Self.waysMax {
            kept.sort {
                ($0.turns, $1.proven.rawValue) < ($1.turns, $0.proven.rawValue)
            }
            kept[Self.waysMax...].forEach { leave($0) }
            kept.removeLast(kept.count - Self.waysMax)
        }
        ways = kept
    }

    private mutating func leave(_ way: Way) {
        if left.map({ Way.isBetter(way, $0) }) ?? true { left = way }
    }

    /// The way that is the log, as far as can be told.
    package var best: Way {
        (ways + [left].compactMap(\.self)).reduce(Way()) { Way.isBetter($1, $0) ? $1 : $0 }
    }
}

extension PrefixSearch.Way {
    fileprivate mutating func goOn(to page: UInt64) {
        if page != self.page { turns += 1 }
        self.page = page
    }
}

extension PrefixSearch.Way {
    /// The commits of the proven events, from the first on and without a gap.
    ///
    /// Where records are lost, the events between are commits of some size: what they say is true,
    /// only where one ended and the next began is not known.
    package func spans(eventsMax: UInt64 = 256) -> [(first: Position, last: Position)] {
        var spans: [(first: Position, last: Position)] = []
        var next = Position(1)
        func fill(to end: Position) {
            while next <= end {
                let last = min(end, Position(next.rawValue + eventsMax - 1))
                spans.append((next, last))
                next = last.next
            }
        }
        for commit in commits where commit.last >= next {
            if commit.first > next { fill(to: Position(commit.first.rawValue - 1)) }
            if commit.first == next {
                spans.append((next, commit.last))
                next = commit.last.next
            } else {
                fill(to: commit.last)
            }
        }
        fill(to: proven)
        return spans
    }

    /// How many of ``spans(eventsMax:)`` are not commits as they were recorded.
    package var unrecorded: Int {
        let recorded = Set(commits.map { [$0.first, $0.last] })
        return spans().count { !recorded.contains([$0.first, $0.last]) }
    }
}
