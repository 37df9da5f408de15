// FoldRules.swift — what follows from an event by the model's rules: when they are asked, and what
// is remembered for it.
//
// First every entity that the event wrote meets its rules by itself: what was derived and is there
// by now, or has lost its ground, is settled, and who holds a state is noted. Then, where the event
// ends something (an edit, a page of a list, a push, a sync run), rivals and choices are decided on
// the rows as they are now. So the result does not depend on the order of the words within a page.

package import TidemarkEvents
import TidemarkRules

/// Which rules a model has at all.
struct ModelRules {
    var hasRivals: Bool
    var hasChoices: Bool

    init(_ model: SyncModel) {
        hasRivals = model.collections.contains { $0.rivals != nil }
        hasChoices = model.collections.contains { !$0.choices.isEmpty }
    }

    var isEmpty: Bool { !hasRivals && !hasChoices }
}

/// What a fold remembers of rows that the rules are about, besides the rows.
struct FoldStanding {
    var rules: ModelRules?
    /// The entities that hold the state, of the collections that were asked for.
    private(set) var runners: [CollectionName: [EntityKey: RivalRow]] = [:]
    /// The entities with a choice that is open, of the collections that were asked for.
    var undecided: [CollectionName: Set<EntityKey>] = [:]

    mutating func forgetModel() {
        rules = nil
        undecided = [:]
    }

    mutating func set(_ rows: [EntityKey: RivalRow], of collection: CollectionName) {
        runners[collection] = rows
    }

    /// Takes note of a row under ``RowKey/rival(_:)``.
    mutating func note(_ place: RowKey, _ value: [UInt8]?) {
        guard let key = EntityKey(bytes: place.bytes.dropFirst()), runners[key.collection] != nil
        else { return }
        runners[key.collection]?[key] = value.flatMap { try? RivalRow(parsing: $0) }
    }
}

extension Fold {
    func rules() throws -> ModelRules {
        if let known = standing.rules { return known }
        let rules = ModelRules(try model())
        standing.rules = rules
        return rules
    }

    /// Lets the entities that the event in hand wrote meet the rules, each by itself.
    func meetRules(_ event: Event, _ position: Position) throws {
        if let before = replacedModel { try adoptRules(before, event, position) }
        // Without rules only what followed from earlier ones has any to meet.
        let hasRules = try !rules().isEmpty
        guard hasRules || hasWrittenDerived else { return }
        // Each once, where it was written last.
        var seen: Set<RowKey> = []
        let places = writtenPlaces.reversed().filter { seen.insert($0).inserted }
        for place in places.reversed() {
            let row = try entity(at: place)
            let hasDerived = row.pending.contains(where: \.isDerived)
            guard hasRules || hasDerived, let key = EntityKey(bytes: place.bytes) else { continue }
            let collection = try collection(key.collection)
            guard hasDerived || collection.rivals != nil || !collection.choices.isEmpty else {
                continue
            }
            try meetRules(row, key, collection, event, position)
        }
    }

    private func meetRules(
        _ row: EntityRow, _ key: EntityKey, _ collection: CollectionModel, _ event: Event,
        _ position: Position
    ) throws {
        var row = row
        if row.pending.isEmpty, collection.choices.isEmpty, collection.migrations.isEmpty,
            let rule = collection.rivals, !rule.isHeld(in: row.base)
        {
            return try noteRunner(row, key, collection, nil, event, position)
        }
        let own = try? row.ownDocument(in: collection)
        if row.pending.contains(where: \.isDerived) {
            try settleDerived(&row, key, collection, own, event, position)
        }
        if collection.rivals != nil {
            try noteRunner(row, key, collection, own, event, position)
        }
        guard standing.undecided[key.collection] != nil else { return }
        if own.map({ collection.hasOpenChoice(in: $0) }) ?? false {
            standing.undecided[key.collection]?.insert(key)
        } else {
            standing.undecided[key.collection]?.remove(key)
        }
    }

    /// Whether anything may follow for other entities than those that the event is about.
    func isToBeFollowed(_ event: Event) throws -> Bool {
        guard event.schemaVersion == 0 else { return false }
        switch event.kind {
        case .modelRegistered: break
        case .localCreated, .localUpdated, .localDeleted, .localDiscarded, .pushAccepted,
            .pushRejected, .pullPage, .pullCompleted:
            if event.collection == nil { return false }
        case .syncFinished: if event.sync == nil, !isDoubtOver { return false }
        case .storeOpened, .localRetried, .issueAnswered, .timerFired, .ruleAnswered, .syncStarted,
            .requestSent, .requestAnswered, .requestFailed, .serverUpserted, .serverDeleted,
            .serverDescribed, .serverUnreadable, .unknown:
            return false
        }
        return try !rules().isEmpty
    }

    /// Decides what follows for other entities.
    func follow(_ event: Event, _ position: Position) throws {
        let model = try model()
        for collection in model.collections {
            // A loser's stop is a time.
            if let rule = collection.rivals, try !isTimeInDoubt(),
                try isAboutRivals(event, collection, rule)
            {
                try judgeRivals(collection, rule, event, position)
            }
        }
        for collection in model.collections
        where !collection.choices.isEmpty && isAboutChoices(event, collection, model) {
            try choose(collection, model, event, position)
        }
    }

    private func isAboutRivals(
        _ event: Event, _ collection: CollectionModel, _ rule: RivalRule
    ) throws -> Bool {
        switch event.kind {
        case .modelRegistered, .syncFinished: return true
        case .pullPage, .pullCompleted:
            // What gets out of reach with its owner, or into it, is as good as gone or come.
            let owner = collection.ownerReference?.collection
            return event.collection == collection.name || event.collection == owner
        case _ where event.collection != collection.name: return false
        case .pushAccepted, .pushRejected:
            return try event.key.map { try runners(collection.name)[$0] != nil } ?? false
        case .localUpdated:
            // What says nothing of states and starts changes nothing for those who hold a state.
            guard rule.stop != .nextStartNotOlder, let key = event.key,
                try runners(collection.name)[key] == nil,
                let fields = try? Patch(parsing: event.payload).fieldNames
            else { return true }
            return fields.contains {
                $0 == rule.whileNull || $0 == rule.start || rule.among.contains($0)
            }
        case .storeOpened, .localCreated, .localDeleted, .localDiscarded, .localRetried,
            .issueAnswered, .timerFired, .ruleAnswered, .syncStarted, .requestSent,
            .requestAnswered, .requestFailed, .serverUpserted, .serverDeleted, .serverDescribed,
            .serverUnreadable, .unknown:
            return true
        }
    }

    private func isAboutChoices(
        _ event: Event, _ collection: CollectionModel, _ model: SyncModel
    ) -> Bool {
        switch event.kind {
        case .modelRegistered, .syncFinished: true
        case .pullPage, .pullCompleted:
            event.collection == collection.name || event.collection == model.collections.last?.name
                || collection.choices.contains { $0.collection == event.collection }
        case .storeOpened, .localCreated, .localUpdated, .localDeleted, .localDiscarded,
            .localRetried, .issueAnswered, .timerFired, .ruleAnswered, .syncStarted, .requestSent,
            .requestAnswered, .requestFailed, .serverUpserted, .serverDeleted, .serverDescribed,
            .serverUnreadable, .pushAccepted, .pushRejected, .unknown:
            false
        }
    }

    /// Takes in the rules of another model: notes anew who holds a state, and withdraws what
    /// follows from rules that are gone.
    private func adoptRules(
        _ before: SyncModel, _ event: Event, _ position: Position
    ) throws {
        replacedModel = nil
        let model = try model()
        guard !ModelRules(before).isEmpty || !ModelRules(model).isEmpty else { return }
        for (place, _) in try ledgerRows(Ledger.rivals) {
            guard let key = EntityKey(bytes: place.bytes.dropFirst()),
                model[key.collection]?.rivals == nil
            else { continue }
            put(place, nil)
        }
        for collection in model.collections where collection.rivals != nil {
            let known = before[collection.name]
            if known?.rivals == collection.rivals, known?.migrations == collection.migrations,
                known?.lastChangeField == collection.lastChangeField
            {
                continue
            }
            try forEachEncoded(in: collection.name) { key, value in
                let row = try EntityRow(parsing: value)
                let own = try? row.ownDocument(in: collection)
                try noteRunner(row, key, collection, own, event, position, isAnew: true)
                return true
            }
        }
        for (place, _) in try ledgerRows(Ledger.openDerived) {
            guard let key = EntityKey(bytes: place.bytes.dropFirst(9)) else { continue }
            var row = try entity(key)
            for item in row.pending
            where item.isDerived && !row.isCarried(item)
                && !(model[key.collection]?.derives(item) ?? false)
            {
                try withdraw(item, from: &row, key, proof: position)
            }
        }
    }
}

extension RivalRule {
    /// What decisions and mutations that follow from such a rule are called.
    package static let name = "rivals"

    /// Whether a document that was checked before holds the state.
    func isHeld(in document: [UInt8]) -> Bool {
        guard let value = JSON.members([Array(whileNull.utf8)], of: document[...])[0] else {
            return false
        }
        return value.elementsEqual("null".utf8)
    }
}

extension ChoiceRule {
    package static let name = "choice"

    /// Whether a document names none of the entities.
    func isOpen(in document: JSONDocument) -> Bool {
        guard let value = document.rawValue(field) else { return true }
        return value.elementsEqual("null".utf8)
    }
}

extension CollectionModel {
    func hasOpenChoice(in document: JSONDocument) -> Bool {
        choices.contains { $0.isOpen(in: document) }
    }
}
