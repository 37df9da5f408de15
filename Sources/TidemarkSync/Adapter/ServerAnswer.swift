// ServerAnswer.swift — what an adapter makes of an answer: entities as the server has them, and the
// outcome of a call.

public import TidemarkEvents

/// An entity as the server describes it.
public struct ServerRecord: Sendable, Hashable {
    /// The server's id; in a tree by paths, the path.
    ///
    /// A list's record with one that is no key (``EntityKey/isValid``) is unreadable, any other
    /// answer malformed.
    public var id: String
    /// The version, if the server gave one.
    public var revision: Revision?
    /// When it last changed by the server's clock, where that is known; of a deleted entity, when
    /// it was deleted.
    ///
    /// Lists by date go on from the latest one: ``CollectionModel/since``. Where it is nil there,
    /// the document's ``CollectionModel/lastChangeField`` says it, in the model's
    /// ``CollectionModel/dates``.
    public var serverTime: Timestamp?
    /// The server's bytes, verbatim: the document; for a deleted entity, what the server sent, if
    /// anything.
    ///
    /// A list's record with one that is no JSON object is unreadable, any other answer malformed.
    public var document: [UInt8]? { didSet { checked = Checked(isJSON: false) } }
    /// Whether the entity is deleted.
    public var isDeleted: Bool
    /// Whether the document is only a part of what the server has of the entity.
    ///
    /// It may be in an answer to ``ServerCall/refetch(_:ids:together:)``; what comes so is a stub
    /// until the whole of it comes.
    public var isPartial = false
    /// Of a tree by paths, whether no other entity has this version, so that one that was moved is
    /// known by it.
    public var isKnownByVersion = false
    /// The key of a deleted entity in a block of a feed, by which the block is sorted; other
    /// entities have it in their document.
    public var feedKey: FeedKey?
    /// The entities that stand in the document, by the members that hold them; without a member it
    /// says nothing of those.
    ///
    /// The model says which members these are: ``CollectionModel/embeds``. They are taken from
    /// lists, fetches and reads, and cut out of the document; any other member stays in it.
    public var children: [EmbeddedRecords] = []
    /// Whether the document is known to be JSON, so that it is not looked at again.
    package var isChecked: Bool { checked.isJSON }
    private var checked: Checked

    /// What is known of a document follows from it, and is no part of a record's identity.
    private struct Checked: Hashable {
        var isJSON: Bool

        static func == (left: Checked, right: Checked) -> Bool { true }
        func hash(into hasher: inout Hasher) {}
    }

    /// A record; one without a document is that of a deleted entity.
    public init(
        id: String, revision: Revision?, serverTime: Timestamp? = nil, document: [UInt8]?,
        isDeleted: Bool = false
    ) {
        self.id = id
        self.revision = revision
        self.serverTime = serverTime
        self.document = document
        self.isDeleted = isDeleted || document == nil
        checked = Checked(isJSON: false)
    }

    /// A record of a document that was parsed, and is not again.
    public init(
        id: String, revision: Revision?, serverTime: Timestamp? = nil,
        parsed document: JSONDocument, isDeleted: Bool = false
    ) {
        self.id = id
        self.revision = revision
        self.serverTime = serverTime
        self.document = document.bytes
        self.isDeleted = isDeleted
        checked = Checked(isJSON: true)
    }
}

/// Entities that stand in a member of a record's document: all that belong to it, as far as the
/// answer shows them.
public struct EmbeddedRecords: Sendable, Hashable {
    /// The member that holds them.
    public var member: String
    /// The entities, in the server's order, with documents that stand in the record's.
    public var records: [ServerRecord]
    /// What in it is no valid entity.
    public var unreadable: [UnreadableRecord]

    /// What stands in `member`.
    public init(
        _ member: String, records: [ServerRecord], unreadable: [UnreadableRecord] = []
    ) {
        self.member = member
        self.records = records
        self.unreadable = unreadable
    }
}

extension ServerRecord {
    /// The record without some members of its document, and without what stands in them.
    func cutting(_ names: [String], from document: JSONDocument) -> ServerRecord {
        var record = self
        record.children = []
        record.document = document.applying(set: [], unset: names)
        record.checked = Checked(isJSON: true)
        return record
    }
}

/// An entity that a list names without its document.
public struct ServerReference: Sendable, Hashable {
    /// The entity's id, as the server has it.
    public var id: String
    /// The version, where it is known: an entity whose version is here already is not fetched.
    public var revision: Revision?
    /// The last change by the server's clock, where it is known; of an entity that is gone, the
    /// time of its deletion.
    public var serverTime: Timestamp?
    /// Among the ids of a feed, the value of the block's ``FeedBlock/keyField``, where it is known:
    /// what is older than the feed goes back is not fetched.
    public var feedKey: FeedKey?

    public init(
        id: String, revision: Revision?, serverTime: Timestamp? = nil, feedKey: FeedKey? = nil
    ) {
        self.id = id
        self.revision = revision
        self.serverTime = serverTime
        self.feedKey = feedKey
    }
}

/// A record of a server's answer that is not a valid entity.
public struct UnreadableRecord: Sendable, Hashable {
    /// The server's id, where it can be read.
    public var id: String?
    /// The server's bytes, verbatim.
    public var bytes: [UInt8]
    /// What is wrong with the bytes, in a few words.
    public var problem: String

    /// A record that can't be read.
    public init(id: String?, bytes: [UInt8], problem: String) {
        self.id = id
        self.bytes = bytes
        self.problem = problem
    }
}

/// What a server says of a collection.
public struct CollectionDescription: Sendable, Hashable {
    public var name: CollectionName
    /// Differs once the collection was dropped and created again: its watermark is then discarded,
    /// and everything is listed.
    public var epoch: Revision

    public init(name: CollectionName, epoch: Revision) {
        self.name = name
        self.epoch = epoch
    }
}

/// The outcome of one write of a batch.
///
/// An adapter for a server with a call for several writes, around `one` that knows each by itself;
/// in its traits ``ServerTraits/writesPerRequestMax`` says how many:
///
/// ```swift
/// func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
///     guard case .batch(let calls) = call else { return try one.request(for: call) }
///     var writes: [String] = []
///     for call in calls {
///         let write = try one.request(for: call)
///         let body = write.body.map { String(decoding: $0, as: UTF8.self) } ?? "null"
///         writes.append(
///             #"{"method":"\#(write.method)","path":"\#(write.path)","body":\#(body)}"#)
///     }
///     let list = writes.joined(separator: ",")
///     return ServerRequest(
///         method: .post, path: "/batch/", headers: [.contentType: "application/json"],
///         body: Array(#"{"operations":[\#(list)]}"#.utf8))
/// }
///
/// func answer(
///     to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
/// ) -> ServerAnswer {
///     guard case .batch(let calls) = call else {
///         return one.answer(to: call, response, body: body)
///     }
///     guard response.status.code == 200,
///         let results = try? JSON.arrayElements(of: body, at: "results"),
///         results.count == calls.count
///     else {
///         return .failure(
///             SyncFailure(
///                 status: response.status.code, headerFields: response.headerFields))
///     }
///     var parts: [BatchedAnswer] = []
///     for (call, range) in zip(calls, results) {
///         let result = Array(body[range])
///         guard let status = JSON.value("status", of: result)?.int64Value,
///             (200..<600).contains(status)
///         else { return .failure(.malformed("a result without a status")) }
///         let own = JSON.member("body", of: result).map { Array(result[$0]) } ?? []
///         let head = HTTPResponse(status: .init(code: Int(status)))
///         parts.append(
///             BatchedAnswer(status: Int(status), one.answer(to: call, head, body: own)))
///     }
///     return .batch(parts)
/// }
/// ```
public struct BatchedAnswer: Sendable, Hashable {
    /// Its own HTTP status.
    public var status: Int
    /// What the write's own answer means.
    public var answer: ServerAnswer
    /// What it proves of the write.
    public var effect: WriteEffect

    /// One write's answer within a batch.
    ///
    /// - Parameters:
    ///   - status: its own HTTP status.
    ///   - answer: what it means.
    ///   - effect: what it proves; nil for what such an answer usually proves.
    public init(status: Int, _ answer: ServerAnswer, effect: WriteEffect? = nil) {
        self.status = status
        self.answer = answer
        self.effect = effect ?? answer.usualEffect(status: status)
    }
}

extension ServerAnswer {
    /// What an answer with this status usually proves of a write.
    ///
    /// Where a server says with a success that a write was not done, the answer counts.
    public func usualEffect(status: Int) -> WriteEffect {
        let isSuccess = (200..<300).contains(status)
        return switch self {
        case .record, .stored, .deleted: .done
        case .ignored: .nothing
        case .deferred: .unknown
        // A success that can't be understood proves nothing.
        case .failure where isSuccess: .unknown
        case .absent where isSuccess, .conflict where isSuccess, .conflictUnknown where isSuccess:
            .precondition
        case .refused where isSuccess: .nothing
        case .description, .page, .combined, .unchanged, .cursorExpired, .records, .absent,
            .conflict, .conflictUnknown, .refused, .batch, .waiting, .failure, .reserved:
            WriteEffect(status: status)
        }
    }
}

/// What a server's answer means.
@nonexhaustive public indirect enum ServerAnswer: Sendable, Hashable {
    /// The server's collections, each with its epoch; `next` is the token of the next page, nil on
    /// the last one.
    case description([CollectionDescription], next: String? = nil)
    /// One page of a list.
    case page(ListPage)
    /// What was there of several collections; a collection or an entity that is missing says
    /// nothing.
    case combined([CombinedPage])
    /// Nothing changed since the cursor.
    case unchanged
    /// The server does not know the cursor any more: everything has to be listed again.
    case cursorExpired
    /// The current state of the entities that were asked for; those left out do not exist.
    case records([ServerRecord])
    /// The entity as it is now: read, created or replaced.
    case record(ServerRecord)
    /// The write was accepted, and the answer does not hold the entity; with its version, where it
    /// has one, and with what the server warns of. Of a creation, the id is the one that the server
    /// gave, where it gives the ids.
    case stored(id: String, Revision?, issues: [ServerIssue] = [])
    /// The entity was deleted by this call.
    case deleted(ServerRecord)
    /// There is no such entity.
    case absent
    /// The precondition failed; with the entity as it is now.
    case conflict(ServerRecord)
    /// The precondition failed, and the answer does not hold the entity: it is read.
    case conflictUnknown
    /// The server refuses the write because of the entity's content.
    case refused(ServerRefusal)
    /// The server left the write alone, for the sake of another one or for what it says; it stays
    /// pending, and is sent again in a later run.
    case ignored([ServerIssue] = [])
    /// Values that are reserved for this device.
    case reserved(ReservedValues)
    /// The outcome of each write of a batch, in order.
    case batch([BatchedAnswer])
    /// The server took the writes, or in a batch the one write of this part, and promises to answer
    /// later: it is asked for that by ``ServerCall/poll(_:of:)`` with this word. Of such a question
    /// it says that the answer is to be had by another word, at once.
    case deferred(String)
    /// The answer that the server promised is not there yet.
    ///
    /// That it knows nothing of the promise any more is ``absent``.
    case waiting
    /// The call failed for a reason that is not the entity.
    case failure(SyncFailure)
}

/// One page of a list.
public struct ListPage: Sendable, Hashable {
    /// The entities, in the server's order.
    public var records: [ServerRecord]
    /// Entities that the list only names; they are fetched.
    public var references: [ServerReference]
    /// Records that are not valid entities; they are logged, and skipped.
    public var unreadable: [UnreadableRecord]
    /// The token of the next page; nil on the last one.
    public var next: String?
    /// The cursor of a later list: the first page's, or that of the last page with ``movesCursor``.
    public var cursor: Revision?
    /// Whether the cursor is the end of this page, so that the last page's counts.
    public var movesCursor: Bool
    /// How many entities all pages of the list have, where pages have numbers and the server says
    /// so: if there are fewer than the page before it said, something moved past a page.
    public var total: Int?
    /// Of a folder's list: whether it may leave out what is there, so that nothing follows from
    /// what it does not name.
    public var isPartial = false
    /// Of a folder's list: whether there is no such folder.
    package var isAbsent = false
    /// Entities of which it says nothing, not even that they are gone.
    package var unspoken: [String] = []
    /// What it adds to a list by folders.
    package var step: TreeWalk.Step?

    public init(
        records: [ServerRecord], references: [ServerReference] = [],
        unreadable: [UnreadableRecord] = [], next: String?, cursor: Revision?,
        movesCursor: Bool = false
    ) {
        self.records = records
        self.references = references
        self.unreadable = unreadable
        self.next = next
        self.cursor = cursor
        self.movesCursor = movesCursor
    }
}

/// What an answer about several collections holds of one of them.
public struct CombinedPage: Sendable, Hashable {
    /// The collection, one of those that the call names.
    public var collection: CollectionName
    /// The entities, in the server's order.
    public var records: [ServerRecord]
    /// Records that are not valid entities; they are logged, and skipped.
    public var unreadable: [UnreadableRecord]

    public init(
        _ collection: CollectionName, records: [ServerRecord], unreadable: [UnreadableRecord] = []
    ) {
        self.collection = collection
        self.records = records
        self.unreadable = unreadable
    }
}

/// Why a server refused an entity.
public struct ServerRefusal: Sendable, Hashable {
    /// The HTTP status.
    public var status: Int
    /// The server's message.
    public var message: String
    /// What it says of each part of the entity.
    public var issues: [ServerIssue]
    /// Whether it is because another entity of a tree has its name.
    package var isTaken = false
    /// The fields that name what the server does not show to this request, and perhaps not yet: it
    /// is no refusal where that was written a moment ago.
    package var unseen: [String] = []

    public init(status: Int, message: String, issues: [ServerIssue] = []) {
        self.status = status
        self.message = message
        self.issues = issues
    }

    /// A proxy or gateway refuses a write with a page of its own, while the server answers other
    /// calls.
    static func page(_ status: Int) -> ServerRefusal {
        ServerRefusal(status: status, message: "a page in the place of an answer")
    }

    /// A write's precondition fails repeatedly, although the server's state agrees with it.
    static let unexplained = ServerRefusal(
        status: 412,
        message: "its precondition fails, and what the server says of it agrees with it")

    /// The server gives no version, so a write could undo changes of others.
    static let unversioned = ServerRefusal(
        status: 0,
        message: "the server names no version of it that a write could ask for (a strong ETag)")

    /// What an entity of a tree would lie in was deleted on the server, or given up here.
    static let nowhere = ServerRefusal(
        status: 0,
        message: "what it would lie in is not there any more: keep mine to have it where there "
            + "is a place, or discard it")

    /// What an entity of a tree would lie in lies in it on the server.
    static let circle = ServerRefusal(
        status: 0,
        message: "what it would lie in was moved into it on the server: keep mine to have that out "
            + "of it first, or discard the move")

    /// What an entity of a tree would lie in is to be made later than the entity.
    static let itself = ServerRefusal(
        status: 0,
        message: "what it would lie in can't be made before it: keep mine to have it where there "
            + "is a place, or discard it")

    /// Another entity of a tree lies where this one was to be made or moved to.
    ///
    /// - Parameter status: that of the answer; 0 where none says so by itself.
    package static func taken(status: Int = 0) -> ServerRefusal {
        var refusal = ServerRefusal(
            status: status, message: "there is another one of this name: give it another name")
        refusal.isTaken = true
        return refusal
    }

    /// The library's own messages, which hold nothing that users wrote.
    package static var ownMessages: [String] {
        [
            page(0).message, unexplained.message, unversioned.message, taken().message,
            nowhere.message, circle.message, itself.message,
        ]
    }
}
