// EncodedNode.swift — the values given to an encoder, until all are there and can be written.
//
// A reference type, because a type may fill its containers in any order.

import TidemarkEvents

/// A JSON value that is being built.
final class EncodedNode {
    enum Content {
        /// The text of a complete value.
        case text([UInt8])
        /// Members in the order of encoding; for members of the same name, the last one counts.
        case object([Member])
        case array([EncodedNode])
    }

    /// A member of an object.
    struct Member {
        /// Its name by the key style.
        var name: String
        var value: EncodedNode
        /// The text of its key, where that is another and could be a name as well.
        var keyText: String?
    }

    /// Nil until something is encoded; nil counts as an empty object.
    private(set) var content: Content?

    /// Of a list whose order means nothing, how many elements are one: those of a set each by
    /// itself, of a dictionary a key and its value; nil for any other list.
    private(set) var unordered: Int?

    /// Why its text can be compared, but not be written; set with the text.
    var problem: String?

    /// What is in it that can't be written, with the text of each.
    var problems: [(text: [UInt8], problem: String)] {
        guard let content else { return [] }
        switch content {
        case .text(let text): return problem.map { [(text: text, problem: $0)] } ?? []
        case .array(let elements): return elements.flatMap { $0.problems }
        case .object: return (members ?? []).flatMap { $0.value.problems }
        }
    }

    /// Makes this a complete value.
    func set(_ text: [UInt8]) { content = .text(text) }

    /// Makes this an object, if it isn't one.
    func makeObject() {
        guard case .object = content else { return content = .object([]) }
    }

    /// Makes this an array, if it isn't one.
    func makeArray() {
        guard case .array = content else { return content = .array([]) }
    }

    /// Makes this what it was before.
    func restore(_ earlier: Content?) { content = earlier }

    /// Adds an empty member.
    func member(_ name: String, keyText: String? = nil) -> EncodedNode {
        let value = EncodedNode()
        add(value, as: name, keyText: keyText)
        return value
    }

    /// Adds a member, if this is an object.
    func add(_ value: EncodedNode, as name: String, keyText: String? = nil) {
        guard case .object(var members) = content else { return }
        content = nil
        members.append(Member(name: name, value: value, keyText: keyText))
        content = .object(members)
    }

    /// The object or array to fill under a name: the one that is there, or else an empty member.
    func container(_ name: String, keyText: String?, isObject: Bool) -> EncodedNode {
        if case .object(let members) = content {
            let last = members.last { member in
                member.name.utf8.elementsEqual(name.utf8) && member.keyText == keyText
            }
            if let value = last?.value, isObject ? value.isObject : value.isArray { return value }
        }
        return member(name, keyText: keyText)
    }

    /// Adds an element, if this is an array.
    func add(_ value: EncodedNode) {
        guard case .array(var elements) = content else { return }
        content = nil
        elements.append(value)
        content = .array(elements)
    }

    /// Sorts an array whose order means nothing, so that equal ones have the same text.
    ///
    /// - Parameter count: how many elements are one.
    func sort(by count: Int) {
        guard case .array(let elements) = content, elements.count.isMultiple(of: count) else {
            return
        }
        unordered = count
        let sorted = stride(from: 0, to: elements.count, by: count)
            .map { start in
                let one = elements[start..<start + count]
                return (text: one.flatMap(\.encoded), nodes: one)
            }
            .sorted { $0.text.lexicographicallyPrecedes($1.text) }
        content = .array(sorted.flatMap(\.nodes))
    }

    /// Whether it is an object.
    private var isObject: Bool { if case .object = content { true } else { false } }

    /// Whether it is an array.
    var isArray: Bool { if case .array = content { true } else { false } }

    /// An element of an array; nil where there is none.
    func element(at index: Int) -> EncodedNode? {
        guard case .array(let elements) = content, elements.indices.contains(index) else {
            return nil
        }
        return elements[index]
    }

    /// The number of elements of an array.
    var elementCount: Int {
        if case .array(let elements) = content { elements.count } else { 0 }
    }

    /// The members, sorted by the bytes of their names; nil when this is no object.
    var members: [Member]? {
        guard let content else { return [] }
        guard case .object(let members) = content else { return nil }
        var sorted = members.enumerated().sorted { left, right in
            if left.element.name.utf8.elementsEqual(right.element.name.utf8) {
                return left.offset < right.offset
            }
            return left.element.name.utf8.lexicographicallyPrecedes(right.element.name.utf8)
        }.map(\.element)
        for index in sorted.indices.dropFirst().reversed()
        where sorted[index - 1].name.utf8.elementsEqual(sorted[index].name.utf8) {
            sorted.remove(at: index - 1)
        }
        return sorted
    }

    /// Appends the compact text, with members sorted by the bytes of their names at every level.
    func append(to output: inout [UInt8]) {
        if case .text(let text) = content {
            output += text
        } else if case .array(let elements) = content {
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.append(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        } else {
            output.append(UInt8(ascii: "{"))
            for (index, member) in (members ?? []).enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSON.appendString(member.name, to: &output)
                output.append(UInt8(ascii: ":"))
                member.value.append(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }

    /// The compact text.
    var encoded: [UInt8] {
        var output: [UInt8] = []
        append(to: &output)
        return output
    }
}

// MARK: - Names of the document

extension EncodedNode {
    /// Gives members whose keys could be names as they are the names that a document has: what it
    /// calls `isoCode` is no other member, `iso_code`, after an edit.
    ///
    /// - Parameter nodes: encodings of the document's entity.
    static func keepNames(of document: JSONDocument, in nodes: [EncodedNode]) throws {
        guard nodes.contains(where: { $0.hasKeyTexts }) else { return }
        keepNames(of: [try JSONValue(parsing: document.bytes)], in: nodes)
    }

    /// The same for the values of one place: an element of a list may be any of the document's.
    private static func keepNames(of values: [JSONValue], in nodes: [EncodedNode]) {
        guard !values.isEmpty, nodes.contains(where: { $0.hasKeyTexts }) else { return }
        var there: [ExactString: [JSONValue]] = [:]
        for case .object(let members) in values {
            for (name, value) in members { there[ExactString(name), default: []].append(value) }
        }
        var inside: [ExactString: [EncodedNode]] = [:]
        for node in nodes {
            guard case .object(var members) = node.content else { continue }
            for index in members.indices {
                if let text = members[index].keyText, there[ExactString(text)] != nil {
                    members[index].name = text
                }
                inside[ExactString(members[index].name), default: []].append(members[index].value)
            }
            node.content = .object(members)
        }
        // Each by itself, so that their order means nothing.
        for (name, nodes) in inside { keepNames(of: there[name] ?? [], in: nodes) }
        keepNames(of: values.flatMap { $0.array ?? [] }, in: nodes.flatMap { $0.elements })
    }

    private var hasKeyTexts: Bool {
        guard case .object(let members) = content else {
            return elements.contains { $0.hasKeyTexts }
        }
        return members.contains { $0.keyText != nil || $0.value.hasKeyTexts }
    }

    private var elements: [EncodedNode] {
        if case .array(let elements) = content { elements } else { [] }
    }
}
