// JSONScanner+Keys.swift — no object has the same key twice.
//
// Few keys are compared with each other by a fingerprint of their unescaped bytes, which needs no
// memory of its own. From `fewMax` on they go into a set, whose hashing no sender can foresee.

/// A key of an open object.
struct JSONKeyMark {
    var token: JSONStringToken
    var fingerprint: UInt64
}

/// What is known of one object's keys.
struct JSONKeys {
    /// How many keys an object may have before they go into a set.
    static let fewMax = 64

    /// Where this object's keys begin among those of all open objects.
    let base: Int
    /// All keys so far once there are many, empty before.
    var many: Set<ExactString> = []

    init(openKeys base: Int) {
        self.base = base
    }
}

extension JSONScanner {
    /// Notes a key that was just taken, or throws when the object has it already.
    mutating func remember(
        _ key: JSONStringToken, in keys: inout JSONKeys, _ bytes: Span<UInt8>
    ) throws(JSONError) {
        if openKeys.count - keys.base < JSONKeys.fewMax {
            let mark = JSONKeyMark(token: key, fingerprint: fingerprint(key, bytes))
            for index in keys.base..<openKeys.count
            where openKeys[index].fingerprint == mark.fingerprint {
                if isSame(openKeys[index].token, key, bytes) { throw duplicate(key) }
            }
            openKeys.append(mark)
            return
        }
        if keys.many.isEmpty {
            for mark in openKeys[keys.base...] {
                keys.many.insert(ExactString(text(mark.token)))
            }
        }
        if !keys.many.insert(ExactString(text(key))).inserted { throw duplicate(key) }
    }

    private func fingerprint(_ key: JSONStringToken, _ bytes: Span<UInt8>) -> UInt64 {
        var value: UInt64 = 0
        if key.hasEscapes {
            for byte in unescaped(key) { value = value &* 31 &+ UInt64(byte) }
        } else {
            for at in key.content { value = value &* 31 &+ UInt64(bytes[at]) }
        }
        return value
    }

    private func isSame(
        _ left: JSONStringToken, _ right: JSONStringToken, _ bytes: Span<UInt8>
    ) -> Bool {
        if left.hasEscapes || right.hasEscapes { return unescaped(left) == unescaped(right) }
        return slice(left.content) == slice(right.content)
    }

    private func duplicate(_ key: JSONStringToken) -> JSONError {
        let shownMax = 64
        let whole = text(key)
        let shown = String(whole.prefix(shownMax)) + (whole.count > shownMax ? "…" : "")
        var quoted: [UInt8] = []
        JSON.appendString(shown, to: &quoted)
        return JSONError(
            .duplicateKey, at: key.content.lowerBound - 1,
            detail: String(decoding: quoted, as: UTF8.self))
    }
}
