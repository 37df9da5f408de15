// Lanes.swift — which of the changes of a tree may be sent, and which wait for an earlier one.
//
//   two changes overlap where
//     they are of the same entity
//     one moves, makes or deletes an entity in which the other one's lies, before or after it
//     one leaves or takes a name that the other leaves or takes
//     one is a copy of what the other one changes, or in which it changes something
//
// A change waits for every earlier one that it overlaps and that has no outcome, whatever that one
// waits for. So whatever does not wait can be sent in any order, and the server's tree becomes what
// the changes make of it one after another. That two lie in the same entity is no overlap.

package import TidemarkEvents

/// Where an entity of a tree lies.
package struct TreePlace: Sendable, Hashable {
    /// The name.
    package var name: ExactString
    /// The entities in which it lies, the nearest first; none at the root.
    package var above: [ExactString]

    package init(_ name: String, above: [String]) {
        self.name = ExactString(name)
        self.above = above.map(ExactString.init)
    }

    /// What nothing else may have beside it.
    fileprivate var slot: TreeSlot { TreeSlot(folder: above.first, name: name) }
}

/// A name in an entity, or at the root.
private struct TreeSlot: Sendable, Hashable {
    var folder: ExactString?
    var name: ExactString
}

/// What a change of an entity of a tree touches.
package struct LaneTags: Sendable, Hashable {
    package var entity: ExactString
    /// Whether it makes, moves, renames or deletes the entity.
    package var moves: Bool
    /// Where the entity lies before the change, and after it.
    package var places: [TreePlace]
    /// What it is made a copy of.
    package var source: Source?

    /// An entity that is copied, with all that lies in it.
    package struct Source: Sendable, Hashable {
        package var entity: ExactString
        /// The entities in which it lies.
        package var above: [ExactString]

        package init(_ entity: String, above: [String]) {
            self.entity = ExactString(entity)
            self.above = above.map(ExactString.init)
        }
    }

    package init(_ entity: String, moves: Bool, places: [TreePlace]) {
        self.entity = ExactString(entity)
        self.moves = moves
        self.places = places
    }
}

/// The changes of a tree that have no outcome, as far as they were looked at, in order.
package struct Lanes: Sendable {
    /// The entities that are changed.
    private var changed: Set<ExactString> = []
    /// Those that are made, moved or deleted.
    private var moved: Set<ExactString> = []
    /// By an entity, the changed ones that lie or will lie in it.
    private var below: [ExactString: Set<ExactString>] = [:]
    /// By a name, the changed entities that leave or take it.
    private var slots: [TreeSlot: Set<ExactString>] = [:]
    /// By an entity, its copies.
    private var copies: [ExactString: Set<ExactString>] = [:]
    /// By an entity, the copies of what lies in it.
    private var copiesBelow: [ExactString: Set<ExactString>] = [:]

    package init() {}

    /// Whether a change overlaps one of another entity that was added.
    package func hold(_ tags: LaneTags) -> Bool {
        func hasOthers(_ entities: Set<ExactString>?) -> Bool {
            guard let entities else { return false }
            return entities.count > 1 || entities.first != tags.entity
        }
        if tags.moves, hasOthers(below[tags.entity]) { return true }
        let isHeld = tags.places.contains { place in
            hasOthers(slots[place.slot])
                || place.above.contains { $0 != tags.entity && moved.contains($0) }
        }
        return isHeld || !copyHolders(of: tags).isEmpty
    }

    /// The other entities of which a change overlaps one that was added.
    package func holders(of tags: LaneTags) -> Set<ExactString> {
        var holders = copyHolders(of: tags)
        if tags.moves { holders.formUnion(below[tags.entity] ?? []) }
        for place in tags.places {
            holders.formUnion(slots[place.slot] ?? [])
            holders.formUnion(place.above.filter(moved.contains))
        }
        holders.remove(tags.entity)
        return holders
    }

    /// The same because of what is copied, by this change or by one that was added.
    private func copyHolders(of tags: LaneTags) -> Set<ExactString> {
        var holders: Set<ExactString> = []
        if let source = tags.source {
            if changed.contains(source.entity) { holders.insert(source.entity) }
            holders.formUnion(below[source.entity] ?? [])
            holders.formUnion(source.above.filter(moved.contains))
        }
        if !copies.isEmpty {
            holders.formUnion(copies[tags.entity] ?? [])
            if tags.moves { holders.formUnion(copiesBelow[tags.entity] ?? []) }
            for place in tags.places {
                for folder in place.above { holders.formUnion(copies[folder] ?? []) }
            }
        }
        holders.remove(tags.entity)
        return holders
    }

    /// Adds a change.
    package mutating func add(_ tags: LaneTags) {
        changed.insert(tags.entity)
        if tags.moves { moved.insert(tags.entity) }
        for place in tags.places {
            slots[place.slot, default: []].insert(tags.entity)
            for folder in place.above { below[folder, default: []].insert(tags.entity) }
        }
        guard let source = tags.source else { return }
        copies[source.entity, default: []].insert(tags.entity)
        for folder in source.above { copiesBelow[folder, default: []].insert(tags.entity) }
    }
}
