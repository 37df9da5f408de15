// SyncRecorder+Remedies.swift — how an action stands in the log that the engine has done for the
// sake of refused writes: before it is sent, and what follows where it fails or does not help.

import HTTPTypes
import TidemarkEvents
import TidemarkViews

extension SyncRecorder {
    /// Logs an action that is about to be sent.
    ///
    /// - Returns: its `request.sent`.
    mutating func sending(
        _ remedy: Remedy, _ request: ServerRequest, of group: RequestGroup?, sentAt: Timestamp,
        waited: Int64, _ draft: Draft
    ) throws -> Position {
        let last = draft.last
        let start = try begin(draft)
        var sent = RequestSent(request, at: sentAt)
        sent.waited = waited
        sent.group = parts(of: group)
        sent.rule = RequestSent.remedyRule + "/\(RequestSent.remedyVersion)"
        sent.remedies = remedy.refusals
        return try draft.append(
            Event(
                .requestSent, recordedAt: draft.now, key: remedy.key, sync: start,
                asOf: asOf(after: last, draft), json: sent.encoded))
    }

    /// Logs the answer to an action; where it failed, the refusals that it was for say so.
    mutating func answered(
        _ remedy: Remedy, _ sent: Position, _ record: AnswerRecord, _ answer: ServerAnswer,
        _ draft: Draft
    ) throws {
        let start = try begin(draft)
        try append(
            record, key: remedy.key, nil, to: LoggedCall(start: start, write: sent), draft)
        // It is made again with other credentials.
        if case .failure(.unauthorized) = answer { return }
        guard let problem = answer.problem else {
            for write in remedy.writes { remedied[write.item.key] = remedy.name }
            return
        }
        for (write, position) in zip(remedy.writes, remedy.refusals) {
            let row = try draft.fold.entity(draft.fold.resolve(write.item.key))
            guard case .refused(let refusal) = write.answer, row.status == .error,
                row.refusal?.position == position
            else { continue }
            try refused(
                write.item, refusal.adding("\(remedy.name): \(problem)"), call: sent, draft)
        }
    }
}

extension ServerAnswer {
    /// Why an action was not carried out; nil where it was.
    fileprivate var problem: String? {
        switch self {
        case .stored: nil
        case .refused(let refusal):
            PushRejected(
                status: UInt32(clamping: refusal.status), message: refusal.message,
                issues: refusal.issues
            ).words
        case .failure(let failure): "\(failure)"
        case .ignored, .description, .page, .combined, .unchanged, .cursorExpired, .records,
            .record, .deleted, .absent, .conflict, .conflictUnknown, .reserved, .batch, .deferred,
            .waiting:
            "the server left it alone"
        }
    }
}

extension ServerRefusal {
    /// The refusal, and what came of having the server do something about it.
    func adding(_ words: String) -> ServerRefusal {
        var own = self
        own.message += own.message.isEmpty ? words : "; " + words
        if !issues.isEmpty { own.issues.append(ServerIssue(.error, words)) }
        return own
    }
}
