// ServerWords+Fields.swift — header fields of answers as the log keeps them, and what they mean.

import HTTPTypes
import TidemarkEvents

extension ServerWords.Field {
    static func isUsable(_ name: String, _ meaning: Meaning) -> Bool {
        let isTaken =
            ["date", "etag"].contains(name.lowercased()) || name == AskedRest.member
        return name.beginsWithCapital && HTTPField.Name(name) != nil
            && (!isTaken || meaning == .rest && name == AskedRest.member)
    }

    /// The member of `request.answered` that holds the field's value.
    var member: String { meaning == .rest ? AskedRest.member : name }
}

extension ServerWords {
    /// The names of the fields that hold the next page.
    var nextPageFields: [HTTPField.Name] {
        fields.filter { $0.meaning == .nextPage }.compactMap { HTTPField.Name($0.name) }
    }

    /// Header fields that every adapter is handed besides its own.
    private static let usualFields: Set<HTTPField.Name> = [
        .date, .eTag, .contentType, .contentLocation, .lastModified, .location, .retryAfter,
    ]

    /// The header fields of an answer that the adapter is handed, the only ones that it decides by.
    func known(of headerFields: HTTPFields) -> HTTPFields {
        let names = Self.usualFields.union(fields.compactMap { HTTPField.Name($0.name) })
        return HTTPFields(headerFields.filter { names.contains($0.name) })
    }

    /// What is kept of an answer's header fields, by their members.
    func kept(of headerFields: HTTPFields) -> [Named<String>] {
        var kept: [Named<String>] = []
        for field in fields where !kept.contains(where: { $0.name == field.member }) {
            let value = HTTPField.Name(field.name).flatMap { headerFields[$0] }
            if let value { kept.append(Named(field.member, value)) }
        }
        return kept
    }

    /// What a member of `request.answered` means; nil where the adapter names no such field.
    package func meaning(ofMember member: String) -> Field.Meaning? {
        if member == AskedRest.member { return .rest }
        return fields.first { $0.member == member }?.meaning
    }

    /// The value of the field with a meaning in an answer; nil where the answer has no such field.
    func text(_ meaning: Field.Meaning, of answered: RequestAnswered) -> String? {
        answered.fields.first { self.meaning(ofMember: $0.name) == meaning }?.value
    }
}
