// FileForm.swift — how a server wants a file that isn't sent as it is, and says its name.

import TidemarkEvents

/// The form in which a file is POSTed, as `multipart/form-data`: bytes before it and after it.
///
/// The answer says in a JSON text by what records name the file. A number there is read as its
/// digits, and sent in records as that text.
public struct FileForm: Sendable, Hashable {
    /// The type of the whole body.
    public var contentType: String
    /// What comes before the file.
    public var before: [UInt8]
    /// What comes after it.
    public var after: [UInt8]
    /// The members of the answer's body that lead to the name.
    public var name: [String]

    /// A form from its parts.
    public init(
        contentType: String, before: [UInt8], after: [UInt8], name: [String]
    ) {
        self.contentType = contentType
        self.before = before
        self.after = after
        self.name = name
    }
}

extension FileForm {
    /// How many of a file's first bytes an adapter is told.
    static let headBytes = 16

    /// The name that an answer tells; nil where it tells none.
    func name(in body: [UInt8]) -> String? {
        guard let answer = try? JSONValue(parsing: body) else { return nil }
        var found: JSONValue? = answer
        for member in name { found = found?[member] }
        guard let found, case .source(let name)? = ContentName(found) else { return nil }
        return name
    }
}
