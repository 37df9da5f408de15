// ZstdError.swift — why bytes are not a zstd frame of ours.

/// Why bytes could not be compressed or decompressed.
package struct ZstdError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The closed set of reasons; what to switch on.
    package enum Code: String, Sendable, CaseIterable {
        /// There are no bytes.
        case empty
        /// The bytes don't begin like a frame, or begin with a skippable one.
        case notAFrame
        /// The frame wants a dictionary.
        case unknownDictionary
        /// The frame doesn't say how large its content is, as all of ours do.
        case unknownSize
        /// The content is larger than the caller allows.
        case tooLarge
        /// The frame wants more than 8 MiB of earlier content in memory.
        case windowTooLarge
        /// The frame is cut off.
        case truncated
        /// Something follows the frame.
        case trailingBytes
        /// The frame breaks its own rules, or its checksum or size differ.
        case damaged
        /// zstd could not get the memory it needs.
        case outOfMemory
    }

    /// What to switch on.
    package var code: Code
    /// zstd's number (`zstd_errors.h`), or 0 when it is this module that says no.
    package var number: Int32
    /// What is wrong, for a person to read.
    package var detail: String

    /// An error from its parts.
    package init(_ code: Code, number: Int32 = 0, _ detail: String) {
        self.code = code
        self.number = number
        self.detail = detail
    }

    /// One line: the reason, what is wrong, and zstd's number.
    package var description: String {
        "zstd \(code.rawValue): \(detail)" + (number == 0 ? "" : " (\(number))")
    }
}
