// Listing+Walk.swift — a list of a tree by its folders: what is missing at its end, and where a
// later run goes on.
//
//   every folder                    what lay in one and is not named by its list is missing
//   nothing is missing              complete
//   something is                    every folder once more, until all of it was named
//   something is still              gone → complete

import TidemarkEvents

extension Listing {
    /// Whether all folders are listed once more.
    var isSecondWalk: Bool { walk.map { $0.pass > 1 } ?? false }

    /// Whether each folder told all that lies in it, in this run, or that nothing changed there.
    var tellsWhole: Bool {
        guard let walk, !walk.isOfFolders, walk.tellsMissing else { return false }
        return !isContinued && failure == nil && unreadable.isEmpty && walk.unheard.isEmpty
    }

    /// Whether nothing is left to look for.
    var isWalkSettled: Bool { isSecondWalk && unnamed.isEmpty && !isForMoves }

    /// Adds what lies in what is missing, once all folders were listed for the first time.
    mutating func endWalk() {
        guard let walk, !isSecondWalk else { return }
        unnamed = walk.unreached(without: unnamed)
    }

    /// Has all folders listed once more, where something is missing.
    ///
    /// It may have been moved into a folder that was listed already. So may have been what came.
    ///
    /// - Parameter putOff: what is missing, too, and has a write without an answer. Where that is
    ///   a deletion, it is no reason by itself.
    /// - Returns: false where they were, or nothing would follow that is not known.
    mutating func walkAgain(for ids: [String], putOff: [String] = []) -> Bool {
        guard let walk, !isSecondWalk else { return false }
        let (all, others) = (ids + putOff, inQuestion(ids + undecided(putOff)))
        // What went with a folder may be in one that could not be listed.
        let isOpen = others.isEmpty ? !walk.unheard.isEmpty : !areHeld(others)
        let isMissing = isOpen && sweep(absent: all) != .none
        guard isMissing || !walk.moves.arrived.isEmpty else { return false }
        let unreached = unnamed
        unnamed = Set(all.map { ExactString($0) })
        isForMoves = !walk.moves.arrived.isEmpty
        self.walk?.beginAgain(for: unnamed, in: unreached)
        (next, seen, isPaging) = (nil, [], true)
        return true
    }

    /// Those of some absent entities that did not go with a folder that was deleted here.
    func inQuestion(_ ids: [String]) -> [String] {
        guard let walk, !walk.ended.isEmpty else { return ids }
        return ids.filter { !walk.wentAlong(ExactString($0)) }
    }

    /// Those of some absent entities that the user did not delete, alone or with their folder.
    func undecided(_ ids: [String]) -> [String] {
        guard let walk else { return ids }
        return ids.filter { !walk.isDeletedHere(ExactString($0)) }
    }

    /// Whether the user is asked already what becomes of entities.
    func areHeld(_ ids: [String]) -> Bool { ids.allSatisfy { held.contains(ExactString($0)) } }

    /// Goes on where an earlier run left it.
    mutating func goOnWalking(_ cut: CutListing, without missing: Set<ExactString>) {
        next = walk?.goOn(cut.state, without: missing)
        isPaging = next != nil
        unnamed = missing
        walk?.moves.arrived = cut.arrived
        if isSecondWalk {
            unnamed = walk?.unreached(without: missing) ?? []
            walk?.moves.end(missing: unnamed)
            isForMoves = !cut.arrived.isEmpty
        }
        // The root has no path.
        if next?.isEmpty == true { next = nil }
        seen = next.map { [ExactString($0)] } ?? []
        (isAsked, isResuming, isContinued) = (!isPaging, false, true)
    }
}
