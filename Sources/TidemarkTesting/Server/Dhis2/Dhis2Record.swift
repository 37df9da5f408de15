// Dhis2Record.swift — a tracker object as the server keeps it, by the names of the new API.

import TidemarkEvents

/// The kinds of tracker objects, by their lists in the new API; a parent before its children.
enum Dhis2Kind: String, Sendable, Hashable, CaseIterable {
    case trackedEntities, enrollments, events, relationships

    /// The member with the object's id.
    var idMember: String {
        switch self {
        case .trackedEntities: "trackedEntity"
        case .enrollments: "enrollment"
        case .events: "event"
        case .relationships: "relationship"
        }
    }

    /// The kind's name in reports.
    var reportName: String {
        switch self {
        case .trackedEntities: "TRACKED_ENTITY"
        case .enrollments: "ENROLLMENT"
        case .events: "EVENT"
        case .relationships: "RELATIONSHIP"
        }
    }

    /// What a sentence calls an object.
    var word: String {
        switch self {
        case .trackedEntities: "TrackedEntity"
        case .enrollments: "Enrollment"
        case .events: "Event"
        case .relationships: "Relationship"
        }
    }

    /// The list in the old API.
    var oldName: String { self == .trackedEntities ? "trackedEntityInstances" : rawValue }

    /// The member with the id in the old API.
    var oldIDMember: String { self == .trackedEntities ? "trackedEntityInstance" : idMember }

    /// The member with the values of an object, which are kept one by one.
    var valuesMember: String { self == .events ? "dataValues" : "attributes" }

    /// The member of a value that says what it is a value of.
    var valueKey: String { self == .events ? "dataElement" : "attribute" }
}

/// Which of the two tracker APIs is spoken.
enum Dhis2Generation: Sendable, Hashable { case old, new }

/// A tracker object without the objects in it.
struct Dhis2Record: Sendable, Hashable {
    var kind: Dhis2Kind
    var id: String
    /// Its place in the order of creation.
    var sequence: Int64
    var createdAt: Timestamp
    var updatedAt: Timestamp
    var isDeleted = false
    /// Its members by the names of the new API, without id, times and children.
    var fields: JSONObject

    func text(_ member: String) -> String? { fields[member]?.stringValue }

    var program: String? { text("program") }
    var orgUnit: String? { text("orgUnit") }
    /// The parent of an event; nil for one of a program without registration.
    var enrollment: String? { kind == .events ? text("enrollment") : nil }
    /// The parent of an enrollment.
    var trackedEntity: String? { kind == .enrollments ? text("trackedEntity") : nil }

    /// Its attributes or data values, each an object.
    var values: [JSONObject] {
        get { fields[kind.valuesMember]?.array?.compactMap(\.object) ?? [] }
        set { fields[kind.valuesMember] = .array(newValue.map { .object($0) }) }
    }

    /// The value of an attribute or a data element.
    func value(of element: String) -> String? {
        values.first { $0[kind.valueKey]?.stringValue == element }?["value"]?.stringValue
    }

    /// The end of a relationship: what kind of object, and which.
    func end(_ member: String) -> Dhis2End? {
        fields[member]?.object.flatMap(Dhis2End.init)
    }
}

/// One end of a relationship.
struct Dhis2End: Sendable, Hashable {
    var kind: Dhis2Kind
    var id: String

    /// Reads `{"event":{"event":"a"}}` and the shorter `{"event":"a"}`.
    init?(_ object: JSONObject) {
        let kinds = Dhis2Kind.allCases.filter {
            $0 != .relationships && object[$0.idMember] != .none
        }
        guard kinds.count == 1, let kind = kinds.first, let value = object[kind.idMember],
            let id = value.stringValue ?? value[kind.idMember]?.stringValue
        else { return nil }
        self.kind = kind
        self.id = id
    }

    var json: JSONValue {
        var inner = JSONObject()
        inner[kind.idMember] = .string(id)
        var outer = JSONObject()
        outer[kind.idMember] = .object(inner)
        return .object(outer)
    }
}

/// Ids: 11 letters and digits, a letter first.
enum Dhis2ID {
    static func isValid(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 11, let first = bytes.first, isLetter(first) else { return false }
        return bytes.allSatisfy { isLetter($0) || isDigit($0) }
    }

    /// An id made from a number; the same number makes the same id.
    static func made(_ number: Int64) -> String {
        let digits = String(number, radix: 36)
        return "t" + String(repeating: "0", count: max(0, 10 - digits.utf8.count)) + digits
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
