// JSONObject.swift — members in the order they came, equal in any order.

/// A JSON object: members with unique keys, in the order they were written or added.
///
/// Keys are compared byte for byte. Looking up a key takes time linear in the number of members.
public struct JSONObject: Sendable {
    private var members: [Element] = []

    /// An object without members.
    public init() {}

    /// How many members there are.
    public var count: Int { members.count }

    /// Whether there are no members.
    public var isEmpty: Bool { members.isEmpty }

    /// The keys in order.
    public var keys: [String] { members.map(\.key) }

    /// The value of a key, or nil when there is no such member.
    ///
    /// Setting a value keeps the place of an existing key and appends a new one; setting nil
    /// removes the member. A JSON null is `.null`.
    public subscript(key: String) -> JSONValue? {
        get { place(of: key).map { members[$0].value } }
        set {
            switch (place(of: key), newValue) {
            case (let place?, let value?): members[place].value = value
            case (let place?, nil): members.remove(at: place)
            case (nil, let value?): members.append((key, value))
            case (nil, nil): break
            }
        }
    }

    /// Adds a member whose key is known to be new.
    mutating func append(newKey key: String, _ value: JSONValue) {
        members.append((key, value))
    }

    private func place(of key: String) -> Int? {
        let exact = ExactString(key)
        return members.firstIndex { ExactString($0.key) == exact }
    }
}

extension JSONObject: Sequence {
    /// One member.
    public typealias Element = (key: String, value: JSONValue)

    /// Walks the members in order.
    public func makeIterator() -> IndexingIterator<[Element]> {
        members.makeIterator()
    }
}

extension JSONObject: Hashable {
    /// Whether both have the same keys with equal values, in whatever order.
    public static func == (left: Self, right: Self) -> Bool {
        guard left.count == right.count else { return false }
        let sameOrder = zip(left.members, right.members).allSatisfy {
            ExactString($0.key) == ExactString($1.key)
        }
        if sameOrder {
            return zip(left.members, right.members).allSatisfy { $0.value == $1.value }
        }
        let places = Dictionary(
            right.members.enumerated().map { (ExactString($1.key), $0) },
            uniquingKeysWith: { first, _ in first })
        return left.members.allSatisfy { member in
            guard let place = places[ExactString(member.key)] else { return false }
            return right.members[place].value == member.value
        }
    }

    /// Hashes the members so that their order does not matter.
    public func hash(into hasher: inout Hasher) {
        var sum = 0
        for member in members {
            var each = Hasher()
            each.combine(member.key)
            each.combine(member.value)
            sum &+= each.finalize()
        }
        hasher.combine(members.count)
        hasher.combine(sum)
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object with these members in this order; the keys must differ.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        var seen: Set<ExactString> = []
        for (key, value) in elements {
            precondition(seen.insert(ExactString(key)).inserted, "a JSON object needs unique keys")
            append(newKey: key, value)
        }
    }
}
