// PullCompleted.swift — a collection was listed to its end.

/// `pull.completed`.
package struct PullCompleted: MemberPayload, EventPayload {
    package var scope = ""
    package var isComplete = true
    /// Whether it was a list of everything.
    package var isFull = false
    package var epoch: Revision?
    /// When the list was asked for, by the server's clock, and a little earlier.
    package var asked: Timestamp?
    /// How many entities it asked for at most; nil for all.
    package var limit: Int?
    /// The entities that were not named and are not taken for deleted before the user says so.
    package var held: [String] = []
    /// How many entities of the collection there were, where some are held.
    package var knownCount: Int?
    /// The entities that were not named and are therefore hidden.
    package var hidden: [String] = []
    /// What could not be read and was not named any more, by name.
    package var gone: [String] = []
    /// The set of collections that came as a whole with this list; nil for none.
    package var set: String?
    /// Whether every folder of a tree by paths was listed, where those could be left out whose
    /// versions stay.
    package var isOfAllFolders = false
    /// Whether something changed in a folder whose version stayed: none is left out any more.
    package var isUnmoved = false
    /// Whether the run had not listed before what may come into reach: an entity that was out of
    /// reach meanwhile may have changed, so the date of the next list of changes stays.
    package var keepsSince = false

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("scope", \.scope, .text, .listScope),
        PayloadMember("complete", \.isComplete, .flag, .plain),
        PayloadMember("full", \.isFull, .flag, .plain),
        PayloadMember("epoch", \.epoch, .revision, .token),
        PayloadMember("asked", \.asked, .time, .time),
        PayloadMember("limit", \.limit, .integer, .plain),
        PayloadMember("held", \.held, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("of", \.knownCount, .integer, .plain),
        PayloadMember("hidden", \.hidden, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("gone", \.gone, .list(of: .text), .text) { $0.isEmpty },
        PayloadMember("set", \.set, .text, .text),
        PayloadMember("allFolders", \.isOfAllFolders, .flag, .plain) { !$0 },
        PayloadMember("unmoved", \.isUnmoved, .flag, .plain) { !$0 },
        PayloadMember("keepsSince", \.keepsSince, .flag, .plain) { !$0 },
    ]

    package var gist: String? { isComplete ? "to its end" : "not to its end" }
}
