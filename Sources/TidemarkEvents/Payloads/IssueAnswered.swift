// IssueAnswered.swift — what the user answered to an issue.

/// What an issue is about.
package enum IssueKind: String, Sendable, CaseIterable {
    /// Entities whose mutations the server refused.
    case rejected
    /// Entities of which the server says something in answer to a write that it did not refuse.
    case warned
    /// Conflicts that the local side lost.
    case conflict
    /// Entities that a whole list did not name, too many to be taken for deleted.
    case absent
    /// A record of the server that is not a valid entity.
    case unreadable
    /// Entities whose calls fail again and again.
    case unsettled
    /// Entities that are hidden, as what they refer to can't be had.
    case dangling
    /// Files that somebody asked for, and that the server does not give.
    case unfetched
}

/// `issue.answered`.
package struct IssueAnswered: MemberPayload, EventPayload {
    /// Nil where the payload does not say.
    package var kind: IssueKind?
    /// Which of the conflicts that one event brought about.
    package var index = 0
    /// The name of an unreadable record.
    package var name = ""
    /// What the user wants: `retry`, `discard`, `keepMine` or `keepTheirs`.
    package var answer = ""

    package init() {}

    package init(_ kind: IssueKind, index: Int = 0, name: String = "", answer: String) {
        self.kind = kind
        self.index = index
        self.name = name
        self.answer = answer
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("issue", \.kind, .word, .plain),
        PayloadMember("index", \.index, .integer, .plain) { $0 == 0 },
        PayloadMember("name", \.name, .text, .text) { $0.isEmpty },
        PayloadMember("answer", \.answer, .text, .plain),
    ]

    package static func words(of event: Event) -> String? {
        if event.isKeptBoth { return "both sides kept, by keepBoth" }
        let answer = IssueAnswered(stored: event.payload)
        let names = ["the issue", event.cause.map { "\($0)" }, answer.kind?.rawValue]
        return names.compactMap(\.self).joined(separator: " ") + " answered: \(answer.answer)"
    }
}
