// WriteEffectTests.swift — what a status usually proves of a write.

import Testing
import TidemarkEvents

@Suite struct `what a status usually proves of a write` {
    @Test(arguments: [400, 401, 403, 404, 408, 409, 412, 422, 429, 499, 503])
    func `of a refusal is that this request did nothing`(_ status: Int) {
        #expect(WriteEffect(status: status).isNothing)
    }

    @Test(arguments: [0, 200, 201, 204, 302, 399, 500, 501, 502, 504, 507, 599])
    func `of anything else is not`(_ status: Int) {
        #expect(!WriteEffect(status: status).isNothing)
    }

    @Test func `where a resend would be answered so is that it may have arrived before`() {
        let all = (400..<600).filter { WriteEffect(status: $0).mayHaveArrived }

        #expect(all == [404, 408, 412, 503])
        #expect((400..<600).filter { WriteEffect(status: $0) == .precondition } == [404, 412])
    }

    @Test func `is what an answer proves that says nothing else`() {
        var answer = RequestAnswered(status: 409)
        #expect(answer.effect == .nothing)

        answer.proves = .done
        #expect(answer.effect == .done)
        #expect(RequestAnswered(stored: answer.encoded) == answer)
        #expect(String(decoding: answer.encoded, as: UTF8.self).contains(#""proves":"done""#))
    }
}
