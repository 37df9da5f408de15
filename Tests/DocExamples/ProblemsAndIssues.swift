// ProblemsAndIssues.swift — the code of the article of that name.

import Tidemark

enum ProblemsAndIssues {
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
            case .unreadable: report(issue.message)
            case .unsettled: show("Trying again: \(issue.message)", issue.answers)
            }
        }
    }

    static func answer(_ replica: Replica, _ issue: SyncIssue) throws {
        try replica.answer(issue.id, .keepMine)
    }

    private static func show(_ text: String, _ answers: [IssueAnswer]) { print(text, answers) }
    private static func report(_ text: String) { print(text) }
}
