// Patch.swift — the difference that an edit makes to an entity's top-level fields.

/// The payload of `local.updated`: `{"set":{…},"unset":[…]}`, changed fields only.
///
/// Elements of ``CollectionModel/keyed`` lists are changed like fields, by their names.
public struct Patch: Sendable, Hashable {
    /// One field and its new value, as JSON text.
    public struct Field: Sendable, Hashable {
        /// The name of the field.
        public var name: String
        /// The value's bytes, as they came.
        public var value: [UInt8]

        /// A field and the JSON text of its value.
        public init(_ name: String, _ value: [UInt8]) {
            self.name = name
            self.value = value
        }
    }

    /// Fields that get a value, in the order of the edit.
    public var set: [Field]
    /// Fields that are removed, in the order of the edit.
    public var unset: [String]

    public init(set: [Field] = [], unset: [String] = []) {
        self.set = set
        self.unset = unset
    }

    /// Whether nothing changes.
    public var isEmpty: Bool { self.set.isEmpty && unset.isEmpty }

    /// The names of the fields that change: those set, then those unset.
    public var fieldNames: [String] { self.set.map(\.name) + unset }

    /// The value that the patch gives a field: nil when the field is removed or left alone.
    public func value(of field: String) -> [UInt8]? {
        let exact = ExactString(field)
        return self.set.first { ExactString($0.name) == exact }?.value
    }

    /// All top-level fields of a JSON object, but those named.
    public init(settingAllOf document: JSONDocument, except left: Set<String> = []) {
        self.init()
        self.set.reserveCapacity(document.members.count)
        for member in document.members where !left.contains(member.key) {
            self.set.append(Field(member.key, Array(document.bytes[member.valueRange])))
        }
    }

    /// What turns one entity into another, leaving alone the fields named.
    ///
    /// Values are compared by meaning, so that `1.0` and `1` are no difference.
    public init(from old: JSONDocument, to new: JSONDocument, except left: Set<String> = []) {
        var compared = 0
        self.init(from: old, to: new, except: left, counting: &compared)
    }

    /// - Parameter compared: the most keys that may have been compared.
    init(
        from old: JSONDocument, to new: JSONDocument, except left: Set<String>,
        counting compared: inout Int
    ) {
        self.init()
        var (before, after) = (MemberSearch(old), MemberSearch(new))
        for member in new.members where !left.contains(member.key) {
            let value = new.bytes[member.valueRange]
            if !Self.isSame(before.rawValue(member.key), value) {
                self.set.append(Field(member.key, Array(value)))
            }
        }
        for member in old.members where !left.contains(member.key) {
            if after.rawValue(member.key) == nil { unset.append(member.key) }
        }
        compared = before.compared + after.compared
    }

    /// Whether two values mean the same.
    static func isSame(_ old: ArraySlice<UInt8>?, _ new: ArraySlice<UInt8>) -> Bool {
        guard let old else { return false }
        if old == new { return true }
        guard let old = try? JSONValue(parsing: old) else { return false }
        return old == (try? JSONValue(parsing: new))
    }

    /// The patch that does this one and then `later`.
    public func followed(by later: Patch) -> Patch {
        let touched = Set(later.fieldNames.map(ExactString.init))
        return Patch(
            set: set.filter { !touched.contains(ExactString($0.name)) } + later.set,
            unset: unset.filter { !touched.contains(ExactString($0)) } + later.unset)
    }

    /// The same with each field once: the last value that it gets counts, also where the field is
    /// to be removed as well.
    package var withFieldsOnce: Patch {
        if set.count + unset.count < 2 { return self }
        var names: Set<ExactString> = []
        let last = self.set.reversed().filter { names.insert(ExactString($0.name)).inserted }
        let gone = unset.filter { names.insert(ExactString($0)).inserted }
        return Patch(set: Array(last.reversed()), unset: gone)
    }

    /// The same without what it does to some fields.
    package func leavingOut(_ isLeft: (String) -> Bool) -> Patch {
        guard set.contains(where: { isLeft($0.name) }) || unset.contains(where: isLeft) else {
            return self
        }
        return Patch(set: set.filter { !isLeft($0.name) }, unset: unset.filter { !isLeft($0) })
    }

    /// The entity's bytes with this patch applied; untouched fields stand byte for byte.
    public func applied(to document: JSONDocument) -> [UInt8] {
        document.applying(set: set.map { (key: $0.name, value: $0.value) }, unset: unset)
    }

    /// The same of an entity's bytes that were checked before.
    package func applied(toChecked document: [UInt8]) -> [UInt8] {
        JSON.applying(
            set: set.map { (key: $0.name, value: $0.value) }, unset: unset, to: document)
    }

    /// The payload's bytes.
    public var encoded: [UInt8] {
        var bytes = Array(#"{"set":{"#.utf8)
        for (index, field) in set.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSON.appendString(field.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes += field.value
        }
        bytes += Array(#"},"unset":["#.utf8)
        for (index, name) in unset.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSON.appendString(name, to: &bytes)
        }
        bytes += Array("]}".utf8)
        return bytes
    }

    /// Reads what ``encoded`` wrote; absent members are empty.
    ///
    /// - Throws: ``JSONError`` when the bytes are not such an object.
    public init(parsing bytes: [UInt8]) throws(JSONError) {
        self.init()
        let document = try JSONDocument(parsing: bytes)
        if let raw = document.rawValue("set") {
            self.init(settingAllOf: try JSONDocument(parsing: Array(raw)))
        }
        unset = (document.value("unset")?.array ?? []).compactMap(\.stringValue)
    }
}

extension Patch {
    /// The fields that it sets, as a document; nil where it sets none.
    package var setDocument: JSONDocument? {
        guard !self.set.isEmpty else { return nil }
        var bytes: [UInt8] = [UInt8(ascii: "{")]
        for (index, field) in self.set.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            JSON.appendString(field.name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
            bytes += field.value
        }
        bytes.append(UInt8(ascii: "}"))
        return try? JSONDocument(parsing: bytes)
    }
}
