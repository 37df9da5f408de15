// PayloadBody.swift — what was sent or answered, inside a payload or beside the log.

/// The body of a request, an answer or an unreadable record: as it is where it is JSON, as text
/// where it is UTF-8, else in Base64.
package struct PayloadBody: MemberPayload {
    /// The bytes of a JSON value.
    package private(set) var json: [UInt8]?
    private var text: String?
    private var base64: [UInt8]?

    package init() {}

    /// Without bytes nothing stands in the payload.
    package init(_ bytes: [UInt8]?) {
        guard let bytes, !bytes.isEmpty else { return }
        do {
            try JSON.validate(bytes, within: 1)
            json = bytes
        } catch {
            text = String(validating: bytes, as: UTF8.self)
            if text == nil { base64 = bytes }
        }
    }

    /// The bytes; none where there is no body.
    package var bytes: [UInt8] { json ?? text.map { Array($0.utf8) } ?? base64 ?? [] }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("body", \.json, .json, .body),
        PayloadMember("bodyText", \.text, .text, .text),
        PayloadMember("bodyBase64", \.base64, .base64, .base64),
    ]
}

/// A long body of an answer, which lies beside the log, so that equal ones are stored once.
package struct NamedBody: MemberPayload {
    /// Its length in bytes.
    package var length: UInt64?
    /// Its SHA-256 in hexadecimal digits.
    package var digest: String?

    package init() {}

    package init(length: UInt64, digest: String) {
        self.length = length
        self.digest = digest
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("bodyBytes", \.length, .integer, .bodyLength),
        PayloadMember("bodySHA256", \.digest, .text, .text),
    ]
}

/// Answers as they came, which lie beside the log as long as their run is one of the last: that
/// they are not there is no damage.
package struct KeptName: MemberPayload {
    /// How long they are, in bytes.
    package var length: UInt64?
    /// Their SHA-256 in hexadecimal digits.
    package var digest: String?

    package init() {}

    package init(length: UInt64, digest: String) {
        self.length = length
        self.digest = digest
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("keptBytes", \.length, .integer, .kept),
        PayloadMember("keptSHA256", \.digest, .text, .kept),
    ]
}

extension PayloadCodec<[UInt8]> {
    fileprivate static var base64: Self {
        PayloadCodec(
            "a text in Base64", { $0.stringValue.flatMap(Base64.decode) },
            append: { JSON.appendString(Base64.encode($0), to: &$1) })
    }
}
