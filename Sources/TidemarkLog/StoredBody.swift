// StoredBody.swift — how a body's bytes lie in the store, before they are cut into records.
//
//   offset  width  field        notes
//        0      1  format       1; readers refuse newer
//        1      1  encoding     0 as it came, 1 one zstd frame with its content size
//        2      8  bytes        the body's length, little-endian
//       10      8  storedBytes  how much follows, little-endian
//       18      …  stored

package import TidemarkStore

/// The bytes of a body as they are stored.
package enum StoredBody {
    package static let format: UInt8 = 1
    package static let headBytes = 18

    /// What is wrong with stored bytes.
    package enum Damage: Error, Hashable, Sendable, CustomStringConvertible {
        case tooShort(Int)
        case newerFormat(format: UInt8, encoding: UInt8)
        case length(head: UInt64, reference: UInt64)
        case storedLength(head: UInt64, stored: Int)
        case zstd(ZstdError)
        case hash

        package var description: String {
            switch self {
            case .tooShort(let count): "\(count) bytes are too few for a body"
            case .newerFormat(let format, let encoding):
                "format \(format) with encoding \(encoding) is not known to this version"
            case .length(let head, let reference):
                "its head says \(head) bytes, the event \(reference)"
            case .storedLength(let head, let stored):
                "its head says \(head) stored bytes, there are \(stored)"
            case .zstd(let error): "\(error)"
            case .hash: "its hash differs"
            }
        }
    }

    /// The stored bytes of a body, compressed where that saves a tenth or more.
    package static func encode(_ body: [UInt8]) -> [UInt8] {
        let frame = (try? Zstd.compress(body)) ?? body
        let gains = frame.count * 10 <= body.count * 9
        let stored = gains ? frame : body
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headBytes + stored.count)
        bytes.append(format)
        bytes.append(gains ? 1 : 0)
        for length in [body.count, stored.count] {
            for index in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * index))) }
        }
        bytes += stored
        return bytes
    }

    /// The body in stored bytes, checked against a reference to it.
    ///
    /// Takes memory only for what is there, whatever head and reference say.
    package static func decode(
        _ bytes: [UInt8], as reference: BodyReference
    ) throws(Damage) -> [UInt8] {
        guard bytes.count >= headBytes else { throw .tooShort(bytes.count) }
        guard bytes[0] == format, bytes[1] <= 1 else {
            throw .newerFormat(format: bytes[0], encoding: bytes[1])
        }
        let (length, storedLength) = (number(bytes, at: 2), number(bytes, at: 10))
        guard length == reference.bytes, let bytesMax = Int(exactly: length) else {
            throw .length(head: length, reference: reference.bytes)
        }
        let stored = bytes.count - headBytes
        guard storedLength == UInt64(stored) else {
            throw .storedLength(head: storedLength, stored: stored)
        }
        var body = Array(bytes[headBytes...])
        if bytes[1] == 1 {
            do { body = try Zstd.decompress(body, bytesMax: bytesMax) } catch { throw .zstd(error) }
        }
        guard BodyReference(to: body) == reference else { throw .hash }
        return body
    }

    /// How many bytes follow a head, as it says.
    static func storedBytes(head bytes: [UInt8]) -> UInt64 { number(bytes, at: 10) }

    private static func number(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
    }
}
