// PullGraph.swift — which lists may be asked for now, where several are asked for at once. A value:
// nothing here sends anything.

package import TidemarkEvents

/// The lists of a pull: those that were asked for, those that were answered, and the rest.
///
/// A list may be asked for when those that it comes after were answered and fewer than so many wait
/// for their answers; of several, the first in the order of the model. In which order they are
/// persisted is not decided here.
package struct PullGraph: Sendable, Hashable {
    private enum State: Sendable, Hashable { case waiting, asked, answered }

    private struct Node: Sendable, Hashable {
        var target: PullTarget
        var after: [CollectionName]
        var state = State.waiting
    }
    private var nodes: [Node]
    private let parallel: Int
    /// The collections of which a list is asked for only when those before it were persisted.
    private let inTurn: Set<CollectionName>
    /// The index of the list that is persisted now.
    private var current = 0
    /// From here on nothing is asked for: what comes after a failed list is never persisted.
    private var end: Int

    /// The lists of targets, in the order in which they are persisted.
    ///
    /// - Parameter inTurn: collections whose lists are asked for one after the other.
    package init(
        _ targets: [PullTarget], _ model: SyncModel, parallel: Int,
        inTurn: Set<CollectionName> = []
    ) {
        nodes = targets.map { Node(target: $0, after: model[$0.collection]?.listedAfter ?? []) }
        self.parallel = parallel
        self.inTurn = inTurn
        end = nodes.count
    }

    /// Adds lists that become known while others are made, in the order in which they are kept.
    package mutating func add(_ targets: [PullTarget], _ model: SyncModel) {
        let isEnded = end < nodes.count
        let known = Set(nodes.map(\.target))
        nodes += targets.filter { !known.contains($0) }.map {
            Node(target: $0, after: model[$0.collection]?.listedAfter ?? [])
        }
        if !isEnded { end = nodes.count }
    }

    /// The targets, in the order in which they are persisted.
    package var targets: [PullTarget] { nodes.map(\.target) }

    /// How many lists wait for their answers.
    package var inFlight: Int { nodes.count { $0.state == .asked } }

    /// The lists that may be asked for now, in order.
    package var ready: [PullTarget] {
        var open = Set<CollectionName>()
        for node in nodes where node.state != .answered { open.insert(node.target.collection) }
        // A list can't wait for one that is asked for after itself.
        var before: Set<CollectionName> = []
        var ready: [PullTarget] = []
        var unpersisted: Set<CollectionName> = []
        let free = max(0, parallel - inFlight)
        for (index, node) in nodes[..<end].enumerated() {
            let name = node.target.collection
            let isFree =
                !node.after.contains { open.contains($0) && before.contains($0) }
                && !(inTurn.contains(name) && unpersisted.contains(name))
            if node.state == .waiting, isFree, ready.count < free { ready.append(node.target) }
            before.insert(name)
            if index >= current { unpersisted.insert(name) }
        }
        return ready
    }

    /// Takes note that a list is persisted next, and those before it were.
    package mutating func goOn(to target: PullTarget) {
        current = nodes.firstIndex { $0.target == target } ?? current
    }

    /// Whether it has the list of a target.
    package func has(_ target: PullTarget) -> Bool { node(target) != nil }

    /// Whether a list was asked for and is not answered.
    package func isAsked(_ target: PullTarget) -> Bool { node(target)?.state == .asked }

    /// Takes note that a list was asked for.
    package mutating func asked(_ target: PullTarget) { set(target, .asked) }

    /// Takes note of an answer; with a failure that ends the run nothing is asked for that would be
    /// persisted after it.
    package mutating func answered(_ target: PullTarget, endsRun: Bool = false) {
        set(target, .answered)
        if endsRun, let index = nodes.firstIndex(where: { $0.target == target }) {
            end = min(end, index)
        }
    }

    /// Takes note that an answer counts for nothing: the list is to be asked for once more, and so
    /// may be those after it.
    package mutating func forget(_ target: PullTarget) {
        set(target, .waiting)
        end = nodes.count
    }

    private func node(_ target: PullTarget) -> Node? { nodes.first { $0.target == target } }

    private mutating func set(_ target: PullTarget, _ state: State) {
        guard let index = nodes.firstIndex(where: { $0.target == target }) else { return }
        nodes[index].state = state
    }
}
