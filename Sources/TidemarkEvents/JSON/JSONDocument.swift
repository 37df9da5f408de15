// JSONDocument.swift — an object's bytes, and where its members stand in them.
//
// For changing a few members of what a server sent and keeping every other byte as it came.

/// A JSON text whose top level is an object, kept verbatim.
public struct JSONDocument: Sendable, Hashable {
    /// One member of the top-level object.
    public struct Member: Sendable {
        /// The key, unescaped.
        public let key: String
        /// Where the key stands in ``JSONDocument/bytes``, quotes included.
        public let keyRange: Range<Int>
        /// Where the value stands in ``JSONDocument/bytes``, without white space around it.
        public let valueRange: Range<Int>
    }

    /// The text as it came.
    public let bytes: [UInt8]
    /// The top-level members in order.
    public let members: [Member]
    /// The places of members by their keys, where many are looked up; nil where none are kept.
    private var places: [ExactString: Int]?
    /// So many members are found one after the other in less time than a table takes.
    private static let fewLooks = 16

    /// Checks a whole text and finds its members.
    ///
    /// - Throws: ``JSONError`` by the rules of ``JSONValue/init(parsing:)-([UInt8])``, and
    ///   `notAnObject` when the first byte that is no white space is not `{`.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        try self.init(parsing: bytes, within: 0)
    }

    /// Reads an object that may stand `within` so many levels of others.
    package init(parsing bytes: [UInt8], within levels: Int) throws(JSONError) {
        self.bytes = bytes
        members = try JSONScanner.whole(bytes[...]) { (scanner, bytes) throws(JSONError) in
            guard try scanner.peek(bytes) == UInt8(ascii: "{") else {
                throw JSONError(.notAnObject, at: scanner.at)
            }
            scanner.depth = levels
            var members: [Member] = []
            // Most objects have no more, and few have so many in fewer bytes.
            members.reserveCapacity(min(bytes.count / 16 + 1, 16))
            try scanner.members(bytes) { (scanner, bytes, key) throws(JSONError) in
                let start = scanner.at
                try scanner.skipValue(bytes)
                let keyRange = key.content.lowerBound - 1..<key.content.upperBound + 1
                members.append(
                    Member(
                        key: scanner.text(key), keyRange: keyRange, valueRange: start..<scanner.at))
            }
            return members
        }
    }

    /// The keys in order, unescaped.
    public var keys: [String] { members.map(\.key) }

    /// The bytes of a member's value as they came, or nil when there is no such key.
    public func rawValue(_ key: String) -> ArraySlice<UInt8>? {
        place(of: ExactString(key)).map { bytes[members[$0].valueRange] }
    }

    /// Where among the members one stands.
    func place(of key: ExactString) -> Int? {
        if let places { return places[key] }
        return members.firstIndex { ExactString($0.key) == key }
    }

    /// Whether looking up a member takes no time that grows with them.
    var keepsPlaces: Bool { places != nil }

    /// Keeps the places of all members where there are many, for whoever looks up many of them.
    ///
    /// - Parameter looks: how many are looked up, where that is known.
    package mutating func keepPlaces(for looks: Int = .max) {
        guard places == nil, members.count > JSONKeys.fewMax, looks > Self.fewLooks else { return }
        places = Dictionary(
            members.enumerated().map { (ExactString($1.key), $0) },
            uniquingKeysWith: { first, _ in first })
    }

    /// A member's value, parsed now, or nil when there is no such key.
    public func value(_ key: String) -> JSONValue? {
        rawValue(key).flatMap { try? JSONValue(parsing: $0) }
    }

    /// Whether both have the same bytes.
    public static func == (left: Self, right: Self) -> Bool { left.bytes == right.bytes }

    public func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
}

extension JSONDocument {
    /// The bytes of the object with some members changed.
    ///
    /// Untouched members keep their bytes and their order, replaced ones keep their key's bytes and
    /// their place, new ones follow in the order given. Nothing stands between members but commas.
    /// When nothing changes, the result is ``bytes``.
    ///
    /// - Parameters:
    ///   - set: keys and the JSON texts of their new values, which must be valid and are put in
    ///     verbatim. Of several for one key the last counts.
    ///   - unset: keys to leave out, where present; a key that is also in `set` stays.
    public func applying(
        set: [(key: String, value: [UInt8])], unset: [String] = []
    ) -> [UInt8] {
        var patched = PatchedObject(bytes, set, unset)
        for member in members { patched.take(member.keyRange, member.valueRange) }
        return patched.finish()
    }
}
