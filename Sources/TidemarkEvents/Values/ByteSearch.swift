// ByteSearch.swift — where some bytes stand among others.

extension Span<UInt8> {
    /// Where some bytes stand first, from an offset on; nil where they don't, or where they are
    /// none.
    package func firstPlace(of other: Span<UInt8>, from start: Int) -> Int? {
        guard let first = other.isEmpty ? nil : other[0] else { return nil }
        var place = start
        while place + other.count <= count {
            if self[place] == first, holds(other, at: place) { return place }
            place += 1
        }
        return nil
    }

    private func holds(_ other: Span<UInt8>, at place: Int) -> Bool {
        for index in 0..<other.count where self[place + index] != other[index] { return false }
        return true
    }
}
