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

    /// The member of `request.answered` that holds it.
    var member: String { meaning == .rest ? AskedRest.member : name }
}

extension ServerWords {
    /// The names of the fields that say where the next page is.
    var nextPageFields: [HTTPField.Name] {
        fields.filter { $0.meaning == .nextPage }.compactMap { HTTPField.Name($0.name) }
    }

    /// Header fields that an adapter is handed besides those that it names.
    private static let usualFields: Set<HTTPField.Name> = [
        .date, .eTag, .contentType, .contentLocation, .lastModified, .location, .retryAfter,
    ]

    /// The header fields of an answer that the adapter is handed: it decides by nothing else.
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

    /// What a member of `request.answered` means; nil for one of none of these fields.
    package func meaning(ofMember member: String) -> Field.Meaning? {
        if member == AskedRest.member { return .rest }
        return fields.first { $0.member == member }?.meaning
    }

    /// What an answer says by a field of some meaning; nil where it has none such.
    func text(_ meaning: Field.Meaning, of answered: RequestAnswered) -> String? {
        answered.fields.first { self.meaning(ofMember: $0.name) == meaning }?.value
    }
}
