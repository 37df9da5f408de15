// TransferDriver+Send.swift — sends files of the user's, before the writes that name them.
//
//   1. one commit: what is sent next (SendReading.swift) as `request.sent`
//   2. the file is read where it was not yet: one that is damaged is not sent (SoundFile.swift)
//   3. the transport reads the file while it sends
//   4. one commit: `request.answered`, with the name that the file has there
//
// A request without an answer is made again: the same bytes under the same name change nothing, and
// where the server gives the names, nothing names what it was given first.

import HTTPTypes
package import TidemarkEvents
import TidemarkRules
import TidemarkStore
package import TidemarkViews

/// A request that sends a file, and that is logged.
package struct SendRequest: Sendable {
    var plan: SendPlan
    var address: FileAddress
    /// What names the file.
    var file: FileToSend
    /// Its `request.sent`.
    var call: Position
}

extension RowReading {
    /// The event of the request with a file that is to be made next; nil where none is.
    ///
    /// - Parameters:
    ///   - now: by the device's clock.
    ///   - last: the log's last position before it.
    package func nextSendEvent(
        at now: Timestamp, after last: Position
    ) throws -> (event: Event, plan: SendPlan, address: FileAddress?)? {
        guard let plan = try nextSend(at: now) else { return nil }
        let address = FileAddress(of: plan.path, try registration()?.remote)
        var request = RequestSent()
        request.method = plan.method
        request.path = address?.logged
        request.sentAt = now
        request.file.sentDigest = plan.digest
        let event = Event(
            .requestSent, recordedAt: now, key: plan.key, collection: plan.collection,
            asOf: last, json: request.encoded)
        return (event, plan, address)
    }

    /// A file that is to be sent, with what names it.
    package func file(of plan: SendPlan) throws -> FileToSend {
        var file = FileToSend(sha256: plan.digest, head: [], collection: plan.collection)
        guard let (key, field) = try sender(of: plan) else { return file }
        let document = try entity(at: .entity(key)).document(in: try model()[plan.collection])
        (file.entity, file.field) = (key, field)
        file.document = try document.map { try JSONDocument(parsing: $0) }
        return file
    }
}

extension SendRequest {
    private func head(_ proof: Credentials, _ form: FileForm?) -> HTTPRequest {
        var fields = HTTPFields()
        fields[.contentType] = form?.contentType ?? "application/octet-stream"
        for field in proof.headers { fields[field.name] = field.value }
        return HTTPRequest(
            method: plan.method == "PUT" ? .put : .post, url: address.origin, path: address.path,
            headers: fields)
    }

    /// How often the time for a file's bytes is doubled at most.
    private static let doublingsMax = 6

    /// What is sent, and for how long it may take: for twice the bytes with each failure, as the
    /// link may be slower, or that of several requests.
    func exchange(
        _ proof: Credentials, _ form: FileForm?, _ usual: TransportLimits
    ) -> (head: HTTPRequest, limits: TransportLimits) {
        let times = UInt64(1) << UInt64(min(plan.failures, Self.doublingsMax))
        let (bytes, isTooMany) = plan.bytes.multipliedReportingOverflow(by: times)
        return (head(proof, form), usual.allowing(bytes: isTooMany ? .max : bytes))
    }

    /// The bytes that are sent: a file, in its form.
    func body(_ file: TransportFile, _ form: FileForm?) -> TransportBody {
        let count = Int(clamping: plan.bytes)
        guard let form else { return .file(file, count: count) }
        return .framed(before: form.before, file, count: count, after: form.after)
    }

    /// The form that an adapter gives the file at a path; nil where it is sent as it is.
    func form(_ path: String, by adapter: any ServerAdapter) throws(TransportError) -> FileForm? {
        guard plan.isPosted else { return nil }
        let count = min(plan.bytes, UInt64(FileForm.headBytes))
        let head = try TransportBody.file(TransportFile(path), count: Int(count)).bytes()
        var file = file
        file.head = head
        return adapter.form(of: file)
    }
}

extension SendPlan {
    /// Whether the answer says the file's name.
    package var isPosted: Bool { method == "POST" }

    /// Whether the answer's body says the file's name, and not its head.
    package func isNamedInBody(by adapter: any ServerAdapter) -> Bool {
        let file = FileToSend(sha256: digest, head: [], collection: collection)
        return isPosted && adapter.form(of: file) != nil
    }
}

/// What came of a request that sends a file.
private struct SendReply: Sendable {
    var answer: FetchAnswer
    /// Why the file could not be sent; nil where it could.
    var fault: AssetRemoved.Reason?
    /// Whether the request was stopped.
    var isStopped = false
}

extension TransferDriver {
    /// Logs the next request that sends a file; nil where none is due.
    func nextSend() async throws -> SendRequest? {
        let now = dependencies.now()
        guard try journal.read({ try $0.nextSend(at: now) }) != nil else { return nil }
        // A file with a place that is none is refused, and the next one is looked for.
        while true {
            let next = try await journal.write(at: now) { draft -> (SendPlan, SendRequest?)? in
                let last = draft.last
                guard let found = try draft.fold.nextSendEvent(at: now, after: last) else {
                    return nil
                }
                let call = try draft.append(found.event)
                guard let address = found.address else {
                    let error = TransportError(
                        .invalidRequest, detail: "the place is no address of a file")
                    try draft.append(
                        FetchAnswer(error).event(
                            of: call, found.plan.key, found.plan.collection, now))
                    return (found.plan, nil)
                }
                let file = try draft.fold.file(of: found.plan)
                let request = SendRequest(
                    plan: found.plan, address: address, file: file, call: call)
                return (found.plan, request)
            }
            guard let next else { return nil }
            if let request = next.1 { return request }
        }
    }

    /// Sends a file, and logs what came of it.
    func carryOut(
        _ request: SendRequest, _ files: ContentFiles, _ proof: TransferProof
    ) async throws -> Step {
        let use = journal.shared.contents
        use.begin(request.plan.digest)
        defer { use.end(request.plan.digest) }
        dependencies.reach(.beforeSend)
        let given = await proof.given
        let reply = await stoppable(request, files, given.credentials)
        var answer = reply.answer
        dependencies.reach(.afterSend)
        var step = Step(server: .remote)
        step.isUncounted = reply.isStopped
        let source = request.plan.source
        await step.take(&answer, for: source, given, proof)
        dependencies.reach(.beforeAnswer)
        let (plan, now, came) = (request.plan, dependencies.now(), answer)
        let failures: Int
        (answer, failures) = try await journal.write(at: now) { draft in
            var answer = came
            let failures = try draft.fold.send(source)?.failures ?? 0
            if case .answered(let answered) = came {
                answer = .answered(try draft.fold.judged(answered, as: plan, by: adapter))
            }
            try draft.append(answer.event(of: request.call, plan.key, plan.collection, now))
            return (answer, failures)
        }
        var fault = reply.fault
        // Somebody may have taken it away meanwhile.
        if fault == nil, try files.bytes(of: plan.digest) != plan.bytes { fault = .missing }
        // What names it is refused, and says so.
        if let fault { try journal.removeContent(plan.digest, fault, at: now) }
        dependencies.reach(.afterAnswer)
        step.end(with: answer, after: failures)
        if step.failure != nil || step.doubt != nil {
            step.pausedUntil = try journal.read { try $0.send(source)?.pause?.until }
        }
        if answer.result == .sent { hasSent() }
        return step
    }

    /// What came of a request, which is stopped once nobody needs it any more.
    private func stoppable(
        _ request: SendRequest, _ files: ContentFiles, _ proof: Credentials
    ) async -> SendReply {
        let work = Task { await answer(to: request, files, proof) }
        running.begin(request.call, of: request.plan.source, isSend: true) { work.cancel() }
        var reply = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        if running.end(request.call), case .failed(let failed) = reply.answer,
            failed.error == RequestFailed.stopped
        {
            let error = TransportError(.cancelled, detail: "the file need not be sent any more")
            (reply.answer, reply.isStopped) = (FetchAnswer(error), true)
        }
        return reply
    }

    private func answer(
        to request: SendRequest, _ files: ContentFiles, _ proof: Credentials
    ) async -> SendReply {
        let plan = request.plan
        let path: String
        switch await ready(plan, files) {
        case .at(let found): path = found
        case .failed(let reply): return reply
        }
        do throws(TransportError) {
            let form = try request.form(path, by: adapter)
            let (head, limits) = request.exchange(proof, form, limits)
            var file = TransportFile(path)
            file.watch = sending.begin(plan.digest, bytes: Int(clamping: plan.bytes))
            defer { sending.end(file.watch) }
            let answer = try await transport.transfer(
                head, body: request.body(file, form), into: nil, limits: limits)
            return SendReply(answer: FetchAnswer(answer, to: plan, form, proof.mask))
        } catch {
            // No server has a file lie elsewhere that it takes: it is not the file's fault.
            return SendReply(answer: Self.failed(error, proof, isForeign: true))
        }
    }

    private enum Ready {
        case at(_ path: String)
        case failed(SendReply)
    }

    /// Where a file lies that can be sent, or why it can't be.
    ///
    /// By itself, and not inlined: on two kinds of errors in one async function the optimizer of
    /// Swift 6.3.1 ends with a signal.
    @inline(never)
    private func ready(_ plan: SendPlan, _ files: ContentFiles) async -> Ready {
        do {
            if let fault = try await journal.fault(ofFile: plan.digest, plan.bytes) {
                let error = TransportError(.file, detail: "the file is \(fault.rawValue)")
                return .failed(SendReply(answer: FetchAnswer(error), fault: fault))
            }
            let path = try files.path(of: plan.digest)
            // It may have been stopped while it was read.
            guard !Task.isCancelled else {
                return .failed(SendReply(answer: FetchAnswer(TransportError(.cancelled))))
            }
            return .at(path)
        } catch { return .failed(SendReply(answer: Self.failed(error))) }
    }
}
