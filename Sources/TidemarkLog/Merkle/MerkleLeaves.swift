// MerkleLeaves.swift — the leaves of the log's tree, hashed two at a time.

import TidemarkEvents
import TidemarkStore

/// The leaves of events that follow one another.
struct MerkleLeaves: Sendable {
    /// Thirty-two bytes an event; the last of them may be missing until ``finish()``.
    private(set) var hashes: [UInt8] = []

    /// What a leaf is the hash of, but for the hash of the payload, where that is to be made.
    private struct Event {
        var input: [UInt8] = []
        var payload: [UInt8] = []
        var isReference = false
    }

    private var first = Event()
    private var second = Event()
    private var firstWaits = false
    private var digests: [UInt8] = []

    init(capacity: Int = 0) { hashes.reserveCapacity(capacity * SHA256Digest.byteCount) }

    /// Adds the leaf of an event.
    ///
    /// - Parameter isReference: whether `payload` only names a body, by its hash.
    mutating func append(
        _ position: Position, _ header: Span<UInt8>, _ payload: Span<UInt8>, isReference: Bool
    ) {
        guard firstWaits else {
            Self.fill(&first, position, header, payload, isReference)
            firstWaits = true
            return
        }
        Self.fill(&second, position, header, payload, isReference)
        firstWaits = false
        if first.isReference || second.isReference {
            Self.addPayload(to: &first)
            Self.addPayload(to: &second)
        } else {
            digests.removeAll(keepingCapacity: true)
            Self.append(first.payload, second.payload, to: &digests)
            first.input.append(contentsOf: digests.prefix(SHA256Digest.byteCount))
            second.input.append(contentsOf: digests.dropFirst(SHA256Digest.byteCount))
        }
        Self.append(first.input, second.input, to: &hashes)
    }

    /// Adds one for an event that can't be read: zeros.
    mutating func appendUnknown() {
        finish()
        hashes.append(contentsOf: repeatElement(0, count: SHA256Digest.byteCount))
    }

    /// Hashes what is left.
    mutating func finish() {
        guard firstWaits else { return }
        firstWaits = false
        Self.addPayload(to: &first)
        Self.append(first.input, to: &hashes)
    }

    private static func fill(
        _ event: inout Event, _ position: Position, _ header: Span<UInt8>, _ payload: Span<UInt8>,
        _ isReference: Bool
    ) {
        MerkleEdge.beginLeaf(position, header, in: &event.input)
        event.payload.removeAll(keepingCapacity: true)
        event.isReference = isReference
        if isReference {
            event.input.append(payload.extracting(BodyReference.hashRange))
        } else {
            event.payload.append(payload)
        }
    }

    private static func addPayload(to event: inout Event) {
        guard !event.isReference else { return }
        append(event.payload, to: &event.input)
    }

    // Apart, so that what is read and what is written may be parts of one value.

    private static func append(_ bytes: borrowing [UInt8], to output: inout [UInt8]) {
        SHA256Digest.append(bytes.span, to: &output)
    }

    private static func append(
        _ first: borrowing [UInt8], _ second: borrowing [UInt8], to output: inout [UInt8]
    ) {
        SHA256Digest.append(first.span, second.span, to: &output)
    }
}
