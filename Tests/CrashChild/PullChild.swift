// PullChild.swift — syncs a store and dies about the time at which an answer is logged.
//
// `crash-child pull STORE ANSWER MICROSECONDS` syncs the store with the remote that its log names,
// and kills itself so long after an answer, counted from 1, has come. When there are fewer answers,
// the process ends with status 0. The credentials are in TIDEMARK_CREDENTIALS.

import HTTPTypes
import Synchronization
import TidemarkHTTP
import TidemarkSync

enum PullChild {
    static func run(_ words: [String]) async throws {
        let arguments = ChildArguments(words, "ANSWER", "MICROSECONDS")
        let (answer, delay) = (arguments.numbers[0], arguments.numbers[1])
        try await SyncChild.sync(
            arguments.store, transport: DyingTransport(after: answer, microseconds: delay))
    }
}

/// Passes everything on, and ends the process some time after an answer.
private final class DyingTransport: Transport {
    private let answer: Int
    private let microseconds: Int
    private let count = Atomic<Int>(0)

    init(after answer: Int, microseconds: Int) {
        self.answer = answer
        self.microseconds = microseconds
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let response = try await URLSessionTransport.urlSession.send(
            request, body: body, limits: limits)
        if count.add(1, ordering: .relaxed).newValue == answer {
            CrashChild.say("dying")
            CrashChild.die(after: microseconds)
        }
        return response
    }
}
