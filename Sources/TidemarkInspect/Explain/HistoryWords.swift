// HistoryWords.swift — what an event means for the entity that it touched, in a few words.

package import TidemarkEvents
package import TidemarkViews

extension EntityStep {
    /// What happened, for people.
    ///
    /// - Parameter decisions: those about the entity that were made at the event.
    package func words(_ decisions: [DecisionRow]) -> String {
        guard isOwn else { return consequence(decisions) }
        return switch event.kind {
        case .localCreated: "created here"
        case .localUpdated: "edited here"
        case .localDeleted: "deleted here"
        case .localDiscarded: "given up by the user"
        case .localRetried: "to be sent again, says the user"
        case .issueAnswered: "an issue of it answered"
        case .ruleAnswered: "the app's rule answered"
        case .requestSent: RequestWords.sent(event)
        case .requestAnswered: RequestWords.answered(event)
        case .requestFailed: RequestWords.failed(event)
        case .pushAccepted: acceptance
        case .pushRejected: RequestWords.refused(event)
        case .serverUpserted: said
        case .serverDeleted: deleted
        case .storeOpened, .modelRegistered, .timerFired, .syncStarted, .syncFinished,
            .serverDescribed, .serverUnreadable, .pullPage, .pullCompleted, .unknown:
            consequence(decisions)
        }
    }

    private var acceptance: String {
        guard let id = event.read(PushAccepted.self)?.serverID else {
            return "accepted by the server"
        }
        return "accepted by the server; on the server it is " + RequestWords.plain(id)
    }

    private var said: String {
        if after.basePosition != position {
            return before == after ? "said by the server, and older" : "said by the server"
        }
        if event.mutation != nil { return "the server's words for what was sent" }
        if before.isPlaceholder { return "said by the server; no stand-in any more" }
        if !before.prunedDigest.isEmpty { return "said by the server again, after it was pruned" }
        switch before.baseState {
        case .absent where before.attempt != nil: return "found on the server"
        case .absent: return "first heard of from the server"
        case .deleted: return "made again on the server"
        case .live: return before.isAssumed ? "said by the server" : "changed on the server"
        }
    }

    private var deleted: String {
        if after.basePosition != position { return "gone, said the server, and that is older" }
        if event.cause != nil, event.call == nil { return "not in the server's list any more" }
        return before.baseState == .live ? "deleted on the server" : "not on the server"
    }

    /// What an event about others, or about none, brought about.
    private func consequence(_ decisions: [DecisionRow]) -> String {
        if after.isPlaceholder, !before.isPlaceholder {
            let field = decisions.first { $0.rule == "placeholder" }?.fields.first ?? "something"
            let name = event.collection.map { " of \($0)" } ?? ""
            return "made up, because \(field)\(name) names it"
        }
        if let decision = decisions.last {
            switch decision.result {
            case "pruned": return "pruned by \(decision.rule)"
            case "voided": return "its pruning is void: the time was wrong"
            case "kept" where decision.rule == "serverTime":
                return "not pruned: that time was never believed"
            case "hidden": return "out of reach: not in a list of everything"
            case "shown": return "in reach again"
            default: return "followed from \(decision.rule)"
            }
        }
        if after.isHidden != before.isHidden {
            return (after.isHidden ? "out of reach" : "in reach again") + ", as what it belongs to"
        }
        if after.triedAt != before.triedAt { return "asked for, and the server has none" }
        if after.pending.count < before.pending.count { return "what followed, follows no more" }
        return "changed with \(event.kind)"
    }
}

/// Requests and their answers in words; what came from a server is shown as one line of text.
package enum RequestWords {
    /// `sent with PUT /v1/…`.
    package static func sent(_ event: Event) -> String {
        guard let request = event.read(RequestSent.self)?.gist, !request.isEmpty else {
            return "sent"
        }
        return (event.mutation == nil ? "asked for with " : "sent with ") + plain(request)
    }

    /// `answered with 503 (server), asking to wait 30 s`.
    package static func answered(_ event: Event) -> String {
        let answer = RequestAnswered(stored: event.payload)
        var words = "answered with \(answer.status)"
        if let failure = answer.failure { words += " (\(plain(failure.rawValue)))" }
        if let seconds = answer.retryAfter { words += ", asking to wait \(seconds) s" }
        if answer.mayHaveArrived { words += "; it may have arrived all the same" }
        return words
    }

    /// `no answer: timeout; it may have arrived`.
    package static func failed(_ event: Event) -> String {
        guard let failure = event.read(RequestFailed.self) else { return "no answer" }
        var words = "no answer"
        if !failure.error.isEmpty { words += ": \(plain(failure.error))" }
        words += failure.neverArrived ? "; it did not arrive" : "; it may have arrived"
        if let detail = failure.detail, !detail.isEmpty { words += " (\(plain(detail)))" }
        return words
    }

    /// `refused with 402: The plan has no more projects`.
    package static func refused(_ event: Event) -> String {
        let refusal = PushRejected(stored: event.payload)
        return refused(refusal.status, refusal.message)
    }

    /// The same of what is known of a refusal; without a status nothing was sent.
    package static func refused(_ status: UInt32, _ message: String) -> String {
        let words = status == 0 ? "not sent" : "refused with \(status)"
        return message.isEmpty ? words : words + ": " + plain(message)
    }

    /// Text of a server without what would change a terminal.
    package static func plain(_ text: String) -> String {
        EventLine.onOneLine(Array(text.utf8))
    }
}
