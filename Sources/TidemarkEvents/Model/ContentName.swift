// ContentName.swift — by what an entity names a file: a text of the server's, or a hash.

/// How a field names a file.
@nonexhaustive public enum ContentName: Sendable, Hashable {
    /// By a URL or an id, as the server has it; a number is the text of its digits, and is written
    /// as that text.
    case source(String)
    /// A file of the user's that the server has no name for yet: by its SHA-256, 64 hexadecimal
    /// digits, and its length in bytes.
    case file(sha256: String, bytes: Int)
}

extension ContentName: Codable {
    /// Reads a text, a number, or an object of `sha256` and `bytes`.
    public init(from decoder: any Decoder) throws {
        let value = try JSONValue(from: decoder)
        guard let name = ContentName(value) else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "a text, or an object of sha256 and bytes, names a file"))
        }
        self = name
    }

    /// Writes a text, or an object of `sha256` and `bytes`.
    public func encode(to encoder: any Encoder) throws { try json.encode(to: encoder) }
}

extension ContentName {
    /// The longest text that counts as a name, in bytes of UTF-8.
    public static let bytesMax = 4_096

    /// The name that stands in JSON; nil where none does.
    ///
    /// A number is an id, as its digits.
    package init?(_ value: JSONValue) {
        switch value {
        case .string(let text):
            guard (1...Self.bytesMax).contains(text.utf8.count) else { return nil }
            self = .source(text)
        case .number(let number): self = .source(number.text)
        case .object(let object):
            guard let digest = object["sha256"]?.stringValue,
                (1...Self.bytesMax).contains(digest.utf8.count)
            else { return nil }
            self = .file(
                sha256: digest, bytes: Int(exactly: object["bytes"]?.int64Value ?? -1) ?? -1)
        default: return nil
        }
    }

    /// As it stands in JSON.
    package var json: JSONValue {
        switch self {
        case .source(let text): .string(text)
        case .file(let digest, let bytes):
            ["sha256": .string(digest), "bytes": .number(JSONNumber(bytes))]
        }
    }

    /// What it is noted under: the text, or the digest.
    package var text: String {
        switch self {
        case .source(let text): text
        case .file(let digest, _): digest
        }
    }

    /// Whether it is a file of the user's.
    package var isFile: Bool { if case .file = self { true } else { false } }
}

extension CollectionModel {
    /// Whether every file that a field names is fetched.
    package func fetchesAll(of field: String) -> Bool {
        contents.contains { $0.field == field && $0.when == .all }
    }

    /// What a document names, with the field of each rule, in the order of the rules and then of
    /// the document.
    ///
    /// - Parameter document: as today's model reads it; checked before.
    package func contentNames(
        in document: [UInt8]
    ) -> [(field: String, name: ContentName)] {
        guard !contents.isEmpty else { return [] }
        let fields = contents.map { Array($0.topField.utf8) }
        // A field with several paths is looked for once: the first of equal names finds it.
        var values: [[UInt8]: ArraySlice<UInt8>] = [:]
        var wanted: [[UInt8]] = []
        for field in fields where !wanted.contains(field) { wanted.append(field) }
        for (field, raw) in zip(wanted, JSON.members(wanted, of: document[...])) {
            values[field] = raw
        }
        var names: [(field: String, name: ContentName)] = []
        for (rule, field) in zip(contents, fields) {
            guard let raw = values[field], let value = try? JSONValue(parsing: Array(raw)) else {
                continue
            }
            forEach(at: rule.steps[1...], of: rule, in: value) { found in
                if let name = ContentName(found) { names.append((rule.field, name)) }
            }
        }
        return names
    }

    /// The fields that may name files of the user's which are sent below the entity, and so are set
    /// only once that is there.
    package var fieldsBelow: Set<String> {
        Set(contents.filter(\.isBelowEntity).map(\.topField))
    }

    /// Those of a document that do.
    package func fieldsBelow(in document: [UInt8]) -> Set<ExactString> {
        guard sendsFilesBelow else { return [] }
        let named = contentNames(in: document).filter(\.name.isFile).map(\.field)
        let rules = contents.filter { $0.isBelowEntity && named.contains($0.field) }
        return Set(rules.map { ExactString($0.topField) })
    }

    /// A document without the fields that name files which are sent below the entity, and these
    /// fields; nil where there are none.
    package func partedFilesBelow(
        of document: [UInt8]
    ) throws(JSONError) -> (rest: [UInt8], files: Patch)? {
        let fields = fieldsBelow(in: document)
        guard !fields.isEmpty else { return nil }
        let whole = try JSONDocument(parsing: document)
        let files = Patch(settingAllOf: whole).leavingOut { !fields.contains(ExactString($0)) }
        return (whole.applying(set: [], unset: files.fieldNames), files)
    }

    /// The SHA-256 that stands beside a file's name, in small letters; nil where no text does.
    package func contentDigest(
        of source: String, _ rule: ContentRule, in document: [UInt8]
    ) -> String? {
        guard let member = rule.sha256, let value = try? JSONValue(parsing: document) else {
            return nil
        }
        var found: String?
        forEachHolder(of: rule, in: value) { parent in
            guard found == nil, case .object(let object) = parent,
                let last = rule.steps.last, let name = object[last].flatMap(ContentName.init),
                ExactString(name.text) == ExactString(source)
            else { return }
            // One that is none is that of no file.
            found = object[member]?.stringValue?.lowercased()
        }
        return found
    }

    /// Calls `found` with what holds the names of a rule's files, in a whole document.
    private func forEachHolder(
        of rule: ContentRule, in document: JSONValue, _ found: (JSONValue) -> Void
    ) {
        let steps = rule.steps.dropLast()
        guard let top = steps.first else { return found(document) }
        document[top].map { forEach(at: steps.dropFirst(), of: rule, in: $0, found) }
    }

    /// Calls `found` with what a rule's steps lead to in the value of its field.
    ///
    /// In a list whose elements are told by keys, a step is the key of an element.
    private func forEach(
        at steps: ArraySlice<String>, of rule: ContentRule, in value: JSONValue,
        _ found: (JSONValue) -> Void
    ) {
        guard let step = steps.first, step != "*", let list = keyed.list(in: rule.topField),
            let elements = value.array
        else { return value.forEach(at: steps, found) }
        let element = elements.first { element in
            element[list.key].flatMap(KeyedList.key).map(ExactString.init) == ExactString(step)
        }
        element?.forEach(at: steps.dropFirst(), found)
    }

    /// What leads to the names of a rule's files from its field on; of a list whose elements are
    /// told by keys, through each of them.
    package func stepsToRename(_ rule: ContentRule) -> ArraySlice<String> {
        var steps = rule.steps.dropFirst()
        if !steps.isEmpty, keyed.list(in: rule.topField) != nil { steps[steps.startIndex] = "*" }
        return steps
    }

    /// A field's value with other names for the files of the user's that it names.
    ///
    /// - Parameters:
    ///   - steps: what leads to the names, from the value on.
    ///   - name: the name of the file with a SHA-256; nil for it stays.
    package static func renaming(
        _ value: JSONValue, _ steps: ArraySlice<String>,
        _ name: (String) throws -> String?
    ) rethrows -> JSONValue {
        try value.replacing(at: steps) { value in
            guard case .file(let digest, _)? = ContentName(value), let name = try name(digest)
            else { return value }
            return .string(name)
        }
    }
}
