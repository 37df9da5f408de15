// EventFamily.swift — what kinds of events have in common, for code that need not tell them apart.
//
// EventKind.swift places each kind in one family. A switch over families needs no change for a new
// kind; where the kind itself matters, as to the fold, the switch is over kinds.

/// The part that events of some kinds have in a log.
package enum EventFamily: Sendable, Hashable {
    /// What the user did here: to an entity, or to all of some collections.
    package enum Local: Sendable, Hashable, CaseIterable {
        case created, updated, deleted
        /// The server is to do something with it.
        case requested
        /// What is pending was given up.
        case discarded
        /// What the server had refused is to be sent again.
        case retried
        /// What is here of collections was dropped.
        case wiped
    }

    /// How the server has an entity.
    package enum Word: Sendable, Hashable, CaseIterable {
        case upserted, deleted
    }

    /// Who writes the store, and what of its log was dropped.
    case store
    /// The model by which everything later is read.
    case model
    case local(Local)
    /// What the app or its user answered or asked for, or a timer: no edit by itself.
    case app
    /// The first event of a sync run.
    case runStart
    /// The last event of a sync run.
    case runEnd
    case request
    /// What came of a request, whatever it says of entities.
    case answer
    case word(Word)
    /// What the server says, and is no entity.
    case notice
    /// A part of a list, or its end.
    case list
    /// What became of a mutation.
    case push
    /// What is wanted beside entities, and what there is of it.
    case asset
    /// A kind of another version.
    case unknown
}
