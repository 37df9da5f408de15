// SentFile.swift — a file of the user's as the content of an entity that a server knows by its
// path: it is the body of the entity's own write. And how long a request may take by what it sends.

public import TidemarkEvents

extension ServerCall {
    /// The file of the user's that a write sends as the content of its entity; nil for none.
    public var file: ContentName? {
        let (collection, fields): (CollectionModel, [UInt8])
        switch self {
        case .create(let own, _, let body): (collection, fields) = (own, body)
        case .update(let own, _, _, let changes, _): (collection, fields) = (own, changes)
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .refetch, .read, .fetch,
            .delete, .perform, .reserve, .batch, .poll:
            return nil
        }
        guard let field = collection.tree?.content,
            let name = JSON.value(field, of: fields).flatMap({ ContentName($0) }), name.isFile
        else { return nil }
        return name
    }
}

extension ServerRequest {
    /// The body as the log has it: of a file its hash and its length.
    var loggedBody: [UInt8]? { file?.json.encoded() ?? body }
}

extension ServerCall {
    /// How many bytes of documents its request sends at most, about.
    var sentBytes: Int {
        switch self {
        case .create(_, _, let body): body.count
        case .update(_, _, let body, let changes, _): max(body.count, changes.count)
        case .perform(_, _, _, _, let body): body?.count ?? 0
        case .batch(let calls): calls.reduce(0) { $0 + $1.sentBytes }
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .refetch, .read, .fetch,
            .delete, .reserve, .poll:
            0
        }
    }
}

extension TransportLimits {
    /// The longest that a request may take because others before it timed out.
    private static let deadlineMax = Duration.seconds(600)

    /// The limits of a step's request: time by the bytes that it sends, beside the usual time; and
    /// twice as much for each time in a row that it was not enough.
    func of(_ step: SyncStep, timeouts: Int) -> TransportLimits {
        var bytes = step.call?.sentBytes ?? 0
        if case .file(_, let count)? = step.file { bytes = max(bytes, count) }
        var limits = allowing(bytes: UInt64(clamping: bytes))
        for _ in 0..<min(timeouts, 40) where limits.deadline < Self.deadlineMax {
            limits.deadline = min(limits.deadline * 2, Self.deadlineMax)
        }
        return limits
    }
}
