// ScenarioText.swift — what a file holds, where a scenario tells it by its length and a seed.

import Crypto
import Foundation
import TidemarkEvents

/// What a file holds: `length` small letters that follow from a `seed`.
enum ScenarioText {
    private static let lengthMax: Int64 = 64 << 20
    /// The longest file that is shown as its text, in bytes.
    private static let bytesShown = 1_000

    /// A scenario with texts where it tells lengths and seeds: `{"length": 5000, "seed": 7}`.
    static func expanded(
        _ value: JSONValue, at path: String
    ) throws(ScenarioError) -> JSONValue {
        switch value {
        case .null, .bool, .number, .string: return value
        case .array(let items):
            var list: [JSONValue] = []
            for (index, item) in items.enumerated() {
                list.append(try expanded(item, at: "\(path)[\(index)]"))
            }
            return .array(list)
        case .object(let object):
            guard object.count == 2, object["length"] != nil, object["seed"] != nil else {
                var members = JSONObject()
                for (name, item) in object {
                    members[name] = try expanded(item, at: path.isEmpty ? name : "\(path).\(name)")
                }
                return .object(members)
            }
            let members = try ScenarioMembers(value, at: path, ["length", "seed"])
            let length = try members.integer("length", in: 0...lengthMax) ?? 0
            let seed = try members.integer("seed", in: 0...Int64(UInt32.max)) ?? 0
            return .string(text(length: length, seed: UInt64(seed)))
        }
    }

    private static func text(length: Int, seed: UInt64) -> String {
        let numbers = SeededSource(seed)
        var letters: [UInt8] = []
        letters.reserveCapacity(length)
        while letters.count < length {
            let number = numbers.nextNumber()
            for place in 0..<min(16, length - letters.count) {
                letters.append(UInt8(ascii: "a") + UInt8(number >> (UInt64(place) * 4) & 15))
            }
        }
        return String(decoding: letters, as: UTF8.self)
    }

    /// What a file holds, as it is compared: its text, or its length and hash where that is long or
    /// no text.
    static func shown(_ data: Data) -> String {
        if data.count <= bytesShown, let text = String(data: data, encoding: .utf8) { return text }
        let hash = SHA256.hash(data: data).prefix(4).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }
        return "(\(data.count) bytes, \(hash.joined()))"
    }

    /// The same of what a scenario expects.
    static func shown(_ value: JSONValue) -> JSONValue {
        switch value {
        case .string(let text): .string(shown(Data(text.utf8)))
        case .array(let items): .array(items.map { shown($0) })
        default: value
        }
    }
}
