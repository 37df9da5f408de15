// Rebase+Superseded.swift — what was given up with a conflict, and what was kept.

import TidemarkEvents

extension Rebase {
    /// The fields that were given up with a conflict, in the mutation's order: more than those in
    /// conflict where all of the mutation was superseded; empty for a deletion.
    ///
    /// Of a document that a rule made, those that are not as the mutation wrote them.
    package func superseded(_ conflict: Conflict) -> [String] {
        guard conflict.givesUp, let index = index(of: conflict) else { return [] }
        return verdicts[index] == .superseded && lost[index].isEmpty
            ? fields(at: index) : lost[index]
    }

    /// The other fields of a mutation that goes on without those that were given up, in its order.
    package func kept(_ conflict: Conflict) -> [String] {
        guard conflict.givesUp, let index = index(of: conflict),
            verdicts[index] == .stays
        else { return [] }
        let gone = Set(superseded(conflict).map(ExactString.init))
        return fields(at: index).filter { !gone.contains(ExactString($0)) }
    }

    private func index(of conflict: Conflict) -> Int? {
        pending.firstIndex { $0.position == conflict.position }
    }

    private func fields(at index: Int) -> [String] {
        let carrier = given[index...].firstIndex { $0.change != .carried }
        return carrier.flatMap { touched(by: $0)?.fieldNames } ?? []
    }
}
