// RedactionCheck.swift — checks that a redacted capsule leads to the same decisions as the
// original: both are folded side by side, and the redacted rows of one must be the rows of the
// other.

import TidemarkEvents
import TidemarkLog
import TidemarkViews

extension Capsule {
    /// The redacted capsule with the digests of today's fold.
    ///
    /// - Throws: ``RedactionError`` at the first commit whose rows differ.
    func checked(_ redacted: Capsule, _ redactor: Redactor) throws -> Capsule {
        var result = redacted
        var before = CapsuleFold(base)
        var after = CapsuleFold(redacted.base)
        for index in commits.indices {
            let commit = commits[index]
            let changes = try before.fold(commit.entries)
            try check(recorded: commit, changes)
            let made = try after.fold(&result.commits[index].entries, asIn: commit, redactor)
            let rows = before.rows
            let expected = try changes.map { change in
                RedactedRow(
                    old: change, key: try redactor.key(change.key),
                    value: try change.value.map { value in
                        try redactor.row(change.key, value) { rows[$0] }
                    })
            }
            if let row = RedactedRow.difference(expected.sorted { $0.key < $1.key }, made) {
                throw row.refusal(at: commit.last, redactor) { original(of: $0, redactor) }
            }
            result.commits[index].views = ViewDigest.of(made)
        }
        return result
    }

    /// The entity behind a redacted key.
    private func original(of key: EntityKey, _ redactor: Redactor) -> EntityKey? {
        for commit in commits {
            for entry in commit.entries {
                if let old = entry.event.key, redactor.key(old) == key { return old }
            }
        }
        return base.rows.lazy.compactMap {
            $0.key.tree == .rows ? EntityKey(bytes: $0.key.bytes) : nil
        }
        .first { redactor.key($0) == key }
    }

    /// New digests must not hide that the recorded ones differ from those of today's fold.
    private func check(recorded commit: Commit, _ changes: RowChanges) throws {
        let isOurs = commit.views.allSatisfy { digest in
            View(rawValue: digest.view).map { $0.fingerprint == digest.fingerprint } ?? false
        }
        // For some views, no digest may be recorded.
        let made = ViewDigest.of(changes)
        guard isOurs, !commit.views.allSatisfy(made.contains) else { return }
        throw RedactionError(
            .otherRules, at: commit.last,
            "the rows that were recorded are not those of this version, which a redacted capsule"
                + " would not show; replay the one that is not redacted")
    }
}

extension CapsuleFold {
    /// Folds the events of a redacted commit, and updates the questions to the app's rules on the
    /// way: they are known only now.
    fileprivate mutating func fold(
        _ entries: inout [Capsule.Entry], asIn commit: Capsule.Commit, _ redactor: Redactor
    ) throws -> RowChanges {
        var asked: [Int: Event] = [:]
        let redacted = entries
        let changes = try fold(redacted) { fold, event, position in
            var event = event
            if event.kind == .ruleAnswered,
                let index = redacted.firstIndex(where: { $0.position == position }),
                index + 1 < redacted.count,
                let conflict = try fold.conflict(
                    redacted[index + 1].event, at: redacted[index + 1].position)
            {
                event.payload = redactor.ruleAnswer(
                    event.payload, commit.entries[index].event.payload,
                    asked: BodyReference(to: conflict.question.canonical).digits)
                asked[index] = event
            }
            try fold.apply(event, at: position)
        }
        for (index, event) in asked { entries[index].event = event }
        return changes
    }
}

extension Redactor {
    /// The payload of a `rule.answered` with the new hash of the question.
    fileprivate func ruleAnswer(
        _ payload: [UInt8], _ old: [UInt8], asked digits: String
    ) -> [UInt8] {
        guard var answered = try? RuleAnswered(reading: payload) else { return payload }
        let before = RuleAnswered(stored: old).inputs
        answered.inputs = digits
        note(digest: Array(before.utf8), became: Array(digits.utf8))
        return answered.encoded
    }
}

/// A row of the original fold, and its redacted form.
private struct RedactedRow {
    var old: (key: RowKey, value: [UInt8]?)
    var key: RowKey
    var value: [UInt8]?
    /// The row that the redacted events make in its place.
    var made: [UInt8]??

    /// The first row that differs; decisions come before rows that follow from them.
    static func difference(_ expected: [RedactedRow], _ made: RowChanges) -> RedactedRow? {
        let pairs = paired(expected, by: { $0.key }, with: made, by: { $0.key })
        let differing = pairs.compactMap { expected, made -> RedactedRow? in
            guard var row = expected else {
                return made.map {
                    RedactedRow(old: ($0.key, nil), key: $0.key, value: nil, made: .some($0.value))
                }
            }
            guard let made else { return row }
            row.made = .some(made.value)
            return row.isSame(made.value) ? nil : row
        }
        return differing.first { $0.key.view == .decisions } ?? differing.first
    }

    /// Whether a row is the same; digests of pruned entities can't be compared.
    private func isSame(_ other: [UInt8]?) -> Bool {
        if value == other { return true }
        guard key.tree == .rows, let value, let other,
            var mine = try? EntityRow(parsing: value), var its = try? EntityRow(parsing: other),
            !mine.prunedDigest.isEmpty, !its.prunedDigest.isEmpty
        else { return false }
        (mine.prunedDigest, its.prunedDigest) = ([], [])
        return mine == its
    }

    /// The error for a row that differs.
    func refusal(
        at position: Position, _ redactor: Redactor, _ original: (EntityKey) -> EntityKey?
    ) -> RedactionError {
        let before = old.value.flatMap { try? DecisionRow(parsing: $0) }
        let after = made?.flatMap { try? DecisionRow(parsing: $0) }
        guard key.tree == .ledger, key.bytes.first == Ledger.decisions.first,
            let some = before ?? after
        else {
            return RedactionError(
                .decision, at: position,
                "redacted, this would make another row of \(subject): "
                    + advice(redactor, EntityKey(bytes: old.key.bytes)?.collection, []))
        }
        let entity = before?.key ?? original(some.key)
        let place = Position(bigEndianBytes: key.bytes.dropFirst().prefix(8)) ?? position
        return RedactionError(
            .decision, at: place,
            "redacted, the decision on \(entity.map { "\($0)" } ?? "something") would be"
                + " \(after.map(Self.words) ?? "none") and not"
                + " \(before.map(Self.words) ?? "none"): "
                + advice(redactor, entity?.collection, before?.fields ?? []))
    }

    private static func words(_ decision: DecisionRow) -> String {
        "\(decision.result) by \(decision.rule)"
    }

    private var subject: String {
        if key.tree == .rows { return EntityKey(bytes: old.key.bytes)?.description ?? "an entity" }
        return "\(key.view)"
    }

    /// What to try; fields that the rule reads by name come first.
    private func advice(
        _ redactor: Redactor, _ collection: CollectionName?, _ fields: [String]
    ) -> String {
        var ways: [String] = []
        if redactor.shift != 0 { ways.append("keep the times") }
        if let collection {
            ways += fields.map { "keep \(collection).\($0)" }
            if fields.isEmpty {
                ways.append("keep the field of \(collection) that the rule compares")
            }
        }
        return ways.isEmpty ? "please report this" : ways.joined(separator: ", or ")
    }
}
