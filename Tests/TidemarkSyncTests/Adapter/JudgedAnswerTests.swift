// JudgedAnswerTests.swift — where the documents of an answer lie in its body, so that they stay as
// they are; and what an answer proves of its write.

import HTTPTypes
import Testing
import TidemarkEvents

@testable import TidemarkSync

@Suite struct `the documents of an answer` {
    private func places(of documents: [String], in body: String) -> [Range<Int>] {
        let response = TransportResponse(
            response: HTTPResponse(status: .ok), body: Array(body.utf8))
        return response.places(of: documents.map { Array($0.utf8) })
    }

    @Test func `are found in their order where they lie in the body as they are`() {
        let body = #"[{"a":1},{"a":1},{"b":2}]"#
        let documents = [#"{"a":1}"#, "", #"{"c":3}"#, #"{"a":1}"#, #"{"b":2}"#, #"{"a":1}"#]

        #expect(places(of: documents, in: body) == [1..<8, 9..<16, 17..<24])
    }

    @Test func `are not looked for after eight in a row that the adapter made of something else`() {
        let body = #"<a/>{"a":1}<b/>{"b":2}"#
        let made = (1...8).map { #"{"made":\#($0)}"# }
        let few = Array(made.dropLast())
        let (first, last) = (#"{"a":1}"#, #"{"b":2}"#)

        #expect(places(of: few + [first] + few + [last], in: body) == [4..<11, 15..<22])
        #expect(places(of: [first] + made + [last], in: body) == [4..<11])
    }
}

@Suite struct `what an answer proves` {
    private let entity = ServerRecord(id: "1", revision: nil, document: Array("{}".utf8))

    @Test(arguments: [200, 204])
    func `of a write that was not done does not depend on a success`(_ status: Int) {
        let refusal = ServerRefusal(status: 0, message: "no")
        let met: [ServerAnswer] = [.absent, .conflict(entity), .conflictUnknown]

        #expect(met.allSatisfy { $0.usualEffect(status: status) == .precondition })
        #expect(ServerAnswer.refused(refusal).usualEffect(status: status) == .nothing)
        #expect(BatchedAnswer(status: status, .conflictUnknown).effect == .precondition)
        #expect(ServerAnswer.record(entity).usualEffect(status: status) == .done)
    }

    @Test(arguments: [400, 404, 412, 500])
    func `follows from any other status`(_ status: Int) {
        let usual = WriteEffect(status: status)

        #expect(ServerAnswer.conflictUnknown.usualEffect(status: status) == usual)
        #expect(ServerAnswer.absent.usualEffect(status: status) == usual)
    }
}
