// RedecideHost+Differences.swift — the difference between what today's engine does and what was
// recorded, and how a recorded run ended.

import TidemarkCapsule
import TidemarkEvents
import TidemarkSync
import TidemarkViews

extension CommitComparison {
    /// The divergence where today's engine does something else before the next recorded event.
    func instead(_ text: String, _ recorded: Capsule.Entry?) -> Divergence {
        Divergence(
            .different, at: recorded?.position ?? .start, recorded: recorded?.event.line,
            replayed: text, causes: recorded.map { causes(of: $0.position) } ?? [])
    }

    /// The divergence where today's engine sends a request that was not recorded.
    func instead(
        of recorded: Capsule.Entry?, asks question: SyncQuestion, isOver: Bool
    ) -> Divergence {
        let own = RecordedRequest(question.request)
        let collection = question.call.collection.map { " \($0.name)" } ?? ""
        var divergence = instead("request.sent\(collection) \(own.line)", recorded)
        guard let recorded, recorded.event.kind == .requestSent, !isOver else {
            divergence.kind = .extra
            return divergence
        }
        let request = recorded.event.read(RequestSent.self)
        divergence.field = RecordedRequest(request).difference(from: own)
        return divergence
    }

    /// The difference between a commit's recorded digests and the views, once it is in the store.
    func difference(_ commit: Capsule.Commit, in journal: Journal) throws -> Divergence? {
        let count = commit.last.rawValue - commit.first.rawValue + 1
        guard UInt64(commit.entries.count) == count else { return nil }
        return try difference(commit, journal.lastDigests())
    }
}
