// IdempotencyKeyTests.swift — a key reads back from its bytes and from its text, and knows its age.

import TestSupport
import Testing
import TidemarkEvents

@Suite struct `an idempotency key` {
    @Test func `reads back from its bytes and from its text`() {
        let seed: UInt64 = 0x5EED_0112
        var random = SplitMix64(seed: seed)
        for round in 0..<1000 {
            let time = Timestamp(rawValue: Int64(random.next() >> 17))
            let key = IdempotencyKey(at: time, (random.next(), random.next()))
            let place: Comment = "seed \(seed), round \(round)"

            #expect(IdempotencyKey(bytes: key.bytes) == key, place)
            #expect(IdempotencyKey(key.description) == key, place)
            #expect(key.bytes.count == 16 && key.description.utf8.count == 32, place)
            #expect(key.madeAt.rawValue == time.rawValue / 1000 * 1000, place)
        }
    }

    @Test func `is six bytes of milliseconds and ten of chance`() {
        let key = IdempotencyKey(
            at: Timestamp(rawValue: 0x0102_0304_0506 * 1000 + 999),
            (0x1112_1314_1516_1718, 0x2122_2324_2526_2728))

        #expect(key.description == "01020304050611121314151617182122")
        #expect(
            IdempotencyKey(at: Timestamp(rawValue: -1), (0, 0)).description
                == String(repeating: "0", count: 32))
    }

    @Test func `is refused unless it is 16 bytes, or 32 digits in lower case`() {
        for count in [0, 1, 15, 17, 32] {
            #expect(IdempotencyKey(bytes: [UInt8](repeating: 1, count: count)) == nil)
        }
        let digits = "0123456789abcdef0123456789abcdef"
        #expect(IdempotencyKey(digits) != nil)
        for text in [
            "", String(digits.dropLast()), digits + "0", digits.uppercased(),
            " " + digits.dropLast(),
            digits.dropLast() + "g", digits.dropLast() + "é",
        ] {
            #expect(IdempotencyKey(text) == nil, "\(text)")
        }
    }

    @Test func `expires when thirty days have passed, to the microsecond`() {
        let made = Timestamp(rawValue: 1_700_000_000_000_000)
        let key = IdempotencyKey(at: made, (1, 2))
        let end = made.adding(seconds: 30 * 86_400)

        #expect(!key.isExpired(at: made))
        #expect(!key.isExpired(at: end))
        #expect(key.isExpired(at: Timestamp(rawValue: end.rawValue + 1)))
        #expect(!key.isExpired(at: Timestamp(rawValue: 0)))
    }
}
