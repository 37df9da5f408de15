// CapsuleStream.swift — reads the records of a capsule one by one, decompressing frame by frame.

import TidemarkEvents
import TidemarkStore

/// Reads the top level of the message in a file of zstd frames.
struct CapsuleStream {
    /// One field of the message's top level.
    struct Record {
        let field: UInt32
        /// The offset of its beginning in the content.
        let offset: UInt64
        /// Its bytes; nil for a number.
        fileprivate let content: [UInt8]?

        var bytes: [UInt8] {
            get throws(CapsuleError) {
                guard let content else {
                    throw CapsuleError(.invalid, "a number where bytes should be")
                }
                return content
            }
        }

        /// An error with the place of the record in it.
        func located(_ error: any Error, _ place: String) -> CapsuleError {
            var located =
                error as? CapsuleError ?? CapsuleError(.invalid, "\(error)")
            if located.place.isEmpty { located.place = place }
            if located.offset == nil { located.offset = offset }
            return located
        }
    }

    private let file: [UInt8]
    private let limits: CapsuleLimits
    private let frames: [ZstdFrame]
    private var nextFrame = 0
    /// Decompressed bytes; those before `start` have been read.
    private var buffer: [UInt8] = []
    private var start = 0
    /// Where the current record begins in the buffer, and how many bytes of it were hashed.
    private var mark = 0
    private var hashed = 0
    private var offset: UInt64 = 0
    private var lastField: UInt32 = 0
    private var hash = SHA256Stream()
    /// SHA-256 over everything before the record that ``next()`` returned last.
    private(set) var digestBefore: [UInt8] = []

    /// Finds the frames, and refuses a file that declares too much content.
    init(_ file: [UInt8], _ limits: CapsuleLimits) throws {
        guard file.count <= limits.fileBytesMax else {
            throw CapsuleError(.tooLarge, "the file has more than \(limits.fileBytesMax) bytes")
        }
        var frames: [ZstdFrame] = []
        var end = 0
        var sum = 0
        while end < file.count || frames.isEmpty {
            let place = "frame \(frames.count + 1)"
            let frame: ZstdFrame
            do throws(ZstdError) { frame = try Zstd.frame(in: file, at: end) } catch {
                throw Self.error(error, place, isFirst: frames.isEmpty)
            }
            guard frame.contentBytes > 0 else {
                throw CapsuleError(.invalid, in: place, "it is empty")
            }
            guard frame.contentBytes <= UInt64(limits.frameBytesMax) else {
                throw CapsuleError(
                    .tooLarge, in: place,
                    "it says that it holds \(frame.contentBytes) bytes, "
                        + "\(limits.frameBytesMax) may be")
            }
            sum += Int(frame.contentBytes)
            guard sum <= limits.contentBytesMax else {
                throw CapsuleError(
                    .tooLarge, in: place,
                    "its content has more than \(limits.contentBytesMax) bytes")
            }
            guard frames.count < limits.framesMax else {
                throw CapsuleError(.tooLarge, "it has more than \(limits.framesMax) frames")
            }
            frames.append(frame)
            end = frame.range.upperBound
        }
        self.file = file
        self.limits = limits
        self.frames = frames
        try begin()
    }

    /// Reads the format; nothing else is trusted before it is known.
    private mutating func begin() throws {
        guard try fill(2), buffer[0] == 0x08 else {
            throw CapsuleError(.notACapsule, "its content does not begin as a capsule's does")
        }
        start = 1
        let format = try varint()
        guard format > 0 else { throw CapsuleError(.notACapsule, "it is of format 0") }
        guard format <= UInt64(Capsule.format) else {
            throw CapsuleError(
                .newerFormat,
                "format \(format) is not known to this version, which reads format "
                    + "\(Capsule.format)")
        }
        offset = UInt64(start)
        lastField = 1
    }

    private static func error(
        _ error: ZstdError, _ place: String, isFirst: Bool
    ) -> CapsuleError {
        switch error.code {
        case .empty, .notAFrame:
            isFirst
                ? CapsuleError(.notACapsule, "it does not begin with a zstd frame")
                : CapsuleError(.damaged, in: place, "\(error)")
        case .truncated: CapsuleError(.truncated, in: place, "\(error)")
        case .tooLarge, .windowTooLarge: CapsuleError(.tooLarge, in: place, "\(error)")
        default: CapsuleError(.damaged, in: place, "\(error)")
        }
    }

    /// Decompresses until that many bytes can be read; false where there are not as many.
    private mutating func fill(_ count: Int) throws -> Bool {
        while buffer.count - start < count {
            guard nextFrame < frames.count else { return false }
            let frame = frames[nextFrame]
            nextFrame += 1
            // The buffer is moved only once more than half of it is used, so that many small frames
            // cost no more.
            if mark > buffer.count / 2 {
                hashToMark()
                buffer.removeFirst(mark)
                (start, mark, hashed) = (start - mark, 0, 0)
            }
            do throws(ZstdError) {
                buffer += try Zstd.decompress(
                    Array(file[frame.range]), bytesMax: Int(frame.contentBytes))
            } catch { throw Self.error(error, "frame \(nextFrame)", isFirst: false) }
        }
        return true
    }

    /// Hashes all records before the current one, many at once.
    private mutating func hashToMark() {
        hash.add(buffer[hashed..<mark])
        hashed = mark
    }

    private var cut: CapsuleError {
        CapsuleError(.truncated, offset: offset, "the content ends inside a record")
    }

    private mutating func varint() throws -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard try fill(1) else { throw cut }
            let byte = buffer[start]
            start += 1
            guard shift < 63 || byte <= 1 else { break }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 {
                guard byte != 0 || shift == 0 else { break }
                return value
            }
        }
        throw CapsuleError(.invalid, offset: offset, "a number that no writer writes")
    }

    /// The next record, or nil at the end.
    ///
    /// - Throws: ``CapsuleError``.
    mutating func next() throws -> Record? {
        guard try fill(1) else { return nil }
        let before = offset
        mark = start
        let tag = try varint()
        guard let field = UInt32(exactly: tag >> 3), field >= lastField, field > 0 else {
            throw CapsuleError(
                .invalid, offset: before, "field \(tag >> 3) behind field \(lastField)")
        }
        guard field > lastField || (4...7).contains(field) || field > 7 && field < 15 else {
            throw CapsuleError(.invalid, offset: before, "field \(field) is there twice")
        }
        lastField = field
        if field == 15 {
            hashToMark()
            digestBefore = hash.digest
        }
        switch tag & 7 {
        case 0:
            guard try varint() != 0 else {
                throw CapsuleError(.invalid, offset: before, "field \(field) says nothing")
            }
            offset += UInt64(start - mark)
            return Record(field: field, offset: before, content: nil)
        case 2:
            let length = try varint()
            guard length <= UInt64(limits.recordBytesMax) else {
                throw CapsuleError(
                    .tooLarge, offset: before,
                    "a record of \(length) bytes, \(limits.recordBytesMax) may be")
            }
            guard try fill(Int(length)) else { throw cut }
            // Fields that only a newer version knows are skipped.
            let isKnown = field < 10 || field == 15
            let content = isKnown ? Array(buffer[start..<start + Int(length)]) : []
            start += Int(length)
            offset += UInt64(start - mark)
            return Record(field: field, offset: before, content: content)
        default:
            throw CapsuleError(.invalid, offset: before, "wire type \(tag & 7)")
        }
    }

    /// Refuses bytes after the last record.
    mutating func expectEnd() throws {
        guard try !fill(1) else {
            throw CapsuleError(.invalid, offset: offset, "something follows the checksum")
        }
    }
}
