// ProblemsAndIssues.swift — the code of the article of that name.

import Tidemark

enum ProblemsAndIssues {
    struct Gateway {
        func send(_ text: String) async throws {}
    }

    static func wait(_ replica: Replica, _ visit: EntityKey) async throws -> Bool {
        let change = try await replica.write { tx in try tx.delete(visit) }
        let isGone = try await replica.outcome(of: change) == .accepted
        return isGone
    }

    static func relay(_ replica: Replica, _ visit: EntityKey, _ gateway: Gateway) async throws {
        let (text, position) = try replica.read { tx in (try compose(tx, visit), tx.position) }
        try await gateway.send(text)
        try await replica.markRelayed(visit, via: "sms", asOf: position)
    }

    static func confirm(_ replica: Replica, _ visit: EntityKey) async throws {
        try await replica.markConfirmed(visit, via: "sms")
    }

    static func appeared(_ engine: SyncEngine) async {
        if let until = await engine.trigger(.named("discover")) {
            print("synced often enough; again after \(until)")
        }
    }

    static func showAll(_ replica: Replica) throws {
        for issue in try replica.issues() {
            switch issue.kind {
            case .rejected: show("Not saved: \(issue.message)", issue.answers)
            case .warned: show("Saved, but: \(issue.message)", issue.answers)
            case .conflict: show("Changed elsewhere: \(issue.fields)", issue.answers)
            case .absent: show("Gone from the server: \(issue.message)", issue.answers)
            case .unreadable, .dangling: report(issue.message)
            case .unsettled: show("Trying again: \(issue.message)", issue.answers)
            case .unfetched: show("No file: \(issue.message)", issue.answers)
            @unknown default: show(issue.message, issue.answers)
            }
        }
    }

    static func answer(_ replica: Replica, _ issue: SyncIssue) async throws {
        try await replica.answer(issue.id, .keepMine)
    }

    private static func compose(_ tx: ReadContext, _ key: EntityKey) throws -> String {
        String(decoding: try tx.document(key) ?? [], as: UTF8.self)
    }

    private static func show(_ text: String, _ answers: [IssueAnswer]) { print(text, answers) }
    private static func report(_ text: String) { print(text) }
}
