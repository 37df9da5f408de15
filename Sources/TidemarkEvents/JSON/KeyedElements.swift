// KeyedElements.swift — the elements of a list, told by the value of a member.

/// Why the elements of a list can't be told by their keys.
package enum KeyedListProblem: Error, Sendable, Hashable, CustomStringConvertible {
    case notAList
    /// The element at a place is no object.
    case notAnObject(Int)
    /// The element at a place lacks the member.
    case keyIsMissing(Int)
    /// The member of the element at a place is no text and no number.
    case keyIsNoText(Int)
    /// Two elements have this key.
    case sameKey(String)
    /// A field has the name of an element.
    case sameName(String)

    package var description: String {
        switch self {
        case .notAList: "it is no list"
        case .notAnObject(let place): "[\(place)] is no object"
        case .keyIsMissing(let place): "[\(place)] has no key"
        case .keyIsNoText(let place): "the key of [\(place)] is neither a text nor a number"
        case .sameKey(let key): "two elements have the key \(key)"
        case .sameName(let name): "the field \(name) has the name of an element"
        }
    }
}

/// The elements of a list that can be told by their keys, in the list's order.
package struct KeyedElements: Sendable {
    /// The keys, each once.
    package private(set) var keys: [String] = []
    private let bytes: [UInt8]
    private var ranges: [Range<Int>] = []
    private var places: [ExactString: Int] = [:]

    /// Reads the text of a list.
    ///
    /// - Parameter raw: JSON that was checked before.
    package init(_ raw: ArraySlice<UInt8>, of list: KeyedList) throws(KeyedListProblem) {
        bytes = Array(raw)
        guard let ranges = (try? JSON.arrayElements(of: bytes)) ?? nil else { throw .notAList }
        for (place, range) in ranges.enumerated() {
            guard bytes[range.lowerBound] == UInt8(ascii: "{") else { throw .notAnObject(place) }
            guard let value = list.keyValue(of: bytes[range]) else { throw .keyIsMissing(place) }
            guard let key = KeyedList.key(value) else { throw .keyIsNoText(place) }
            guard places.updateValue(place, forKey: ExactString(key)) == nil else {
                throw .sameKey(key)
            }
            keys.append(key)
        }
        self.ranges = ranges
    }

    package var isEmpty: Bool { keys.isEmpty }

    /// The element with a key, as it came; nil where there is none.
    package subscript(key: String) -> ArraySlice<UInt8>? {
        places[ExactString(key)].map { bytes[ranges[$0]] }
    }
}

/// How a document holds a list.
package enum ListForm: Sendable {
    /// Not at all, or null stands in its place.
    case none
    case elements(KeyedElements)
    /// In a way that counts as one field.
    case whole(KeyedListProblem)

    /// Whether elements can be changed in it one by one.
    package var isKeyed: Bool { if case .whole = self { false } else { true } }

    /// The form of a value in the place of a list; nil for no value.
    package init(_ raw: ArraySlice<UInt8>?, of list: KeyedList) {
        guard let raw, !raw.elementsEqual("null".utf8) else {
            self = .none
            return
        }
        do throws(KeyedListProblem) { self = .elements(try KeyedElements(raw, of: list)) } catch {
            self = .whole(error)
        }
    }
}

extension JSONDocument {
    /// How it holds a list.
    package func form(of list: KeyedList) -> ListForm {
        let named = members.first {
            $0.key.utf8.first == UInt8(ascii: "/") && list.key(in: $0.key) != nil
        }
        if let named { return .whole(.sameName(named.key)) }
        return ListForm(rawValue(list.field), of: list)
    }

    /// The document with the elements of lists as members under their names.
    ///
    /// Of a list itself `[]` is left, which says that there is one; a list in another form stays as
    /// it is.
    ///
    /// - Parameter keepsEmptied: whether it is left where there are elements, too.
    package func expanded(
        _ lists: [KeyedList], keepsEmptied: Bool = true
    ) throws(JSONError) -> JSONDocument {
        var output = [UInt8(ascii: "{")]
        var isChanged = false
        func append(_ name: ArraySlice<UInt8>, _ value: ArraySlice<UInt8>) {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            output += name
            output.append(UInt8(ascii: ":"))
            output += value
        }
        for member in members {
            let name = bytes[member.keyRange]
            guard let list = lists.list(in: member.key),
                case .elements(let elements) = form(of: list)
            else {
                append(name, bytes[member.valueRange])
                continue
            }
            isChanged = true
            if keepsEmptied || elements.isEmpty { append(name, Array("[]".utf8)[...]) }
            for key in elements.keys {
                var quoted: [UInt8] = []
                JSON.appendString(list.name(of: key), to: &quoted)
                append(quoted[...], elements[key] ?? [])
            }
        }
        output.append(UInt8(ascii: "}"))
        guard isChanged else { return self }
        var document = try JSONDocument(parsing: output)
        document.keepPlaces()
        return document
    }
}

extension KeyedList {
    /// The member of an element that tells it; nil where it lacks the member.
    ///
    /// - Parameter element: an object that was checked before.
    package func keyValue(of element: ArraySlice<UInt8>) -> JSONValue? {
        JSON.members([Array(key.utf8)], of: element)[0].flatMap { try? JSONValue(parsing: $0) }
    }

    /// The text of a list with some elements changed: replaced in their places, removed, or added
    /// at the end in the order given; the others keep their bytes.
    ///
    /// - Parameters:
    ///   - changes: keys with their new elements, nil for those that are removed; each key once.
    ///   - raw: the list; nil for none. Of several elements with a key that is named only one is
    ///     left, and anything that is no list gives way to one.
    /// - Returns: nil where nothing changes.
    package func changing(
        _ changes: [(key: String, element: [UInt8]?)], of raw: ArraySlice<UInt8>?
    ) -> [UInt8]? {
        let bytes = raw.map(Array.init) ?? []
        let ranges = (try? JSON.arrayElements(of: bytes)) ?? nil
        let news = Dictionary(
            changes.map { (ExactString($0.key), $0.element) }, uniquingKeysWith: { _, last in last }
        )
        var placed: Set<ExactString> = []
        var isChanged = false
        var output = [UInt8(ascii: "[")]
        func append(_ element: some Sequence<UInt8>) {
            if output.count > 1 { output.append(UInt8(ascii: ",")) }
            output += element
        }
        for range in ranges ?? [] {
            let element = bytes[range]
            let value = element.first == UInt8(ascii: "{") ? keyValue(of: element) : nil
            guard let key = value.flatMap(Self.key).map(ExactString.init), let new = news[key]
            else {
                append(element)
                continue
            }
            guard placed.insert(key).inserted, let new else {
                isChanged = true
                continue
            }
            if !element.elementsEqual(new) { isChanged = true }
            append(new)
        }
        for (key, element) in changes {
            guard let element, placed.insert(ExactString(key)).inserted else { continue }
            isChanged = true
            append(element)
        }
        output.append(UInt8(ascii: "]"))
        return isChanged ? output : nil
    }
}
