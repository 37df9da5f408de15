// AnswerTableTests.swift — answers that are kept beside the log: they come back byte for byte, what
// events hold of them is not stored twice, and that they are gone is no damage.

import TestSupport
import Testing
import TidemarkEvents
import TidemarkStore

@testable import TidemarkLog

@Suite struct `answers that are kept` {
    private let run = Position(1)

    private func answer(_ body: [UInt8], status: Int = 200) -> KeptAnswer {
        var answer = KeptAnswer()
        answer.status = status
        answer.uptime = 12
        answer.fields = [Named("ETag", "\"7\""), Named("Date", "then")]
        answer.body = body
        return answer
    }

    /// A document that zstd makes little of.
    private func document(_ number: Int) -> [UInt8] {
        var random = SplitMix64(seed: 0x5EED_0000 + UInt64(number))
        let text = random.bytes(400).map { String($0, radix: 16) }.joined()
        return Array(#"{"id":"\#(number)","text":"\#(text)"}"#.utf8)
    }

    /// A log with a run of which some answers are kept, each with the documents that it brought.
    private func log(
        keeping answers: [[KeptAnswer]], _ documents: [[UInt8]] = [], bytesMax: Int = 1 << 20,
        bodyBytes: Int = 0
    ) throws -> ScratchLog {
        let scratch = try ScratchLog()
        var events = [Event(.syncStarted, recordedAt: Timestamp(rawValue: 1), json: [0x7B, 0x7D])]
        for answers in answers {
            var answered = RequestAnswered(status: 200)
            answered.kept = answers.name
            if bodyBytes > 0 {
                answered.body = PayloadBody([UInt8](repeating: 0x61, count: bodyBytes))
            }
            events.append(
                Event(
                    .requestAnswered, recordedAt: Timestamp(rawValue: 1), sync: run, call: run,
                    json: answered.encoded))
        }
        let first = events.count + 1
        for (number, document) in documents.enumerated() {
            var event = sampleEvent(number)
            event.payload = document
            events.append(event)
        }
        try scratch.append(events)
        try scratch.environment.write { transaction in
            for (index, answers) in answers.enumerated() {
                let stored = try AnswerTable.stored(
                    answers,
                    sharing: documents.enumerated().map {
                        (Position(UInt64(first + $0.offset)), $0.element)
                    })
                try scratch.log.kept.keep(
                    stored, of: run, at: Position(UInt64(index + 2)), bytesMax: bytesMax,
                    transaction)
            }
        }
        return scratch
    }

    private func read(_ scratch: ScratchLog, _ position: UInt64) throws -> [KeptAnswer]? {
        try scratch.environment.read { transaction in
            let event = try #require(try scratch.log.event(at: Position(position), transaction))
            let (name, run) = try #require(event.keptName)
            return try scratch.log.kept.answers(
                named: name, of: run, at: Position(position), transaction)
        }
    }

    private func bytes(_ scratch: ScratchLog, of run: Position) throws -> UInt64? {
        try scratch.environment.read { try scratch.log.kept.bytes(of: run, $0) }
    }

    @Test(arguments: [0, 1, 3_899, 3_900, 3_901, 200_000])
    func `come back byte for byte`(_ count: Int) throws {
        var random = SplitMix64(seed: 0x5EED_2701)
        let given = [answer(random.bytes(count)), answer([], status: 304)]
        let scratch = try log(keeping: [given])

        #expect(try read(scratch, 2) == given)
        #expect(try scratch.verify().findings.isEmpty)
    }

    @Test func `are without the documents that events hold`() throws {
        let documents = (0..<50).map(document)
        let body =
            Array("{\"data\":[".utf8) + documents.joined(separator: Array(", ".utf8))
            + Array("]}".utf8)
        let scratch = try log(keeping: [[answer(body)]], documents)

        #expect(try read(scratch, 2)?.first?.body == body)
        #expect(try #require(try bytes(scratch, of: run)) < 1_000)
        let whole = try log(keeping: [[answer(body)]])
        #expect(try #require(try bytes(whole, of: run)) > 10_000)
    }

    @Test func `are whole where the server writes its documents another way`() throws {
        let documents = (0..<9).map(document)
        var random = SplitMix64(seed: 0x5EED_2702)
        // Some of them, in another order, one of them twice.
        let body = documents[4] + random.bytes(7) + documents[2] + documents[2] + documents[8]
        let scratch = try log(keeping: [[answer(body)]], documents)

        #expect(try read(scratch, 2)?.first?.body == body)
        #expect(try scratch.verify().findings.isEmpty)
    }

    /// An event whose payload is longer than 2,000 bytes names it.
    @Test(arguments: [0, 3_000])
    func `are damage where they are not what their event says, and nothing else is`(
        _ bodyBytes: Int
    ) throws {
        let scratch = try log(
            keeping: [[answer(document(1))], [answer(document(2))]], bodyBytes: bodyBytes)
        let key = run.bigEndianBytes + Position(2).bigEndianBytes + [0, 0, 0, 0]
        let stored = try scratch.value(scratch.environment.table("answers"), key)
        for index in stride(from: 0, to: stored.count, by: 7) {
            let found = try scratch.findings { transaction in
                var other = stored
                other[index] ^= 0x55
                try transaction.put(scratch.environment.table("answers"), key, other)
            }
            let codes: [LogError.Code] = index == 0 ? [.newerFormat] : [.corruptAnswer]
            #expect(found.map(\.code) == codes && found.map(\.position) == [Position(2)])
        }
        #expect(try read(scratch, 3) == [answer(document(2))])
    }

    @Test func `are no damage where they are gone`() throws {
        let scratch = try log(keeping: [[answer(document(1))], [answer(document(2))]])
        try scratch.environment.write { try scratch.log.kept.prune(runs: 0, bytes: 1 << 20, $0) }

        #expect(try read(scratch, 2) == nil && read(scratch, 3) == nil)
        #expect(try scratch.verify().findings.isEmpty)
        #expect(
            try scratch.environment.read {
                try $0.count(scratch.environment.table("answers")) == 0
            })
    }

    @Test func `of a run with more than it may have are none, the later ones neither`() throws {
        let scratch = try log(
            keeping: (1...6).map { [answer(document($0))] }, bytesMax: 1_500)

        for position in 2...7 { #expect(try read(scratch, UInt64(position)) == nil) }
        #expect(try scratch.verify().findings.isEmpty)
    }

    @Test(arguments: [
        (runs: 9, bytes: 1 << 20, left: [1, 2, 3, 4]), (runs: 2, bytes: 1 << 20, left: [3, 4]),
        (runs: 9, bytes: 1_999, left: [4]), (runs: 0, bytes: 1 << 20, left: []),
        (runs: 9, bytes: 10, left: []),
    ])
    func `are those of the last runs, and so many bytes of them`(
        runs: Int, bytes: Int, left: [UInt64]
    ) throws {
        let scratch = try ScratchLog()
        try scratch.environment.write { transaction in
            let kept = scratch.log.kept
            for run in 1...4 {
                for event in 0..<2 {
                    try kept.keep(
                        try AnswerTable.stored([answer(document(run))], sharing: []),
                        of: Position(UInt64(run)), at: Position(UInt64(10 * run + event)),
                        bytesMax: 1 << 20, transaction)
                }
            }
            // Of each run there are between 1,000 and 1,500 bytes.
            let size = try #require(try kept.bytes(of: Position(1), transaction))
            #expect((1_000...1_500).contains(size), "\(size)")
            try kept.prune(runs: runs, bytes: bytes, transaction)
            #expect(try kept.runs(transaction).map(\.rawValue) == left)
        }
    }
}
