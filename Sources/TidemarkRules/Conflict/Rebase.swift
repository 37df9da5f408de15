// Rebase.swift — what becomes of pending changes when the server says something new.
//
// Changes that touch different fields don't meet: the pending one is re-applied on the new base. A
// field that both sides changed, to different values, is a conflict, and the collection's policy
// says whether the mutation that touches it stays, loses that field, or is superseded as a whole. A
// deletion touches every field. Policies that keep an entity whole: Rebase+Whole.swift.

package import TidemarkEvents

/// The fate of one pending change.
package enum Verdict: Sendable, Hashable {
    /// It is re-applied on the new base.
    case stays
    /// It was sent, and the server has every field as it was sent.
    case arrived
    /// The server has every field as it was meant, from someone else as far as is known.
    case present
    /// It arrived, or was overtaken, as part of a later change to the same fields.
    case coalesced
    /// The server's side won.
    case superseded
}

/// A conflict that was decided.
package struct Conflict: Sendable, Hashable {
    /// How it was decided.
    package enum Result: String, Sendable {
        case serverWins
        case localWins
        /// By a document that a rule of the app made of both sides.
        case merged
        /// Not yet: a person is asked, and the mutation waits for the answer.
        case asked
    }

    /// The mutation.
    package var position: Position
    /// The fields that both sides changed, in the mutation's order; empty for a whole entity.
    package var fields: [String]
    package var result: Result

    package init(position: Position, fields: [String], result: Result) {
        self.position = position
        self.fields = fields
        self.result = result
    }

    package var localWins: Bool { result != .serverWins }
    /// Whether something of the mutation may be given up with it.
    var givesUp: Bool { result == .serverWins || result == .merged }
}

/// The decision about all pending changes of one entity.
package struct Rebase: Sendable, Hashable {
    /// One for each pending change, in order.
    package internal(set) var verdicts: [Verdict]
    /// In the order of the mutations, one for each at most.
    package internal(set) var conflicts: [Conflict] = []
    /// One for each pending change: what it is from now on where it stays in another form.
    package internal(set) var rewritten: [PendingChange.Change?]
    /// One for each pending change: the fields that it loses while the rest of it stays.
    package internal(set) var lost: [[String]]
    /// One for each pending change once anything was given up: the fields that it is the last one
    /// to touch.
    var lastTouched: [[String]] = []
    /// One for each pending change once anything was given up: of one that is superseded as a
    /// whole, the fields that the server has as it meant them.
    var agreed: [Set<ExactString>] = []
    /// The mutations of which a rule's document gives up fields that were in no conflict.
    var losingMore: Set<Position> = []
    /// What the server has in a writing of its own, in the order of the mutations.
    package internal(set) var writings: [OtherWriting] = []
    /// For each of the first changes, which may have arrived, the elements that are there as it and
    /// those before it sent them.
    var sentElements: [Set<ExactString>] = []

    /// The changes as they are pending.
    let given: [PendingChange]
    /// The same, as they are compared.
    let pending: [PendingChange]
    let lists: Lists
    let serverFields: Set<String>
    let policy: ConflictPolicy
    /// What the base is where it is only what was sent and accepted.
    let assumed: AssumedBase?
    /// Fields that are set only once the entity is there.
    let setLater: Set<String>
    /// The base, of one that is assumed with what is the server's own.
    package let base: Base
    private let answer: ConflictAnswer?
    private let serverTime: Timestamp?
    /// When the changes were made, once that was asked for.
    private var editTimes: EditTimes?

    package static let version = 8

    /// The grain in which lists are compared.
    struct Lists: Sendable, Hashable {
        /// Those of which each element is a field of its own.
        var elementwise: [KeyedList]
        /// Those that are one field.
        var whole: [KeyedList]
    }

    /// Decides.
    ///
    /// - Parameters:
    ///   - changes: the entity's pending changes, oldest first.
    ///   - before: what the server said before.
    ///   - after: what it says now.
    ///   - assumed: what that is where it is only what was sent and accepted: the server then has
    ///     it, perhaps in a writing of its own, and perhaps with fields and members of its own.
    ///   - serverFields: fields that only the server sets; they never conflict.
    ///   - answer: what the app's rule said to this case, for a policy that asks one; without an
    ///     answer the server wins.
    ///   - setLater: fields that are set only once the entity is there: what the server has in them
    ///     after it took what makes the entity is its own.
    package init(
        _ changes: [PendingChange], from before: Base, to after: Base, policy: ConflictPolicy,
        serverFields: Set<String>, answer: ConflictAnswer? = nil, assumed: AssumedBase? = nil,
        setLater: Set<String> = []
    ) {
        var sides = ComparedSides(changes, from: before, to: after, answer: answer)
        if let assumed { sides.completeOld(assumed) }
        if !changes.isEmpty { sides.keepPlaces() }
        let (pending, old, new) = (sides.pending, sides.old, sides.new)
        given = changes
        self.pending = pending
        lists = Lists(elementwise: sides.elementwise, whole: sides.whole)
        self.policy = policy
        self.serverFields = serverFields
        self.answer = answer
        self.assumed = assumed
        self.setLater = setLater
        base = sides.base
        if case .preferNewer(let field, _) = policy, let document = new.document {
            serverTime = PreferNewer.time(document, field: field)
        } else {
            serverTime = nil
        }
        verdicts = Array(repeating: .stays, count: pending.count)
        rewritten = Array(repeating: nil, count: pending.count)
        lost = Array(repeating: [], count: pending.count)
        guard !pending.isEmpty else { return }
        if let document = new.document { noteSentElements(document, from: old.document) }
        switch (new.document, policy) {
        case (nil, _): meetDeletion(from: old)
        case (let document?, .overwriteUnlessDirty):
            meetWhole(document, from: old, keepsRefused: false)
        case (let document?, .overwriteIfSynced):
            meetWhole(document, from: old, keepsRefused: true)
        case (let document?, .overwriteAlways): giveWay(document, from: old)
        case (let document?, _): meet(document, from: old.document)
        }
        if case .document(let bytes)? = answer, !conflicts.isEmpty,
            let document = try? JSONDocument(parsing: bytes)
        {
            become(document, as: sides.answer ?? document, from: old, to: new)
        }
        leaveToLast()
        noteAgreed(new.document)
        settleCarried()
    }

    /// The changes that stay, in the form that they have from now on.
    package var kept: [PendingChange] {
        pending.indices.filter { verdicts[$0] == .stays }.map { index in
            guard let change = rewritten[index] else { return given[index] }
            var kept = given[index]
            kept.change = change
            kept.mayHaveArrived = false
            return kept
        }
    }

    /// Which side a change in conflict goes to.
    private mutating func side(
        _ index: Int, _ fields: [String], isDeletedThere: Bool
    ) -> ConflictSide {
        switch policy {
        case .serverWins, .overwriteUnlessDirty, .overwriteIfSynced, .overwriteAlways, .keepBoth:
            return .serverWins
        // What is asked about stays until there is an answer.
        case .localWins, .ask: return .localWins
        case .mergeFields(let side): return side
        case .preferNewer(_, let margin):
            if isDeletedThere { return .serverWins }
            let times = editTimes ?? EditTimes(pending, except: serverFields)
            editTimes = times
            let isNewer = PreferNewer.localWins(
                server: serverTime, local: times.editedAt(index, fields), margin: margin)
            return isNewer ? .localWins : .serverWins
        case .custom: return answer == .local ? .localWins : .serverWins
        }
    }

    // MARK: The server has the entity

    mutating func meet(_ new: JSONDocument, from old: JSONDocument?) {
        var settled = arrivedPrefix(new, from: old)
        markArrived(0..<settled)
        var reference = arrivedBase(settled, new, from: old)
        if settled == 0 {
            settled = meetOtherWriting(new, from: old)
            if settled > 0 { reference = new }
        }
        let together = sentTogether(after: settled, new)
        var touched: Set<ExactString> = []
        for index in settled..<pending.count {
            // What follows a creation that may have arrived was made on top of it.
            if index == 1, settled == 0, old == nil, pending[0].mayHaveArrived,
                case .create(let created) = pending[0].change
            {
                reference = created
                if sentElements.first?.isEmpty == false {
                    let made = asThere(Patch(settingAllOf: created), new, at: 0)
                    reference = try? JSONDocument(parsing: made.applied(to: .empty))
                }
                reference = reference.map { completed($0, new) }
            }
            guard var patch = pending[index].patch(except: serverFields) else {
                // Of what we sent ourselves, only the fields that we sent tell of another's change.
                let isOurs = settled > 0 || isOwnBase
                if reference.map({ changed(from: $0, to: new, onlyKnown: isOurs) }) ?? true {
                    conflict(index, [])
                }
                // What is made anew behind a deletion that stays replaces what is there.
                if verdicts[index] == .stays { break }
                continue
            }
            let values = PatchValues(patch)
            reference?.keepPlaces(for: patch.set.count + patch.unset.count)
            var fields = patch.fieldNames.filter { field in
                !isThere(field, values, new, at: index)
                    && isChanged(field, from: reference, to: new)
            }
            let ours = fields.filter { together.fields.contains(ExactString($0)) }
            fields.removeAll { together.fields.contains(ExactString($0)) }
            var gone: [String] = []
            if !ours.isEmpty, index < together.count {
                patch = patch.without(ours)
                guard !patch.isEmpty else {
                    verdicts[index] = .coalesced
                    continue
                }
                gone = own(ours, at: index)
                rewritten[index] = .update(remaining(index, without: gone, on: new))
            }
            if !fields.isEmpty, conflict(index, fields) == .serverWins {
                patch = patch.without(fields)
                // Only field by field something of it is left, and goes on.
                guard policy.mergesFields, !patch.isEmpty else { continue }
                verdicts[index] = .stays
                lost[index] = own(fields, at: index)
                gone += lost[index]
                rewritten[index] = .update(remaining(index, without: gone, on: new))
            }
            let isSettled = patch.fieldNames.allSatisfy { isThere($0, values, new, at: index) }
            if isSettled, touched.isDisjoint(with: patch.exactNames),
                pending[index].change != .carried
            {
                settlePresent(index)
                if let known = reference {
                    let patch = asThere(patch, new, at: index)
                    reference = try? JSONDocument(parsing: patch.applied(to: known))
                }
            }
            if verdicts[index] == .stays { touched.formUnion(patch.exactNames) }
        }
    }

    /// What the server had once the first changes arrived, with what it added to their elements.
    func arrivedBase(
        _ settled: Int, _ new: JSONDocument, from old: JSONDocument?
    ) -> JSONDocument? {
        guard settled > 0, let patch = net(0..<settled) else { return old }
        let made = asThere(patch, new, at: settled - 1)
        let base = try? JSONDocument(parsing: made.applied(to: old ?? .empty))
        return old == nil && pending[0].isCreation ? base.map { completed($0, new) } : base
    }

    /// What was sent to make the entity, with what the server has in fields that are set only after
    /// that.
    private func completed(_ made: JSONDocument, _ new: JSONDocument) -> JSONDocument {
        let own = setLater.sorted().compactMap { field in
            made.rawValue(field) == nil
                ? new.rawValue(field).map { (key: field, value: Array($0)) } : nil
        }
        guard !own.isEmpty else { return made }
        return (try? JSONDocument(parsing: made.applying(set: own))) ?? made
    }

    /// How many of the first changes, all of which may have arrived, are there as they were sent.
    func arrivedPrefix(_ new: JSONDocument, from old: JSONDocument?) -> Int {
        for length in sentCounts(where: { isThere($0, $1, new, at: $2) }) {
            guard let patch = net(0..<length), !patch.isEmpty else { continue }
            let moved = patch.fieldNames.contains { field in
                old.map { $0.value(field) != new.value(field) } ?? true
            }
            if moved || isReplaced(old, by: patch, in: 0..<length, new) { return length }
        }
        return 0
    }

    /// How many of the first changes, all of which may have arrived, leave no field but such as the
    /// last one to touch it has there; the most first.
    func sentCounts(
        where isThere: (_ field: String, _ values: PatchValues, _ index: Int) -> Bool
    ) -> [Int] {
        var counts: [Int] = []
        var missing: Set<ExactString> = []
        for (index, change) in pending.prefix(while: \.mayHaveArrived).enumerated() {
            guard let patch = change.patch(except: serverFields) else {
                missing = []
                continue
            }
            let values = PatchValues(patch)
            for field in patch.fieldNames {
                if isThere(field, values, index) {
                    missing.remove(ExactString(field))
                } else {
                    missing.insert(ExactString(field))
                }
            }
            if missing.isEmpty { counts.append(index + 1) }
        }
        return counts.reversed()
    }

    /// How many changes may have arrived together, and the fields that are there as they made them:
    /// nobody else changed those, and what the earlier ones of them made of them is overtaken.
    ///
    /// None where at most one is open.
    private func sentTogether(
        after settled: Int, _ new: JSONDocument
    ) -> (count: Int, fields: Set<ExactString>) {
        let count = pending.prefix(while: \.mayHaveArrived).count
        guard count > settled + 1, let patch = net(0..<count) else { return (0, []) }
        let values = PatchValues(patch)
        let fields = patch.fieldNames.filter { isThere($0, values, new, at: count - 1) }
        return (count, Set(fields.map(ExactString.init)))
    }

    /// Whether the server has another entity than before, and that is the one made anew after a
    /// deletion in a run of changes: nothing else, whichever fields are as they were.
    private func isReplaced(
        _ old: JSONDocument?, by patch: Patch, in range: Range<Int>, _ new: JSONDocument
    ) -> Bool {
        guard let old, pending[range].contains(where: \.isDeletion) else { return false }
        let made = Set(patch.exactNames)
        let others = new.keys.filter {
            !serverFields.contains($0) && !made.contains(ExactString($0))
        }
        return others.isEmpty && changed(from: old, to: new, onlyKnown: false)
    }

    /// What a run of changes amounts to; nil when it ends in a deletion.
    func net(_ range: Range<Int>) -> Patch? {
        var result: Patch? = Patch()
        for change in pending[range] {
            guard let patch = change.patch(except: serverFields) else {
                result = nil
                continue
            }
            result = (result ?? Patch()).followed(by: patch)
        }
        return result
    }

    mutating func markArrived(_ range: Range<Int>) {
        for (index, isOvertaken) in zip(range, PendingChange.overtaken(pending[range])) {
            let isSent = pending[index].mayHaveArrived
            verdicts[index] = isOvertaken ? .coalesced : isSent ? .arrived : .present
        }
    }

    /// The same of what is there by chance, whether or not it was sent.
    mutating func markPresent(_ range: Range<Int>) {
        for (index, isOvertaken) in zip(range, PendingChange.overtaken(pending[range])) {
            verdicts[index] = isOvertaken ? .coalesced : .present
        }
    }

    /// Settles a change of which nothing is left to be sent.
    ///
    /// The fields that it did not lose are there; of one that lost others that is chance.
    private mutating func settlePresent(_ index: Int) {
        verdicts[index] = lost[index].isEmpty ? .present : .superseded
        if verdicts[index] == .superseded { rewritten[index] = nil }
    }

    /// Whether somebody changed a field on the server; of an entity that nobody has said before,
    /// whether somebody set it.
    private func isChanged(
        _ field: String, from old: JSONDocument?, to new: JSONDocument
    ) -> Bool {
        if let old { return old.value(field) != new.value(field) }
        return !policy.mergesFields || new.rawValue(field) != nil
    }

    func changed(
        from old: JSONDocument, to new: JSONDocument, onlyKnown: Bool
    ) -> Bool {
        let difference = Patch(from: old, to: new, except: serverFields)
        // An element that comes to a list is another's in any case.
        return difference.fieldNames.contains {
            !onlyKnown || old.rawValue($0) != nil || lists.elementwise.element($0) != nil
        }
    }

    func isEqual(_ raw: [UInt8]?, _ value: JSONValue?) -> Bool {
        guard let raw else { return value == nil }
        return (try? JSONValue(parsing: raw)) == value
    }

    // MARK: The server has the entity no more

    private mutating func meetDeletion(from old: Base) {
        var first = 0
        if let deletion = pending.lastIndex(where: \.isDeletion) {
            markArrived(0..<deletion + 1)
            first = deletion + 1
        }
        guard first < pending.count else { return }
        // A creation does not conflict with the absence of what it creates.
        let isNew = (first > 0 || !old.isLive) && pending[first].isCreation
        if isNew, !pending[first...].contains(where: \.mayHaveArrived) { return }
        for index in first..<pending.count { conflict(index, [], isDeletedThere: true) }
    }

    @discardableResult
    private mutating func conflict(
        _ index: Int, _ fields: [String], isDeletedThere: Bool = false
    ) -> ConflictSide {
        let side = side(index, fields, isDeletedThere: isDeletedThere)
        let stays: Conflict.Result = policy == .ask ? .asked : .localWins
        conflict(index, fields, side == .localWins ? stays : .serverWins)
        return side
    }

    /// Notes how a conflict was decided; what loses is superseded.
    mutating func conflict(_ index: Int, _ fields: [String], _ result: Conflict.Result) {
        conflicts.append(
            Conflict(
                position: pending[index].position, fields: own(fields, at: index), result: result))
        if result == .serverWins { verdicts[index] = .superseded }
    }
}

extension Patch {
    var exactNames: [ExactString] { fieldNames.map(ExactString.init) }

    func without(_ fields: [String]) -> Patch {
        let left = Set(fields.map(ExactString.init))
        return leavingOut { left.contains(ExactString($0)) }
    }
}

extension ConflictPolicy {
    fileprivate var mergesFields: Bool { if case .mergeFields = self { true } else { false } }
}

extension JSONDocument {
    /// `{}`.
    static var empty: JSONDocument {
        // The two bytes are an object, so that parsing them cannot fail.
        guard let document = try? JSONDocument(parsing: Array("{}".utf8)) else {
            preconditionFailure("{} is a JSON object")
        }
        return document
    }
}
