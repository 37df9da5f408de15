// TransferRuleTests.swift — what answers to requests for a file mean, and when it is asked for
// again.

import Testing
import TidemarkEvents
import TidemarkRules

private func facts(
    _ status: Int, range: String? = nil, length: String? = nil, tag: String? = nil,
    encoding: String? = nil, written: UInt64 = 0
) -> FetchFacts {
    var facts = FetchFacts()
    facts.status = status
    facts.range = range
    facts.length = length
    facts.tag = tag
    facts.encoding = encoding
    facts.written = written
    return facts
}

private func progress(_ received: UInt64, of total: UInt64?, tag: String = "") -> FetchProgress {
    var progress = FetchProgress()
    progress.received = received
    progress.total = total
    progress.tag = tag
    return progress
}

private func result(
    _ facts: FetchFacts, _ before: FetchProgress = FetchProgress(), count: UInt64? = 4,
    bytesMax: UInt64 = 100
) -> ReceivedFile.Result {
    TransferRule.result(
        facts, before, from: before.received, count: count, bytesMax: bytesMax
    ).result
}

@Suite struct `an answer to a request for a file` {
    @Test("is a part, or the last one, by what Content-Range says")
    func parts() {
        let tag = "\"a\""
        #expect(result(facts(206, range: "bytes 0-3/10", tag: tag, written: 4)) == .part)
        let before = progress(8, of: 10, tag: tag)
        let last = facts(206, range: "bytes 8-9/10", tag: tag, written: 2)
        #expect(result(last, before) == .whole)
    }

    @Test("is no part without a strong version, which alone tells that parts are of one file")
    func unversioned() {
        for tag in [nil, "W/\"a\""] {
            let first = facts(206, range: "bytes 0-3/10", tag: tag, written: 4)
            #expect(result(first) == .partless)
            #expect(result(facts(206, range: "bytes 0-3/4", tag: tag, written: 4)) == .whole)
            let before = progress(4, of: 10, tag: tag ?? "")
            let next = facts(206, range: "bytes 4-7/10", tag: tag, written: 4)
            #expect(result(next, before) == .anew)
        }
    }

    @Test("is no part where far less came than was asked for, and the file does not end there")
    func shortParts() {
        func part(
            of written: UInt64, from: UInt64 = 0, count: UInt64
        ) -> ReceivedFile.Result {
            let range = "bytes \(from)-\(from + written - 1)/1000000"
            return result(
                facts(206, range: range, tag: "\"a\"", written: written),
                progress(from, of: from > 0 ? 1_000_000 : nil, tag: "\"a\""), count: count,
                bytesMax: 1_000_000)
        }
        #expect(part(of: 1, count: 8 << 20) == .partless)
        #expect(part(of: 1, from: 500, count: 8 << 20) == .partless)
        #expect(part(of: (64 << 10) - 1, count: 8 << 20) == .partless)
        #expect(part(of: 64 << 10, count: 8 << 20) == .part)
        #expect(part(of: 3, count: 4) == .partless)
        #expect(part(of: 4, count: 4) == .part, "it is all that was asked for")
        #expect(part(of: 1, from: 999_999, count: 8 << 20) == .whole, "the file ends there")
    }

    @Test("is of another version than the one that a list told, and not taken")
    func listedVersion() {
        func result(
            _ status: Int, tag: String?, from: UInt64 = 0, range: String? = nil
        ) -> ReceivedFile.Result {
            var answer = facts(status, range: range, tag: tag, written: 4)
            answer.version = "\"a\""
            let before = progress(from, of: from > 0 ? 10 : nil, tag: "\"a\"")
            return TransferRule.result(answer, before, from: from, count: 4, bytesMax: 100).result
        }
        #expect(result(200, tag: "\"a\"") == .whole)
        #expect(result(200, tag: "W/\"a\"") == .whole)
        #expect(result(200, tag: nil) == .whole)
        #expect(result(200, tag: "\"b\"") == .failed)
        #expect(result(206, tag: "\"b\"", range: "bytes 0-3/10") == .failed)
        #expect(result(206, tag: "\"b\"", from: 4, range: "bytes 4-7/10") == .anew)
        #expect(result(206, tag: "\"a\"", from: 4, range: "bytes 4-7/10") == .part)
        for status in [404, 410, 412] { #expect(result(status, tag: nil) == .failed) }
        #expect(result(412, tag: nil, from: 4) == .anew)
        #expect(result(403, tag: nil) == .refused)
    }

    @Test("is asked for as a whole once its version was another one each time")
    func restless() {
        var file = progress(4, of: 10, tag: "\"a\"")
        for _ in 0..<TransferRule.restartsMax {
            file = TransferRule.after(.anew, file, from: 4, bytes: 0, total: nil, tag: nil)
            #expect(!file.isPartless)
        }
        file = TransferRule.after(.anew, file, from: 4, bytes: 0, total: nil, tag: nil)
        #expect(file.isPartless && file.restarts == TransferRule.restartsMax + 1)
    }

    @Test("is passing where the file is locked, and is told of once it came again and again")
    func locked() {
        #expect(result(facts(423)) == .failed)
        #expect(TransferRule.sent(status: 423, hasName: true, isPage: false, doubts: 0) == .failed)
        var file = FetchProgress()
        var told: [Bool] = []
        for _ in 1...3 {
            file = TransferRule.after(.failed, file, from: 0, bytes: 0, total: nil, tag: nil)
            told.append(TransferRule.isTold(.failed, file, status: 423))
        }
        #expect(told == [false, false, true])
        let pause = TransferRule.pause(.failed, file, status: 423, retryAfter: nil, BackoffSpan())
        #expect(pause == .seconds(20))
    }

    @Test("is another file with another version, or another length of the whole")
    func anotherFile() {
        let before = progress(4, of: 10, tag: "\"a\"")
        let range = "bytes 4-7/10"
        #expect(result(facts(206, range: range, tag: "\"a\"", written: 4), before) == .part)
        #expect(result(facts(206, range: range, tag: "\"b\"", written: 4), before) == .anew)
        #expect(result(facts(206, range: range, written: 4), before) == .anew)
        let longer = facts(206, range: "bytes 4-7/11", tag: "\"a\"", written: 4)
        #expect(result(longer, before) == .anew)
        #expect(result(facts(412), before) == .anew)
        #expect(result(facts(416), before) == .anew)
    }

    @Test("is all of it with 200, also where the first part was asked for")
    func whole() {
        #expect(result(facts(200, length: "7", written: 7)) == .whole)
        #expect(result(facts(200, length: "0")) == .whole)
        #expect(result(facts(200, length: "7", encoding: "gzip", written: 9)) == .whole)
    }

    @Test("is not taken with 200 where a rest was asked for: then all is asked for at once")
    func wholeForRest() {
        let before = progress(4, of: 10, tag: "\"a\"")
        #expect(result(facts(200, length: "10"), before) == .partless)
        #expect(result(facts(200, tag: "\"a\""), before) == .partless)
        #expect(result(facts(200, tag: "W/\"a\""), before) == .partless)
        #expect(result(facts(200, length: "10", tag: "\"b\""), before) == .anew)
    }

    @Test("is believed the third time where 200 for a rest tells neither version nor length")
    func oddForRest() {
        let answers = [
            facts(200), facts(200, length: "7"), facts(200, length: "10", encoding: "br"),
        ]
        for answer in answers {
            var before = progress(4, of: 10, tag: "\"a\"")
            let results = (0..<3).map { _ in
                let result = result(answer, before)
                before = TransferRule.after(
                    result, before, from: 4, bytes: 0, total: nil, tag: nil, isDoubtful: true)
                return result
            }
            #expect(results == [.failed, .failed, .partless])
        }
    }

    @Test("is believed the third time where it is a page without a version")
    func page() {
        var answer = facts(200, length: "7", written: 7)
        answer.isPage = true
        var before = FetchProgress()
        let results = (0..<3).map { _ in
            let result = result(answer, before)
            before = TransferRule.after(
                result, before, from: 0, bytes: 7, total: 7, tag: nil, isDoubtful: true)
            return result
        }
        #expect(results == [.failed, .failed, .whole])
        answer.tag = "\"a\""
        #expect(result(answer) == .whole)
    }

    @Test("is never believed where it has no version, and another length than the file by a list")
    func ofOtherLength() {
        var answer = facts(200, written: 7)
        answer.isPage = true
        answer.listed = 5
        var before = FetchProgress()
        before.doubts = 9
        #expect(result(answer, before) == .failed)
        answer.isPage = false
        #expect(result(answer) == .failed)
        answer.encoding = "br"
        #expect(result(answer) == .whole, "what came is another form of it")
        answer.encoding = nil
        answer.tag = "\"a\""
        #expect(result(answer) == .whole, "it is of that version")
        answer.tag = nil
        answer.listed = 7
        #expect(result(answer) == .whole)
    }

    @Test("brings nothing where it is longer or shorter than it says")
    func otherLength() {
        #expect(result(facts(200, length: "5", written: 9)) == .failed)
        #expect(result(facts(206, range: "bytes 0-3/10", written: 5)) == .failed)
        #expect(result(facts(206, range: "bytes 1-4/10", written: 4)) == .failed)
        #expect(result(facts(206, range: "bytes 0-8/10", written: 9)) == .failed)
        #expect(result(facts(206, range: "bytes 0-3/3", written: 4)) == .failed)
    }

    @Test("is asked for without parts where its parts make no sense, or where it is empty")
    func partless() {
        #expect(result(facts(206, range: "bytes 0-3/*", written: 4)) == .partless)
        #expect(result(facts(206, written: 4)) == .partless)
        #expect(
            result(facts(206, range: "bytes 0-3/9", encoding: "br", written: 4)) == .partless)
        #expect(result(facts(416)) == .partless)
    }

    @Test("is refused where the file is too large, gone or elsewhere")
    func refused() {
        #expect(result(facts(206, range: "bytes 0-3/101", written: 4)) == .refused)
        #expect(result(facts(200, length: "101", written: 101)) == .refused)
        #expect(result(facts(200, written: 101)) == .refused)
        #expect(
            [302, 403, 404, 410].map { result(facts($0)) } == [
                .refused, .refused, .refused, .refused,
            ])
        #expect(
            [401, 429, 500, 204].map { result(facts($0)) } == [.failed, .failed, .failed, .failed])
    }
}

@Suite struct `a file that did not come` {
    private let backoff = BackoffSpan(min: .seconds(5), max: .seconds(60))

    private func pauses(_ results: [ReceivedFile.Result]) -> [Int] {
        var now = FetchProgress()
        return results.map { result in
            now = TransferRule.after(
                result, now, from: now.received, bytes: 4, total: 100, tag: nil)
            return TransferRule.pause(result, now, retryAfter: nil, backoff).seconds
        }
    }

    @Test("is asked for again after a doubled time, until a part comes")
    func doubled() {
        #expect(pauses([.failed, .failed, .failed, .part, .failed]) == [5, 10, 20, 0, 5])
        #expect(pauses(Array(repeating: .failed, count: 8)).last == 60)
    }

    @Test("is begun anew three times at once, and then with pauses")
    func restarts() {
        #expect(pauses([.anew, .part, .anew, .anew, .anew, .anew]) == [0, 0, 0, 0, 5, 10])
    }

    @Test("is asked for after a day where it can't be had as it is")
    func refused() { #expect(pauses([.refused, .refused]) == [86_400, 86_400]) }

    @Test("is asked for as a whole at once, and with pauses where that gives a part, too")
    func partless() { #expect(pauses([.partless, .partless, .partless]) == [0, 5, 10]) }

    @Test("waits as long as the server asks for")
    func retryAfter() {
        let failed = TransferRule.after(
            .failed, FetchProgress(), from: 0, bytes: 0, total: nil, tag: nil)
        let pause = TransferRule.pause(.failed, failed, retryAfter: 300, backoff)
        #expect(pause == .seconds(300))
    }

    @Test(
        "waits two minutes for a list where it is there in another version, or not at all",
        arguments: [(412, 120), (404, 120), (410, 120), (500, 5), (200, 5)])
    func otherVersion(_ status: Int, _ seconds: Int) {
        let failed = TransferRule.after(
            .failed, FetchProgress(), from: 0, bytes: 0, total: nil, tag: nil)
        let pause = TransferRule.pause(.failed, failed, status: status, retryAfter: nil, backoff)
        #expect(pause.seconds == seconds)
    }

    @Test("waits no longer though the clock is set back")
    func setClock() throws {
        let begun = Timestamp(milliseconds: 1_795_000_000_000)
        #expect(FilePause(.zero, since: begun) == nil)
        let pause = try #require(FilePause(.hours(1), since: begun))
        for seconds: Int64 in [-10, 0, 3599, 3600, 9999] {
            #expect(pause.isOver(at: begun.adding(seconds: seconds)) == (seconds >= 3600))
            #expect(pause.end(at: begun.adding(seconds: seconds)) == begun.adding(seconds: 3600))
        }
        for seconds: Int64 in [-11, -3600, -86_400_000] {
            let now = begun.adding(seconds: seconds)
            #expect(pause.isOver(at: now) && pause.end(at: now) == now)
        }
    }

    @Test("demands a strong version, and no weak one")
    func demanded() {
        #expect(progress(4, of: 10, tag: "\"a\"").demanded == "\"a\"")
        #expect(progress(4, of: 10, tag: "W/\"a\"").demanded == nil)
        #expect(progress(0, of: nil, tag: "\"a\"").demanded == nil)
    }
}
