// Event.swift — one appended fact: a small header, and a payload kept as it came.

/// What the payload's bytes are.
package enum PayloadType: UInt32, Sendable, CaseIterable {
    /// There is no payload.
    case none = 0
    /// One JSON value.
    case json = 1
    /// Bytes that only the server understands.
    case opaque = 2
}

/// One appended fact.
///
/// All references to other events are positions, and all of them are here.
package struct Event: Hashable, Sendable {
    /// What the event says.
    package var kind: EventKind
    /// When it was appended, by this device's clock.
    package var recordedAt: Timestamp
    /// The collection it is about, or nil.
    package var collection: CollectionName?
    /// The entity it is about, or nil.
    package var entity: String?
    /// The event that brought this one about: for an answer to a read-back, the attempt it settles.
    package var cause: Position?
    /// The `sync.started` of the sync run it belongs to.
    package var sync: Position?
    /// The last of the mutations it is about.
    package var mutation: Position?
    /// The `request.sent` it answers.
    package var call: Position?
    /// The log's last position when the server was asked for this, or a request was decided.
    ///
    /// What is as of an earlier position never replaces what is as of a later one.
    package var asOf: Position?
    /// By the server's clock: the entity's last change, or, of an edit made here, when it was made.
    package var serverTime: Timestamp?
    /// The entity's version, or the cursor of a pull, as the server wrote it.
    package var revision: Revision?
    /// What the payload's bytes are.
    package var payloadType: PayloadType
    /// The version of the payload's shape for this kind; 0 is the first.
    package var schemaVersion: UInt32
    /// What the caller named the write that appended it, so that a repeated one is known again.
    package var idempotencyKey: [UInt8]?
    /// Of an edit whose time decides something, of a timer and of a trigger: microseconds since
    /// the device's boot, so that the time can be judged by what is learnt later.
    package var uptime: Int64?
    /// That boot, where it is not the one that was named last.
    package var bootID: String?
    /// The payload as it came.
    package var payload: [UInt8]

    /// An event; everything but the kind and the time is optional.
    package init(
        _ kind: EventKind, recordedAt: Timestamp, key: EntityKey? = nil,
        collection: CollectionName? = nil, cause: Position? = nil, sync: Position? = nil,
        mutation: Position? = nil, call: Position? = nil, asOf: Position? = nil,
        serverTime: Timestamp? = nil, revision: Revision? = nil, uptime: Int64? = nil,
        bootID: String? = nil, json: [UInt8]? = nil
    ) {
        self.kind = kind
        self.recordedAt = recordedAt
        self.collection = key?.collection ?? collection
        entity = key?.id
        self.cause = cause
        self.sync = sync
        self.mutation = mutation
        self.call = call
        self.asOf = asOf
        self.serverTime = serverTime
        self.revision = revision
        self.uptime = uptime
        self.bootID = bootID
        payloadType = json == nil ? .none : .json
        schemaVersion = 0
        idempotencyKey = nil
        payload = json ?? []
    }

    /// Whether the payload is a JSON object.
    ///
    /// What says that it is JSON was checked before it was appended.
    package var isObject: Bool { payloadType == .json && JSON.isObject(payload) }

    /// Whether it is the server's word on an entity that the app took over from a database of its
    /// own: of no run, and not asked for.
    package var isTakenOver: Bool { kind == .serverUpserted && sync == nil && asOf == nil }

    /// Whether it is an edit, or an answer to an issue, that the policy `keepBoth` made in a run.
    package var isKeptBoth: Bool {
        let isOne = [.localCreated, .localUpdated, .issueAnswered].contains(kind)
        return isOne && cause != nil && sync != nil
    }

    /// Collection and entity together, when both are named.
    package var key: EntityKey? {
        guard let collection, let entity else { return nil }
        return EntityKey(collection, entity)
    }
}
