// RedactionKeyStream.swift — random bytes as a function of a key: SHA-256 over the key and a
// counter.

import TidemarkEvents
import TidemarkStore

/// Bytes that can't be predicted without the key.
struct RedactionKeyStream {
    private let key: [UInt8]
    private var counter: UInt64 = 0
    private var block: [UInt8] = []

    init(_ key: [UInt8], _ purpose: String) {
        self.key = SHA256Digest.of(key + Array(purpose.utf8))
    }

    mutating func byte() -> UInt8 {
        if let byte = block.popLast() { return byte }
        block = SHA256Digest.of(key + Position(counter).bigEndianBytes)
        counter += 1
        return block.removeLast()
    }

    /// A uniformly random number below a limit from 1 to 65,536.
    mutating func number(below limit: Int) -> Int {
        let isWide = limit > 256
        let all = isWide ? 65_536 : 256
        let fair = all - all % limit
        while true {
            var number = Int(byte())
            if isWide { number = number * 256 + Int(byte()) }
            if number < fair { return number % limit }
        }
    }

    /// A uniformly random choice of some items, in their order.
    mutating func choose<Item>(_ wanted: Int, of items: [Item]) -> [Item] {
        var chosen: [Item] = []
        chosen.reserveCapacity(wanted)
        for (index, item) in items.enumerated() where chosen.count < wanted {
            // The probability is the number still wanted, divided by the number of items left.
            if number(below: items.count - index) < wanted - chosen.count { chosen.append(item) }
        }
        return chosen
    }
}
