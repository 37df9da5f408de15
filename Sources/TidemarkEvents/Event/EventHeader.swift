// EventHeader.swift — an event's header as bytes: the message tidemark.v1.Event of
// Schemas/tidemark/v1/event.proto, in the canonical subset of ProtoCodec.swift.

extension Event {
    /// The highest field number of this version.
    private static let lastField: UInt32 = 16

    /// The header's bytes.
    ///
    /// The payload is not among them, nor is the position.
    package var headerBytes: [UInt8] {
        var writer = ProtoWriter(capacity: 160)
        appendHeader(to: &writer)
        return writer.bytes
    }

    /// Writes ``headerBytes``.
    package func appendHeader(to writer: inout ProtoWriter) {
        writer.varint(1, UInt64(kind.rawValue))
        writer.signed(2, recordedAt.rawValue)
        if let collection { writer.string(3, collection.rawValue) }
        if let entity { writer.string(4, entity) }
        writer.position(5, cause)
        writer.position(6, sync)
        writer.position(7, mutation)
        writer.position(8, call)
        writer.position(9, asOf)
        writer.signed(10, serverTime?.rawValue ?? 0)
        if let revision { writer.bytes(11, revision.rawValue) }
        writer.varint(12, UInt64(payloadType.rawValue))
        writer.varint(13, UInt64(schemaVersion))
        if let idempotencyKey { writer.bytes(14, idempotencyKey) }
        writer.signed(15, uptime ?? 0)
        if let bootID { writer.string(16, bootID) }
    }

    /// Makes it what will be read back: what is not written because it says nothing is nil.
    package mutating func normalize() {
        if collection?.rawValue.isEmpty == true { collection = nil }
        if entity?.isEmpty == true { entity = nil }
        if cause == .start { cause = nil }
        if sync == .start { sync = nil }
        if mutation == .start { mutation = nil }
        if call == .start { call = nil }
        if asOf == .start { asOf = nil }
        if serverTime?.rawValue == 0 { serverTime = nil }
        if revision?.rawValue.isEmpty == true { revision = nil }
        if idempotencyKey?.isEmpty == true { idempotencyKey = nil }
        if uptime == 0 { uptime = nil }
        if bootID?.isEmpty == true { bootID = nil }
    }

    /// The event with the payload type that its payload has: nothing, JSON, or else opaque.
    ///
    /// What is said to be opaque stays so.
    package var checked: Event {
        var event = self
        if payload.isEmpty {
            event.payloadType = .none
        } else if payloadType != .opaque {
            do {
                try JSON.validate(payload)
                event.payloadType = .json
            } catch {
                event.payloadType = .opaque
            }
        }
        return event
    }

    /// Reads what ``headerBytes`` wrote; fields of newer versions (17 and up) are passed over.
    ///
    /// - Throws: ``ProtoError`` when the bytes are not of the canonical subset.
    package init(header: [UInt8], payload: [UInt8]) throws(ProtoError) {
        self.init(EventKind(rawValue: 0), recordedAt: Timestamp(rawValue: 0))
        self.payload = payload
        var reader = ProtoReader(header)
        var last: UInt32 = 0
        while let field = try reader.next() {
            // What a newer version added may repeat.
            guard field.number <= Self.lastField else { continue }
            guard field.number > last else { throw .fieldOrder(field.number) }
            last = field.number
            guard !field.isEmpty else { throw .defaultWritten(field.number) }
            switch field.number {
            case 1: kind = EventKind(rawValue: try field.enumeration())
            case 2: recordedAt = Timestamp(rawValue: try field.signed())
            case 3: collection = CollectionName(try field.string())
            case 4: entity = try field.string()
            case 5: cause = try field.position()
            case 6: sync = try field.position()
            case 7: mutation = try field.position()
            case 8: call = try field.position()
            case 9: asOf = try field.position()
            case 10: serverTime = Timestamp(rawValue: try field.signed())
            case 11: revision = Revision(rawValue: try field.bytes())
            case 12: payloadType = PayloadType(rawValue: try field.enumeration()) ?? .opaque
            case 13: schemaVersion = try field.small()
            case 14: idempotencyKey = try field.bytes()
            case 15: uptime = try field.signed()
            case 16: bootID = try field.string()
            default: continue
            }
        }
    }
}
