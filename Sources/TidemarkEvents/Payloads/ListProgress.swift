// ListProgress.swift — how far a list is that a page is part of: a later run goes on with it.

/// An entity that a page only names.
package struct ListedReference: Sendable, Hashable {
    package var id: String
    package var revision: Revision?
    /// When it was changed last, or deleted, where the page says so.
    package var serverTime: Timestamp?

    package init(id: String, revision: Revision?, serverTime: Timestamp? = nil) {
        self.id = id
        self.revision = revision
        self.serverTime = serverTime
    }
}

extension PayloadCodec<ListedReference> {
    /// `[id, version or null, time]`; the time may be missing.
    static var reference: Self {
        PayloadCodec(
            "an id and a version",
            { value in
                guard let items = value.array, let id = items.first?.stringValue else { return nil }
                return ListedReference(
                    id: id, revision: items.dropFirst().first?.stringValue.map { Revision($0) },
                    serverTime: items.dropFirst(2).first?.int64Value.map { Timestamp(rawValue: $0) }
                )
            },
            append: { reference, output in
                var items: [JSONValue] = [.string(reference.id)]
                items.append(reference.revision.map { .string($0.description) } ?? .null)
                let time = reference.serverTime.map { JSONValue.number(JSONNumber($0.rawValue)) }
                items += time.map { [$0] } ?? []
                output += JSONValue.array(items).encoded()
            })
    }
}

/// How far a list is.
package struct ListState: Sendable, Hashable {
    /// How many pages it has so far.
    package var page: Int
    /// The log's last position when it began.
    package var asOf: Position
    /// How many entities of the collection were here then.
    package var knownCount: Int
    /// Where its pages begin, once everything was listed and the changes since are.
    package var after: Revision?
    /// The token of the next page; nil when there is none.
    package var next: String?
    /// Where a later list goes on.
    package var cursor: Revision?
    package var epoch: Revision?
    /// When it was asked for, by the server's clock, and a little earlier.
    package var asked: Timestamp?
    /// The server's clock when it began.
    package var serverTime: Timestamp?
    /// The window that is listed; nil for everything.
    package var from: Timestamp?
    package var to: Timestamp?
    /// Whether it holds records without an id.
    package var isDoubtful = false
    /// Of a list by folders: how many entities it found that were not known.
    package var found = 0
    /// 2 where all folders are listed once more, for what is missing, or all pages with numbers, as
    /// something moved past one of them.
    package var pass = 1
    /// Of a list by pages with numbers: how many entities the server has, where it says so.
    package var total: Int?
    /// Of a list by pages with numbers: how many entities a page has.
    package var pageSize: Int?
    /// Whether it is one of changes: nothing follows from what it does not name.
    package var isOfChanges = false

    package init(page: Int, asOf: Position, knownCount: Int) {
        self.page = page
        self.asOf = asOf
        self.knownCount = knownCount
    }
}

/// The member `list` of a `pull.page`.
package struct ListProgress: MemberPayload {
    /// The members of ``ListState``, without which no later run can go on.
    private var page: Int?
    private var asOf: Position?
    private var rest = ListState(page: 0, asOf: .start, knownCount: 0)
    /// Entities that the page only names and that are to be fetched.
    package var references: [ListedReference] = []
    /// Entities that it only names and that are here in that version.
    package var same: [String] = []
    /// What in it can't be read, by name.
    package var unreadable: [String] = []
    /// Entities that the server had in the folder that the page is of, and that it does not name.
    package var missing: [String] = []

    package init() {}

    package init(_ state: ListState?) {
        guard let state else { return }
        (page, asOf, rest) = (state.page, state.asOf, state)
        (rest.page, rest.asOf) = (0, .start)
    }

    /// How far the list is; nil when no later run can go on with it.
    package var state: ListState? {
        guard let page, page > 0, let asOf else { return nil }
        var state = rest
        (state.page, state.asOf, state.knownCount) = (page, asOf, max(0, rest.knownCount))
        return state
    }

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("page", \.page, .integer, .plain),
        PayloadMember("asOf", \.asOf, .position, .plain),
        PayloadMember("of", \.rest.knownCount, .integer, .plain) { $0 <= 0 },
        PayloadMember("after", \.rest.after, .revision, .cursor),
        PayloadMember("next", \.rest.next, .text, .address),
        PayloadMember("cursor", \.rest.cursor, .revision, .cursor),
        PayloadMember("epoch", \.rest.epoch, .revision, .token),
        PayloadMember("asked", \.rest.asked, .time, .time),
        PayloadMember("time", \.rest.serverTime, .time, .time),
        PayloadMember("from", \.rest.from, .time, .time),
        PayloadMember("to", \.rest.to, .time, .time),
        PayloadMember("doubtful", \.rest.isDoubtful, .flag, .plain) { !$0 },
        PayloadMember("found", \.rest.found, .integer, .plain) { $0 <= 0 },
        PayloadMember("pass", \.rest.pass, .integer, .plain) { $0 <= 1 },
        PayloadMember("total", \.rest.total, .integer, .plain),
        PayloadMember("pageSize", \.rest.pageSize, .integer, .plain),
        PayloadMember("changes", \.rest.isOfChanges, .flag, .plain) { !$0 },
        PayloadMember("refs", \.references, .list(of: .reference), .references) { $0.isEmpty },
        PayloadMember("same", \.same, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("unreadable", \.unreadable, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("missing", \.missing, .list(of: .text), .text) { $0.isEmpty },
    ]
}
