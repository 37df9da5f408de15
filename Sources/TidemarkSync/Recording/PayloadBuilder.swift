// PayloadBuilder.swift — JSON objects written member by member, with values that are bytes already.

import TidemarkEvents
import TidemarkLog

/// A JSON object in the making; members stand in the order in which they are added.
struct PayloadBuilder {
    private var buffer: [UInt8] = [UInt8(ascii: "{")]

    init() {}

    /// Goes on with an object that was made before.
    init(_ object: [UInt8]) { buffer = Array(object.dropLast()) }

    /// The object's bytes.
    var bytes: [UInt8] { buffer + [UInt8(ascii: "}")] }

    mutating func raw(_ name: String, _ value: some Sequence<UInt8>) {
        if buffer.count > 1 { buffer.append(UInt8(ascii: ",")) }
        JSON.appendString(name, to: &buffer)
        buffer.append(UInt8(ascii: ":"))
        buffer.append(contentsOf: value)
    }

    mutating func add(_ name: String, _ value: JSONValue?) {
        guard let value else { return }
        raw(name, value.encoded())
    }

    mutating func add(_ name: String, _ value: String?) { add(name, value.map(JSONValue.string)) }

    mutating func add(_ name: String, _ value: Int64?) {
        guard let value else { return }
        raw(name, String(value).utf8)
    }

    mutating func add(_ name: String, _ value: Bool) { raw(name, (value ? "true" : "false").utf8) }

    mutating func add(_ name: String, _ values: [Position]) {
        raw(name, ("[" + values.map { String($0.rawValue) }.joined(separator: ",") + "]").utf8)
    }

    /// A body: as it is where it is JSON, as text where it is UTF-8, else as base64.
    mutating func body(_ bytes: [UInt8]?) {
        guard let bytes, !bytes.isEmpty else { return }
        do {
            try JSON.validate(bytes, within: 1)
            raw("body", bytes)
        } catch {
            if let text = String(validating: bytes, as: UTF8.self) {
                add("bodyText", text)
            } else {
                add("bodyBase64", Base64.encode(bytes))
            }
        }
    }

    /// An answer's body: a long one is named by length and hash, so that equal ones are stored
    /// once.
    ///
    /// - Returns: the body when it is only named, to be stored beside the event.
    mutating func answerBody(_ bytes: [UInt8]) -> [[UInt8]] {
        guard bytes.count > EventLog.inlinePayloadBytesMax else {
            body(bytes)
            return []
        }
        let reference = BodyReference(to: bytes)
        add("bodyBytes", Int64(bytes.count))
        add("bodySHA256", reference.digits)
        return [bytes]
    }
}
