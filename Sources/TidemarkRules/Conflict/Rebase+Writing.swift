// Rebase+Writing.swift — a write without an answer that the server has in a writing of its own.
//
// Servers normalise: an address in capitals comes back in small letters. After an answer that was
// lost, what is read back is then neither what was sent nor what was there. Nobody can tell whose
// write it is; but where each field says what ours says, nothing is lost by letting the server's
// stand, and there is no conflict. Told by four signs, all of them needed:
//
// - the write was sent, and nobody knows what became of it;
// - every field of it is there as it was sent (elements: Rebase+Elements.swift), or was changed to
//   what a known normalisation makes of what was sent, under which the value before was as it
//   should be, too;
// - no field that the server knew and the write did not touch was changed or removed;
// - the policy would give a conflict to the server.

package import TidemarkEvents

/// A mutation whose values the server has in a writing of its own.
package struct OtherWriting: Sendable, Hashable {
    /// The mutation.
    package var position: Position
    /// The fields that are written otherwise, in the mutation's order.
    package var fields: [String]

    package init(position: Position, fields: [String]) {
        self.position = position
        self.fields = fields
    }

    /// What decisions call the rule that tells it.
    package static let name = "writing"
    /// The rule's version.
    package static let version = 2
}

extension Rebase {
    /// Settles the first changes that the server has in a writing of its own.
    ///
    /// - Returns: how many these are.
    mutating func meetOtherWriting(_ new: JSONDocument, from old: JSONDocument?) -> Int {
        guard policy.letsServerStand else { return 0 }
        let counts = sentCounts { field, values, index in
            isThere(field, values, new, at: index)
                || isInOtherWriting(field, by: values, new, from: old)
        }
        for length in counts {
            guard !pending[..<length].contains(where: \.isDeletion),
                let patch = net(0..<length), !patch.isEmpty,
                let written = fieldsInOtherWriting(patch, new, from: old, at: length - 1),
                !written.isEmpty
            else { continue }
            markPresent(0..<length)
            let names = Set(written.map(ExactString.init))
            for index in 0..<length where verdicts[index] == .present {
                let fields = pending[index].patch(except: serverFields)?.fieldNames ?? []
                let own = fields.filter { names.contains(ExactString($0)) }
                if !own.isEmpty {
                    writings.append(
                        OtherWriting(
                            position: pending[index].position, fields: self.own(own, at: index)))
                }
            }
            return length
        }
        return 0
    }

    /// The fields of a write that are there in another writing; nil where it is not there.
    private func fieldsInOtherWriting(
        _ patch: Patch, _ new: JSONDocument, from old: JSONDocument?, at index: Int
    ) -> [String]? {
        let touched = Set(patch.exactNames)
        if let old {
            let isLeftAlone = old.keys.allSatisfy { field in
                touched.contains(ExactString(field)) || serverFields.contains(field)
                    || old.value(field) == new.value(field)
            }
            guard isLeftAlone else { return nil }
        }
        let values = PatchValues(patch)
        let written = patch.fieldNames.filter { !isThere($0, values, new, at: index) }
        let isWritten = written.allSatisfy { isInOtherWriting($0, by: values, new, from: old) }
        return isWritten ? written : nil
    }

    /// Whether the server has a field as it writes what was sent, and had it otherwise before.
    private func isInOtherWriting(
        _ field: String, by values: PatchValues, _ new: JSONDocument, from old: JSONDocument?
    ) -> Bool {
        let before = old?.value(field)
        guard old == nil || before != new.value(field) else { return false }
        let sent = values[field].flatMap { try? JSONValue(parsing: $0) }
        return Writing.isNormalised(sent, as: new.value(field), before: before)
    }
}

extension ConflictPolicy {
    /// Whether a conflict may go to the server: what always stays is sent again instead.
    fileprivate var letsServerStand: Bool {
        switch self {
        case .serverWins, .mergeFields(.serverWins), .preferNewer, .overwriteAlways, .custom,
            .ask, .keepBoth:
            true
        case .localWins, .mergeFields(.localWins), .overwriteUnlessDirty, .overwriteIfSynced: false
        }
    }
}
