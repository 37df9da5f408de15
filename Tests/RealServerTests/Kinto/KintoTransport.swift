// KintoTransport.swift — a transport that keeps a list of what it sent, and lets a test step in
// before a request leaves and after its answer came.

import HTTPTypes
import Synchronization
import Testing
import TidemarkHTTP
import TidemarkSync

@testable import SyncSupport

/// Sends over the network and keeps a list.
final class KintoTransport: Transport {
    /// One request.
    struct Line: Sendable, Hashable {
        var method: HTTPRequest.Method
        /// `collection` of a list, `collection/id` of a record; elsewhere the last two parts.
        var target: String
        var query: String
        var precondition: String?
        /// The answer's status; nil when there was none.
        var status: Int?

        var isWrite: Bool { method != .get && method.rawValue != "REPORT" }
    }

    /// When a test may step in.
    enum Moment: String, CaseIterable, Sendable {
        case leaving, answered
    }
    typealias Hook = @Sendable (Moment, Line) async throws -> Void

    private struct State {
        var lines: [Line] = []
        var hook: Hook?
        var current: Request?
        var delayed: [Request] = []
        var compresses = false
    }
    private struct Request {
        var head: HTTPRequest
        var body: [UInt8]?
    }
    private let state = Mutex(State())

    /// What was sent so far, in order.
    var lines: [Line] { state.withLock { $0.lines } }

    func forget() { state.withLock { $0.lines = [] } }

    /// Puts a proxy in front that compresses: lists and records come in weak versions.
    func compress() { state.withLock { $0.compresses = true } }

    /// Steps in at every request; throwing a ``TransportError`` makes it the request's end.
    func hook(_ hook: Hook?) { state.withLock { $0.hook = hook } }

    /// Steps in once, at the first request that fits.
    func once(
        _ moment: Moment, where fits: @escaping @Sendable (Line) -> Bool,
        _ body: @escaping @Sendable () async throws -> Void
    ) {
        hook { [weak self] now, line in
            guard now == moment, fits(line) else { return }
            self?.hook(nil)
            try await body()
        }
    }

    /// Keeps the request that is about to leave, to arrive later.
    func delayLast() {
        state.withLock { state in
            if let request = state.current { state.delayed.append(request) }
        }
    }

    /// Lets arrive what was kept; nobody waits for the answers any more.
    func deliverDelayed() async throws {
        let requests = state.withLock { state in
            defer { state.delayed = [] }
            return state.delayed
        }
        for request in requests {
            _ = try await URLSessionTransport.urlSession.send(
                request.head, body: request.body, limits: KintoClient.limits)
        }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        var line = Line(request)
        state.withLock { $0.current = Request(head: request, body: body) }
        do throws(TransportError) {
            try await stepIn(.leaving, line)
            var response = try await URLSessionTransport.urlSession.send(
                request, body: body, limits: KintoClient.limits)
            if state.withLock(\.compresses), let tag = response.response.headerFields[.eTag] {
                response.response.headerFields[.eTag] = "W/" + tag
            }
            line.status = response.response.status.code
            try await stepIn(.answered, line)
            note(line)
            return response
        } catch {
            note(line)
            throw error
        }
    }

    private func note(_ line: Line) { state.withLock { $0.lines.append(line) } }

    private func stepIn(_ moment: Moment, _ line: Line) async throws(TransportError) {
        let hook = state.withLock { $0.hook }
        do { try await hook?(moment, line) } catch let error as TransportError { throw error } catch
        {
            Issue.record(error, "the test's own step")
            throw TransportError(.offline, detail: "\(error)")
        }
    }
}

extension KintoTransport.Line {
    init(_ request: HTTPRequest) {
        let parts = (request.path ?? "").split(separator: "?", maxSplits: 1)
        let path = parts.first?.split(separator: "/").map(String.init) ?? []
        let start = path.firstIndex(of: "collections").map { $0 + 1 } ?? max(path.count - 2, 0)
        let names = path[start...].filter { $0 != "records" }
        method = request.method
        target = names.joined(separator: "/")
        query = parts.count > 1 ? String(parts[1]) : ""
        precondition = request.headerFields[.ifMatch] ?? request.headerFields[.ifNoneMatch]
    }
}
