// DivergenceTests.swift — how a divergence reads, and how it came to an event.

import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay

@testable import CapsuleSupport

@Suite struct `a divergence` {
    private let at = Timestamp(milliseconds: 1_795_000_000_000)

    private func json(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// An edit, the run that sends it, and what the server makes of it.
    private var events: [Position: Event] {
        let key = EntityKey("tasks", "t1")
        return [
            Position(40): Event(
                .localUpdated, recordedAt: at, key: key,
                json: json(#"{"set":{"title":"tea"},"unset":[]}"#)),
            Position(51): Event(
                .syncStarted, recordedAt: at, json: json(#"{"trigger":"userRequested","seed":"1"}"#)
            ),
            Position(58): Event(
                .requestSent, recordedAt: at, key: key, sync: Position(51), mutation: Position(40),
                json: json(#"{"method":"PUT","path":"/v1/tasks/t1","covers":[40]}"#)),
            Position(59): Event(
                .requestAnswered, recordedAt: at, key: key, sync: Position(51),
                call: Position(58), json: json(#"{"status":200}"#)),
            Position(60): Event(
                .pushAccepted, recordedAt: at, key: key, sync: Position(51),
                mutation: Position(40), call: Position(58)),
        ]
    }

    @Test func `names what brought an event about, the last first`() {
        let steps = CauseChain.of(Position(60)) { events[$0] }

        #expect(
            steps.map(\.description) == [
                "@60 push.accepted tasks/t1",
                "@58 request.sent tasks/t1 PUT /v1/tasks/t1",
                "@51 sync.started userRequested",
                #"@40 local.updated tasks/t1 {"set":{"title":"tea"},"unset":[]}"#,
            ])
    }

    @Test func `leaves out of the chain what is not there, and ends in any log`() {
        var circle: [Position: Event] = [:]
        for number in 1...50 as ClosedRange<UInt64> {
            circle[Position(number)] = Event(
                .timerFired, recordedAt: at, cause: Position(number % 50 + 1),
                sync: Position(number - 1))
        }

        #expect(CauseChain.of(Position(7)) { _ in nil }.isEmpty)
        #expect(CauseChain.of(Position(50)) { circle[$0] }.count == CauseChain.stepsMax)
        #expect(CauseChain.of(Position(3)) { circle[$0] }.map(\.position.rawValue) == [3, 2, 1])
    }

    @Test func `reads as a report for somebody who did not write the engine`() {
        let divergence = Divergence(
            .different, at: Position(58),
            recorded: "request.sent tasks/t1 PUT /v1/tasks/t1",
            replayed: "request.sent tasks/t1 POST /v1/tasks", field: "method",
            entity: EntityKey("tasks", "t1"), causes: CauseChain.of(Position(58)) { events[$0] })

        #expect(
            divergence.description == """
                @58: today's engine does it otherwise than recorded
                  differs in method
                  recorded   request.sent tasks/t1 PUT /v1/tasks/t1
                  replayed   request.sent tasks/t1 POST /v1/tasks
                  came from  @58 request.sent tasks/t1 PUT /v1/tasks/t1
                             @51 sync.started userRequested
                             @40 local.updated tasks/t1 {"set":{"title":"tea"},"unset":[]}
                  look at    tidemark show FILE @58
                             tidemark why FILE tasks/t1
                             tidemark dump FILE --sync @51
                """)
    }

    @Test(
        arguments: [
            (.missing, "@5: it was recorded, and today's engine does not do it"),
            (.extra, "after @5: today's engine does what was not recorded"),
            (.digest, "@5: the same events make another row today than when recorded"),
            (.threw, "@5: the replay could not go on"),
        ] as [(Divergence.Kind, String)])
    func `says in its first line what happened, and where`(_ kind: Divergence.Kind, _ line: String)
    {
        let divergence = Divergence(kind, at: Position(5))
        #expect(
            divergence.description == """
                \(line)
                  recorded   nothing
                  replayed   nothing
                  look at    tidemark show FILE @5
                """)
    }

    @Test(
        arguments: [
            ("call", "push.accepted tasks/t1; call: @58"),
            ("asOf", "push.accepted tasks/t1; asOf: none"),
            ("payload", "push.accepted tasks/t1; payload: none"),
        ] as [(String, String)])
    func `shows the field that differs`(_ field: String, _ line: String) throws {
        let event = try #require(events[Position(60)])
        #expect(EventText.line(event, showing: field) == line)
    }

    @Test func `shows a member of a payload that differs`() throws {
        let event = Event(
            .requestSent, recordedAt: at, key: EntityKey("tasks", "t1"),
            json: json(#"{"method":"PUT","path":"/t","covers":[40,41],"body":{"a":"\u001b"}}"#))
        func shown(_ field: String) -> String {
            String(EventText.line(event, showing: field).split(separator: "; ")[1])
        }

        #expect(shown("payload.covers[1]") == "payload.covers[1]: 41")
        #expect(shown("payload.body.a") == "payload.body.a: \"\\u001b\"")
        #expect(shown("payload.body.b") == "payload.body.b: none")
        #expect(shown("payload.covers") == "payload.covers: [40,41]")
    }

    @Test func `never writes control characters to a terminal`() {
        let event = Event(
            .serverUpserted, recordedAt: at, key: EntityKey("tasks", "t\u{1B}[31m"),
            json: json("{\"a\":\"\u{7}\u{202E}b\"}"))

        let line = EventText.line(event)

        #expect(line == #"server.upserted tasks/t\u001b[31m {"a":"\u0007\u202eb"}"#)
    }

    @Test func `cuts what is long`() {
        let event = Event(
            .serverUpserted, recordedAt: at, key: EntityKey("tasks", "1"),
            json: json("{\"a\":\"\(String(repeating: "x", count: 500))\"}"))

        #expect(EventText.line(event).count == "server.upserted tasks/1 ".count + 60)
        #expect(EventText.line(event).hasSuffix("…"))
    }
}
