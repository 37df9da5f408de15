// AdapterCheck+Answers.swift — what an adapter makes of errors, of pages of other machines, and of
// answers that are cut off.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

extension AdapterCheck {
    /// What comes of an answer.
    struct Judged {
        /// What the adapter says.
        var said: ServerAnswer
        /// What a run makes of that.
        var answer: ServerAnswer
        /// What it proves of a write.
        var effect: WriteEffect?

        var failure: SyncFailure? {
            if case .failure(let failure) = answer { failure } else { nil }
        }

        /// Whether the write counts as done.
        var isTaken: Bool {
            switch answer {
            case .record, .stored, .deleted: true
            default: false
            }
        }

        var isGone: Bool {
            switch answer {
            case .absent, .deleted: true
            default: false
            }
        }

        /// Whether the API is gone, or the app too old: servers say so by 410.
        var isOutdated: Bool { failure == .apiDeprecated || failure == .clientDeprecated }

        /// Whether the failure is of the call, so that it is tried again without a word to anybody.
        var isUnspoken: Bool {
            switch failure {
            case .client?, .malformed?: true
            default: false
            }
        }
    }
}

extension AdapterCheck.Run {
    func judge(_ call: ServerCall, _ response: TransportResponse) -> AdapterCheck.Judged {
        let (answer, effect) = adapter.judged(response, to: call)
        let said = adapter.answer(to: call, response.response, body: response.body)
        return AdapterCheck.Judged(said: said, answer: answer, effect: effect)
    }

    /// Judges an error; nil, with a problem, where it is told as what no such call can have.
    private mutating func judge(
        _ call: ServerCall, _ status: Int, _ fields: HTTPFields = [:]
    ) -> AdapterCheck.Judged? {
        let body = check.errors[status] ?? ""
        let judged = judge(call, TransportResponse(status: status, fields: fields, body: body))
        guard case .malformed(let words)? = judged.failure else { return judged }
        if case .failure = judged.said { return judged }
        tell(
            call,
            "\(status) is told as what such a call can't have (\(words)); give what it means "
                + "for this call, or SyncFailure(status:headerFields:message:)")
        return nil
    }

    /// Tells what is wrong where an error is not taken for what it is.
    private mutating func expect(
        _ call: ServerCall, _ status: Int, with fields: HTTPFields = [:], _ problem: String,
        where isRight: (AdapterCheck.Judged) -> Bool
    ) {
        guard let judged = judge(call, status, fields), !isRight(judged) else { return }
        tell(call, "\(status) is \(judged.answer.sentence): \(problem)")
    }

    /// Errors that are about no entity.
    mutating func checkFailures(of call: ServerCall) {
        let wait: HTTPFields = [.retryAfter: "30"]
        expect(
            call, 401, "the app is not asked for other credentials; say SyncFailure.unauthorized"
        ) { $0.failure == .unauthorized }
        expect(
            call, 403, "nobody is told that access is missing; say SyncFailure.forbidden"
        ) { judged in
            switch judged.answer {
            case .failure: return !judged.isUnspoken
            case .absent: return call.collection?.access.hidesAbsent ?? false
            case .page(let page): return page.isPartial
            default: return !call.isReading && !judged.isTaken
            }
        }
        for status in [429, 503] {
            expect(
                call, status, with: wait,
                "its Retry-After, of 30 seconds, is not heeded; say "
                    + "SyncFailure(status:headerFields:message:)"
            ) { $0.failure?.retryAfterSeconds == 30 }
        }
        expect(
            call, 500,
            "the server failed, and nothing follows for the entity; say SyncFailure(status:…)"
        ) { $0.failure != nil }
        guard !call.isReading else { return }
        expect(
            call, 500,
            "it may have been done all the same, and is not read back; say WriteEffect.unknown"
        ) { $0.failure == nil || $0.effect == .unknown || $0.effect == .turnedAway }
    }

    /// Errors that are about what was asked for.
    mutating func checkErrors(of call: ServerCall, _ request: ServerRequest) {
        for status in check.errors.keys.sorted() where ![401, 403, 429, 500, 503].contains(status) {
            switch call {
            case .read: checkRead(call, status)
            case .create, .update, .delete, .perform: checkWrite(call, status)
            default:
                expect(
                    call, status, "say SyncFailure(status:headerFields:message:)"
                ) { judged in
                    switch judged.answer {
                    case .failure, .cursorExpired, .absent: true
                    case .page(let page): page.isPartial
                    case .records: call.isRefetch
                    default: false
                    }
                }
            }
        }
        guard case .list = call else { return }
        let isConditional =
            request.headers[.ifNoneMatch] != nil || request.headers[.ifModifiedSince] != nil
        expect(
            call, 304, "it asked for that; say ServerAnswer.unchanged"
        ) { judged in
            switch judged.answer {
            case .unchanged, .cursorExpired: true
            case .failure: !isConditional
            default: false
            }
        }
    }

    private mutating func checkRead(_ call: ServerCall, _ status: Int) {
        if status == 404 || status == 410 {
            expect(
                call, status,
                "the entity is asked for again and again; say ServerAnswer.absent"
            ) { $0.isGone || $0.isOutdated || $0.failure == .forbidden }
        } else {
            expect(
                call, status, "nothing follows for the entity; say SyncFailure(status:…)"
            ) { $0.failure != nil }
        }
    }

    private mutating func checkWrite(_ call: ServerCall, _ status: Int) {
        switch (call, status) {
        // What is not there is what it would lie in.
        case (.create, 404), (.create, 410), (.perform, 404), (.perform, 410), (.perform, 412):
            return
        case (.delete, 404), (.delete, 410):
            expect(
                call, status, "it is gone, as was wanted; say ServerAnswer.absent"
            ) { $0.isGone || $0.isTaken || $0.isOutdated }
        case (.update, 404), (.update, 410):
            expect(
                call, status,
                "an edit of what is gone is sent again and again; say ServerAnswer.absent"
            ) { ($0.isGone || !$0.isTaken && !$0.isUnspoken) && $0.effect != .done }
        case (_, 412):
            guard call.collection.map({ adapter.traits.isVersioned($0) }) ?? false else { return }
            expect(
                call, status,
                "another version is there, and is not read; say ServerAnswer.conflictUnknown"
            ) { !$0.isTaken && !$0.isUnspoken }
        case (_, 400), (_, 409), (_, 422):
            expect(
                call, status,
                "the server refuses the entity, and nobody is told why; say ServerAnswer.refused"
            ) { !$0.isTaken && !$0.isUnspoken }
            checkWords(call, status)
        default:
            expect(
                call, status, "the server did not take it, so it is lost; say what it means"
            ) { !$0.isTaken }
        }
    }

    /// Whether a refusal has the server's words.
    private mutating func checkWords(_ call: ServerCall, _ status: Int) {
        let body = check.errors[status] ?? ""
        let judged = judge(call, TransportResponse(status: status, body: body))
        guard !body.isEmpty, case .refused(let refusal) = judged.answer else { return }
        let told = [refusal.message] + refusal.issues.map(\.message)
        let words = told.flatMap { $0.split { !$0.isLetter } }.filter { $0.count > 2 }
        guard !words.contains(where: { body.contains($0) }) else { return }
        tell(
            call,
            "\(status) is a refusal without the server's words, \"\(refusal.message)\"; take them "
                + "out of the body, as people see them")
    }

    /// What a network's sign-in page is taken for.
    mutating func checkPage(of call: ServerCall) {
        let page = TransportResponse(
            status: 200, fields: [.contentType: "text/html; charset=utf-8"],
            body: "<!DOCTYPE html><html><body>Sign in to the network</body></html>")
        let judged = judge(call, page)
        if case .refused = judged.answer { return }
        guard judged.failure == nil else { return }
        tell(
            call,
            "a page of HTML with 200, as a network's sign-in page, is \(judged.answer.sentence); "
                + "say SyncFailure.foreign")
    }

    /// What an answer is taken for that is cut off, or empty.
    mutating func checkCut(_ whole: TransportResponse, of call: ServerCall) {
        guard !whole.body.isEmpty else { return }
        let cut = Array(whole.body.prefix(whole.body.count / 2))
        for (body, what) in [(cut, "half of the sample answer"), ([], "an empty body")] {
            let judged = judge(call, TransportResponse(response: whole.response, body: body))
            guard judged.failure == nil else { continue }
            tell(
                call,
                "\(what) is \(judged.answer.sentence); say SyncFailure.malformed, as what an "
                    + "answer does not name may count as gone")
        }
    }
}

extension ServerCall {
    fileprivate var isRefetch: Bool { if case .refetch = self { true } else { false } }
}

extension ServerAnswer {
    /// What it is, with what it counts and says.
    var sentence: String {
        switch self {
        case .page(let page): "a page of \(page.records.count + page.references.count)"
        case .records(let records): "\(records.count) entities"
        case .absent: "\"not there\""
        case .conflict: "a conflict"
        case .refused(let refusal): "a refusal, \"\(refusal.message)\""
        case .ignored: "a write left alone"
        case .deferred: "a promise"
        case .failure(let failure): "a failure (\(failure))"
        case .description, .combined, .unchanged, .cursorExpired, .record, .stored, .deleted,
            .conflictUnknown, .reserved, .batch, .waiting:
            word
        }
    }
}
