// ListParameters.swift — which part of a collection a list is of.

/// The parameters of a list: of which entities of a collection it is.
///
/// What a name means the server's adapter says. Where an entity has a field of that name, an equal
/// value says that the entity is of the list. Several values of one parameter stand behind each
/// other with commas or semicolons between; in which order says nothing.
public struct ListParameters: Sendable, Hashable {
    /// One parameter of a list.
    public struct Parameter: Sendable, Hashable {
        /// The name of the parameter, which is that of a field where there is one.
        public let name: String
        /// The parameter's value, as a text.
        public let value: String
    }

    /// The parameters by their names, in the order of the names' bytes.
    public let all: [Parameter]

    /// How many bytes they may be as JSON: they stand in the keys of rows.
    public static let bytesMax = 320

    /// The parameters of these names and values.
    public init(_ values: [String: String]) {
        all = values.map { Parameter(name: $0.key, value: $0.value) }.sorted {
            $0.name.utf8.lexicographicallyPrecedes($1.name.utf8)
        }
    }

    /// The value of a parameter, or nil.
    public subscript(name: String) -> String? { all.first { $0.name == name }?.value }

    /// Whether there are none, so that the list is of all entities.
    public var isEmpty: Bool { all.isEmpty }

    /// The parameters as an object, by ascending names.
    package var json: JSONObject {
        all.reduce(into: JSONObject()) { $0[$1.name] = .string($1.value) }
    }

    /// The name of the part in the log and in rows: the object's bytes; empty without parameters.
    ///
    /// Of several values each stands there once, in the order of their bytes, so that the same ones
    /// are the same part.
    package var scope: String {
        guard !isEmpty else { return "" }
        let sets = all.reduce(into: JSONObject()) { $0[$1.name] = .string(Self.set($1.value)) }
        return String(decoding: JSONValue.object(sets).encoded(), as: UTF8.self)
    }

    /// A value's parts, each once, in the order of their bytes, with commas between.
    private static func set(_ value: String) -> String {
        guard value.utf8.contains(where: isMark) else { return value }
        let parts = Set(
            value.unicodeScalars.split { $0 == "," || $0 == ";" }.map { ExactString(String($0)) })
        guard !parts.isEmpty else { return value }
        return parts.map(\.text).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            .joined(separator: ",")
    }

    private static func isMark(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";")
    }

    /// Whether a field's text says the same as a parameter's value.
    private static func isSame(_ text: String?, _ value: String) -> Bool {
        text == value || text.map { set($0) == set(value) } ?? false
    }

    /// The same with another value of a parameter, or without it.
    func setting(_ name: String, _ value: String?) -> ListParameters {
        var values = Dictionary(all.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        values[name] = value
        return ListParameters(values)
    }

    /// Reads what ``json`` gave; nil for anything else.
    package init?(_ value: JSONValue) {
        guard let object = value.object else { return nil }
        var values: [String: String] = [:]
        for (name, value) in object {
            guard !name.isEmpty, let text = value.stringValue, !text.isEmpty else { return nil }
            values[name] = text
        }
        self.init(values)
    }

    /// Reads what ``scope`` gave; nil for a word.
    package init?(scope: String) {
        guard scope.utf8.first == UInt8(ascii: "{"),
            let value = try? JSONValue(parsing: Array(scope.utf8))
        else { return nil }
        self.init(value)
    }

    /// Whether an entity is of the list: each parameter is a field of it, with that value.
    package func hold(_ document: JSONDocument) -> Bool {
        all.allSatisfy { Self.isSame(document.value($0.name)?.parameterText, $0.value) }
    }

    /// Whether nothing in an entity says that it is of another list: fields that it has not say
    /// nothing.
    package func mayHold(_ document: JSONDocument) -> Bool {
        all.allSatisfy { parameter in
            document.value(parameter.name).map { Self.isSame($0.parameterText, parameter.value) }
                ?? true
        }
    }
}

extension JSONValue {
    /// The text of a parameter with this value; nil of null, of lists and of objects.
    fileprivate var parameterText: String? {
        switch self {
        case .string(let text): text
        case .number(let number): number.int64.map { String($0) } ?? number.text
        case .bool(let isTrue): isTrue ? "true" : "false"
        case .null, .array, .object: nil
        }
    }
}

extension ListParameters: ExpressibleByDictionaryLiteral {
    /// The parameters of these names and values; of one name the last counts.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(Dictionary(elements, uniquingKeysWith: { $1 }))
    }
}

extension ListParameters: CustomStringConvertible {
    /// `list=home, status=open`.
    public var description: String {
        all.map { "\($0.name)=\($0.value)" }.joined(separator: ", ")
    }
}
