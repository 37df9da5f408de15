// Rebase+Whole.swift — entities that are kept whole, and documents that a rule made.
//
// Changes that stay are rewritten on the new base: the last one carries all of the difference,
// those before it carry nothing and share its fate. So each mutation still gets one outcome.

import TidemarkEvents

extension Rebase {
    /// The server has the entity, which is not touched here while something is pending on it.
    mutating func meetWhole(_ new: JSONDocument, from old: Base, keepsRefused: Bool) {
        let settled = arrivedPrefix(new, from: old.document)
        markArrived(0..<settled)
        let open = settled..<pending.count
        guard let last = open.last else { return }
        let reference = arrivedBase(settled, new, from: old.document)
        let isOurs = settled > 0 || isOwnBase
        let isNews = reference.map { changed(from: $0, to: new, onlyKnown: isOurs) } ?? true
        guard keepsRefused || pending[open].contains(where: { !$0.isRefused }) else {
            guard isNews else { return }
            for index in open { conflict(index, fields(of: index), .serverWins) }
            return
        }
        let base = assumed != nil ? old.adding(new) : old
        guard case .document(let bytes)? = try? Current(pending, on: base),
            let whole = try? JSONDocument(parsing: bytes)
        else {
            if pending[last].isDeletion {
                // Deleted here: the deletion stays.
                if isNews { conflict(last, [], .localWins) }
            } else {
                // Changes of nothing: there is no document to keep whole.
                meet(new, from: old.document)
            }
            return
        }
        let difference = Patch(from: new, to: whole, except: serverFields)
        guard !difference.isEmpty else {
            markArrived(open)
            return
        }
        let lost = difference.fieldNames.filter { field in
            reference.map { $0.value(field) != new.value(field) } ?? true
        }
        if !lost.isEmpty { conflict(last, lost, .localWins) }
        guard !isMade(whole, of: pending[open], on: new) else { return }
        carry(.update(difference.narrowed(lists.elementwise)), open.map { $0 })
    }

    /// The server has the entity, and nothing that is pending stays on it.
    mutating func giveWay(_ new: JSONDocument, from old: Base) {
        var settled = arrivedPrefix(new, from: old.document)
        markArrived(0..<settled)
        if settled == 0 { settled = meetOtherWriting(new, from: old.document) }
        for index in settled..<pending.count { conflict(index, fields(of: index), .serverWins) }
    }

    /// A rule made a document of both sides: all that did not arrive is rewritten.
    ///
    /// - Parameters:
    ///   - given: the document.
    ///   - document: the same as it is compared.
    mutating func become(
        _ given: JSONDocument, as document: JSONDocument, from old: Base, to new: Base
    ) {
        let open = verdicts.indices.filter {
            verdicts[$0] == .stays || verdicts[$0] == .superseded
        }
        let start = new.document ?? old.lastDocument
        let difference = start.map { Patch(from: $0, to: document, except: serverFields) }
        if new.isLive, difference?.isEmpty == true {
            // It is the server's own.
            let known = Set(conflicts.map(\.position))
            for index in open where !known.contains(pending[index].position) {
                conflict(index, fields(of: index), .serverWins)
            }
            for index in open { verdicts[index] = .superseded }
            for index in conflicts.indices { conflicts[index].result = .serverWins }
            conflicts.sort { $0.position < $1.position }
            return
        }
        for index in conflicts.indices { conflicts[index].result = .merged }
        let known = Dictionary(
            uniqueKeysWithValues: conflicts.map { ($0.position, $0.fields.map(ExactString.init)) })
        var later: Set<ExactString> = []
        for index in pending.indices.reversed() {
            let patch = pending[index].patch(except: serverFields)
            // What a later change overwrites is not for the rule to keep.
            defer { later.formUnion(patch?.exactNames ?? []) }
            guard verdicts[index] == .stays || verdicts[index] == .superseded else { continue }
            verdicts[index] = .stays
            guard let patch else { continue }
            let values = PatchValues(patch)
            let fields = patch.fieldNames.filter {
                !later.contains(ExactString($0)) && !isEqual(values[$0], document.value($0))
            }
            lost[index] = own(fields, at: index)
            if lost[index].isEmpty { continue }
            let position = pending[index].position
            guard let decided = known[position] else {
                conflict(index, lost[index], .merged)
                losingMore.insert(position)
                continue
            }
            // Where one side deleted the entity, all of it was the rule's to decide.
            if !decided.isEmpty, !lost[index].allSatisfy({ decided.contains(ExactString($0)) }) {
                losingMore.insert(position)
            }
        }
        conflicts.sort { $0.position < $1.position }
        guard let difference else { return carry(.create(given), open) }
        carry(.update(difference.narrowed(lists.elementwise)), open)
    }

    private mutating func carry(_ change: PendingChange.Change, _ indices: [Int]) {
        for index in indices { rewritten[index] = .carried }
        if let last = indices.last { rewritten[last] = change }
    }

    /// Whether changes already make a document of a base.
    private func isMade(
        _ whole: JSONDocument, of changes: ArraySlice<PendingChange>, on base: JSONDocument
    ) -> Bool {
        guard case .document(let bytes)? = try? Current(changes, on: .live(base)),
            let made = try? JSONDocument(parsing: bytes)
        else { return false }
        return Patch(from: made, to: whole, except: serverFields).isEmpty
    }

    private func fields(of index: Int) -> [String] {
        pending[index].patch(except: serverFields)?.fieldNames ?? []
    }

    /// Lets changes that another one carries share its fate.
    mutating func settleCarried() {
        for index in pending.indices.dropLast().reversed()
        where pending[index].change == .carried && verdicts[index] == .stays {
            switch verdicts[index + 1] {
            case .stays: continue
            case .arrived, .present, .coalesced: verdicts[index] = verdicts[index + 1]
            case .superseded:
                let fields = conflicts.first { $0.position == pending[index + 1].position }?.fields
                conflict(index, fields ?? [], .serverWins)
            }
        }
        conflicts.sort { $0.position < $1.position }
    }
}

extension Base {
    /// The same with the fields that only the server's document has.
    fileprivate func adding(_ server: JSONDocument) -> Base {
        guard case .live(var known) = self else { return self }
        known.keepPlaces()
        let fields = server.members.filter { known.rawValue($0.key) == nil }.map {
            Patch.Field($0.key, Array(server.bytes[$0.valueRange]))
        }
        guard !fields.isEmpty else { return self }
        let bytes = Patch(set: fields).applied(to: known)
        return (try? JSONDocument(parsing: bytes)).map { .live($0) } ?? self
    }
}
