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
        var name: CollectionName
        var after: [CollectionName]
        var state = State.waiting
    }
    private var nodes: [Node]
    private let parallel: Int
    /// From here on nothing is asked for: what comes after a failed list is never persisted.
    private var end: Int

    /// The lists of collections, in the order in which they are persisted.
    package init(_ collections: [CollectionModel], parallel: Int) {
        nodes = collections.map { Node(name: $0.name, after: $0.listedAfter) }
        self.parallel = parallel
        end = nodes.count
    }

    /// How many lists wait for their answers.
    package var inFlight: Int { nodes.count { $0.state == .asked } }

    /// The lists that may be asked for now, in order.
    package var ready: [CollectionName] {
        var open = Set<CollectionName>()
        for node in nodes where node.state != .answered { open.insert(node.name) }
        // A list can't wait for one that is asked for after itself.
        var before: Set<CollectionName> = []
        var ready: [CollectionName] = []
        let free = max(0, parallel - inFlight)
        for node in nodes[..<end] {
            let isFree = !node.after.contains { open.contains($0) && before.contains($0) }
            if node.state == .waiting, isFree, ready.count < free { ready.append(node.name) }
            before.insert(node.name)
        }
        return ready
    }

    /// Whether a list was asked for and is not answered.
    package func isAsked(_ name: CollectionName) -> Bool { node(name)?.state == .asked }

    /// Takes note that a list was asked for.
    package mutating func asked(_ name: CollectionName) { set(name, .asked) }

    /// Takes note of an answer; with a failure that ends the run nothing is asked for that would be
    /// persisted after it.
    package mutating func answered(_ name: CollectionName, endsRun: Bool = false) {
        set(name, .answered)
        if endsRun, let index = nodes.firstIndex(where: { $0.name == name }) {
            end = min(end, index)
        }
    }

    /// Takes note that an answer counts for nothing: the list is to be asked for once more, and so
    /// may be those after it.
    package mutating func forget(_ name: CollectionName) {
        set(name, .waiting)
        end = nodes.count
    }

    private func node(_ name: CollectionName) -> Node? { nodes.first { $0.name == name } }

    private mutating func set(_ name: CollectionName, _ state: State) {
        guard let index = nodes.firstIndex(where: { $0.name == name }) else { return }
        nodes[index].state = state
    }
}
