// FeedDecision.swift — where a feed goes on after a block.
//
//   block             its keys                    back                   forward
//   short             any                         at the end             from the last key, later
//   full              of several                  up to the last key     from the last key
//   full              all one, K                  those equal to K       those equal to K
//   equal to K, full                              the rest of them       the rest of them; a later
//                                                                        run from K (1)
//   equal to K, short                             before K               after K; a later run
//                                                                        from K (1)
//   nothing past, after K                                                from K (1)
//   full, its last dated ahead                               from that; a later run from the
//                                                            last that is not (2)
//
// (1) While others may still come to have K.
// (2) Or from where this one began. So each run lists what is dated ahead, and it hides nothing.
//
// Back, a block older than the feed goes ends it; where the time is not sure, only for this run.
//
// A block is short when it has fewer entities than were asked for and the server says of no more.

package import TidemarkEvents

/// What a block of a feed has, as far as the next one depends on it.
package struct FeedBlockFacts: Sendable, Hashable {
    /// The keys of its records, in their order; records without a key are left out.
    package var keys: [FeedKey]
    /// The id of its last record.
    package var lastID: String?
    /// How many records it has, those without a key among them.
    package var count: Int
    /// Whether the server says that there are more.
    package var hasMore: Bool

    package init(keys: [FeedKey], lastID: String?, count: Int, hasMore: Bool) {
        self.keys = keys
        self.lastID = lastID
        self.count = count
        self.hasMore = hasMore
    }
}

/// Where a feed goes on after a block.
package struct FeedTurn: Sendable, Hashable {
    package var cursor: FeedCursor
    /// Whether this part of the feed is done for now.
    package var isOver: Bool
    /// Where a later run goes on, if this one is cut off; nil for the same place.
    package var later: FeedCursor?
    /// Whether it goes on among changes dated ahead, so that no later run goes on there.
    package var isAhead = false
}

/// Why a block says nothing of where the feed goes on.
package enum FeedProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// A key that was not asked for: the server ignores the filter.
    case beyond(FeedKey, FeedCursor)
    /// A key after one that comes later.
    case disorder(FeedKey, FeedKey)
    /// A full block without any key.
    case noKeys(Int)
    /// A block that ends where the one before did.
    case repeated(FeedCursor)

    package var description: String {
        switch self {
        case .beyond(let key, let cursor):
            "a block \(cursor) has the key \(key): the server ignores the filter"
        case .disorder(let first, let second):
            "a block has the key \(second) after \(first): the server does not sort"
        case .noKeys(let count): "none of a block's \(count) records has a key"
        case .repeated(let cursor): "a block \(cursor) ends where the one before did"
        }
    }
}

/// The decisions about a feed.
package struct FeedDecision: Sendable {
    package let rule: FeedRule
    private let dates: DateFormat

    package init(_ rule: FeedRule, _ dates: DateFormat) {
        self.rule = rule
        self.dates = dates
    }

    // MARK: Keys

    /// The time that a key says; nil where it says none.
    ///
    /// A key that is no text where times are texts, or no number where they are numbers, is read
    /// in the other form: a number counts milliseconds then.
    package func time(of key: FeedKey) -> Timestamp? {
        let raw = key.value.encoded()[...]
        return dates.timestamp(raw)
            ?? (key.isNumber ? DateFormat.milliseconds : .iso8601).timestamp(raw)
    }

    /// The key that a field's value is; nil where it is missing or no time.
    package func key(_ value: JSONValue?) -> FeedKey? {
        value.flatMap { FeedKey($0) }.flatMap { time(of: $0) == nil ? nil : $0 }
    }

    /// The key of a time, as this library writes it.
    package func key(of time: Timestamp) -> FeedKey {
        let value = try? JSONValue(parsing: dates.encoded(time))
        return value.flatMap { FeedKey($0) } ?? FeedKey(time.description)
    }

    /// Whether one key comes before another, as the server compares them.
    package func isBefore(_ left: FeedKey, _ right: FeedKey) -> Bool {
        if rule.compares == .verbatim {
            if !left.isNumber, !right.isNumber {
                return left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
            }
            // Texts come before numbers.
            if left.isNumber != right.isNumber { return right.isNumber }
        }
        guard let first = time(of: left), let second = time(of: right) else { return false }
        return first < second
    }

    /// Whether two keys are one to the server.
    package func areSame(_ left: FeedKey, _ right: FeedKey) -> Bool {
        if rule.compares == .verbatim, left.isNumber == right.isNumber, !left.isNumber {
            return left == right
        }
        return !isBefore(left, right) && !isBefore(right, left)
    }

    /// Whether a key lies where a cursor asks for it.
    private func fits(_ key: FeedKey, _ cursor: FeedCursor) -> Bool {
        switch cursor {
        case .upTo(let bound): !isBefore(bound, key)
        case .before(let bound): isBefore(key, bound)
        case .from(let bound): !isBefore(key, bound)
        case .after(let bound): isBefore(bound, key)
        case .equal(let bound, _): areSame(key, bound)
        case .end: false
        }
    }

    // MARK: Blocks

    /// Where a part of a feed goes on after a block.
    ///
    /// - Parameters:
    ///   - isBack: whether it is the backfill.
    ///   - cursor: where the block began.
    ///   - now: the server's time: a change that is later moves nothing.
    ///   - isSure: whether the backfill may end by it; else a later run goes on where it is.
    package func turn(
        _ block: FeedBlockFacts, isBack: Bool, at cursor: FeedCursor, now: Timestamp,
        isSure: Bool = true
    ) throws(FeedProblem) -> FeedTurn {
        try check(block, isBack: isBack, cursor)
        let isShort = block.count < rule.block && !block.hasMore
        if case .equal(let key, let id) = cursor {
            if isShort, isBack { return FeedTurn(cursor: .before(key), isOver: false) }
            if isShort {
                return FeedTurn(
                    cursor: .after(key), isOver: false,
                    later: isRecent(key, now) ? .from(key) : nil)
            }
            guard let last = block.lastID, last != id else { throw .repeated(cursor) }
            // A later run begins with those of the key again: some may come that stand before it.
            return FeedTurn(
                cursor: .equal(key, after: last), isOver: false,
                later: !isBack && isRecent(key, now) ? .from(key) : nil)
        }
        if !isShort, block.keys.isEmpty { throw .noKeys(block.count) }
        return isBack
            ? turnBack(block, isShort, now, isSure)
            : turnForward(block, isShort, cursor, now)
    }

    private func turnBack(
        _ block: FeedBlockFacts, _ isShort: Bool, _ now: Timestamp, _ isSure: Bool
    ) -> FeedTurn {
        guard !isShort, let first = block.keys.first, let last = block.keys.last else {
            return FeedTurn(cursor: .end, isOver: true)
        }
        let isOld = isTooOld(last, now)
        if isOld, isSure { return FeedTurn(cursor: .end, isOver: true) }
        let isOneKey = areSame(first, last)
        return FeedTurn(cursor: isOneKey ? .equal(last, after: nil) : .upTo(last), isOver: isOld)
    }

    private func turnForward(
        _ block: FeedBlockFacts, _ isShort: Bool, _ cursor: FeedCursor, _ now: Timestamp
    ) -> FeedTurn {
        let last = latest(block.keys, now)
        var kept = last.map { FeedCursor.from($0) } ?? cursor
        if last == nil, case .after(let key) = cursor, isRecent(key, now) { kept = .from(key) }
        guard !isShort, let first = block.keys.first, let end = block.keys.last else {
            return FeedTurn(cursor: kept, isOver: true)
        }
        let isAhead = !isPast(end, now)
        let place = isAhead ? end : last ?? end
        return FeedTurn(
            cursor: areSame(first, place) ? .equal(place, after: nil) : .from(place),
            isOver: false, later: isAhead ? kept : nil, isAhead: isAhead)
    }

    /// The last of some changes that is not later than the server's time; nil for none.
    package func latest(_ keys: [FeedKey], _ now: Timestamp) -> FeedKey? {
        var latest: FeedKey?
        for key in keys where isPast(key, now) {
            if latest.map({ isBefore($0, key) }) ?? true { latest = key }
        }
        return latest
    }

    /// Whether a record with a key is older than the feed goes back.
    package func isTooOld(_ key: FeedKey, _ now: Timestamp) -> Bool {
        guard let ageMax = rule.ageMax, let time = time(of: key) else { return false }
        return time < now.subtracting(ageMax)
    }

    /// Whether a change is not later than the server's time, which is known to some seconds.
    private func isPast(_ key: FeedKey, _ now: Timestamp) -> Bool {
        time(of: key).map { $0 <= now.adding(seconds: Self.slack) } ?? false
    }

    /// Whether a change may still come that has the key as well: clocks and long transactions
    /// differ by that much.
    private func isRecent(_ key: FeedKey, _ now: Timestamp) -> Bool {
        time(of: key).map { $0 >= now.subtracting(.seconds(Self.sameKeyFor)) } ?? false
    }

    private static let slack: Int64 = 60
    private static let sameKeyFor = 600

    private func check(
        _ block: FeedBlockFacts, isBack: Bool, _ cursor: FeedCursor
    ) throws(FeedProblem) {
        var before: FeedKey?
        for key in block.keys {
            guard fits(key, cursor) else { throw .beyond(key, cursor) }
            if case .equal = cursor { continue }
            if let before, isBack ? isBefore(before, key) : isBefore(key, before) {
                throw .disorder(before, key)
            }
            before = key
        }
    }
}
