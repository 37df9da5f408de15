// SyncWire.swift — a transport with a hand in it: tests see each request on its way and may act.

import HTTPTypes
import Synchronization
import TidemarkSync

/// Passes requests on, through whatever a test has put in between.
///
/// The question after the collections, with which each run begins, is neither counted nor tapped.
final class SyncWire: Transport, Sendable {
    typealias Answer = Result<TransportResponse, TransportError>
    /// Gets the request, its number from 1, and the way onwards.
    typealias Tap =
        @Sendable (_ request: HTTPRequest, _ number: Int, _ pass: () async -> Answer) async throws
        -> Answer

    private struct State {
        var tap: Tap?
        var count = 0
        var problem: String?
    }
    private let state = Mutex(State())
    private let next: any Transport
    private let repeats = Mutex(false)
    private let all = SyncCounter()

    /// How many requests came since the wire was made, whatever they asked.
    var total: Int { all.value }

    init(_ next: any Transport) { self.next = next }

    /// Whether it says of itself that it may send a request twice.
    var mayRepeat: Bool { repeats.withLock(\.self) }
    func sayRepeats() { repeats.withLock { $0 = true } }

    /// What is in between; counting begins anew.
    func tap(_ tap: Tap?) { state.withLock { $0 = State(tap: tap) } }

    /// Has requests that are on their way at the same time come, and be answered, in any order.
    func mixUp(by random: SyncRandom) {
        tap { _, _, pass in
            for _ in 0..<random.below(20) { await Task.yield() }
            let answer = await pass()
            for _ in 0..<random.below(20) { await Task.yield() }
            return answer
        }
    }

    /// How many requests came since the tap was set.
    var count: Int { state.withLock(\.count) }

    /// What a tap threw; a test asks for it, since a transport can't let it out.
    var problem: String? { state.withLock(\.problem) }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        _ = all.count()
        if request.isAboutCollections {
            return try await next.send(request, body: body, limits: limits)
        }
        let (tap, number) = state.withLock { state in
            state.count += 1
            return (state.tap, state.count)
        }
        let pass = { () async -> Answer in
            do throws(TransportError) {
                return .success(try await self.next.send(request, body: body, limits: limits))
            } catch {
                return .failure(error)
            }
        }
        guard let tap else { return try await pass().get() }
        let answer: Answer
        do { answer = try await tap(request, number, pass) } catch {
            state.withLock { $0.problem = "\(error)" }
            throw TransportError(.invalidRequest, detail: "\(error)")
        }
        return try answer.get()
    }
}

extension HTTPRequest {
    /// Whether the request writes.
    var isWrite: Bool { method != .get }

    /// Whether the request asks what the collections are.
    var isAboutCollections: Bool { path?.contains("/collections?") == true }
}

extension TransportResponse {
    /// The answer with another body.
    func with(body: String) -> TransportResponse {
        TransportResponse(response: response, body: Array(body.utf8))
    }

    var text: String { String(decoding: body, as: UTF8.self) }
}
