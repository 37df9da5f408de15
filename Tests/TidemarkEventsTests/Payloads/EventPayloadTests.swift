// EventPayloadTests.swift — what each kind tells a person, and what may be cut of its payloads.

import Testing
import TidemarkEvents

private func event(_ kind: EventKind, _ json: String? = nil) -> Event {
    Event(kind, recordedAt: Timestamp(rawValue: 1), json: json.map { Array($0.utf8) })
}

@Suite struct `a kind of event` {
    @Test func `has a type of its own, unless it is of another version`() {
        let types = EventKind.allCases.compactMap { $0.owner.map { ObjectIdentifier($0) } }

        #expect(Set(types).count == EventKind.allCases.count)
        #expect(EventKind(rawValue: 9_000).owner == nil)
        #expect(EventKind(rawValue: 9_000).form == nil)
    }

    @Test func `says what an edit means without its payload`() {
        let edits: [(EventKind, String)] = [
            (.localCreated, "created here"), (.localUpdated, "edited here"),
            (.localDeleted, "deleted here"), (.localDiscarded, "given up by the user"),
            (.localRetried, "to be sent again, says the user"),
        ]
        for (kind, words) in edits { #expect(event(kind).words == words) }
    }

    @Test func `says of what the policy does in a run that no user did it`() {
        let kinds: [(EventKind, String)] = [
            (.localCreated, "made by keepBoth, with what @7 won over"),
            (.localUpdated, "renamed by keepBoth"),
            (.issueAnswered, "both sides kept, by keepBoth"),
        ]
        for (kind, words) in kinds {
            var made = event(kind, "{}")
            (made.cause, made.sync) = (Position(7), Position(3))
            #expect(made.words == words)
        }
        var answer = event(.issueAnswered, #"{"issue":"conflict","answer":"keepMine"}"#)
        answer.cause = Position(7)
        #expect(answer.words == "the issue @7 conflict answered: keepMine")
    }

    @Test func `says what a request was, and whether it carried an edit`() {
        var request = event(.requestSent, #"{"method":"PUT","path":"/tasks/1"}"#)
        #expect(request.words == "asked for with PUT /tasks/1")

        request.mutation = Position(7)
        #expect(request.words == "sent with PUT /tasks/1")
        #expect(event(.requestSent, "{}").words == "sent")
        let file = #"{"method":"PUT","path":"/f","fileSHA256":"00"}"#
        #expect(event(.requestSent, file).words == "sent with PUT /f")
        let batch = #"{"method":"POST","path":"/batch","writes":2}"#
        #expect(event(.requestSent, batch).words == "sent with POST /batch")
        #expect(event(.requestSent, "[]").words == "sent")
    }

    @Test func `says what an answer was, and what it leaves open`() {
        let limit = #"{"status":429,"failure":"tooManyRequests","retryAfter":30}"#
        let doubt = #"{"status":503,"mayHaveArrived":true}"#

        #expect(
            event(.requestAnswered, limit).words
                == "answered with 429 (tooManyRequests), asking to wait 30 s")
        #expect(
            event(.requestAnswered, doubt).words
                == "answered with 503; it may have arrived all the same")
        #expect(event(.requestAnswered, #"{"status":200}"#).words == "answered with 200")
        #expect(event(.requestAnswered, "[]").words == "answered with 0")
        #expect(
            event(.requestAnswered, #"{"status":200,"proves":"unknown"}"#).words
                == "answered with 200; it does not say what became of it")
        #expect(
            event(.requestAnswered, #"{"status":200,"fileResult":"whole"}"#).words
                == "answered with 200, and the file is whole")
    }

    @Test func `says why no answer came, and whether the request arrived`() {
        let failure = #"{"error":"timeout","mayHaveArrived":false,"detail":"no route"}"#

        #expect(
            event(.requestFailed, failure).words
                == "no answer: timeout; it did not arrive (no route)")
        #expect(event(.requestFailed, "{}").words == "no answer; it may have arrived")
        #expect(event(.requestFailed, "[]").words == "no answer")

        var readBack = event(.requestFailed, failure)
        readBack.cause = Position(7)
        #expect(readBack.words == "no request: timeout (no route)")
    }

    @Test func `says what the server made of an edit`() {
        #expect(event(.pushAccepted).words == "accepted by the server")
        #expect(
            event(.pushAccepted, #"{"serverID":"12"}"#).words
                == "accepted by the server; on the server it is 12")
        #expect(
            event(.pushRejected, #"{"status":402,"message":"no more"}"#).words
                == "refused with 402: no more")
        #expect(event(.pushRejected, "{}").words == "not sent")
        #expect(PushRejected(status: 0, message: "too long").words == "not sent: too long")
    }

    @Test func `says nothing where it takes more than the event to know`() {
        for kind in [EventKind.serverUpserted, .serverDeleted, .pullPage, .modelRegistered] {
            #expect(event(kind).words == nil)
        }
        #expect(event(EventKind(rawValue: 9_000)).words == nil)
    }

    @Test func `lets edits be cut that were not sent, and answers that are not kept`() {
        func kinds(_ cut: PayloadCut) -> [EventKind] {
            EventKind.allCases.filter { event($0).cut == cut }
        }

        #expect(kinds(.unlessSent) == [.localCreated, .localUpdated])
        #expect(kinds(.unlessKept) == [.serverUpserted, .pullPage])
        #expect(event(EventKind(rawValue: 9_000)).cut == .nothing)
    }
}
