// PayloadReader.swift — payloads of events that come one after another, of which many say the same.

/// Reads payloads, and remembers the last one of each kind: a request for many entities is told of
/// each of them in the same bytes.
package struct PayloadReader: Sendable {
    /// The longest payload that is remembered, in bytes.
    private static let bytesMax = 2048
    /// Whether payloads take longer to read than to compare: answers, and what they say of writes.
    private static func isRemembered(_ kind: EventKind) -> Bool {
        switch kind.family {
        case .request, .answer, .push: true
        case .store, .model, .local, .app, .runStart, .runEnd, .word, .notice, .list, .asset,
            .unknown:
            false
        }
    }

    private struct Known {
        let kind: EventKind
        let bytes: [UInt8]
        let payload: Payload
    }

    /// In no order, one of a kind.
    private var known: [Known] = []

    package init() {}

    /// An event's payload, as ``Payload/init(_:)`` reads it.
    package mutating func payload(of event: Event) -> Payload {
        guard Self.isRemembered(event.kind), event.isOfKnownShape,
            event.payload.count <= Self.bytesMax
        else { return Payload(event) }
        let place = known.firstIndex { $0.kind == event.kind }
        if let place, known[place].bytes == event.payload { return known[place].payload }
        let read = Known(kind: event.kind, bytes: event.payload, payload: Payload(event))
        if let place { known[place] = read } else { known.append(read) }
        return read.payload
    }
}
