// MemberPayload.swift — payloads of ours: JSON objects whose members stand in a table of their own.
//
// The table is the one place that knows a member's name. By it a payload is written, in its order,
// and read; by it a capsule is redacted, and Schemas/dump.schema.json is checked.

/// A payload that this library writes: an object of named members.
package protocol MemberPayload: Sendable, Hashable {
    /// Every member, in the order in which they are written.
    static var members: [PayloadMember<Self>] { get }

    /// One without any member.
    init()

    /// What matters most of it, on one line for a person; nil to show all of it.
    var gist: String? { get }
}

/// Why a payload is not what this version writes.
package struct PayloadProblem: Error, Sendable, Hashable, CustomStringConvertible {
    /// The member; nil where the payload as a whole is meant.
    package var member: String?
    /// What it should be: `an integer`.
    package var expected: String

    package init(_ member: String?, expected: String) {
        self.member = member
        self.expected = expected
    }

    package var description: String {
        "\(member.map { "payload.\($0)" } ?? "the payload") is not \(expected)"
    }
}

extension MemberPayload {
    package var gist: String? { nil }

    /// What tools need to know of the members.
    package static var shapes: [PayloadMemberShape] { members.flatMap(\.shapes) }

    /// Reads a payload.
    ///
    /// A member that is missing, or null, has the value that it has in ``init()``; members of newer
    /// versions are passed over. No bytes at all are an object without members.
    ///
    /// - Throws: ``PayloadProblem`` for what is no JSON object, or has a member of another type.
    package init(reading payload: [UInt8]) throws(PayloadProblem) {
        self.init()
        guard !payload.isEmpty else { return }
        let document: JSONDocument
        do { document = try JSONDocument(parsing: payload) } catch {
            throw PayloadProblem(nil, expected: "a JSON object")
        }
        for member in Self.members { try member.read(document, &self) }
    }

    /// Reads a payload that a row keeps; what can't be read is without any member.
    package init(stored payload: [UInt8]) { self = (try? Self(reading: payload)) ?? Self() }

    /// The payload's bytes: the members that have something to say, without white space.
    package var encoded: [UInt8] {
        var writer = MemberWriter()
        for member in Self.members { member.write(self, &writer) }
        return writer.finish()
    }
}

/// Writes the members of an object one after another.
package struct MemberWriter: Sendable {
    private var buffer: [UInt8] = [UInt8(ascii: "{")]

    package init() {}

    /// Ends the object, and returns its bytes.
    package mutating func finish() -> [UInt8] {
        buffer.append(UInt8(ascii: "}"))
        return buffer
    }

    /// Adds a member whose value is written by `value`, which appends one JSON value.
    mutating func add(_ name: String, _ value: (inout [UInt8]) -> Void) {
        if buffer.count > 1 { buffer.append(UInt8(ascii: ",")) }
        JSON.appendString(name, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        value(&buffer)
    }
}
