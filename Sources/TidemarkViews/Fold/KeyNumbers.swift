// KeyNumbers.swift — the numbers of keys, found by the keys' hashes.
//
// A place of the table is eight bytes: half of the key's hash, and the number. Most keys that
// differ are told apart there, so that a search costs one miss of the cache and the key it finds.

import TidemarkStore

/// Numbers from 0 on, one after another, each under a hash.
struct KeyNumbers {
    /// The hash above the number plus one; 0 is an empty place.
    ///
    /// Where a hash belongs is told by its highest bits, so a place can be moved without its key.
    private var places: [UInt64] = []
    private var count = 0

    /// The hash of a key; another one in every process.
    static func hash(_ key: [UInt8]) -> UInt32 {
        var hasher = Hasher()
        ByteOrder.hash(key, into: &hasher)
        return UInt32(truncatingIfNeeded: hasher.finalize())
    }

    /// The number under a hash that `isSought` says is the one.
    @inline(__always)
    func first(_ hash: UInt32, where isSought: (Int) -> Bool) -> Int? {
        guard !places.isEmpty else { return nil }
        var place = home(of: hash)
        while true {
            let value = places[place]
            if value == 0 { return nil }
            if UInt32(truncatingIfNeeded: value >> 32) == hash {
                let number = Int(UInt32(truncatingIfNeeded: value)) - 1
                if isSought(number) { return number }
            }
            place = (place + 1) & (places.count - 1)
        }
    }

    /// Gives the next number a hash.
    mutating func add(_ hash: UInt32) {
        if count * 3 >= places.count * 2 { grow() }
        count += 1
        insert(UInt64(hash) << 32 | UInt64(count))
    }

    private mutating func grow() {
        let old = places
        places = [UInt64](repeating: 0, count: max(8, old.count * 2))
        for value in old where value != 0 { insert(value) }
    }

    private mutating func insert(_ value: UInt64) {
        var place = home(of: UInt32(truncatingIfNeeded: value >> 32))
        while places[place] != 0 { place = (place + 1) & (places.count - 1) }
        places[place] = value
    }

    /// Where a hash is looked for first, in a table of a power of two of places.
    @inline(__always)
    private func home(of hash: UInt32) -> Int {
        Int(truncatingIfNeeded: (UInt64(hash) &* UInt64(places.count)) >> 32)
    }

    /// How many places a search for a hash looks at that is not there.
    func searchLength(_ hash: UInt32) -> Int {
        guard !places.isEmpty else { return 0 }
        var length = 0
        while places[(home(of: hash) + length) & (places.count - 1)] != 0 { length += 1 }
        return length
    }
}
