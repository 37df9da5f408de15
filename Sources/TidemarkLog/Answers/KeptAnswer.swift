// KeptAnswer.swift — an answer of a server as it came, kept beside the log so that a replay can
// hand it to the adapter once more: tidemark.v1.KeptAnswers of Schemas/tidemark/v1/answers.proto.
//
// What an event names is the SHA-256 of the message with each body in one part. In the store a body
// is cut: what is the payload of an event stands there as that event's position.

package import TidemarkEvents
import TidemarkStore

/// An answer of a server as it came, or that none came.
package struct KeptAnswer: Sendable, Hashable {
    /// What was asked, where no event says so.
    package struct Request: Sendable, Hashable {
        package var method: String
        /// Path and query, percent-encoded.
        package var path: String
        package var ifMatch: String?
        package var ifNoneMatch: String?
        /// By the device's clock, as if nobody had set it since the run began.
        package var sentAt: Timestamp
        /// The log's last position when it was decided.
        package var asOf: Position

        package init(
            method: String, path: String, ifMatch: String?, ifNoneMatch: String?,
            sentAt: Timestamp, asOf: Position
        ) {
            self.method = method
            self.path = path
            self.ifMatch = ifMatch
            self.ifNoneMatch = ifNoneMatch
            self.sentAt = sentAt
            self.asOf = asOf
        }
    }

    /// A part of a body.
    enum Part: Sendable, Hashable {
        case bytes([UInt8])
        /// The payload of the event at a position.
        case payload(Position)
    }

    package var request: Request?
    /// How many answers to what was asked earlier in the run, at the same time, came later.
    package var overtook = 0
    /// Microseconds since the device's boot, when it came or was given up.
    package var uptime: Int64?
    /// The HTTP status; 0 where no answer came.
    package var status = 0
    /// The header fields that the adapter was handed, in their order.
    package var fields: [Named<String>] = []
    /// Why no answer came, by the name of the transport's error; empty where one came.
    package var error = ""
    /// What the platform said to that.
    package var detail = ""
    var parts: [Part] = []

    package init() {}

    /// The body's bytes; cut ones have to be joined before.
    package var body: [UInt8] {
        get {
            parts.reduce(into: []) { body, part in
                if case .bytes(let bytes) = part { body += bytes }
            }
        }
        set { parts = newValue.isEmpty ? [] : [.bytes(newValue)] }
    }

    /// How long the body is, without what lies elsewhere.
    package var bodyBytes: Int { parts.reduce(0) { $0 + $1.count } }

    /// Whether nothing of its body lies elsewhere.
    package var isWhole: Bool {
        parts.allSatisfy { if case .bytes = $0 { true } else { false } } && parts.count <= 1
    }

    /// Whether its status is one that HTTP has, or 0.
    package var hasStatus: Bool { (0...999).contains(status) }

    /// Whether it says what came, or why nothing did.
    package var isKnown: Bool { status > 0 || !error.isEmpty }

    /// Whether nothing is said but what events say.
    package var isEmpty: Bool { self == KeptAnswer() }
}

// MARK: The message

extension KeptAnswer {
    /// Everything before the body.
    private var head: [UInt8] {
        var writer = ProtoWriter()
        if let request { writer.message(1, request.encoded) }
        writer.varint(2, UInt64(clamping: overtook))
        if let uptime { writer.signed(3, uptime) }
        writer.varint(4, UInt64(clamping: status))
        for field in fields {
            var inner = ProtoWriter()
            inner.string(1, field.name)
            inner.string(2, field.value)
            writer.message(5, inner.bytes)
        }
        writer.string(6, error)
        writer.string(7, detail)
        return writer.bytes
    }

    /// Hands over the bytes of the answer as a member of the message, piece by piece: a body is
    /// long, and copied as seldom as can be.
    fileprivate func encode(_ piece: (ArraySlice<UInt8>) -> Void) {
        let head = head
        let ends = parts.map(\.end)
        let count = zip(parts, ends).reduce(head.count) { count, part in
            count + ProtoWriter.size(ofBytes: part.1.count + part.0.count)
        }
        var writer = ProtoWriter()
        writer.begin(1, bytes: count)
        piece(writer.bytes[...])
        piece(head[...])
        for (part, end) in zip(parts, ends) {
            writer.removeAll()
            writer.begin(8, bytes: end.count + part.count)
            piece(writer.bytes[...])
            piece(end[...])
            if case .bytes(let bytes) = part { piece(bytes[...]) }
        }
    }

    /// - Throws: ``ProtoError`` for what no version writes.
    package init(parsing bytes: [UInt8]) throws {
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: request = try Request(parsing: try field.bytes())
            case 2: overtook = Int(clamping: try field.unsigned())
            case 3: uptime = try field.signed()
            case 4: status = Int(clamping: try field.unsigned())
            case 5:
                var inner = ProtoReader(try field.bytes())
                var named = Named("", "")
                while let field = try inner.next() {
                    if field.number == 1 { named.name = try field.string() }
                    if field.number == 2 { named.value = try field.string() }
                }
                fields.append(named)
            case 6: error = try field.string()
            case 7: detail = try field.string()
            case 8:
                var inner = ProtoReader(try field.bytes())
                while let field = try inner.next() {
                    if field.number == 1 { parts.append(.bytes(try field.bytes())) }
                    if field.number == 2 { parts.append(.payload(try field.position())) }
                }
            default: continue
            }
        }
    }
}

extension KeptAnswer.Request {
    fileprivate var encoded: [UInt8] {
        var writer = ProtoWriter()
        writer.string(1, method)
        writer.string(2, path)
        writer.string(3, ifMatch ?? "")
        writer.string(4, ifNoneMatch ?? "")
        writer.signed(5, sentAt.rawValue)
        writer.position(6, asOf)
        return writer.bytes
    }

    fileprivate init(parsing bytes: [UInt8]) throws {
        self.init(
            method: "", path: "", ifMatch: nil, ifNoneMatch: nil,
            sentAt: Timestamp(rawValue: 0), asOf: .start)
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1: method = try field.string()
            case 2: path = try field.string()
            case 3: ifMatch = try field.string()
            case 4: ifNoneMatch = try field.string()
            case 5: sentAt = Timestamp(rawValue: try field.signed())
            case 6: asOf = try field.position()
            default: continue
            }
        }
    }
}

extension KeptAnswer.Part {
    /// What stands before the bytes, or in their place.
    fileprivate var end: [UInt8] {
        var writer = ProtoWriter()
        switch self {
        case .bytes(let bytes): writer.begin(1, bytes: bytes.count)
        case .payload(let position): writer.position(2, position)
        }
        return writer.bytes
    }

    /// How many bytes there are.
    fileprivate var count: Int { if case .bytes(let bytes) = self { bytes.count } else { 0 } }
}

extension [KeptAnswer] {
    /// The message with all of them.
    package var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(reduce(0) { $0 + $1.bodyBytes + 512 })
        for answer in self { answer.encode { bytes += $0 } }
        return bytes
    }

    /// - Throws: ``ProtoError`` for what no version writes.
    package init(parsing bytes: [UInt8]) throws {
        self.init()
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            guard field.number == 1 else { continue }
            append(try KeptAnswer(parsing: try field.bytes()))
        }
    }

    /// By what an event names them; without any it names none.
    package var name: KeptName {
        if isEmpty { return KeptName() }
        var (hash, length) = (SHA256Stream(), UInt64(0))
        for answer in self {
            answer.encode { piece in
                hash.add(piece)
                length += UInt64(piece.count)
            }
        }
        return KeptName(length: length, digest: Hexadecimal.encode(hash.digest))
    }
}
