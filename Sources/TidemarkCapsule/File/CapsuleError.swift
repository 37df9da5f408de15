// CapsuleError.swift — why bytes are no valid capsule, where, and what to do.

package import TidemarkEvents

/// What is wrong with a capsule.
package struct CapsuleError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of reasons; what to switch on.
    package enum Code: String, Sendable, CaseIterable {
        /// The bytes are no capsule.
        case notACapsule
        /// A later version wrote it.
        case newerFormat
        /// It exceeds a limit for files of strangers.
        case tooLarge
        /// The rows before its events alone exceed such a limit.
        case rowsTooLarge
        /// Its end is missing.
        case truncated
        /// Its bytes were changed: a checksum or the compressed data is wrong.
        case damaged
        /// It can be read, but holds something that no store can hold.
        case invalid
    }

    package var code: Code
    /// The part, as in `commit 3` or `row 17`; empty for the whole capsule.
    package var place: String
    /// The offset of the part in the decompressed content; nil where there is none.
    package var offset: UInt64?
    /// The event it is about; `@0` for none.
    package var position: Position
    package var detail: String

    package init(
        _ code: Code, in place: String = "", offset: UInt64? = nil, at position: Position = .start,
        _ detail: String
    ) {
        self.code = code
        self.place = place
        self.offset = offset
        self.position = position
        self.detail = detail
    }

    /// Code, place, what is wrong and what to do, in one line.
    package var description: String {
        var places: [String] = []
        if position != .start { places.append("\(position)") }
        if !place.isEmpty { places.append(place) }
        if let offset { places.append("byte \(offset)") }
        let advice =
            switch code {
            case .notACapsule: "tidemark capsule STORE -o FILE makes one"
            case .newerFormat: "use a newer tidemark"
            case .tooLarge:
                "write one of fewer events, tidemark capsule STORE --last N, or of a smaller store"
            case .rowsTooLarge:
                "fewer events help only where they begin after much was deleted or wiped; else "
                    + "hand over a copy of the store, Replica.copy, tidemark copy STORE -o NEW, in "
                    + "which nothing is redacted: not the texts, the account, the server's address"
            case .truncated, .damaged: "get the file again, or write it anew"
            case .invalid: "no version of Tidemark writes that; don't trust where it is from"
            }
        let place = places.isEmpty ? "" : " " + places.joined(separator: ", ") + ":"
        return "capsule \(code.rawValue):\(place) \(detail); \(advice)"
    }
}
