// PayloadTests.swift — payloads of ours: what is written, what is read, and what is refused.

import Testing
import TidemarkEvents

private func text(_ payload: some MemberPayload) -> String {
    String(decoding: payload.encoded, as: UTF8.self)
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct `a payload` {
    @Test func `is written in the order of its table, without what says nothing`() {
        var answer = RequestAnswered(status: 503)
        answer.retryAfter = 30
        answer.failure = FailureName(.server)
        answer.uptime = 7
        answer.body = PayloadBody(bytes(#"{"code":1}"#))
        answer.concern = .entity

        #expect(
            text(answer)
                == #"{"status":503,"uptime":7,"failure":"server","retryAfter":30,"#
                + #""body":{"code":1},"concerns":"entity"}"#)
        #expect(text(RequestAnswered(status: 200)) == #"{"status":200}"#)
    }

    @Test func `keeps header fields under the names that they came with, in their order`() throws {
        let json =
            #"{"status":200,"Date":"d","ETag":"e","Alert":"a","Backoff":"30","Next-Page":"/n","#
            + #""X-Other":"o","uptime":1}"#
        let answer = try RequestAnswered(reading: bytes(json))

        #expect(text(answer) == json)
        #expect(answer.date == "d" && answer.tag == "e")
        #expect(answer.fields.map(\.name) == ["Alert", "Backoff", "Next-Page", "X-Other"])
        #expect(answer.backoffSeconds == 30)
        #expect(try RequestAnswered(reading: bytes(#"{"Backoff":null}"#)) == RequestAnswered())
    }

    @Test func `keeps a body as JSON, as text or as Base64`() {
        func body(_ bytes: [UInt8]) -> String {
            var request = RequestSent()
            request.body = PayloadBody(bytes)
            return text(request)
        }

        #expect(body(bytes("[1, 2]")) == #"{"body":[1, 2]}"#)
        #expect(body(bytes("null")) == #"{"body":null}"#)
        #expect(body(bytes("BEGIN:VEVENT\r\n")) == #"{"bodyText":"BEGIN:VEVENT\r\n"}"#)
        #expect(body([0xFF, 0xFE]) == #"{"bodyBase64":"//4="}"#)
        #expect(body([]) == "{}")
        for one in [bytes("[1, 2]"), bytes("null"), bytes("x"), [0xFF, 0xFE], []] {
            var request = RequestSent()
            request.body = PayloadBody(one)
            #expect(RequestSent(stored: request.encoded).body.bytes == one)
        }
    }

    @Test func `has the members of a newer version passed over`() throws {
        let read = try PushRejected(reading: bytes(#"{"status":402,"hint":[1],"message":"no"}"#))

        #expect(read == PushRejected(status: 402, message: "no"))
    }

    @Test func `has what is missing, or null, as it is without`() throws {
        #expect(try RequestAnswered(reading: bytes("{}")) == RequestAnswered())
        #expect(try RequestAnswered(reading: []) == RequestAnswered())
        #expect(try RequestAnswered(reading: bytes(#"{"status":null}"#)).status == 0)
    }

    @Test func `has a word of a newer version as if there were none`() throws {
        #expect(try IssueAnswered(reading: bytes(#"{"issue":"unheard"}"#)).kind == nil)
        let failed = try RequestFailed(reading: bytes(#"{"error":"x","concerns":"weather"}"#))
        #expect(failed.concern == nil)
        let answer = try RequestAnswered(reading: bytes(#"{"status":1,"failure":"eclipse"}"#))
        #expect(answer.failure?.rawValue == "eclipse" && answer.failure?.kind == nil)
        let traced = try RequestAnswered(reading: bytes(#"{"status":1,"Trace":{"id":1}}"#))
        #expect(traced == RequestAnswered(status: 1))
    }

    @Test(arguments: [
        (#"{"status":"503"}"#, "payload.status is not an integer"),
        (#"{"retryAfter":1.5}"#, "payload.retryAfter is not an integer"),
        (#"{"Date":12}"#, "payload.Date is not a text"),
        (#"{"Backoff":12}"#, "payload.Backoff is not a text"),
        (#"{"mayHaveArrived":1}"#, "payload.mayHaveArrived is not true or false"),
        (#"{"concerns":7}"#, "payload.concerns is not a word of ours"),
        (#"{"keptBytes":"4"}"#, "payload.keptBytes is not an integer"),
        ("[]", "the payload is not a JSON object"), ("nothing", "the payload is not a JSON object"),
    ])
    func `of another shape is refused by the member that is wrong`(json: String, problem: String) {
        let error = #expect(throws: PayloadProblem.self) {
            _ = try RequestAnswered(reading: bytes(json))
        }
        #expect(error?.description == problem)
        #expect(RequestAnswered(stored: bytes(json)) == RequestAnswered())
    }

    @Test func `that can't be read is one of no known kind`() throws {
        var event = Event(.timerFired, recordedAt: Timestamp(rawValue: 1), json: bytes("[]"))
        guard case .unknown = Payload(event) else { return #expect(Bool(false)) }

        event.payload = TimerFired(.cleanUp, now: Timestamp(rawValue: 9)).encoded
        guard case .timerFired(let timer) = Payload(event) else { return #expect(Bool(false)) }
        #expect(timer.now.rawValue == 9)

        // A later shape of the same kind is not read by this version.
        event.schemaVersion = 1
        guard case .unknown = Payload(event) else { return #expect(Bool(false)) }
        #expect(event.read(TimerFired.self) == nil)
    }

    @Test func `is read as the type of its kind only`() {
        let json = TimerFired(.cleanUp, now: Timestamp(rawValue: 9)).encoded
        let event = Event(.timerFired, recordedAt: Timestamp(rawValue: 1), json: json)

        #expect(event.read(TimerFired.self) != nil)
        #expect(event.read(PushAccepted.self) == nil)
    }
}

@Suite struct `a page` {
    @Test func `says of each entity where its word is`() throws {
        let json = #"{"scope":"","ids":["a","b","c"],"at":[12,"=","absent"],"times":{"b":5}}"#
        let page = try PullPage(reading: bytes(json))

        #expect(page.places == [.event(Position(12)), .same, .absent])
        #expect((page.named, page.same, page.absent) == (["a", "b"], ["b"], ["c"]))
        #expect(page.events == [Position(12)])
        #expect(text(page) == json)
        #expect(page.gist == "3 ids")
    }

    @Test func `may be left out by parts`() throws {
        let page = try PullPage(
            reading: bytes(#"{"scope":"","ids":["a","b"],"at":["=",7]}"#))

        #expect(page.without([0]).map(text) == #"{"scope":"","ids":["b"],"at":[7]}"#)
        #expect(page.without([0, 1]) == nil)
    }

    @Test func `keeps how far its list is`() throws {
        var state = ListState(page: 3, asOf: Position(12), knownCount: 40)
        state.next = "/next"
        state.cursor = Revision("\"5\"")
        state.isDoubtful = true
        var list = ListProgress(state)
        list.references = [
            ListedReference(id: "x", revision: nil),
            ListedReference(
                id: "y", revision: Revision("2"), serverTime: Timestamp(rawValue: 4)),
        ]
        list.same = ["z"]
        var page = PullPage()
        page.list = list

        #expect(
            text(page) == #"{"scope":"","ids":[],"at":[],"list":{"page":3,"asOf":12,"of":40,"#
                + #""next":"/next","cursor":"\"5\"","doubtful":true,"#
                + #""refs":[["x",null],["y","2",4]],"same":["z"]}}"#)
        #expect(try PullPage(reading: page.encoded).list == list)
        #expect(try PullPage(reading: page.encoded).list?.state == state)
        #expect(ListProgress(nil).state == nil && text(ListProgress(nil)) == "{}")
    }

    @Test func `keeps how far a list of changes is`() throws {
        var state = ListState(page: 2, asOf: Position(12), knownCount: 0)
        (state.after, state.next, state.isOfChanges) = (Revision("3"), "/p3", true)
        let list = ListProgress(state)

        #expect(text(list) == #"{"page":2,"asOf":12,"after":"3","next":"/p3","changes":true}"#)
        #expect(try ListProgress(reading: list.encoded).state == state)
    }

    @Test func `keeps how far a list by pages with numbers is`() throws {
        var state = ListState(page: 2, asOf: Position(12), knownCount: 4)
        (state.next, state.pass, state.total, state.pageSize) = ("3", 2, 120, 50)
        let list = ListProgress(state)

        #expect(
            text(list) == #"{"page":2,"asOf":12,"of":4,"next":"3","pass":2,"total":120,"#
                + #""pageSize":50}"#)
        #expect(try ListProgress(reading: list.encoded).state == state)
    }

    @Test func `keeps how far a list by folders is`() throws {
        var state = ListState(page: 2, asOf: Position(12), knownCount: 4)
        (state.next, state.found, state.pass) = ("", 3, 2)
        var list = ListProgress(state)
        list.missing = ["p", "q"]

        #expect(
            text(list) == #"{"page":2,"asOf":12,"of":4,"next":"","found":3,"pass":2,"#
                + #""missing":["p","q"]}"#)
        #expect(try ListProgress(reading: list.encoded) == list)
        #expect(try ListProgress(reading: list.encoded).state == state)
    }
}

@Suite struct `the end of a run` {
    @Test func `names what was paused, with each collection's reason`() throws {
        var end = SyncFinished()
        end.outcome = .failed(FailureName(.offline))
        end.detail = "the server can't be reached"
        end.paused = [Named("a b", FailureName(.forbidden)), Named("c", FailureName(.timeout))]
        end.restarted = ["d"]
        end.cutAt = ["e", "back"]

        let json =
            #"{"outcome":"offline","detail":"the server can't be reached","#
            + #""paused a b":"forbidden","paused c":"timeout","restarted":["d"],"#
            + #""cutAt":["e","back"]}"#
        #expect(text(end) == json)
        #expect(try SyncFinished(reading: bytes(json)) == end)
        #expect(end.gist == "offline the server can't be reached")
    }

    @Test func `without another event says what a start says`() throws {
        let json =
            #"{"outcome":"synced","requests":2,"trigger":"timer","triggers":["timer","retry"],"#
            + #""scope":["a"],"full":true,"begunAt":5,"bootID":"b","uptime":6,"Backoff":"60"}"#
        let end = try SyncFinished(reading: bytes(json))

        #expect(end.run.triggers == [.timer, .retry] && end.run.scope == .pull(["a"]))
        #expect(end.backoffSeconds == 60)
        #expect(text(end) == json)
        #expect(try SyncStarted(reading: bytes(json)).run == end.run)
    }
}

@Suite struct `a reader of payloads` {
    @Test func `reads each event as it is read alone, whatever came before`() {
        func event(_ kind: EventKind, _ json: String) -> Event {
            Event(kind, recordedAt: Timestamp(rawValue: 1), json: Array(json.utf8))
        }
        let events = [
            event(.requestAnswered, #"{"status":200}"#), event(.pushAccepted, ""),
            event(.requestAnswered, #"{"status":200}"#), event(.pushAccepted, #"{"id":"7"}"#),
            event(.requestAnswered, #"{"status":409,"proves":"nothing"}"#),
            event(.requestAnswered, #"{"status":"x"}"#),
            event(.requestAnswered, #"{"status":"x"}"#),
            event(.requestSent, #"{"status":200}"#), event(.localUpdated, #"{"status":200}"#),
            event(.requestAnswered, #"{"status":200}"#),
        ]
        var reader = PayloadReader()
        for event in events {
            #expect("\(reader.payload(of: event))" == "\(Payload(event))")
        }
        guard case .requestAnswered(let answer) = reader.payload(of: events[0]) else {
            Issue.record("no answer")
            return
        }
        #expect(answer.status == 200)
    }
}
