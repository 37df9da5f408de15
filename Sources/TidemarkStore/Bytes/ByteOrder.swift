// ByteOrder.swift — byte strings compared and hashed at once instead of byte by byte, for keys that
// are sorted and looked up by the thousand.

/// Comparing and hashing whole byte strings.
package enum ByteOrder {
    /// Whether `left` stands before `right`: by bytes, a beginning before what it begins.
    @inline(__always)
    package static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        let common = min(left.count, right.count)
        let order = unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                unsafe Platform.order(left, right, count: common)
            }
        }
        return order == 0 ? left.count < right.count : order < 0
    }

    /// The same of parts of byte strings.
    package static func precedes(_ left: ArraySlice<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        let common = min(left.count, right.count)
        let order = unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                unsafe Platform.order(left, right, count: common)
            }
        }
        return order == 0 ? left.count < right.count : order < 0
    }

    /// Whether both are the same bytes.
    @inline(__always)
    package static func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                unsafe Platform.order(left, right, count: left.count) == 0
            }
        }
    }

    /// Whether lent bytes are the same as others.
    package static func areEqual(_ left: Span<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        guard left.count == right.count else { return false }
        return unsafe left.withUnsafeBytes { left in
            unsafe right.withUnsafeBytes { right in
                unsafe Platform.order(left, right, count: left.count) == 0
            }
        }
    }

    /// The indexes of keys in the order of the keys; of equal ones the first is first.
    ///
    /// What decides is nearly always in the eight bytes behind what all begin with: those are
    /// sorted as numbers, and keys are looked at only where they are the same.
    package static func order(of keys: [[UInt8]]) -> [Int] {
        guard let first = keys.first else { return [] }
        var common = first.count
        var isSorted = true
        for index in keys.indices.dropFirst() {
            common = commonPrefix(first, keys[index], upTo: common)
            isSorted = isSorted && !precedes(keys[index], keys[index - 1])
        }
        if isSorted { return Array(keys.indices) }
        var order = keys.indices.map { (number: number(keys[$0], from: common), index: $0) }
        order.sort { left, right in
            if left.number != right.number { return left.number < right.number }
            if precedes(keys[left.index], keys[right.index]) { return true }
            return left.index < right.index && !precedes(keys[right.index], keys[left.index])
        }
        return order.map(\.index)
    }

    private static func commonPrefix(_ left: [UInt8], _ right: [UInt8], upTo most: Int) -> Int {
        var count = 0
        while count < min(most, right.count), left[count] == right[count] { count += 1 }
        return count
    }

    /// Eight bytes as a number, as if zeros followed on the key.
    private static func number(_ key: [UInt8], from start: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in start..<start + 8 {
            number = number << 8 | UInt64(index < key.count ? key[index] : 0)
        }
        return number
    }

    /// Feeds a byte string to a hasher.
    @inline(__always)
    package static func hash(_ bytes: [UInt8], into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}
