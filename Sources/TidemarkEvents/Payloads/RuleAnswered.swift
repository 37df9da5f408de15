// RuleAnswered.swift — what a rule of the app decided.

/// `rule.answered`.
package struct RuleAnswered: MemberPayload, EventPayload {
    /// The rule's name.
    package var rule = ""
    package var version: Int64 = 0
    /// The SHA-256, in hexadecimal digits, of what it was asked.
    package var inputs = ""
    /// Nil where the payload does not say.
    package var answer: ConflictAnswer?

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("rule", \.rule, .text, .text),
        PayloadMember("version", \.version, .integer, .plain),
        PayloadMember("inputs", \.inputs, .text, .text),
        PayloadMember("answer", \.answer, .ruleAnswer, .ruleAnswer),
    ]

    package var gist: String? { rule }

    package static func words(of event: Event) -> String? { "the app's rule answered" }
}

extension PayloadCodec<ConflictAnswer> {
    fileprivate static var ruleAnswer: Self {
        PayloadCodec(
            "an answer of a rule", raw: { ConflictAnswer(json: Array($0)) },
            append: { $1 += $0.json })
    }
}
