// Listing+Window.swift — a window of which the server does not list everything at once: it is
// listed in halves, and those in halves again.
//
//   as many as the server lists   of a window               its halves, the later one first
//                                 of a day, or of less      the list fails
//                                 of changes since a date   everything is listed instead

import TidemarkEvents
import TidemarkRules

extension Listing {
    /// Whether a page holds as many entities as the server lists at most, so that others may be
    /// missing.
    func isAtLimit(_ page: ListPage) -> Bool {
        guard page.next == nil, let limit = collection.window?.limit else { return false }
        return page.records.count + page.references.count + page.unreadable.count >= limit
    }

    /// Whether changes since a date may be missing after a page, so that everything is listed.
    package func lacksChanges(_ page: ListPage) -> Bool { after != nil && isAtLimit(page) }

    /// The failure of a list whose window can't be divided any more.
    func tooMany(in span: TimeSpan) -> SyncFailure {
        .client(
            status: 0,
            "the server lists at most \(collection.window?.limit ?? 0) of \(collection.name), and "
                + "there are as many between \(span.from) and \(span.to)")
    }
}

/// A span of time.
package struct TimeSpan: Sendable, Hashable {
    package var from: Timestamp
    package var to: Timestamp

    package init(from: Timestamp, to: Timestamp) {
        self.from = from
        self.to = to
    }

    /// The longest span that is not divided, in microseconds.
    private static let undividedMax: Int64 = 86_400_000_000

    /// Its halves, which meet at a whole second; nil of a day or less.
    package var halves: [TimeSpan]? {
        let (length, overflow) = to.rawValue.subtractingReportingOverflow(from.rawValue)
        guard !overflow, length > Self.undividedMax else { return nil }
        let middle = from.rawValue + length / 2
        let whole = Timestamp(rawValue: middle - middle % 1_000_000)
        return [TimeSpan(from: from, to: whole), TimeSpan(from: whole, to: to)]
    }
}
