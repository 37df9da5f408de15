// AnswerAboutTests.swift — an answer about another entity than was asked for, whatever the adapter.

import Testing
import TidemarkEvents
import TidemarkSync

@Suite struct `an answer about another entity` {
    private static let tasks = CollectionModel("tasks")
    private static let one = ServerRecord(
        id: "t1", revision: Revision("1"), document: [0x7B, 0x7D])
    private static let other = ServerRecord(
        id: "t2", revision: Revision("1"), document: [0x7B, 0x7D])
    private static let calls: [ServerCall] = [
        .read(tasks, id: "t1"), .create(tasks, id: "t1", body: []),
        .update(tasks, id: "t1", body: [], revision: Revision("1")),
        .delete(tasks, id: "t1", revision: Revision("1")),
    ]

    private static func answers(_ record: ServerRecord, to call: ServerCall) -> [ServerAnswer] {
        let all: [ServerAnswer] = [.record(record), .deleted(record)]
        let written: [ServerAnswer] = [
            .conflict(record), .stored(id: record.id, record.revision),
        ]
        return call.isWriteOfOne ? all + written : all
    }

    @Test(arguments: calls) func `is malformed`(_ call: ServerCall) {
        for answer in Self.answers(Self.other, to: call) {
            #expect(
                answer.about(call)
                    == .failure(.malformed("t2 in answer to a call about t1")))
        }
    }

    @Test(arguments: calls) func `is what it is where it is about what was asked`(
        _ call: ServerCall
    ) {
        var silent: [ServerAnswer] = [.absent, .failure(.forbidden)]
        if call.isWriteOfOne {
            silent += [.conflictUnknown, .refused(ServerRefusal(status: 400, message: "no"))]
        }
        for answer in Self.answers(Self.one, to: call) + silent {
            #expect(answer.about(call) == answer)
        }
    }

    @Test func `has versions that an event can name, or is malformed`() {
        let long = Revision(rawValue: [UInt8](repeating: 0x61, count: 70_000))
        let record = ServerRecord(id: "t1", revision: long, document: [0x7B, 0x7D])
        let page = ServerAnswer.page(
            ListPage(records: [record, Self.other], next: nil, cursor: nil))
        guard case .page(let known) = page.about(.list(Self.tasks, after: nil, page: nil)) else {
            Issue.record("no page")
            return
        }
        #expect(known.records == [Self.other])
        #expect(known.unreadable.map(\.id) == ["t1"])
        for call in Self.calls {
            for answer in Self.answers(record, to: call) {
                #expect(
                    answer.about(call)
                        == .failure(.malformed("a version of more than 16384 bytes")))
            }
        }
    }

    @Test(arguments: ["", "a\u{7}", String(repeating: "x", count: 401)])
    func `has ids that are keys, or is malformed`(_ id: String) {
        let record = ServerRecord(id: id, revision: nil, document: [0x7B, 0x7D])
        let gone = ServerRecord(id: id, revision: nil, document: nil)
        let page = ListPage(
            records: [record, gone, Self.other],
            references: [ServerReference(id: id, revision: nil)], next: nil, cursor: nil)
        guard
            case .page(let known) = ServerAnswer.page(page)
                .about(.list(Self.tasks, after: nil, page: nil))
        else {
            Issue.record("no page")
            return
        }
        #expect(known.records == [Self.other] && known.references.isEmpty)
        #expect(known.unreadable.map(\.id) == [id, id])
        let combined = ServerAnswer.combined([CombinedPage("tasks", records: [record, Self.other])])
        guard case .combined(let pages) = combined.about(.combined([Self.tasks])) else {
            Issue.record("no pages")
            return
        }
        #expect(pages.map(\.records) == [[Self.other]] && pages[0].unreadable.count == 1)

        var named = Self.tasks
        named.ids = .serverText
        let create = ServerCall.create(named, id: "t1", body: [])
        #expect(ServerAnswer.record(record).about(create).isMalformed)
        #expect(ServerAnswer.stored(id: id, nil).about(create).isMalformed)

        var files = Self.tasks
        files.tree = TreeRule(parent: "parent", name: "name", isByPath: true)
        let list = ServerCall.list(files, after: nil, page: nil)
        #expect(ServerAnswer.page(page).about(list) == .page(page))
    }

    @Test(arguments: ["null", #""a""#, #"{"a":1,"a":2}"#, "{", "", "\u{FEFF}{}"])
    func `has documents that are JSON objects, or is malformed`(_ text: String) {
        let record = ServerRecord(id: "t1", revision: nil, document: Array(text.utf8))
        let gone = ServerRecord(
            id: "t3", revision: nil, document: Array(text.utf8), isDeleted: true)
        let page = ServerAnswer.page(
            ListPage(records: [record, gone, Self.other], next: nil, cursor: nil))
        guard case .page(let known) = page.about(.list(Self.tasks, after: nil, page: nil)) else {
            Issue.record("no page")
            return
        }
        #expect(known.records == [gone, Self.other])
        #expect(known.unreadable.map(\.id) == ["t1"])
        #expect(known.unreadable.map(\.bytes) == [Array(text.utf8)])
        let read = ServerCall.read(Self.tasks, id: "t1")
        #expect(ServerAnswer.record(record).about(read).isMalformed)
        #expect(ServerAnswer.deleted(record).about(read) == .deleted(record))
        #expect(
            ServerAnswer.records([record]).about(.fetch(Self.tasks, ids: ["t1"])).isMalformed)
    }

    /// Each call, and the kinds of answers that it can have besides a failure.
    private static let pairs: [(call: ServerCall, answers: Set<String>)] = [
        (.describe([tasks]), ["description"]),
        (.list(tasks, after: nil, page: nil), ["page", "unchanged", "cursorExpired"]),
        (.fetch(tasks, ids: ["t1"]), ["records"]), (.read(tasks, id: "t1"), ["one", "absent"]),
        (
            .update(tasks, id: "t1", body: [], revision: Revision("1")),
            ["one", "absent", "conflictUnknown", "refused"]
        ),
        (.batch([]), ["batch"]), (.combined([tasks]), ["combined"]),
    ]

    @Test func `is malformed where it can't be one to the call`() {
        let answers: [(name: String, answer: ServerAnswer)] = [
            ("description", .description([])),
            ("page", .page(ListPage(records: [], next: nil, cursor: nil))),
            ("unchanged", .unchanged), ("cursorExpired", .cursorExpired), ("records", .records([])),
            ("combined", .combined([])),
            ("one", .record(Self.one)), ("absent", .absent),
            ("conflictUnknown", .conflictUnknown),
            ("refused", .refused(ServerRefusal(status: 400, message: "no"))), ("batch", .batch([])),
        ]
        for (call, fitting) in Self.pairs {
            for (name, answer) in answers {
                let isWrong = answer.about(call).isMalformed

                #expect(isWrong == !fitting.contains(name), "\(call) \(name)")
            }
        }
        #expect(
            ServerAnswer.unchanged.about(.read(Self.tasks, id: "t1"))
                == .failure(.malformed("\"nothing changed\" in answer to a read")))
    }

    @Test func `is none where the id is only written in another form`() {
        let record = ServerRecord(id: "cafe\u{301}", revision: nil, document: [0x7B, 0x7D])
        let call = ServerCall.read(Self.tasks, id: "caf\u{E9}")
        let fetch = ServerCall.fetch(Self.tasks, ids: ["caf\u{E9}"])

        #expect(ServerAnswer.record(record).about(call) == .record(record))
        #expect(ServerAnswer.records([record]).about(fetch) == .records([record]))
    }

    @Test(arguments: [IDSource.serverText, .serverNumber])
    func `tells how an entity is named that the server names`(_ ids: IDSource) {
        var tasks = Self.tasks
        tasks.ids = ids
        let create = ServerCall.create(tasks, id: "t1", body: [])
        let update = ServerCall.update(tasks, id: "t1", body: [], revision: Revision("1"))

        #expect(ServerAnswer.record(Self.other).about(create) == .record(Self.other))
        #expect(ServerAnswer.record(Self.other).about(update).isMalformed)
    }

    @Test func `makes a fetch malformed that nobody made for it`() {
        let call = ServerCall.fetch(Self.tasks, ids: ["t1", "t3"])

        let fine = ServerAnswer.records([Self.one])
        #expect(fine.about(call) == fine)
        #expect(
            ServerAnswer.records([Self.one, Self.other]).about(call)
                == .failure(.malformed("t2 in answer to a fetch of others")))
    }

    @Test func `is looked at part by part in a batch`() {
        let calls = [Self.calls[1], Self.calls[3]]
        let batch = ServerAnswer.batch([
            BatchedAnswer(status: 201, .record(Self.other)),
            BatchedAnswer(status: 200, .deleted(Self.one)),
        ])

        guard case .batch(let parts) = batch.about(.batch(calls)) else {
            Issue.record("no batch any more")
            return
        }
        #expect(parts.map(\.status) == [201, 200])
        #expect(parts[0].answer.isMalformed && parts[1].answer == .deleted(Self.one))
    }

    @Test func `is malformed where a batch has more or fewer answers than writes`() {
        let one = BatchedAnswer(status: 201, .record(Self.one))
        for answers in [[], [one], [one, one, one]] {
            let answer = ServerAnswer.batch(answers)

            #expect(answer.about(.batch([Self.calls[1], Self.calls[1]])).isMalformed)
            #expect(answer.about(.poll("p", of: [Self.calls[1], Self.calls[1]])).isMalformed)
        }
    }

    @Test func `can't be told from a list, which names what it names`() {
        let page = ServerAnswer.page(ListPage(records: [Self.other], next: nil, cursor: nil))

        #expect(page.about(.list(Self.tasks, after: nil, page: nil)) == page)
    }
}
