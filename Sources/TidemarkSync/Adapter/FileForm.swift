// FileForm.swift — how a server wants a file that isn't sent as it is, and says its name.

public import TidemarkEvents

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

/// A file of the user's that is POSTed, and what names it, which may say how it is called.
public struct FileToSend: Sendable {
    /// Its SHA-256, in hexadecimal digits.
    public var sha256: String
    /// Its first bytes, which may tell of what type it is.
    ///
    /// None where only the way of naming is asked for, also of a file that was sent: there is no
    /// entity then either, and whether there is a form must be the same.
    public var head: [UInt8]
    /// The collection whose entities name it.
    public var collection: CollectionName
    /// An entity that waits for it, by its key here: that below which it is sent, or of several the
    /// one that came to name it last, or any where that does not any more; nil where none waits.
    public var entity: EntityKey?
    /// The field by which that names it, as the model's `contents` has it.
    public var field: String?
    /// The document of the entity, with all that waits for the server.
    public var document: JSONDocument?

    /// A file from its parts.
    public init(
        sha256: String, head: [UInt8], collection: CollectionName, entity: EntityKey? = nil,
        field: String? = nil, document: JSONDocument? = nil
    ) {
        self.sha256 = sha256
        self.head = head
        self.collection = collection
        self.entity = entity
        self.field = field
        self.document = document
    }
}

extension ServerAdapter {
    /// Whatever names a file is nothing to its form.
    public func form(of file: FileToSend) -> FileForm? {
        form(ofFile: file.sha256, head: file.head)
    }

    /// Files are sent as they are.
    public func form(ofFile sha256: String, head: [UInt8]) -> FileForm? { nil }
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
