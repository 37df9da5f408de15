// KeptAnswersTests.swift — answers that are kept with a commit never keep it from being stored.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import ViewsSupport

@Suite struct `answers that are kept with a commit` {
    private static let most = SyncSettings.KeptAnswers(runs: 3, bytes: 1 << 20)
    private let store: ScratchStore

    init() throws { store = try ScratchStore() }

    /// Bytes that zstd makes nothing of.
    private func body(_ number: Int) -> [UInt8] {
        var random = SplitMix64(seed: 0x5EED_2800 + UInt64(number))
        return random.bytes(700)
    }

    /// Logs a run of which one answer is kept.
    @discardableResult
    private func run(_ number: Int) throws -> Position {
        try store.journal.write(at: Timestamp(rawValue: 1)) { draft in
            var answer = KeptAnswer()
            answer.status = 200
            answer.body = body(number)
            let start = try draft.append(
                Event(.syncStarted, recordedAt: draft.now, json: Array("{}".utf8)))
            var answered = RequestAnswered(status: 200)
            answered.kept = [answer].name
            try draft.append(
                Event(
                    .requestAnswered, recordedAt: draft.now, sync: start, call: start,
                    json: answered.encoded))
            draft.keep([answer], of: start, Self.most)
            draft.pruneAnswers(Self.most)
            return start
        }
    }

    private func kept(of run: Position) throws -> [KeptAnswer]? {
        try store.journal.environment.read { transaction in
            let event = try #require(try store.journal.log.event(at: run.next, transaction))
            let named = try #require(event.keptName)
            return try store.journal.log.kept.answers(
                named: named.name, of: run, at: run.next, transaction)
        }
    }

    /// The pages of the table with the answers on which some bytes lie, free ones included.
    private func pages(of bytes: [UInt8]) throws -> Set<Int> {
        let data = try Data(contentsOf: URL(filePath: store.path + "/data.mdb"))
        var pages: Set<Int> = []
        var rest = data.startIndex..<data.endIndex
        while let found = data.range(of: Data(bytes), in: rest) {
            let page = found.lowerBound / 4096
            let image = PageImage([UInt8](data[page * 4096..<(page + 1) * 4096]))
            let isOfAnswers = (0..<(image.nodeCount ?? 0)).contains {
                image.node($0, of: .leaf)?.key.count == 20
            }
            if isOfAnswers { pages.insert(page) }
            rest = found.upperBound..<data.endIndex
        }
        return pages
    }

    @Test func `are those of the last runs`() throws {
        let runs = try (0..<5).map { try run($0) }
        #expect(try kept(of: runs[1]) == nil)
        for number in 2..<5 { #expect(try kept(of: runs[number])?.first?.body == body(number)) }
    }

    @Test func `are done without where a page of their table is damaged`() throws {
        for number in 0..<3 { try run(number) }
        let file = try FileHandle(forUpdating: URL(filePath: store.path + "/data.mdb"))
        for number in 0..<3 {
            for page in try pages(of: Array(body(number)[..<40])) {
                // The page says that it is another one.
                try file.seek(toOffset: UInt64(page * 4096))
                try file.write(contentsOf: [0xEE])
            }
        }
        try file.close()

        let start = try run(3)
        #expect(try store.journal.read { $0.last } == start.next)
        // Nor do the commits after it look at the table; who reads it is told.
        let later = try run(4)
        #expect(throws: StoreError.self) { try kept(of: later) }
    }
}
