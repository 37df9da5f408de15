// SyncDriver+Network.swift — the network as a sync run's host: one request and its answer.

import HTTPTypes
import TidemarkEvents
import TidemarkStore
import TidemarkViews

/// The network, and the store itself.
struct LiveHost: SyncHost {
    /// Holds the files that are sent.
    var journal: Journal
    var remote: Remote
    var adapter: any ServerAdapter
    var transport: any Transport
    var proof: @Sendable () async throws -> Credentials
    var dependencies: Dependencies
    var tell: @Sendable (RunActivity) -> Void
    var sending: SendingFiles

    var countsAttempts: Bool { true }

    func interruption() -> SyncFailure? { Task.isCancelled ? .cancelled : nil }

    func sendsMore(_ isTimely: Bool, beside open: [Position]) -> Bool { isTimely }

    func isCut(_ question: SyncQuestion, _ isLate: Bool) -> Bool { isLate }

    func cut(at place: CutPlace?) -> CutPlace? { place }
    var logsStart: Bool { true }

    func pause(seconds: Int64) async throws {
        try await dependencies.sleep(.seconds(seconds))
    }

    func credentials() async throws -> Credentials { try await proof() }

    func read<R>(_ journal: Journal, _ body: (ViewReader) throws -> R) throws -> R {
        try journal.read(body)
    }

    func next<Answered: Sendable>(
        of group: inout ThrowingTaskGroup<Answered, any Error>
    ) async throws -> Answered? { try await group.next() }

    func ask(
        _ question: SyncQuestion, _ proof: Credentials, _ limits: TransportLimits
    ) -> SyncReply {
        SyncReply(question) {
            tell(.requestBegan)
            defer { tell(.requestEnded) }
            return await answer(question, proof, limits)
        }
    }

    private func answer(
        _ question: SyncQuestion, _ proof: Credentials, _ limits: TransportLimits
    ) async -> (ServerAnswer, AnswerRecord) {
        let (call, request) = (question.call, question.request)
        let head = HTTPRequest(request, to: remote.origin, proof)
        do {
            let response: TransportResponse
            if case .compare(let compared) = question.step {
                response = try await compare(compared, question, head, limits)
            } else {
                response = try await send(head, request, limits)
            }
            let uptime = dependencies.uptime().microseconds
            if let answered = question.answered { dependencies.reach(answered) }
            let isRepeatable =
                transport.mayRepeat && call.isWriteOfOne && request.loggedBody == nil
            return judged(
                response, to: question, by: adapter, proof.mask, uptime: uptime,
                isRepeatable: isRepeatable)
        } catch {
            let uptime = dependencies.uptime().microseconds
            let error = TransportError(error.code, detail: proof.mask.masked(error.detail))
            return judged(error, to: call, uptime: uptime)
        }
    }

    /// Sends a request; a file is read meanwhile, and stays.
    private func send(
        _ head: HTTPRequest, _ request: ServerRequest, _ limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        guard case .file(let digest, let count)? = request.file else {
            return try await transport.send(head, body: request.body, limits: limits)
        }
        let use = journal.shared.contents
        use.begin(digest)
        defer { use.end(digest) }
        guard let path = try await path(ofFile: digest, count) else {
            throw TransportError(.invalidRequest, detail: "the file \(digest) is not here")
        }
        var file = TransportFile(path)
        file.watch = sending.begin(digest, bytes: count)
        defer { sending.end(file.watch) }
        let answer = try await transport.transfer(
            head, body: .file(file, count: count), into: nil, limits: limits)
        return TransportResponse(response: answer.response, body: answer.body)
    }

    /// Where a file lies that is to be sent; nil where it is not here, as one that is damaged from
    /// now on.
    ///
    /// - Throws: ``TransportError``: `file` where the disk does not say, which is nothing against
    ///   the file.
    private func path(
        ofFile digest: String, _ count: Int
    ) async throws(TransportError) -> String? {
        guard let files = journal.contentFiles, ContentFiles.isDigest(digest) else { return nil }
        do {
            let fault = try await journal.fault(ofFile: digest, UInt64(clamping: count))
            if fault == .damaged {
                try journal.removeContent(digest, .damaged, at: dependencies.now())
            }
            return fault == nil ? try files.path(of: digest) : nil
        } catch { throw TransportError(file: error) }
    }

    func commit<R: Sendable>(
        _ journal: Journal, at now: Timestamp, _ body: @escaping @Sendable (Draft) throws -> R
    ) async throws -> R {
        try await journal.write(at: now, body)
    }
}

extension ServerAnswer {
    /// The failure of a call without an answer.
    package init(_ error: TransportError, to call: ServerCall) {
        // A request that can't be built from an entity is a fault of that entity alone.
        let isEntitys = call.isWriteOfOne && error.code == .invalidRequest
        self =
            isEntitys
            ? .refused(ServerRefusal(status: 0, message: error.detail))
            : .failure(SyncFailure(error))
    }
}

extension Transport {
    /// Asks a server outside of any run, so that nothing is logged.
    ///
    /// - Throws: ``SyncFailure`` where no answer comes; any answer is one.
    package func ask(
        _ request: ServerRequest, of origin: String, _ proof: Credentials
    ) async throws(SyncFailure) -> TransportResponse {
        do {
            return try await send(
                HTTPRequest(request, to: origin, proof), body: request.body,
                limits: TransportLimits())
        } catch {
            throw SyncFailure(
                TransportError(error.code, detail: proof.mask.masked(error.detail)))
        }
    }
}

extension HTTPRequest {
    /// A request with origin and credentials.
    fileprivate init(_ request: ServerRequest, to origin: String, _ proof: Credentials) {
        self.init(
            method: request.method, url: origin, path: request.path, headers: request.headers)
        for field in proof.headers { headerFields[field.name] = field.value }
    }

    /// A request to an origin like `https://host:port/base`, with path and query kept verbatim.
    init(method: Method, url origin: String, path: String, headers: HTTPFields) {
        let afterScheme = origin.firstRange(of: "://")
        let scheme = afterScheme.map { String(origin[..<$0.lowerBound]) }
        let rest = afterScheme.map { origin[$0.upperBound...] } ?? origin[...]
        let slash = rest.firstIndex(of: "/") ?? rest.endIndex
        self.init(
            method: method, scheme: scheme, authority: String(rest[..<slash]),
            path: rest[slash...] + path, headerFields: headers)
    }
}
