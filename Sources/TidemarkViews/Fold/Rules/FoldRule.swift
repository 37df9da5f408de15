// FoldRule.swift — a rule of a collection's model as the fold takes it: which collections have it,
// what it does when an event meets it, and what follows for other entities.
//
//   an event says             rules are asked
//   how an entity is          hear, before it is taken; what they answer is done after it
//   a page of a list          take, after all that the page says
//   that a list is complete   end, before its mark is set; mark, when it is
//   anything of an entity     meet, after the event, once for each entity that it wrote
//   the end of something      follow, after all of that: of an edit, a page, a push, a sync run
//   another model             adopt
//   that the time was wrong   takeBack
//
// The decision itself is a pure function in TidemarkRules.

import TidemarkEvents
import TidemarkRules

/// A rule of collections.
///
/// One value of it is shared by all folds and remembers nothing; what it would read from the rows
/// again and again is kept in a ``FoldMemory``.
protocol FoldRule: Sendable {
    /// The rule's name in decisions and derived mutations.
    var name: String { get }

    /// When it is asked, beyond ``adopt(_:_:_:_:)`` and ``takeBack(_:_:_:)``.
    var moments: FoldMoments { get }

    /// Whether a collection has the rule; it is not asked about others.
    func isRule(of collection: CollectionModel) -> Bool

    /// Whether it looks at a collection's entities that an event wrote, where it does so at all.
    func isMet(by collection: CollectionModel, in model: SyncModel) -> Bool

    /// Whether it is asked about answers about a collection's entities, where it is heard at all.
    func isHeard(of collection: CollectionModel) -> Bool

    // MARK: An event meets it

    /// What to do after an answer about an entity was folded; asked before that.
    func hear(
        _ event: Event, of key: EntityKey, _ collection: CollectionModel, _ position: Position,
        _ fold: Fold
    ) throws -> [FoldEffect]

    /// Takes in a page of a collection's list, after its entities were folded.
    func take(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws

    /// Takes in that a list is complete.
    func end(
        _ list: PullCompleted, _ collection: CollectionModel, _ position: Position, _ fold: Fold
    ) throws

    /// Completes the watermark of a finished list.
    func mark(
        _ row: inout WatermarkRow, after before: WatermarkRow?, _ list: PullCompleted,
        _ collection: CollectionModel, _ event: Event, _ fold: Fold
    ) throws

    /// Looks at one entity that the event wrote.
    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws

    /// Updates its memory from ledger rows that an event wrote.
    func note(_ rows: [(key: RowKey, value: [UInt8]?)], _ fold: Fold)

    /// Whether it notes how entities are, so that it also looks at those that changed by what
    /// follows from other rules.
    var notesConsequences: Bool { get }

    // MARK: What follows

    /// Whether an event may have consequences for a collection's entities.
    func isAsked(
        by event: Event, _ collection: CollectionModel, _ model: SyncModel, _ fold: Fold
    ) throws -> Bool

    /// Decides the consequences for a collection's entities, on the rows as they are now.
    func follow(
        _ collection: CollectionModel, _ model: SyncModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws

    /// Whether a change of some fields can have consequences by a collection's rule.
    func derives(_ fields: [String], _ collection: CollectionModel) -> Bool

    /// Whether a document leaves a field without a value, so that a derived one may follow.
    func isOpen(_ field: String, in document: JSONDocument, _ collection: CollectionModel) -> Bool

    // MARK: The model, or the time, was another one

    /// Takes in another model; asked of every rule, whether or not a model has it.
    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws

    /// Takes back decisions that were made by a wrong time; asked of every rule.
    func takeBack(
        _ correction: ServerClock.Correction, _ position: Position, _ fold: Fold
    ) throws
}

/// All rules.
enum FoldRules {
    /// In the order in which they are asked.
    static let all: [any FoldRule] = [
        FoldSince(), FoldAccess(), FoldRetention(), FoldPlaceholders(), FoldRemovals(),
        FoldRivals(), FoldChoices(), FoldContents(), FoldMissing(), FoldRollUps(), FoldTrees(),
    ]

    /// The rule of a name.
    static func named(_ name: String) -> (any FoldRule)? { all.first { $0.name == name } }
}

/// The moments of an event at which a rule can be asked.
struct FoldMoments: OptionSet, Sendable {
    let rawValue: Int

    static let hear = FoldMoments(rawValue: 1)
    static let take = FoldMoments(rawValue: 2)
    static let end = FoldMoments(rawValue: 4)
    static let mark = FoldMoments(rawValue: 8)
    static let meet = FoldMoments(rawValue: 16)
    static let follow = FoldMoments(rawValue: 32)
}

/// What a rule does after the event was folded.
typealias FoldEffect = () throws -> Void

/// What a rule remembers of rows within one fold and one model, to avoid reading them again.
protocol FoldMemory: AnyObject {
    init()
}

/// The rules of a model, by when they are asked; made once for each model.
final class ModelRules: Sendable {
    let heard: [any FoldRule]
    let taking: [any FoldRule]
    let ending: [any FoldRule]
    let marking: [any FoldRule]
    let meeting: [any FoldRule]
    let following: [any FoldRule]

    init(_ model: SyncModel) {
        let rules = FoldRules.all.filter { model.collections.contains(where: $0.isRule) }
        func asked(_ moment: FoldMoments) -> [any FoldRule] {
            rules.filter { $0.moments.contains(moment) }
        }
        heard = asked(.hear)
        taking = asked(.take)
        ending = asked(.end)
        marking = asked(.mark)
        meeting = asked(.meet)
        following = asked(.follow)
    }
}

/// An entity that an event wrote, as rules meet it.
struct MetEntity {
    let key: EntityKey
    let collection: CollectionModel
    var row: EntityRow { didSet { knownOwn = nil } }
    private var knownOwn: JSONDocument??

    init(_ key: EntityKey, _ collection: CollectionModel, _ row: EntityRow) {
        self.key = key
        self.collection = collection
        self.row = row
    }

    /// The entity without derived changes; nil where it is absent, hidden or a placeholder.
    mutating func own() -> JSONDocument? {
        if let knownOwn { return knownOwn }
        let own = try? row.ownDocument(in: collection)
        knownOwn = .some(own)
        return own
    }

    /// The same, also where it is hidden for want of what it refers to.
    mutating func ownOnceSeen() -> JSONDocument? {
        guard row.isHidden, collection.hidesDangling else { return own() }
        return try? row.ownDocumentOnceSeen(in: collection)
    }
}

// What a rule does not take part in.
extension FoldRule {
    var moments: FoldMoments { [] }

    var notesConsequences: Bool { false }

    func isMet(by collection: CollectionModel, in model: SyncModel) -> Bool {
        isRule(of: collection)
    }

    func isHeard(of collection: CollectionModel) -> Bool { isRule(of: collection) }

    func hear(
        _ event: Event, of key: EntityKey, _ collection: CollectionModel, _ position: Position,
        _ fold: Fold
    ) throws -> [FoldEffect] { [] }

    func take(
        _ page: PullPage, _ collection: CollectionModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws {}

    func end(
        _ list: PullCompleted, _ collection: CollectionModel, _ position: Position, _ fold: Fold
    ) throws {}

    func mark(
        _ row: inout WatermarkRow, after before: WatermarkRow?, _ list: PullCompleted,
        _ collection: CollectionModel, _ event: Event, _ fold: Fold
    ) throws {}

    func meet(
        _ entity: inout MetEntity, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {}

    func note(_ rows: [(key: RowKey, value: [UInt8]?)], _ fold: Fold) {}

    func isAsked(
        by event: Event, _ collection: CollectionModel, _ model: SyncModel, _ fold: Fold
    ) throws -> Bool { false }

    func follow(
        _ collection: CollectionModel, _ model: SyncModel, _ event: Event, _ position: Position,
        _ fold: Fold
    ) throws {}

    func derives(_ fields: [String], _ collection: CollectionModel) -> Bool { false }

    func isOpen(
        _ field: String, in document: JSONDocument, _ collection: CollectionModel
    ) -> Bool { document.value(field) == .null }

    func adopt(
        _ before: SyncModel, _ event: Event, _ position: Position, _ fold: Fold
    ) throws {}

    func takeBack(
        _ correction: ServerClock.Correction, _ position: Position, _ fold: Fold
    ) throws {}
}
