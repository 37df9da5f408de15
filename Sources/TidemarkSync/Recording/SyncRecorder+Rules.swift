// SyncRecorder+Rules.swift — what the server says of an entity, logged after what the app's rule
// says to it where both sides changed it.

import TidemarkEvents
import TidemarkLog
import TidemarkViews

extension SyncRecorder {
    /// Appends what the server says of an entity; where that is a conflict for a rule of the app,
    /// the rule is asked, and its answer appended first.
    ///
    /// - Returns: the position of the server's word; nil when it is not taken, because the rule
    ///   did not answer: the collection's cursor then stays, and ``withheld`` says why.
    @discardableResult
    mutating func say(
        _ event: Event, isChecked: Bool = false, _ draft: Draft
    ) throws -> Position? {
        guard let conflict = try draft.fold.conflict(event, at: draft.nextPosition) else {
            return try isChecked ? draft.append(checked: event) : draft.append(event)
        }
        do {
            var event = event
            event.cause = try draft.append(
                Event(
                    .ruleAnswered, recordedAt: draft.now, key: conflict.question.key,
                    cause: event.cause, sync: event.sync, call: event.call,
                    json: try ask(conflict)))
            return try draft.append(event)
        } catch let failure as SyncFailure {
            withhold(conflict, failure)
            return nil
        }
    }

    /// Whether what the server says will be taken: nobody is to be asked, or the rule answers.
    mutating func wouldSay(_ event: Event, _ draft: Draft) throws -> Bool {
        guard let conflict = try draft.fold.conflict(event, at: draft.nextPosition) else {
            return true
        }
        do {
            _ = try ask(conflict)
            return true
        } catch {
            withhold(conflict, error)
            return false
        }
    }

    private mutating func withhold(_ conflict: RuledConflict, _ failure: SyncFailure) {
        let collection = conflict.question.key.collection
        stale.insert(collection)
        withheld[collection] = withheld[collection] ?? failure
    }

    /// The payload that holds the rule's answer.
    private func ask(_ conflict: RuledConflict) throws(SyncFailure) -> [UInt8] {
        guard let rule = rules.first(where: { $0.name == conflict.rule }) else {
            throw .ruleMissing(conflict.rule)
        }
        let answer: ConflictAnswer
        do { answer = try rule.decide(conflict.question, in: conflict.collection) } catch {
            throw .ruleFailed(rule.name, "\(error)")
        }
        if case .document(let bytes) = answer {
            guard bytes.count <= ConflictAnswer.documentBytesMax else {
                throw .ruleFailed(
                    rule.name,
                    "its document has \(bytes.count) bytes, and "
                        + "\(ConflictAnswer.documentBytesMax) are the most")
            }
            do { try JSON.validateObject(bytes, within: Self.wrappingLevels) } catch {
                throw .ruleFailed(rule.name, "its document is not a JSON object: \(error)")
            }
        }
        var answered = RuleAnswered()
        answered.rule = rule.name
        answered.version = Int64(rule.version)
        answered.inputs = BodyReference(to: conflict.question.canonical).digits
        answered.answer = answer
        return answered.encoded
    }

    /// How deep a document may stand in others: events, and a server's pages.
    private static let wrappingLevels = 4
}
