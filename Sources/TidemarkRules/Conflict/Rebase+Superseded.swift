// Rebase+Superseded.swift — what was given up with a conflict, and what was kept.
//
// Each field is the last change's that touches it: what a later one overwrites was neither lost nor
// kept. So of many edits of one field, as of a text that is saved while the user types, the last
// one alone is in conflict, and to make a lost edit again takes back no later one. A deletion is
// overtaken by what made the entity anew.

import TidemarkEvents

extension Rebase {
    /// The fields that were given up with a conflict, in the mutation's order: more than those in
    /// conflict where all of the mutation was superseded, but none that the server has as it meant
    /// them; empty for a deletion.
    ///
    /// Of a document that a rule made, those that are not as the mutation wrote them.
    package func superseded(_ conflict: Conflict) -> [String] {
        guard conflict.givesUp, let index = index(of: conflict) else { return [] }
        guard verdicts[index] == .superseded, lost[index].isEmpty else { return lost[index] }
        let gone = givenUp(index)
        // None is the whole entity.
        return gone.isEmpty ? lastTouched[index] : gone
    }

    /// The fields of a change that is superseded as a whole which neither a later one touches nor
    /// the server has as it meant them.
    private func givenUp(_ index: Int) -> [String] {
        lastTouched[index].filter { !agreed[index].contains(ExactString($0)) }
    }

    /// The other fields of a mutation that goes on without those that were given up, in its order.
    package func kept(_ conflict: Conflict) -> [String] {
        guard conflict.givesUp, let index = index(of: conflict),
            verdicts[index] == .stays
        else { return [] }
        let gone = Set(superseded(conflict).map(ExactString.init))
        return lastTouched[index].filter { !gone.contains(ExactString($0)) }
    }

    /// Whether a person is to know of what was given up.
    ///
    /// Of all that lost against the server's, but where that has all that is left, and of what a
    /// rule's document gives up besides the fields in conflict.
    package func isIssue(_ conflict: Conflict) -> Bool {
        if losingMore.contains(conflict.position) { return true }
        guard conflict.result == .serverWins, let index = index(of: conflict) else { return false }
        let isWhole = verdicts[index] == .superseded && lost[index].isEmpty
        return !isWhole || lastTouched[index].isEmpty || !givenUp(index).isEmpty
    }

    private func index(of conflict: Conflict) -> Int? {
        pending.firstIndex { $0.position == conflict.position }
    }

    /// Leaves each field that was given up to the last change that touches it; what gave up nothing
    /// else is overtaken, and in no conflict.
    mutating func leaveToLast() {
        guard conflicts.contains(where: \.givesUp) else { return }
        noteLastTouched()
        // What a rule's document gives up of each change is told already.
        if conflicts.contains(where: { $0.result == .merged }) { return }
        var overtaken: Set<Position> = []
        var isDeletedLater = false
        var isMadeLater = false
        for index in given.indices.reversed() {
            let isLost = verdicts[index] == .superseded
            let isUndone = given[index].isDeletion && isMadeLater
            if isLost,
                isDeletedLater || isUndone || isOvertaken(index) || isCarriedByOvertaken(index)
            {
                verdicts[index] = .coalesced
                overtaken.insert(given[index].position)
            } else if !lost[index].isEmpty {
                let last = Set(lastTouched[index].map(ExactString.init))
                lost[index].removeAll { !last.contains(ExactString($0)) }
                if lost[index].isEmpty {
                    // The rest is there by chance, or goes on.
                    if verdicts[index] == .superseded { verdicts[index] = .present }
                    overtaken.insert(given[index].position)
                }
            }
            if given[index].isDeletion { isDeletedLater = true }
            // Where what was made anew stays, the deletion is what was lost.
            if given[index].isCreation, isLost { isMadeLater = true }
        }
        if !overtaken.isEmpty { conflicts.removeAll { overtaken.contains($0.position) } }
    }

    /// Notes of each change that is superseded as a whole which fields the server has as it meant
    /// them; of one that another carries, those of that.
    mutating func noteAgreed(_ new: JSONDocument?) {
        guard !lastTouched.isEmpty else { return }
        agreed = Array(repeating: [], count: given.count)
        guard let new else { return }
        for index in given.indices.reversed() {
            if given[index].change == .carried {
                if index + 1 < given.count { agreed[index] = agreed[index + 1] }
                continue
            }
            guard verdicts[index] == .superseded, lost[index].isEmpty,
                let patch = pending[index].patch(except: serverFields)
            else { continue }
            let values = PatchValues(patch)
            let names = patch.fieldNames
            let there = names.filter { isThere($0, values, new, at: index) }
            let known = Set(there.map(ExactString.init))
            let others = names.filter { !known.contains(ExactString($0)) }
            // A list that is one field may have some elements as they were meant, and others not.
            agreed[index] = Set(own(there, at: index).map(ExactString.init))
                .subtracting(own(others, at: index).map(ExactString.init))
        }
    }

    /// Whether later changes touch all fields of one that loses them all.
    private func isOvertaken(_ index: Int) -> Bool {
        lost[index].isEmpty && lastTouched[index].isEmpty && given[index].change != .carried
            && touched(by: index)?.isEmpty == false
    }

    private func isCarriedByOvertaken(_ index: Int) -> Bool {
        given[index].change == .carried && index + 1 < given.count
            && verdicts[index + 1] == .coalesced
    }

    /// Notes for each change the fields that no later one touches; for one that another carries,
    /// those of that.
    private mutating func noteLastTouched() {
        lastTouched = Array(repeating: [], count: given.count)
        var later: Set<ExactString> = []
        for index in given.indices.reversed() {
            if given[index].change == .carried {
                if index + 1 < given.count { lastTouched[index] = lastTouched[index + 1] }
                continue
            }
            guard let names = touched(by: index)?.fieldNames else { continue }
            let lists = given[index].lists
            lastTouched[index] = names.filter { name in
                let list = lists.element(name).map { ExactString($0.list.field) }
                return !later.contains(ExactString(name))
                    && !(list.map(later.contains) ?? false)
            }
            later.formUnion(names.map(ExactString.init))
        }
    }
}
