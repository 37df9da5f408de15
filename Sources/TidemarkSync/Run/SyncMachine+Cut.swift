// SyncMachine+Cut.swift — a run goes on where the one before it was cut off: the server turned it
// away, its time was over, the network was gone, or somebody stopped it.
//
//   cut off at a list      that list and those after it → push → the lists before it → push
//   amid it, and again     those after it → push → the lists before it, and it → push
//   cut off amid a push    push → all lists → push
//   amid a walk            the rest of the walk → push → the walk from its root → push
//
// A run that is asked for everything begins at its first list: it takes the server's word before it
// sends.
//
// So each list is made in some run, and what waits is sent, however few requests a run gets
// through. A run that goes on at such a place and whose process dies notes none: those after it
// begin one place further each, by lists, then at the push, then at the first list again. That such
// a run began is logged before its first request, as it may bring nothing else that is.
//
// A write that could undo changes of others waits for the lists of its collection in its own run,
// as always: of those that are left, these are made first, and the push goes on after them.

package import TidemarkEvents

/// Where a run of everything was cut off.
package enum CutPlace: Sendable, Hashable {
    /// At a list.
    case list(PullTarget)
    /// After all lists.
    case push
}

extension CutPlace {
    /// A place as the log has it: a collection, and the scope of a part of it; nothing after all
    /// lists.
    package init(logged parts: [String]) {
        guard let name = parts.first else {
            self = .push
            return
        }
        let scope = parts.count > 1 ? parts[1] : ""
        self = .list(PullTarget(CollectionName(name), scope: scope))
    }

    /// The place as the log has it.
    var logged: [String] {
        guard case .list(let target) = self else { return [] }
        let name = target.collection.rawValue
        return target.scope.isEmpty ? [name] : [name, target.scope]
    }
}

/// The lists that a run makes only once what waits is sent.
struct ListsAfterPush: Sendable {
    /// Their targets, in order.
    var targets: [PullTarget] = []
    /// The part at which the run before was cut off, until the parts of its collection are known.
    var part: PullTarget?
    /// The collections of which a write waits for one of these lists.
    var awaited: Set<CollectionName> = []

    /// Whether it has a list of a collection.
    func has(_ name: CollectionName) -> Bool { targets.contains { $0.collection == name } }

    /// Leaves the parts of a collection for later that come before the one at which the run before
    /// was cut off.
    ///
    /// - Returns: the others.
    mutating func passOver(_ parts: [PullTarget]) -> ArraySlice<PullTarget> {
        guard let part, let index = parts.firstIndex(of: part) else { return parts[...] }
        self.part = nil
        targets += parts[..<index]
        return parts[index...]
    }

    /// Takes the lists that are made next: of one collection of which a write waits for them, or
    /// all that are left.
    mutating func take() -> [PullTarget] {
        let all = targets
        guard let name = all.first(where: { awaited.contains($0.collection) })?.collection else {
            targets = []
            return all
        }
        awaited.remove(name)
        targets.removeAll { $0.collection == name }
        return all.filter { $0.collection == name }
    }
}

extension SyncMachine {
    // MARK: The end of a run

    /// Notes where the run is cut off, for the next one.
    mutating func noteCut() {
        guard outcome.cut == nil, outcome.failure?.cutsOff == true else { return }
        outcome.cut = place
    }

    /// Where the run is; nil where the next one begins as any other: at the first list, and once
    /// all is done.
    private var place: CutPlace? {
        guard scope == .all, !pulls.isEmpty else { return nil }
        var target: PullTarget?
        switch state {
        case .begun, .refilling, .askingLate, .ended: return nil
        case .refetching, .choosing, .pruning, .pushing: return .push
        case .readingBack, .describing, .combining, .pulling, .listed: target = unpulled.first
        case .listing(let list): target = list.target
        case .feeding(let feed): target = feed.target
        }
        // Its end is not logged.
        if case .result(.complete(let list)) = awaited { target = list.target }
        guard !isAmidPush, let target else { return .push }
        let first = firstList(with: target)
        if isAmidList { return first == wentOnAt ? behind(first) : .list(first) }
        return first == pulls.first ? nil : .list(first)
    }

    /// Whether pages of the list in hand came in this run: a walk has its own order.
    private var isAmidList: Bool {
        list.map { $0.walk == nil && $0.hasPages && !$0.isResuming } ?? false
    }

    /// The place behind a list: it takes more than a run, and what waits must not wait for all of
    /// it.
    private func behind(_ first: PullTarget) -> CutPlace {
        let all = pulls.flatMap { $0.isOpen ? [$0] + (opened[$0.collection] ?? []) : [$0] }
        let next = all.drop { $0 != first }.first { firstList(with: $0) != first }
        return next.map { .list($0) } ?? .push
    }

    /// The first of the lists that are made together with one: of a feed, and of those that share a
    /// limit.
    private func firstList(with target: PullTarget) -> PullTarget {
        let isAlone = model[target.collection]?.feed == nil && !target.isShared
        return isAlone ? target : pulls.first { $0.collection == target.collection } ?? target
    }

    // MARK: The next run

    /// Begins the pull where the run before was cut off; where there is no such list any more, at
    /// the first one.
    ///
    /// Each run since then whose process died moves it on by one place.
    ///
    /// - Returns: whether it begins by that place.
    @discardableResult
    mutating func goOnAtCut() -> Bool {
        guard let cut else { return false }
        var index = unpulled.endIndex
        var part: (target: PullTarget, place: Int)?
        if case .list(let target) = cut {
            let same = unpulled.firstIndex(of: target)
            let open = unpulled.firstIndex(of: .open(target.collection))
            guard let found = same ?? open else { return false }
            if same == nil { part = (target, found) }
            index = found
        }
        if diedSinceCut > 0 {
            let firsts = unpulled.indices.filter { firstList(with: unpulled[$0]) == unpulled[$0] }
            let places = firsts + [unpulled.endIndex]
            let place = (places.firstIndex { $0 >= index } ?? 0) + diedSinceCut
            index = places[place % places.count]
        }
        if let part, part.place == index { afterPush.part = part.target }
        wentOnAt = afterPush.part ?? (index < unpulled.endIndex ? unpulled[index] : nil)
        afterPush.targets = Array(unpulled[..<index])
        unpulled = unpulled[index...]
        return true
    }

    /// The start of the run was logged.
    package mutating func started() -> SyncAction {
        guard case .result(.start) = awaited else { trap("started nothing") }
        return decide()
    }

    /// Notes that a write waits for a list that is made after the push.
    mutating func noteAwaited(_ name: CollectionName) {
        if afterPush.has(name), isBlocked(name) { afterPush.awaited.insert(name) }
    }

    /// Goes over to lists that are made after the push; false where none is left.
    mutating func listAfterPush() -> Bool {
        let targets = afterPush.take()
        if !targets.isEmpty { beginRound((targets + targetsBehind(targets))[...]) }
        return !targets.isEmpty
    }

    /// The collections whose parts were read before lists which may bring documents that name more
    /// of them.
    private func targetsBehind(_ lists: [PullTarget]) -> [PullTarget] {
        var names = Set(lists.map(\.collection))
        var targets: [PullTarget] = []
        for collection in Self.inListOrder(model.collections)
        where opened[collection.name] != nil
            && (collection.lists ?? []).flatMap(\.from).contains(where: {
                names.contains($0.collection)
            })
        {
            names.insert(collection.name)
            targets.append(.open(collection.name))
        }
        return targets
    }
}
