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

    /// Feeds a byte string to a hasher.
    @inline(__always)
    package static func hash(_ bytes: [UInt8], into hasher: inout Hasher) {
        unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    }
}
