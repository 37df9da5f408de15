// FoldRules.swift — when an event meets the rules of the model (FoldRule.swift).
//
// Each entity that the event wrote meets them by itself: derived changes are settled or withdrawn,
// and rules note what they have to know of it. Where the event ends an edit, a page, a push or a
// run, what follows for other entities is decided after that, on all rows; so the result does not
// depend on the order of the entities within a page.

import TidemarkEvents
import TidemarkRules

extension Fold {
    /// Consequences of rules after an answer about an entity was folded.
    func hear(_ event: Event, of key: EntityKey, _ position: Position) throws -> [FoldEffect] {
        let rules = try rules().heard
        guard !rules.isEmpty else { return [] }
        let collection = try collection(key.collection)
        return try rules.filter { $0.isHeard(of: collection) }.flatMap {
            try $0.hear(event, of: key, collection, position, self)
        }
    }

    /// Lets the rules of a collection take in a page of its list.
    func take(
        _ page: PullPage, of name: CollectionName, _ event: Event, _ position: Position
    ) throws {
        let rules = try rules().taking
        guard !rules.isEmpty, let collection = try knownCollection(name) else { return }
        for rule in rules where rule.isRule(of: collection) {
            try rule.take(page, collection, event, position, self)
        }
    }

    /// Lets the entities that the current event wrote meet the rules, each by itself.
    func meetRules(_ event: Event, _ position: Position) throws {
        if let before = replacedModel { try adoptRules(before, event, position) }
        let rules = try rules().meeting
        // Without rules only the derived changes of earlier rules are looked at.
        guard !rules.isEmpty || hasWrittenDerived else { return }
        // Each once, where it was written last.
        var seen: Set<RowKey> = []
        let places = writtenPlaces.reversed().filter { seen.insert($0).inserted }
        for place in places.reversed() {
            let row = try entity(at: place)
            let hasDerived = row.pending.contains(where: \.isDerived)
            guard !rules.isEmpty || hasDerived, let key = EntityKey(bytes: place.bytes) else {
                continue
            }
            let known = try known(key.collection)
            let meeting = known?.meeting ?? []
            guard hasDerived || !meeting.isEmpty else { continue }
            var entity = MetEntity(key, known?.model ?? CollectionModel(key.collection), row)
            if hasDerived { try settleDerived(&entity, event, position) }
            for rule in meeting { try rule.meet(&entity, event, position, self) }
        }
    }

    /// Whether anything that follows from a rule is pending on what the current event wrote.
    private var hasWrittenDerived: Bool {
        // By their places, as a row is copied to be handed on.
        written.entities.indices.contains { index in
            written.entities[index].row.pending.contains(where: \.isDerived)
        }
    }

    /// Whether the event may have consequences for other entities than its own.
    func isToBeFollowed(_ event: Event) throws -> Bool {
        guard event.schemaVersion == 0 || event.kind == .localUpdated && event.isOfKnownShape
        else { return false }
        switch event.kind.family {
        case .model: break
        case .local(.created), .local(.updated), .local(.deleted), .local(.discarded), .push, .list:
            if event.collection == nil { return false }
        case .runEnd: if event.sync == nil, !isDoubtOver { return false }
        case .store, .local(.requested), .local(.retried), .local(.wiped), .app, .runStart,
            .request, .answer, .word, .notice, .asset,
            .unknown:
            return false
        }
        return try !rules().following.isEmpty
    }

    /// Decides the consequences for other entities.
    func follow(_ event: Event, _ position: Position) throws {
        let model = try model()
        for rule in try rules().following {
            for collection in model.collections where rule.isRule(of: collection) {
                guard try rule.isAsked(by: event, collection, model, self) else { continue }
                try rule.follow(collection, model, event, position, self)
            }
        }
    }

    /// Lets rules look at the entities that were changed by what follows from others.
    func noteConsequences(_ event: Event, _ position: Position) throws {
        guard try rules().meeting.contains(where: \.notesConsequences) else { return }
        for place in writtenPlaces {
            guard let key = EntityKey(bytes: place.bytes), let known = try known(key.collection)
            else { continue }
            let rules = known.meeting.filter(\.notesConsequences)
            guard !rules.isEmpty else { continue }
            var entity = MetEntity(key, known.model, try self.entity(at: place))
            for rule in rules { try rule.meet(&entity, event, position, self) }
        }
    }

    /// Takes in the rules of another model, and withdraws derived changes of rules that are gone.
    private func adoptRules(
        _ before: SyncModel, _ event: Event, _ position: Position
    ) throws {
        replacedModel = nil
        try adoptPlaces(before, position)
        for rule in FoldRules.all { try rule.adopt(before, event, position, self) }
        try withdrawGroundless(after: before, position)
    }
}
