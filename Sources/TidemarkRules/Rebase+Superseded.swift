// Rebase+Superseded.swift — what was given up with a conflict that the server won.

import TidemarkEvents

extension Rebase {
    /// The fields that were given up with a conflict, in the mutation's order: more than those in
    /// conflict where all of the mutation was superseded; empty for a deletion.
    package func superseded(_ conflict: Conflict) -> [String] {
        guard conflict.result == .serverWins else { return [] }
        guard let index = pending.firstIndex(where: { $0.position == conflict.position }),
            verdicts[index] == .superseded
        else { return conflict.fields }
        let carrier = pending[index...].first { $0.change != .carried }
        return carrier?.patch(except: serverFields)?.fieldNames ?? []
    }
}
