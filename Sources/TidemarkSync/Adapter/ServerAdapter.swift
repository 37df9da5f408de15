// ServerAdapter.swift — the translation between Tidemark's calls and one kind of server. Pure:
// bytes in, values out, and back.

public import HTTPTypes
public import TidemarkEvents

/// What one kind of server can do.
public struct ServerTraits: Sendable, Hashable {
    /// Whether the server tells an identity of each collection, which changes when the collection
    /// is dropped and created again: ``ServerCall/describe(_:page:)``.
    public var describesCollections: Bool
    /// How many entities may be fetched at once.
    public var entitiesPerFetchMax: Int
    /// How many entities are asked after in one fetch where it is not known what became of their
    /// writes; 1 has each read by itself.
    ///
    /// Those that the answer leaves out are read by themselves: it may be that the fetch does not
    /// show them.
    public var readBacksPerFetchMax = 1
    /// How many placeholders are asked for in one request: ``ServerCall/refetch(_:ids:together:)``.
    ///
    /// Where several fail that were asked for by such a number, each is asked for by itself.
    /// Without one the server lists all that it has, whichever are asked for.
    public var refetchesPerRequestMax = Int.max
    /// How many bytes the ids of one request are at most, percent-encoded; a single one may be
    /// longer.
    public var idBytesPerRequestMax = Int.max
    /// Characters that part the ids of a request: an id with one of them has a request of its own.
    public var idSeparators = ""
    /// How many entities a page of a list usually has, where pages have numbers; nil where they
    /// have none.
    ///
    /// Then the page of a call is its number, from 2 on, with the sign `+` before it where
    /// ``ListPage/next`` has one, and its size is the call's ``CollectionModel/pageSize``: a list
    /// with a limit is asked for by pages of fitting sizes, and one of which a page failed goes on
    /// with the page behind it. Where a page names what one before it named, or its
    /// ``ListPage/total`` is less than that of the one before, something may have moved past a page
    /// unseen: the list is asked for once more, by pages of twice the size. Where that happens
    /// again, or no page has that size and they name fewer, up to ten entities that it does not
    /// name are asked about, and nothing follows for more. A page that begins with just what the
    /// one before it ended with was only pushed back.
    public var numberedPages: Int?
    /// The collections of which each list comes in one answer, though pages have numbers.
    ///
    /// No page behind the first one is asked for. ``CollectionModel/listLimit`` has nothing to
    /// share there: a model with it is refused when it is first synced, and later it is no limit.
    public var unpaged: Set<CollectionName> = []
    /// How many writes fit into one request; 1 for a server without batches.
    public var writesPerRequestMax: Int
    /// The collections whose writes may share a request, and name each other in it; writes of any
    /// other collection share one only with those of the same.
    ///
    /// What is created may be named by what is sent with it. Deletions have requests of their own.
    public var bundled: Set<CollectionName>
    /// The collections whose entities can be written within others, in one request, each with the
    /// collection of these.
    ///
    /// A creation or an update is planned into the request that writes what it refers to. It does
    /// not count for ``writesPerRequestMax``.
    public var nestedIn: [CollectionName: CollectionName] = [:]
    /// How many trees of ``nestedIn`` fit into one request, where these are fewer than
    /// ``writesPerRequestMax``.
    public var treesPerRequestMax = Int.max
    /// The fields by which writes of a collection are parted: those of one request have the same
    /// value there, or all none.
    ///
    /// Deletions, which hold no fields, have requests of their own as always.
    public var partitionFields: [CollectionName: String] = [:]
    /// The fields by whose presence writes of a collection are parted: in one request all have the
    /// field, or none.
    public var presenceFields: [CollectionName: String] = [:]
    /// The collections of whose writes something may be left out, or is sent in addition:
    /// ``ServerAdapter/part(of:on:_:)``.
    public var sentInPart: Set<CollectionName> = []
    /// The collections of whose entities an answer may show only a part:
    /// ``ServerAdapter/completed(_:of:by:in:_:)``.
    ///
    /// Their lists are made one after the other, also where others are made at the same time.
    public var shownInPart: Set<CollectionName> = []
    /// Whether the answer that one entity is not there may mean that its whole collection is out of
    /// reach: it counts only behind a list of the collection in the same run, and is a failure of
    /// the call otherwise.
    public var absenceNeedsList = false
    /// The collections of which the answer to a read that there is none may mean that it is out of
    /// reach.
    ///
    /// What the server had is gone only where a fetch tells it as deleted; where a fetch leaves it
    /// out the call fails as ``SyncFailure/forbidden``. It is no rule for answers to writes: where
    /// these may mean that, too, the adapter tells ``ServerAnswer/conflictUnknown``.
    public var absenceNeedsFetch: Set<CollectionName> = []
    /// When the server is asked for an answer that it promised.
    public var polling = Polling()
    /// Whether deletions are sent before anything else, instead of last; where the server promises
    /// their answer, the rest waits for it, as long as the run asks for it.
    ///
    /// Where one fails, the rest of its collection, or of all that are ``bundled``, waits for the
    /// next run, up to the third time.
    public var deletesFirst: Bool
    /// Whether a cursor identifies a state of the collection instead of a moment, so that the same
    /// state has the same cursor again.
    ///
    /// Entities of which the log holds an answer since the cursor are then read one by one, unless
    /// a list names them.
    public var cursorIsState: Bool
    /// Whether it lists by fields of the records: ``ServerCall/feed(_:_:)``.
    ///
    /// A model with a feed is refused where it does not, and where it makes no request for a field
    /// of the feed.
    public var hasFeeds: Bool
    /// Whether it lists parts of a collection by parameters.
    ///
    /// It is asked for these by ``ServerCall/listPart(_:_:after:page:)``.
    /// A model with such lists is refused where it does not, and where it makes no request for one.
    public var hasListParameters: Bool
    /// Whether it reserves values for a device: ``ServerCall/reserve(pool:key:pattern:count:)``.
    ///
    /// A model with pools is refused where it does not, and where it makes no request for a key.
    public var reservesValues: Bool
    /// Whether the server knows entities by their paths alone, as a file server does.
    ///
    /// Every collection of the model has to say so then: ``CollectionModel/TreeRule/isByPath``. A
    /// model that says so is refused where it does not.
    public var hasPaths = false
    /// The fields of a file that stay as they are where it is moved on a server that tells no ids
    /// of its own, as its size: one that came with another value is another file, also where it has
    /// the version of one that is missing.
    public var keptByMoves: [String] = []
    /// The field of a file's document with the length of its content in bytes, in a tree by paths;
    /// nil where none has it.
    ///
    /// What comes in the place of a file and has another length is none then.
    public var lengthField: String?
    /// Whether it has to be found out if the server heeds the preconditions of writes.
    ///
    /// The first small upload of something new that the server takes is sent once more then: a
    /// server that heeds its precondition refuses it. One that doesn't is written to only after a
    /// read.
    public var triesPreconditions = false
    /// The collections that one request answers together: ``ServerCall/combined(_:)``.
    public var combined: Set<CollectionName>
    /// Whether a write is conditional on the entity's version, as with `If-Match`.
    ///
    /// Without versions a pending change is sent unconditionally, and no version is read first.
    /// Where the server names entities, a write is conditional only if a version is known; what the
    /// app took over without one is read before it is sent whole.
    public var hasVersions: Bool
    /// Whether an update sends `changes` of ``ServerCall/update(_:id:body:changes:revision:)``, so
    /// that the server keeps what they don't name.
    public var sendsChanges: Bool
    /// Whether the server, too, tells the elements of the model's ``CollectionModel/keyed`` lists
    /// by their keys, and keeps those that an update's `changes` don't name.
    ///
    /// Then `changes` hold of such a list only the elements that changed; of one that is gone the
    /// key, with null for its other members. Otherwise they hold the whole list.
    public var mergesLists: Bool

    /// When a server is asked for an answer that it promised: ``ServerAnswer/deferred(_:)``.
    public struct Polling: Sendable, Hashable {
        /// How many seconds after the promise.
        public var first: Int64
        /// How many seconds after the last question.
        public var every: Int64
        /// How often in the run in which it was promised.
        public var tries: Int
        /// How often in each later run, which asks before it does anything else.
        public var triesLater: Int

        /// By default after a second, then every two seconds, for three minutes; later twice a run.
        public init(first: Int64 = 1, every: Int64 = 2, tries: Int = 91, triesLater: Int = 2) {
            self.first = first
            self.every = every
            self.tries = tries
            self.triesLater = triesLater
        }
    }

    /// Traits of a server; the defaults are those of one without optional features.
    public init(
        describesCollections: Bool = false, entitiesPerFetchMax: Int = 1,
        writesPerRequestMax: Int = 1, cursorIsState: Bool = false, hasVersions: Bool = true,
        sendsChanges: Bool = false, combined: Set<CollectionName> = [], hasFeeds: Bool = false,
        mergesLists: Bool = false, hasListParameters: Bool = false,
        bundled: Set<CollectionName> = [], deletesFirst: Bool = false,
        reservesValues: Bool = false
    ) {
        self.bundled = bundled
        self.deletesFirst = deletesFirst
        self.reservesValues = reservesValues
        self.mergesLists = mergesLists
        self.hasListParameters = hasListParameters
        self.hasFeeds = hasFeeds
        self.combined = combined
        self.describesCollections = describesCollections
        self.entitiesPerFetchMax = entitiesPerFetchMax
        self.writesPerRequestMax = writesPerRequestMax
        self.cursorIsState = cursorIsState
        self.hasVersions = hasVersions
        self.sendsChanges = sendsChanges
    }
}

/// One kind of server.
public protocol ServerAdapter: Sendable {
    /// What it can do.
    var traits: ServerTraits { get }

    /// Which header fields of its answers the adapter reads, and which of its words are no secrets.
    ///
    /// The adapter is handed these fields, and Date, ETag, Content-Type, Content-Location,
    /// Last-Modified, Location and Retry-After. It gets no others, because the fields that it
    /// decides by are kept with the answer, so that a replay can hand them over again.
    var words: ServerWords { get }

    /// The request for a call.
    ///
    /// - Throws: ``SyncFailure`` when it can't be made, as for a page of another origin. A write is
    ///   refused unsent then, unless the failure may pass or stops the run: it waits for the next.
    ///   Of what a whole list does not name and no read can ask about, that list counts, if a later
    ///   one goes on at its end.
    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest

    /// The group of requests that a call counts for, besides all requests; nil for none.
    ///
    /// The model's limits name groups. Every list of a collection is of the same group.
    func group(of call: ServerCall) -> RequestGroup?

    /// The group of requests whose quota an answer says is used up; nil where the answer tells of
    /// no group, so that its pause holds for all requests.
    ///
    /// It is asked of answers that are ``SyncFailure/tooManyRequests(retryAfterSeconds:)``.
    func exhausted(by response: HTTPResponse, to call: ServerCall) -> RequestGroup?

    /// The body of an answer without the members that the model drops.
    ///
    /// What it returns is judged, and kept; other bytes stay. An adapter needs one of its own where
    /// it answers ``ServerCall/combined(_:)``: only it knows which part of a body is whose. By
    /// default members of these names go at any depth.
    func dropping(from body: [UInt8], of call: ServerCall) -> [UInt8]

    /// Whether a list would name an entity, had the server it still: one that stands in an entity
    /// of the list, and is here.
    ///
    /// It is deleted where the list leaves it out; not where this says that the list might not show
    /// it, for want of access. By default lists show what belongs to an entity unless a field says
    /// otherwise: one with the name of a parameter, and another value.
    ///
    /// - Parameters:
    ///   - child: the entity's document, as the server sent it last.
    ///   - collection: that of the entity.
    ///   - list: the list's parameters; none for a list of all, or an answer about one entity.
    ///   - document: the document of any entity that is here, by its collection and id.
    func shows(
        _ child: JSONDocument, of collection: CollectionModel, in list: ListParameters,
        _ document: (EntityKey) -> JSONDocument?
    ) -> Bool

    /// What the parameters of a remote say of where the data lies and what it is called there: a
    /// store stays with that. What only says how the server behaves is left out.
    func place(in parameters: [String: String]) -> [String: String]

    /// The parameters of lists of one entity that show all that some lists show of it, and what was
    /// deleted in its tree; none where there are no such lists, as by default.
    ///
    /// They are asked for in this order about an entity once nothing in its tree waits, where a
    /// list's word of it was left out because something did (``CollectionModel/withholdsTrees``).
    /// The last one's word is taken, with what only those before it told of the entity:
    /// ``completed(_:of:by:in:_:)``. Without such a list it is read.
    ///
    /// - Parameters:
    ///   - lists: the parameters of the collection's lists.
    ///   - id: the entity's, as the server has it.
    func narrowed(
        _ lists: [ListParameters], to id: String, of collection: CollectionModel
    ) -> [ListParameters]

    /// The document of an entity with what the answer would not show of it and the server had
    /// before; nil where nothing is to be added, as by default.
    ///
    /// It is asked about the collections of ``ServerTraits/shownInPart``, in lists, fetches and
    /// reads. What it returns counts as the server's word: what is missing in it is gone.
    ///
    /// - Parameters:
    ///   - told: the document as the answer has it.
    ///   - collection: that of the entity.
    ///   - known: what the server had: its last word, or what was sent to make the entity.
    ///   - list: the list's parameters; none for a list of all, or an answer about some entities.
    ///   - document: the document of any entity that is here, by its collection and id.
    func completed(
        _ told: JSONDocument, of collection: CollectionModel, by known: JSONDocument,
        in list: ListParameters, _ document: (EntityKey) -> JSONDocument?
    ) -> [UInt8]?

    /// The parameters with which a list is asked for: its own, as by default, or what follows from
    /// them by what is here and the time.
    ///
    /// The list stays the part that its own parameters name, and so do its watermark and what
    /// follows from absence.
    ///
    /// - Parameters:
    ///   - now: the server's time, as far as it is known.
    ///   - document: the document of any entity that is here, by its collection and id.
    func asked(
        _ parameters: ListParameters, of collection: CollectionModel, at now: Timestamp,
        _ document: (EntityKey) -> JSONDocument?
    ) -> ListParameters

    /// What a list whose parameters come from documents depends on beside them, as far as what is
    /// here tells: a short text, or nil for nothing, as by default.
    ///
    /// Where it is another one the list has another watermark: it is made anew, as what it lists
    /// now may be older than the last one.
    ///
    /// - Parameter document: the document of any entity that is here, by its collection and id.
    func basis(
        of parameters: ListParameters, in collection: CollectionModel,
        _ document: (EntityKey) -> JSONDocument?
    ) -> String?

    /// By what the server makes values of a pool now, as far as what is here tells; nil where it
    /// tells nothing, as by default.
    ///
    /// Values that were made otherwise don't count as left, so that others are asked for: see
    /// ``ReservedValues/pattern``.
    ///
    /// - Parameter document: the document of any entity that is here, by its collection and id.
    func pattern(
        of key: [String], in pool: String, _ document: (EntityKey) -> JSONDocument?
    ) -> String?

    /// The part of a creation or an update that is sent; nil to send all of it, as by default.
    ///
    /// Where the server keeps what a document only lacks, it may name what was removed.
    ///
    /// It is asked about the collections of ``ServerTraits/sentInPart``. What is left out stays as
    /// it is here until the server's next word on the entity, and is told by an issue.
    ///
    /// - Parameters:
    ///   - base: what the server has of the entity, as far as is known; nil for a creation.
    ///   - document: the document of any entity that is here, by its collection and id.
    func part(
        of call: ServerCall, on base: JSONDocument?, _ document: (EntityKey) -> JSONDocument?
    ) -> SentPart?

    /// Why a write is refused without being sent; nil to send it.
    func refusal(of call: ServerCall) -> ServerRefusal?

    /// What the engine has the server do so that it takes a write that it refused, or left alone;
    /// nil for nothing, as by default.
    ///
    /// It is asked once in a run about each entity, and only where the model has actions.
    ///
    /// - Parameters:
    ///   - answer: ``ServerAnswer/refused(_:)`` or ``ServerAnswer/ignored(_:)``.
    ///   - call: the write.
    ///   - document: the document of any entity that is here, by its collection and id.
    ///   - asked: what an action of an entity needed that was carried out last, where the model
    ///     says for how long it grants something.
    func remedy(
        for answer: ServerAnswer, to call: ServerCall,
        _ document: (EntityKey) -> JSONDocument?,
        asked: (EntityKey, String) -> [String: String]?
    ) -> ServerRemedy?

    /// In which form a file of the user's is POSTed, where it isn't sent as it is; by default what
    /// ``form(ofFile:head:)`` says.
    func form(of file: FileToSend) -> FileForm?

    /// The same by the hash and the first bytes of a file alone; nil by default.
    func form(ofFile sha256: String, head: [UInt8]) -> FileForm?

    /// Where a file lies that a record names: a path from the remote's root on, or a whole address;
    /// nil for nowhere. By default the name is that.
    ///
    /// - Parameters:
    ///   - name: as it stands in the record.
    ///   - field: the field that names it, as in ``CollectionModel/contents``.
    ///   - entity: the record, by the server's id; nil where none names it any more.
    func address(ofFile name: String, in field: String, of entity: EntityKey?) -> String?

    /// The request for the checksums of a file whose upload got no answer; nil, the default, where
    /// the server tells none.
    ///
    /// Where they don't say whether the file is the one that was sent, it is fetched.
    ///
    /// - Parameters:
    ///   - record: the file as the server told it.
    ///   - id: the server's id of it.
    func checksumRequest(of record: ServerRecord, at id: String) -> ServerRequest?

    /// The checksums that a successful answer to this request tells; nil for none.
    ///
    /// - Parameter record: the file as the server told it before.
    func checksums(of record: ServerRecord, in body: [UInt8]) -> FileChecksums?

    /// What the answer to a call means; an answer that is not understood is a failure `malformed`.
    ///
    /// An answer of another call's kind, as a page to a write, counts as `malformed`, too.
    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer

    /// What an answer proves of its write: whether the server carried it out.
    ///
    /// It is logged with the answer and decides whether the write is sent again. For a batch it is
    /// what the answer as a whole proves of each write; ``BatchedAnswer/effect`` overrides it.
    ///
    /// - Parameters:
    ///   - answer: what ``answer(to:_:body:)`` made of it.
    ///   - call: a write, or a batch of them.
    ///   - response: the answer's head.
    func effect(
        of answer: ServerAnswer, to call: ServerCall, _ response: HTTPResponse
    ) -> WriteEffect
}

extension ServerAdapter {
    /// The defaults: a server without optional features.
    public var traits: ServerTraits { ServerTraits() }

    /// No words: the adapter gets only the usual header fields, and redaction replaces all words.
    public var words: ServerWords { ServerWords() }

    /// What such an answer usually proves.
    public func effect(
        of answer: ServerAnswer, to call: ServerCall, _ response: HTTPResponse
    ) -> WriteEffect { answer.usualEffect(status: response.status.code) }

    /// No groups.
    public func group(of call: ServerCall) -> RequestGroup? { nil }

    /// No answer tells of a group.
    public func exhausted(by response: HTTPResponse, to call: ServerCall) -> RequestGroup? { nil }

    /// Members that the call's collections drop go at any depth.
    public func dropping(from body: [UInt8], of call: ServerCall) -> [UInt8] {
        JSON.dropping(call.drops, from: body)
    }

    /// Lists show what belongs to an entity unless a field says that it is of another list.
    public func shows(
        _ child: JSONDocument, of collection: CollectionModel, in list: ListParameters,
        _ document: (EntityKey) -> JSONDocument?
    ) -> Bool { list.mayHold(child) }

    /// No list is of one entity.
    public func narrowed(
        _ lists: [ListParameters], to id: String, of collection: CollectionModel
    ) -> [ListParameters] { [] }

    /// All parameters say where the data lies.
    public func place(in parameters: [String: String]) -> [String: String] { parameters }

    /// Answers show all of an entity.
    public func completed(
        _ told: JSONDocument, of collection: CollectionModel, by known: JSONDocument,
        in list: ListParameters, _ document: (EntityKey) -> JSONDocument?
    ) -> [UInt8]? { nil }

    /// Lists are asked for with the parameters that they have.
    public func asked(
        _ parameters: ListParameters, of collection: CollectionModel, at now: Timestamp,
        _ document: (EntityKey) -> JSONDocument?
    ) -> ListParameters { parameters }

    /// Lists depend on their parameters alone.
    public func basis(
        of parameters: ListParameters, in collection: CollectionModel,
        _ document: (EntityKey) -> JSONDocument?
    ) -> String? { nil }

    /// Nothing tells of patterns.
    public func pattern(
        of key: [String], in pool: String, _ document: (EntityKey) -> JSONDocument?
    ) -> String? { nil }

    /// Writes are sent whole.
    public func part(
        of call: ServerCall, on base: JSONDocument?, _ document: (EntityKey) -> JSONDocument?
    ) -> SentPart? { nil }

    /// Every write is sent.
    public func refusal(of call: ServerCall) -> ServerRefusal? { nil }

    /// The name of a file says where it lies.
    public func address(
        ofFile name: String, in field: String, of entity: EntityKey?
    ) -> String? { name }

    /// The server tells no checksums.
    public func checksumRequest(of record: ServerRecord, at id: String) -> ServerRequest? { nil }

    /// The server tells no checksums.
    public func checksums(of record: ServerRecord, in body: [UInt8]) -> FileChecksums? { nil }

    /// Nothing is done about what a server did not take.
    public func remedy(
        for answer: ServerAnswer, to call: ServerCall,
        _ document: (EntityKey) -> JSONDocument?,
        asked: (EntityKey, String) -> [String: String]?
    ) -> ServerRemedy? { nil }
}
