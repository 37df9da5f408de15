// TransferRule.swift — fetching a file part by part: what an answer means, and when the file is
// asked for again.
//
// A part is asked for with the version that the first one was of, in If-Match. Only a strong one
// tells that two parts are of one file (RFC 9110, 15.3.7.3): where there is none, all is asked for
// at once, and so it is where parts come that are far shorter than asked for. Another version, or
// another length of the whole, is another file: what came is thrown away.

package import TidemarkEvents

/// How far the fetching of a file has come.
package struct FetchProgress: Sendable, Hashable {
    /// How many bytes are there.
    package var received: UInt64 = 0
    /// The length of the whole file, once it is known.
    package var total: UInt64?
    /// The version of what is there, as the server wrote it; empty for none.
    package var tag = ""
    /// Whether the server gives no parts, so that all is asked for at once.
    package var isPartless = false
    /// How often it failed in a row.
    package var failures = 0
    /// How often it began anew without having become whole.
    package var restarts = 0
    /// How often in a row something came that may be another's than the server's: a page, an odd
    /// answer, a redirect.
    package var doubts = 0

    package init() {}

    /// The version that a request for the next part demands; nil where none can be demanded.
    package var demanded: String? {
        received > 0 && tag.hasPrefix("\"") ? tag : nil
    }
}

/// What an answer says of a file, as far as it matters.
package struct FetchFacts: Sendable, Hashable {
    package var status = 0
    /// The header fields ETag, Content-Range, Content-Length and Content-Encoding.
    package var tag: String?
    package var range: String?
    package var length: String?
    package var encoding: String?
    /// The version that the file must be of; nil for any.
    package var version: String?
    /// How many bytes it has in that version; nil where no list says so.
    package var listed: UInt64?
    /// Whether the answer is HTML.
    package var isPage = false
    /// How many bytes of it were written.
    package var written: UInt64 = 0

    package init() {}

    /// Whether what came without a version has another length than the file.
    fileprivate var isOfOtherLength: Bool { tag == nil && listed.map { $0 != written } ?? false }

    /// Whether the file is not there any more in the version that it must be of.
    fileprivate var tellsOtherVersion: Bool {
        switch status {
        case 200, 206:
            // Whether an answer without a version is of it nobody can tell.
            tag.map { !EntityTag.isSame($0, version ?? "") } ?? false
        default: TransferRule.isOtherVersion(status)
        }
    }
}

/// Decides what answers to requests for a file mean.
package enum TransferRule {
    /// How long a file is not asked for that could not be had as it is.
    package static let refusedFor = TimeSpan.days(1)
    /// How long a file is not asked for that is not there any more in the version that it must be
    /// of: a list tells of the other one, which is asked for at once.
    package static let listAwaitedFor = TimeSpan.seconds(120)
    /// How long a file is not asked for at least after what may be another's than the server's.
    package static let doubtedFor = TimeSpan.seconds(120)
    /// The shortest part that is gone on behind, where more was asked for and does not end there:
    /// each part costs two events, and a file may have as many parts as it has bytes.
    package static let partMin: UInt64 = 64 << 10
    /// From how many restarts on it is not begun anew at once.
    package static let restartsMax = 3

    /// After how many answers in a row that did not give it a file is told of.
    package static let failuresTold = 3

    /// Whether whoever waits for a file is told that it can't be had.
    ///
    /// - Parameter progress: after the answer.
    package static func isTold(
        _ result: ReceivedFile.Result, _ progress: FetchProgress, status: Int
    ) -> Bool {
        switch result {
        case .refused: return true
        case .part, .whole, .sent: return false
        case .anew, .partless, .failed:
            let isOfFile = (200..<500).contains(status) && (status == 423 || !isPassing(status))
            return isOfFile && max(progress.failures, progress.restarts) >= failuresTold
        }
    }

    /// What an answer means, and how long the whole file is as far as is known.
    ///
    /// - Parameters:
    ///   - progress: before the request.
    ///   - from: the first byte that was asked for.
    ///   - count: how many were asked for; nil for all.
    ///   - bytesMax: the longest file that is taken.
    package static func result(
        _ facts: FetchFacts, _ progress: FetchProgress, from: UInt64, count: UInt64?,
        bytesMax: UInt64
    ) -> (result: ReceivedFile.Result, total: UInt64?) {
        if facts.version != nil, facts.tellsOtherVersion {
            // A list names the other one.
            return (from == 0 ? .failed : .anew, nil)
        }
        // What is encoded has another length than what was written.
        let said = isEncoded(facts) ? nil : facts.length.flatMap { UInt64($0) }
        switch facts.status {
        case 200 where from > 0: return (wholeForRest(facts, progress, said), nil)
        // A page without a version may be another's than the file's.
        case 200 where facts.isPage && facts.tag == nil && progress.doubts < doubtsMax:
            return (.failed, nil)
        // As often as it comes.
        case 200 where facts.isOfOtherLength && !isEncoded(facts): return (.failed, nil)
        case 200:
            if let said, said > bytesMax { return (.refused, said) }
            if let said, said != facts.written { return (.failed, nil) }
            return facts.written > bytesMax
                ? (.refused, facts.written) : (.whole, facts.written)
        case 206:
            guard !isEncoded(facts), let count, let range = ContentRange(facts.range) else {
                return (.partless, nil)
            }
            guard range.total <= bytesMax else { return (.refused, range.total) }
            if from > 0 {
                let isSame =
                    progress.demanded != nil && progress.total == range.total
                    && progress.tag == facts.tag
                guard isSame else { return (.anew, nil) }
            }
            guard range.first == from, range.count == facts.written, facts.written > 0,
                facts.written <= count, range.last < range.total
            else { return (.failed, nil) }
            if range.last + 1 == range.total { return (.whole, range.total) }
            // Without a strong version nothing tells whether two parts are of one file.
            let isPart = facts.tag?.hasPrefix("\"") == true && facts.written >= min(count, partMin)
            return (isPart ? .part : .partless, range.total)
        case 412: return (.anew, nil)
        case 416:
            // There is no first byte of an empty file.
            return from == 0 && count != nil ? (.partless, nil) : (.anew, nil)
        case let status where isPassing(status): return (.failed, nil)
        case 300..<500: return (.refused, nil)
        default: return (.failed, nil)
        }
    }

    /// What 200 means where a rest was asked for: nothing was written over what is there.
    ///
    /// By its version, or else by its length, it is the file that is there in part, which the
    /// server does not give in parts any more; with another version it is another file. What tells
    /// neither may come from a machine in between, and counts only once it came again.
    private static func wholeForRest(
        _ facts: FetchFacts, _ progress: FetchProgress, _ said: UInt64?
    ) -> ReceivedFile.Result {
        if let tag = facts.tag {
            return EntityTag.isSame(tag, progress.tag) ? .partless : .anew
        }
        let isSame = said != nil && said == progress.total
        return isSame || progress.doubts >= doubtsMax ? .partless : .failed
    }

    /// Whether a status says that a file is not there in the version that was asked for.
    package static func isOtherVersion(_ status: Int) -> Bool {
        switch status {
        case 404, 410, 412: true
        default: false
        }
    }

    /// Whether a status says of a file only that it was not given now: somebody else may hold it
    /// (423).
    private static func isPassing(_ status: Int) -> Bool {
        switch status {
        case 401, 408, 423, 425, 429: true
        default: false
        }
    }

    private static func isEncoded(_ facts: FetchFacts) -> Bool {
        guard let encoding = facts.encoding else { return false }
        return !encoding.isEmpty && encoding.lowercased() != "identity"
    }

    /// What an answer to a file that was sent means.
    ///
    /// A page may come from a machine in between: with 200 it took nothing, and a refusal counts
    /// only once it came again.
    ///
    /// - Parameters:
    ///   - hasName: whether it is known by what records name the file then.
    ///   - isPage: whether the answer is HTML.
    ///   - doubts: how often in a row such a refusal came before.
    package static func sent(
        status: Int, hasName: Bool, isPage: Bool, doubts: Int
    ) -> ReceivedFile.Result {
        switch status {
        case 200 where isPage: .failed
        case 200..<300: hasName ? .sent : .refused
        case let status where isPassing(status): .failed
        case 300..<500: isPage && doubts < doubtsMax ? .failed : .refused
        default: .failed
        }
    }

    /// How often what may be another's is taken for that of a machine in between.
    package static let doubtsMax = 2

    /// Whether a media type is that of HTML.
    package static func isPage(_ type: String) -> Bool {
        type.lowercased().hasPrefix("text/html")
    }

    /// Whether an answer that did not give a file may be that of a machine in between.
    ///
    /// - Parameters:
    ///   - isPage: whether it is HTML.
    ///   - isOfRest: whether the rest of a file was asked for, of which a part is there.
    package static func isDoubtful(status: Int, isPage: Bool, isOfRest: Bool) -> Bool {
        status == 200 && (isPage || isOfRest)
    }

    /// Whether a refusal of a file that was sent may be that of a machine in between.
    package static func isDoubtfulRefusal(status: Int, isPage: Bool) -> Bool {
        isPage && (300..<500).contains(status) && !isPassing(status)
    }

    /// How far the file is after an answer.
    ///
    /// - Parameter isDoubtful: whether what came, and did not give it, may be another's than the
    ///   server's.
    package static func after(
        _ result: ReceivedFile.Result, _ progress: FetchProgress, from: UInt64, bytes: UInt64,
        total: UInt64?, tag: String?, isDoubtful: Bool = false
    ) -> FetchProgress {
        var next = progress
        switch result {
        case .part:
            next.received = from.addingReportingOverflow(bytes).overflow ? .max : from + bytes
            next.total = total
            next.tag = tag ?? ""
            next.failures = 0
        case .whole: next = FetchProgress()
        case .anew:
            next.forget()
            next.restarts += 1
            // A version that is another one each time is that of no part.
            if next.restarts > restartsMax { next.isPartless = true }
        case .partless:
            next.forget()
            next.failures = next.isPartless ? next.failures + 1 : next.failures
            next.isPartless = true
        case .refused:
            next = FetchProgress()
            next.failures = progress.failures + 1
        case .failed: next.failures += 1
        case .sent: break
        }
        next.doubts = isDoubtful && result == .failed ? progress.doubts + 1 : 0
        return next
    }

    /// How long the file is not asked for after an answer, or after none came.
    ///
    /// - Parameters:
    ///   - progress: after it.
    ///   - status: that of the answer; nil where none came.
    ///   - retryAfter: for how many seconds the server asked not to be called.
    package static func pause(
        _ result: ReceivedFile.Result, _ progress: FetchProgress, status: Int? = nil,
        retryAfter: Int64?, _ backoff: BackoffSpan
    ) -> TimeSpan {
        switch result {
        case .part, .whole, .sent: return .zero
        case .refused: return refusedFor
        case .anew where progress.restarts <= restartsMax: return .zero
        case .partless where progress.failures == 0: return .zero
        case .anew, .partless, .failed:
            let times = max(progress.failures, progress.restarts - restartsMax, 1)
            var seconds = Int(BackoffRule.longest(failures: times, backoff) / 1_000_000)
            if result == .failed, status.map(isOtherVersion) == true {
                seconds = max(seconds, listAwaitedFor.seconds)
            }
            if progress.doubts > 0 { seconds = max(seconds, doubtedFor.seconds) }
            return .seconds(max(seconds, Int(clamping: retryAfter ?? 0)))
        }
    }
}

/// For how long a file is not asked for, by the device's clock.
package struct FilePause: Sendable, Hashable {
    /// When it began.
    package var since: Timestamp
    package var until: Timestamp

    package init(since: Timestamp, until: Timestamp) { (self.since, self.until) = (since, until) }

    /// Nil for no pause at all.
    package init?(_ span: TimeSpan, since: Timestamp) {
        guard span != .zero else { return nil }
        self.init(since: since, until: since.adding(span))
    }

    /// How many seconds a moment may be before the beginning: it may have been looked up before
    /// another request's answer was logged.
    private static let slackSeconds: Int64 = 10

    /// Whether the file may be asked for.
    ///
    /// Where the clock was set back behind its beginning it is void, so that it does not grow.
    package func isOver(at now: Timestamp) -> Bool {
        now >= until || now.adding(seconds: Self.slackSeconds) < since
    }

    /// When the file may be asked for.
    package func end(at now: Timestamp) -> Timestamp { isOver(at: now) ? min(now, until) : until }
}

extension FetchProgress {
    /// Forgets how often it was not given.
    package mutating func forgetFailures() { (failures, restarts, doubts) = (0, 0, 0) }

    /// Forgets what came; also the version that it was of.
    package mutating func forget() {
        received = 0
        total = nil
        tag = ""
    }
}

/// The header field Content-Range of a single range: `bytes 0-99/1234`.
struct ContentRange: Sendable, Hashable {
    var first: UInt64
    var last: UInt64
    var total: UInt64
    var count: UInt64 { last - first + 1 }

    /// Nil for one of another unit, without a length of the whole, or that makes no sense.
    init?(_ field: String?) {
        guard let field, field.lowercased().hasPrefix("bytes ") else { return nil }
        let parts = field.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let total = UInt64(parts[1]) else { return nil }
        let ends = parts[0].split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let first = UInt64(ends[0]), let last = UInt64(ends[1]),
            first <= last, last < .max
        else { return nil }
        (self.first, self.last, self.total) = (first, last, total)
    }
}
