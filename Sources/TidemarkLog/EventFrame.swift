// EventFrame.swift — how one event lies in the log.
//
//   offset  width  field        notes
//        0      1  format       1; readers refuse newer
//        1      1  flags        bit 0: payload by reference; others are of newer versions
//        2      2  headerBytes  little-endian
//        4      4  crc32c       little-endian, over bytes 0–3 and 8 to the end
//        8      …  header       canonical protobuf, Schemas/tidemark/v1/event.proto
//        …      …  payload      as it came, to the end of the value; by reference its length
//                               (8 bytes, little-endian) and its SHA-256 (32 bytes)
//
// A frame is valid when its format is known, its header in bounds and its checksum equal. Anything
// else is damage, never old data.

package import TidemarkEvents
import TidemarkStore

/// One event's bytes, taken apart but not interpreted.
package struct EventFrame: Sendable, Hashable {
    package static let format: UInt8 = 1
    package static let prefixBytes = 8
    package static let headerBytesMax = Int(UInt16.max)

    /// Where an event's payload is.
    package enum Payload: Sendable, Hashable {
        /// In the frame, as it came.
        case inline([UInt8])
        /// In the table "bodies".
        case body(BodyReference)

        /// The payload's own length, wherever it is.
        package var bytes: UInt64 {
            switch self {
            case .inline(let bytes): UInt64(bytes.count)
            case .body(let reference): reference.bytes
            }
        }

        /// SHA-256 of the payload itself.
        package var hash: Hash {
            switch self {
            case .inline(let bytes): SHA256Digest.of(bytes)
            case .body(let reference): reference.hash
            }
        }
    }

    package var header: [UInt8]
    package var payload: Payload

    /// The frame of an event; a long payload is only referred to.
    package init(_ event: Event) {
        header = event.headerBytes
        payload =
            event.payload.count > EventLog.inlinePayloadBytesMax
            ? .body(BodyReference(to: event.payload)) : .inline(event.payload)
    }

    /// What is wrong with a frame's bytes.
    package enum Damage: Error, Hashable, Sendable, CustomStringConvertible {
        case tooShort(Int)
        case newerFormat(UInt8)
        case unknownFlags(UInt8)
        case headerOutOfBounds(Int)
        case referenceLength(Int)
        case checksum(stored: UInt32, computed: UInt32)
        /// The events that it was sealed with can't be read.
        case sealed(SealedBlock.Damage, through: Position)

        package var description: String {
            switch self {
            case .tooShort(let count): "\(count) bytes are too few for an event"
            case .newerFormat(let format): "format \(format) is not known to this version"
            case .unknownFlags(let flags): "flags \(flags) are not known to this version"
            case .headerOutOfBounds(let count): "a header of \(count) bytes does not fit"
            case .referenceLength(let count): "\(count) bytes are no reference to a payload"
            case .checksum(let stored, let computed):
                "checksum \(hex(stored)) is stored, \(hex(computed)) is computed"
            case .sealed(let damage, let last):
                "the sealed events up to \(last) can't be read: \(damage)"
            }
        }
    }

    /// Where the parts of a frame lie that was checked.
    struct Layout {
        let header: Range<Int>
        /// The payload, or the reference to it.
        let payload: Range<Int>
        let isReference: Bool

        /// Checks a frame's bytes, and looks at nothing behind its prefix but their checksum.
        init(of bytes: Span<UInt8>) throws(Damage) {
            guard bytes.count >= prefixBytes else { throw .tooShort(bytes.count) }
            let computed = checksum(bytes)
            let stored =
                UInt32(bytes[4]) | UInt32(bytes[5]) << 8 | UInt32(bytes[6]) << 16
                | UInt32(bytes[7]) << 24
            // A checksum that holds tells a newer version's frame from a damaged one.
            guard computed == stored else {
                throw .checksum(stored: stored, computed: computed)
            }
            guard bytes[0] == format else { throw .newerFormat(bytes[0]) }
            guard bytes[1] <= 1 else { throw .unknownFlags(bytes[1]) }
            let headerBytes = Int(bytes[2]) | Int(bytes[3]) << 8
            let headerEnd = prefixBytes + headerBytes
            guard headerEnd <= bytes.count else { throw .headerOutOfBounds(headerBytes) }
            header = prefixBytes..<headerEnd
            payload = headerEnd..<bytes.count
            isReference = bytes[1] == 1
            guard !isReference || payload.count == BodyReference.encodedBytes else {
                throw .referenceLength(payload.count)
            }
        }
    }

    /// Takes a frame apart and checks it.
    package init(parsing bytes: Span<UInt8>) throws(Damage) {
        let layout = try Layout(of: bytes)
        header = bytes.extracting(layout.header).copied()
        let rest = bytes.extracting(layout.payload)
        payload =
            layout.isReference ? .body(BodyReference(parsing: rest)) : .inline(rest.copied())
    }

    /// How long ``encoded`` is.
    package var encodedBytes: Int {
        let rest =
            switch payload {
            case .inline(let bytes): bytes.count
            case .body: BodyReference.encodedBytes
            }
        return Self.prefixBytes + header.count + rest
    }

    /// The frame's bytes.
    package var encoded: [UInt8] {
        precondition(header.count <= Self.headerBytesMax, "an event's header is too large")
        var bytes: [UInt8] = []
        bytes.reserveCapacity(encodedBytes)
        bytes.append(Self.format)
        bytes.append(0)
        bytes.append(UInt8(truncatingIfNeeded: header.count))
        bytes.append(UInt8(header.count >> 8))
        for _ in 0..<4 { bytes.append(0) }
        bytes += header
        switch payload {
        case .inline(let payload): bytes += payload
        case .body(let reference):
            bytes[1] = 1
            reference.append(to: &bytes)
        }
        let crc = Self.checksum(bytes.span)
        for index in 0..<4 {
            bytes[4 + index] = UInt8(truncatingIfNeeded: crc >> (8 * UInt32(index)))
        }
        return bytes
    }

    /// Writes the frame of an event behind others, as ``encoded`` has it.
    static func append(
        _ event: Event, to frames: inout ProtoWriter
    ) -> PreparedEvents.Item {
        let start = frames.bytes.count
        frames.raw(format)
        for _ in 1..<prefixBytes { frames.raw(0) }
        event.appendHeader(to: &frames)
        let headerBytes = frames.bytes.count - start - prefixBytes
        precondition(headerBytes <= headerBytesMax, "an event's header is too large")
        var body: (reference: BodyReference, bytes: [UInt8])?
        if event.payload.count > EventLog.inlinePayloadBytesMax {
            let reference = BodyReference(to: event.payload)
            var bytes: [UInt8] = []
            reference.append(to: &bytes)
            frames.raw(bytes)
            body = (reference, event.payload)
        } else {
            frames.raw(event.payload)
        }
        frames.replace(at: start + 1, bytes: 1, by: body == nil ? 0 : 1)
        frames.replace(at: start + 2, bytes: 2, by: UInt32(headerBytes))
        let end = frames.bytes.count
        let crc = checksum(frames.bytes.span.extracting(start..<end))
        frames.replace(at: start + 4, bytes: 4, by: crc)
        return PreparedEvents.Item(
            frame: start..<end, headerBytes: headerBytes, isReference: body != nil, body: body)
    }

    /// The checksum of a frame, whatever stands in its place.
    private static func checksum(_ frame: Span<UInt8>) -> UInt32 {
        var crc = CRC32C()
        crc.update(frame.extracting(0..<4))
        crc.update(frame.extracting(8..<frame.count))
        return crc.value
    }
}

private func hex(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
}
