// BodyReference.swift — what stands for bytes that are kept in the table "bodies".

package import TidemarkEvents
import TidemarkStore

/// A body by its content: how long it is and what it hashes to.
package struct BodyReference: Sendable, Hashable {
    /// Its length in a frame: 8 bytes of length, little-endian, and the hash.
    package static let encodedBytes = 40

    /// The body's length in bytes.
    package var bytes: UInt64
    /// SHA-256 of the body, 32 bytes.
    package var hash: Hash

    package init(bytes: UInt64, hash: Hash) {
        self.bytes = bytes
        self.hash = hash
    }

    /// The reference to a body, which is hashed for it.
    package init(to body: [UInt8]) {
        self.init(bytes: UInt64(body.count), hash: SHA256Digest.of(body))
    }

    /// Reads a reference out of a frame.
    init(parsing encoded: Span<UInt8>) {
        bytes = (0..<8).reduce(0) { $0 | UInt64(encoded[$1]) << (8 * UInt64($1)) }
        hash = encoded.extracting(Self.hashRange).copied()
    }

    /// Where the hash lies in a reference in a frame.
    static let hashRange = 8..<encodedBytes

    func append(to frame: inout [UInt8]) {
        for index in 0..<8 { frame.append(UInt8(truncatingIfNeeded: bytes >> (8 * index))) }
        frame += hash
    }

    /// The hash in 64 lower-case hexadecimal digits.
    package var digits: String { Hexadecimal.encode(hash) }
}

extension BodyReference {
    /// The body that a `request.answered` names instead of holding it; nil where it names none, or
    /// not as this version does.
    init?(_ named: NamedBody) {
        guard let bytes = named.length,
            let hash = named.digest.flatMap(Hexadecimal.decode),
            hash.count == SHA256Digest.byteCount
        else { return nil }
        self.init(bytes: bytes, hash: hash)
    }
}

extension Event {
    /// The body that the payload of a `request.answered` names; nil for every other event.
    package var namedBody: BodyReference? {
        kind == .requestAnswered ? BodyReference(NamedBody(stored: payload)) : nil
    }

    /// By what it names answers that are kept as they came, and the run that they are of; nil for
    /// an event that names none.
    package var keptName: (name: KeptName, run: Position)? {
        let isAnswer = kind == .requestAnswered || kind == .requestFailed
        guard isAnswer || kind == .syncFinished, let run = sync else { return nil }
        let name = KeptName(stored: payload)
        return name.digest == nil ? nil : (name, run)
    }

    /// The body that its payload names, and why the payload is not what this version writes; nil
    /// where it is.
    var checkedPayload: (named: BodyReference?, problem: PayloadProblem?) {
        do throws(PayloadProblem) {
            guard case .requestAnswered(let answered) = try Payload(reading: self) else {
                return (nil, nil)
            }
            return (BodyReference(answered.namedBody), nil)
        } catch {
            // What it names is looked at, whatever else stands in it.
            return (namedBody, error)
        }
    }
}
