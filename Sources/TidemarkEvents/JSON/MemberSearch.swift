// MemberSearch.swift — many members of one object, looked up one after the other.

/// Finds members by their keys, fastest in the order in which they stand.
///
/// The two sides of an edit mostly have their members in one order. Where they do not, the places
/// of many members go into a table; few are compared with each other.
struct MemberSearch {
    private var document: JSONDocument
    /// The place behind the last one that was found.
    private var next = 0
    /// The most keys that may have been compared so far.
    private(set) var compared = 0

    init(_ document: JSONDocument) { self.document = document }

    /// The bytes of a member's value as they came, or nil when there is no such key.
    mutating func rawValue(_ key: String) -> ArraySlice<UInt8>? {
        guard let place = place(of: ExactString(key)) else { return nil }
        next = place + 1
        return document.bytes[document.members[place].valueRange]
    }

    private mutating func place(of key: ExactString) -> Int? {
        compared += 1
        if next < document.members.count, ExactString(document.members[next].key) == key {
            return next
        }
        document.keepPlaces()
        compared += document.keepsPlaces ? 1 : document.members.count
        return document.place(of: key)
    }
}
