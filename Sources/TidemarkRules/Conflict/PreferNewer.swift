// PreferNewer.swift — which side changed an entity last, by the server's clock.

package import TidemarkEvents

/// Which side is the newer one.
package enum PreferNewer {
    /// Whether the local side wins: the server's change is less than the margin newer.
    ///
    /// Strict: newer by exactly the margin, and a time that is not known, go to the server.
    package static func localWins(
        server: Timestamp?, local: Timestamp?, margin: TimeSpan
    ) -> Bool {
        guard let server, let local else { return false }
        return server < local.adding(margin)
    }

    /// The time that a field of a server's document holds; nil where it holds none.
    ///
    /// RFC 3339, or seconds since 1970 or, from 10^11 on, milliseconds; fractions of microseconds
    /// are cut off.
    package static func time(_ document: JSONDocument, field: String) -> Timestamp? {
        time(document.value(field))
    }

    /// The time that a value stands for; nil where it stands for none.
    package static func time(_ value: JSONValue?) -> Timestamp? {
        let time: Timestamp? =
            switch value {
            case .string(let text): RFC3339.parse(text)
            case .number(let number): time(number)
            default: nil
            }
        // Zero stands for "not known".
        return time?.rawValue == 0 ? nil : time
    }

    private static let millisecondsFrom = 100_000_000_000.0

    private static func time(_ number: JSONNumber) -> Timestamp? {
        guard let value = number.double else { return nil }
        let isMilliseconds = value.magnitude >= millisecondsFrom
        if let whole = number.int64 {
            return isMilliseconds
                ? Timestamp(milliseconds: whole)
                : Timestamp(microseconds: whole * 1_000_000)
        }
        let microseconds = value * (isMilliseconds ? 1_000 : 1_000_000)
        return Int64(exactly: microseconds.rounded(.down)).map(Timestamp.init(microseconds:))
    }
}

/// When pending changes of one entity were made last, by the server's clock, each with those behind
/// it; a deletion is a change of all fields.
///
/// An older edit of a field does not lose what a newer one of the same field holds.
struct EditTimes: Sendable, Hashable {
    /// For each change, when the entity was changed last.
    private var whole: [Timestamp?] = []
    /// For each change, when its own fields were.
    private var fields: [[ExactString: Timestamp]] = []

    init(_ changes: [PendingChange], except serverFields: Set<String>) {
        var (last, deleted): (Timestamp?, Timestamp?) = (nil, nil)
        var known: [ExactString: Timestamp] = [:]
        for change in changes.reversed() {
            var own: [ExactString: Timestamp] = [:]
            if let patch = change.patch(except: serverFields) {
                for name in patch.exactNames {
                    known[name] = later(known[name], change.editedAt)
                    own[name] = later(known[name], deleted)
                }
            } else {
                deleted = later(deleted, change.editedAt)
            }
            last = later(last, change.editedAt)
            whole.append(last)
            fields.append(own)
        }
        whole.reverse()
        fields.reverse()
    }

    /// When fields of a change were changed last, by it or one behind it: the earliest of them.
    ///
    /// That of the entity where none are named; nil where that of one is not known.
    func editedAt(_ index: Int, _ names: [String]) -> Timestamp? {
        if names.isEmpty { return whole[index] }
        let times = names.map { fields[index][ExactString($0)] }
        return times.contains(nil) ? nil : times.compactMap(\.self).min()
    }
}

private func later(_ one: Timestamp?, _ other: Timestamp?) -> Timestamp? {
    guard let one, let other else { return one ?? other }
    return max(one, other)
}

/// Times as RFC 3339 writes them: `2017-09-01T12:00:00.000Z`.
package enum RFC3339 {
    package static func parse(_ text: String) -> Timestamp? {
        var rest = Array(text.utf8)[...]
        guard let time = rest.time(), let offset = rest.offsetSeconds(), rest.isEmpty else {
            return nil
        }
        return time.adding(seconds: -offset)
    }

    /// A time without a zone, `2017-09-01T12:00:00.000`, as if it were UTC; a date alone is its
    /// midnight.
    package static func parseLocal(_ text: String) -> Timestamp? {
        let isDate = text.utf8.count == "2017-09-01".utf8.count
        var rest = Array((isDate ? text + "T00:00:00" : text).utf8)[...]
        guard let time = rest.time(), rest.isEmpty else { return nil }
        return time
    }
}

extension ArraySlice<UInt8> {
    /// Takes a date and a time of the day, with a fraction of a second if there is one.
    fileprivate mutating func time() -> Timestamp? {
        guard let year = number(4), skip("-"), let month = number(2), skip("-"),
            let day = number(2), skip("T") || skip("t") || skip(" "),
            let hour = number(2), skip(":"), let minute = number(2), skip(":"),
            let second = number(2),
            let whole = Timestamp(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second),
            let microseconds = fraction()
        else { return nil }
        return Timestamp(microseconds: whole.rawValue + microseconds)
    }

    /// Takes exactly so many digits.
    fileprivate mutating func number(_ digits: Int) -> Int? {
        let taken = prefix(digits)
        guard taken.count == digits, taken.allSatisfy(\.isDigit) else { return nil }
        removeFirst(digits)
        return taken.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    fileprivate mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard first == UInt8(ascii: character) else { return false }
        removeFirst()
        return true
    }

    /// Takes a fraction of a second, if there is one, in microseconds.
    fileprivate mutating func fraction() -> Int64? {
        guard skip(".") else { return 0 }
        let digits = prefix(while: \.isDigit)
        guard !digits.isEmpty else { return nil }
        removeFirst(digits.count)
        return (0..<6).reduce(0) { value, place in
            value * 10
                + (place < digits.count ? Int64(digits[digits.startIndex + place] - 0x30) : 0)
        }
    }

    /// Takes what the clock is ahead of UTC.
    fileprivate mutating func offsetSeconds() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let sign: Int64
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(2), skip(":"), let minutes = number(2), hours < 24, minutes < 60
        else { return nil }
        return sign * Int64(hours * 3600 + minutes * 60)
    }
}

extension UInt8 {
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
}
