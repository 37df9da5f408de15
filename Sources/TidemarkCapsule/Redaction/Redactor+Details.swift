// Redactor+Details.swift — the text why a sync run ended: Tidemark's words stay, the server's do
// not.

import TidemarkSync

extension Redactor {
    /// The beginnings of Tidemark's texts; a status, seconds, or a detail in parentheses may
    /// follow.
    private static let phrases: [String] =
        [
            SyncFailure.offline(""), .timeout(""), .unauthorized, .forbidden, .apiDeprecated,
            .clientDeprecated, .malformed(""), .deadline, .foreign(""), .cancelled,
            .tooManyRequests(retryAfterSeconds: nil),
        ].map { "\($0)" } + [
            "the server failed with ", "the server refused the call with ",
            "earlier runs failed; the next one begins in ",
        ]

    private static let endings = ["", " s, or when the user asks for it"]

    /// What stands around the name of what is missing.
    private static let missing = (
        before: "the server has not what has to be there: ", behind: "; nothing else is wrong"
    )

    /// The `detail` of a `sync.finished`.
    func detail(_ text: String) -> String {
        let missing = Self.missing
        if text.hasPrefix(missing.before), text.hasSuffix(missing.behind) {
            let name = text.dropFirst(missing.before.count).dropLast(missing.behind.count)
            return missing.before + self.text(String(name)) + missing.behind
        }
        guard let phrase = Self.phrases.first(where: text.hasPrefix) else { return self.text(text) }
        var rest = text.dropFirst(phrase.count)
        let digits = rest.prefix { $0.isASCII && $0.isNumber }.prefix(12)
        rest = rest.dropFirst(digits.count)
        let kept = phrase + digits
        if let ending = Self.endings.first(where: { rest == $0 }) { return kept + ending }
        if rest.hasPrefix(" ("), rest.hasSuffix(")") {
            return kept + " (" + self.text(String(rest.dropFirst(2).dropLast())) + ")"
        }
        let wait = "; try again in "
        if rest.hasPrefix(wait), rest.hasSuffix(" s") {
            let seconds = rest.dropFirst(wait.count).dropLast(2)
            if Int64(seconds) != nil { return kept + rest }
        }
        return self.text(text)
    }
}
