// ServerAdapter.swift — the translation between Tidemark's calls and one kind of server. Pure:
// bytes in, values out, and back.

public import HTTPTypes
public import TidemarkEvents

/// What one kind of server can do.
public struct ServerTraits: Sendable, Hashable {
    /// Whether it can be asked what tells a collection from another one of the same name.
    public var describesCollections: Bool
    /// How many entities may be fetched at once.
    public var entitiesPerFetchMax: Int
    /// How many writes fit into one request; 1 for a server without batches.
    public var writesPerRequestMax: Int
    /// Whether a cursor stands for a state and not for a time, and comes back with the state.
    ///
    /// What was learned of an entity since the cursor is then asked after, unless a list names it.
    public var cursorIsState: Bool
    /// Whether a write names the version that the entity must still be of.
    ///
    /// Without versions what is pending is sent whatever the entity has become, and nobody asks
    /// for one first. Nor where the server names entities: there a version is named where one is
    /// known.
    public var hasVersions: Bool

    /// The traits of a server that can do none of it.
    public init(
        describesCollections: Bool = false, entitiesPerFetchMax: Int = 1,
        writesPerRequestMax: Int = 1, cursorIsState: Bool = false, hasVersions: Bool = true
    ) {
        self.describesCollections = describesCollections
        self.entitiesPerFetchMax = entitiesPerFetchMax
        self.writesPerRequestMax = writesPerRequestMax
        self.cursorIsState = cursorIsState
        self.hasVersions = hasVersions
    }
}

/// One kind of server.
public protocol ServerAdapter: Sendable {
    /// What it can do.
    var traits: ServerTraits { get }

    /// Which header fields of its answers it reads, and which of its words are no secrets.
    ///
    /// It is handed these, and Date, ETag, Content-Type, Content-Location, Last-Modified, Location
    /// and Retry-After; no others, for what it decides by is kept with the answer, so that a replay
    /// can hand it over again.
    var words: ServerWords { get }

    /// The request for a call.
    ///
    /// - Throws: ``SyncFailure`` when no such request can be made, as for a page of another origin.
    func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest

    /// Why the server can't take a write, whatever it would answer; nil when it is to be asked.
    ///
    /// What is refused here is never sent.
    func refusal(of call: ServerCall) -> ServerRefusal?

    /// What the answer to a call means. Total: what is not understood is a failure `malformed`.
    ///
    /// An answer that can't be one to the call, as a page to a write, counts as `malformed`, too.
    func answer(to call: ServerCall, _ response: HTTPResponse, body: [UInt8]) -> ServerAnswer

    /// What an answer proves of the write that it answers: whether that was done.
    ///
    /// It is logged with the answer and decides whether the write is sent again. Of a batch it is
    /// what the answer as a whole proves of each write; what its parts prove, they say.
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
    /// It can do none of what not every server can.
    public var traits: ServerTraits { ServerTraits() }

    /// None: it is handed no header fields but the usual ones, and no word of it is known.
    public var words: ServerWords { ServerWords() }

    /// What its status usually proves, unless the answer says that it was done.
    public func effect(
        of answer: ServerAnswer, to call: ServerCall, _ response: HTTPResponse
    ) -> WriteEffect { answer.usualEffect(status: response.status.code) }

    /// The server is always to be asked.
    public func refusal(of call: ServerCall) -> ServerRefusal? { nil }
}
