// SyncRecorder+Pools.swift — how values that a server reserved stand in the log, and which of them
// can't be used.

import TidemarkEvents
import TidemarkViews

extension SyncRecorder {
    /// Logs the values of an answer that can be used.
    ///
    /// - Returns: how many those are, and what is wrong with the others.
    mutating func reserved(
        _ answer: ReservedValues, for refill: Refill, _ exchange: ReadExchange, _ draft: Draft
    ) throws -> SyncOutcome.Refill {
        let key = refill.key
        var added = ReservedAdded(key, pattern: answer.pattern)
        var misfits = Misfits(unreadable: answer.unreadable)
        var seen: Set<ExactString> = []
        for value in answer.values {
            if !PoolKey.isUsable(value: value.value) {
                misfits.unreadable += 1
            } else if let until = value.until, until <= draft.now {
                misfits.over += 1
            } else if try !seen.insert(ExactString(value.value)).inserted
                || !draft.fold.isNew(value.value, of: key)
            {
                misfits.known += 1
            } else {
                added.values.append(value.value)
                added.until.append(value.until)
            }
        }
        let came = answer.values.count + answer.unreadable
        let result = SyncOutcome.Refill(
            key, added: added.values.count, misfits.failure(came: came, of: refill.count))
        var exchange = exchange
        guard !added.values.isEmpty else {
            // Asked again at once, the server would say the same.
            exchange.concern = .pool
            exchange.place = PoolPlace(key)
            exchange.answer.fail(.malformed)
            try self.answered(exchange, draft)
            return result
        }
        added.replaces = try draft.fold.holdsOther(than: answer.pattern, of: key)
        let read = try log(exchange, draft)
        try draft.append(
            Event(
                .reservedAdded, recordedAt: draft.now, sync: read.start, call: read.call,
                json: added.encoded))
        return result
    }

    /// What of an answer can't be used.
    private struct Misfits {
        /// Values that are no texts, or too long.
        var unreadable = 0
        /// Values that were there, or were taken, or came twice.
        var known = 0
        /// Values whose time is over.
        var over = 0

        /// What is wrong; nil where all values came that were asked for.
        func failure(came: Int, of asked: Int) -> SyncFailure? {
            var parts: [String] = []
            if came < asked { parts.append("\(came) of \(asked) values came") }
            if known > 0 { parts.append("\(known) came twice, or were here before") }
            if over > 0 { parts.append("the time of \(over) is over") }
            if unreadable > 0 { parts.append("\(unreadable) can't be read") }
            guard !parts.isEmpty else { return nil }
            return .malformed(
                parts.joined(separator: "; ") + "; the others are kept, and the next run asks for "
                    + "more where too few are left")
        }
    }
}

extension RowReading {
    /// Whether values are left that were made by another pattern than this one.
    fileprivate func holdsOther(than pattern: String?, of key: PoolKey) throws -> Bool {
        guard pattern != nil else { return false }
        return try values(of: key).contains { $0.pattern != pattern }
    }
}
