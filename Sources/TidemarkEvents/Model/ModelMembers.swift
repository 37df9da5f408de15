// ModelMembers.swift — reading the members of a model document, with errors that name them.

/// The members of one object of the document, with errors that name their path.
struct Members {
    let object: JSONObject
    let path: String

    init(_ value: JSONValue, at path: String, known: [String]?) throws(ModelError) {
        guard let object = value.object else { throw ModelError(path, "an object is needed") }
        for (name, _) in object {
            if let known, !known.contains(name) {
                let list = known.joined(separator: ", ")
                throw ModelError(path, "\"\(name)\" is none of \(list)")
            }
        }
        self.object = object
        self.path = path
    }

    subscript(name: String) -> JSONValue? { object[name] }

    func string(_ name: String) throws(ModelError) -> String? {
        guard let value = object[name] else { return nil }
        guard let text = value.stringValue, !text.isEmpty else {
            throw ModelError(path.isEmpty ? name : "\(path).\(name)", "a text is needed")
        }
        return text
    }

    /// A whole number within bounds, or nil when the member is not there.
    func integer(_ name: String, in range: ClosedRange<Int64>) throws(ModelError) -> Int? {
        guard let value = object[name] else { return nil }
        guard let number = value.int64Value, range.contains(number) else {
            throw ModelError(
                "\(path).\(name)",
                "a number from \(range.lowerBound) to \(range.upperBound) is needed")
        }
        return Int(number)
    }

    /// The elements of a list; none when the member is not there.
    func list(_ name: String) throws(ModelError) -> [JSONValue] {
        guard let value = object[name] else { return [] }
        guard let list = value.array else {
            throw ModelError("\(path).\(name)", "a list is needed")
        }
        return list
    }

    /// One of a set of words, or nil when the member is not there.
    func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(ModelError) -> Word? {
        guard let value = object[name] else { return nil }
        guard let word = value.stringValue.flatMap(Word.init(rawValue:)) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw ModelError("\(path).\(name)", "one of \(words) is needed")
        }
        return word
    }

    /// A list of texts; none when the member is not there.
    func texts(_ name: String) throws(ModelError) -> [String] {
        var texts: [String] = []
        for (index, value) in try list(name).enumerated() {
            guard let text = value.stringValue, !text.isEmpty else {
                throw ModelError("\(path).\(name)[\(index)]", "a text is needed")
            }
            texts.append(text)
        }
        return texts
    }

    /// True or false, or nil when the member is not there.
    func flag(_ name: String) throws(ModelError) -> Bool? {
        guard let value = object[name] else { return nil }
        guard case .bool(let flag) = value else {
            throw ModelError("\(path).\(name)", "true or false is needed")
        }
        return flag
    }

    /// The members of an object in this one, or nil when it is not there.
    func object(_ name: String, known: [String]?) throws(ModelError) -> Members? {
        guard let value = object[name] else { return nil }
        return try Members(value, at: "\(path).\(name)", known: known)
    }

    /// The error for a member that has to be there.
    func isNeeded(_ name: String) -> ModelError { ModelError(path, "\(name) is needed") }
}
