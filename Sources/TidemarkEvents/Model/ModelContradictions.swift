// ModelContradictions.swift — rules of a model that contradict each other, or that could never take
// effect. A new model that has such rules is refused; one that a log holds is not.

/// Two members of a collection that contradict each other, or of which one never takes effect.
struct Contradiction: Sendable {
    /// The member to change.
    let member: String
    /// The member that it contradicts.
    let other: String
    /// What to do; nil where a collection has no such contradiction.
    let advice: @Sendable (CollectionModel, SyncModel) -> String?

    init(
        _ member: String, _ other: String,
        _ advice: @escaping @Sendable (CollectionModel, SyncModel) -> String?
    ) {
        self.member = member
        self.other = other
        self.advice = advice
    }
}

extension SyncModel {
    /// Refuses rules that contradict each other or could never take effect.
    ///
    /// - Throws: ``ModelError`` at the first of two members, naming the other one and what to do.
    func checkContradictions() throws(ModelError) {
        try settings.checkGates()
        try checkPools()
        for (index, collection) in collections.enumerated() {
            for rule in Contradiction.all {
                guard let advice = rule.advice(collection, self) else { continue }
                throw ModelError(
                    "collections[\(index)].\(rule.member)",
                    "it contradicts \"\(rule.other)\" of \(collection.name): \(advice)")
            }
        }
    }
}

extension Contradiction {
    /// Every contradiction that can be told from a model alone.
    static let all: [Contradiction] =
        local + identity + lists + parts + feeds + pushes + references + rollUps + times + stops
        + forms + drops + retired + contents + keyed + trees + hiding + sets + sources + actions
        + policies + fields

    private static let identity = [
        Contradiction("match", "ids") { collection, _ in
            guard !collection.match.isEmpty, collection.ids == .client else { return nil }
            return """
                entities that the app names are found by their id; leave match out, or let the \
                server name them with ids "serverText" or "serverNumber"
                """
        },
        Contradiction("match", "idField") { collection, _ in
            guard collection.match.contains(collection.idField) else { return nil }
            return """
                an entity that was never answered has no id of the server's; match by fields \
                that the app writes
                """
        },
        Contradiction("match", "lastChangeField") { collection, _ in
            guard let field = collection.lastChangeField, collection.match.contains(field)
            else { return nil }
            return """
                an entity that was never answered has no time of the server's; match by fields \
                that the app writes
                """
        },
        Contradiction("lastChangeField", "idField") { collection, _ in
            guard collection.lastChangeField == collection.idField else { return nil }
            return "the id never changes; name the field of the last change, or none"
        },
    ]

    private static let lists = [
        Contradiction("since.overlap", "since.ageMax") { collection, _ in
            guard let rule = collection.since, rule.overlap != .zero, rule.ageMax.months == 0,
                rule.ageMax.seconds <= rule.overlap.seconds
            else { return nil }
            return "every date is too old by it, so that all is listed; make it shorter than ageMax"
        },
        Contradiction("window", "absence") { collection, _ in
            guard collection.window != nil, collection.absence == .deletes,
                !collection.access.hidesAbsent
            else { return nil }
            return """
                the list of a window does not name all there is, so nothing follows from what it \
                leaves out; set absence to "keeps", or leave window out
                """
        },
        Contradiction("window", "access.hidesAbsent") { collection, _ in
            guard collection.window != nil, collection.access.hidesAbsent else { return nil }
            return """
                the list of a window does not name all there is, so nothing follows from what it \
                leaves out; leave one of them out
                """
        },
        Contradiction("access.hidesAbsent", "absence") { collection, _ in
            guard collection.access.hidesAbsent, collection.absence == .keeps else { return nil }
            return """
                an absent entity is either hidden or kept; leave absence out, or hidesAbsent
                """
        },
        Contradiction("access.owner", "references") { collection, model in
            guard let owner = collection.ownerReference,
                !collection.canBeHidden(with: owner, in: model)
            else { return nil }
            return """
                nothing of \(owner.collection) is ever hidden; give it access.hidesAbsent, or \
                leave owner out
                """
        },
        Contradiction("access.relistsOnGain", "access.hidesAbsent") { collection, _ in
            guard collection.access.relistsOnGain, !collection.canBeHidden else { return nil }
            return """
                nothing of it is ever hidden, so no access is gained; add hidesAbsent, or leave \
                relistsOnGain out
                """
        },
    ]

    private static let parts = [
        Contradiction("lists", "feed") { collection, _ in
            guard collection.isListedInParts, collection.feed != nil else { return nil }
            return "a feed is listed as a whole, in blocks; leave one of them out"
        },
        Contradiction("lists", "window") { collection, _ in
            guard collection.isListedInParts, collection.window != nil else { return nil }
            return "a part of a collection has no window; leave one of them out"
        },
        Contradiction("lists", "access.hidesAbsent") { collection, _ in
            guard collection.isListedInParts, collection.access.hidesAbsent else { return nil }
            return """
                the list of a part does not name all that the user may see, so nothing is hidden \
                by what it leaves out; leave one of them out
                """
        },
        Contradiction("lists", "ids") { collection, _ in
            guard collection.isListedInParts, collection.ids != .client,
                collection.pushes.contains(.create)
            else { return nil }
            return """
                an entity that was created and never answered is looked for in the list of all; \
                leave lists out, or "create" out of pushes
                """
        },
        Contradiction("lists", "listEvery") { collection, _ in
            guard collection.isListedInParts, collection.listEvery != .zero else { return nil }
            return "parts are listed in every run; leave one of them out"
        },
        Contradiction("embeds", "references") { collection, model in
            for rule in collection.embeds {
                guard let child = model[rule.collection] else {
                    return "there is no collection \(rule.collection); name one of the model"
                }
                guard child.name != collection.name else {
                    return "it can't be embedded in itself; leave \(rule.member) out"
                }
                guard !child.references.contains(where: { $0.collection == collection.name })
                else { continue }
                return """
                    \(child.name) has 0 references to it; it needs one, by which the server says \
                    to what an entity in \(rule.member) belongs
                    """
            }
            return nil
        },
        Contradiction("embeds", "feed") { collection, _ in
            guard !collection.embeds.isEmpty, collection.feed != nil else { return nil }
            return "what stands in the records of a feed is not looked at; leave one of them out"
        },
        Contradiction("embeds", "drops") { collection, model in
            let drops = collection.embeds.flatMap { model[$0.collection]?.drops ?? [] }
            guard let name = drops.first(where: { !collection.drops.contains($0) }) else {
                return nil
            }
            return """
                "\(name)" would stay in what was answered; name it in drops of \
                \(collection.name), too
                """
        },
    ]

    private static let feeds = [
        Contradiction("feed", "since") { collection, _ in
            guard collection.feed != nil, collection.since != nil else { return nil }
            return "a feed lists what changed by its field \"change\"; leave since out"
        },
        Contradiction("feed", "window") { collection, _ in
            guard collection.feed != nil, collection.window != nil else { return nil }
            return "a feed goes back as far as its ageMax; leave window out"
        },
        Contradiction("feed", "pageSize") { collection, _ in
            guard collection.feed != nil, collection.pageSize != nil else { return nil }
            return "a feed is listed in blocks; say how many entities one has in feed.block"
        },
        Contradiction("feed.order", "idField") { collection, _ in
            guard let feed = collection.feed,
                [feed.order, feed.change].contains(collection.idField)
            else { return nil }
            return "the id is no time; name the fields with the time of display and of the change"
        },
        Contradiction("feed.reconcileEvery", "absence") { collection, _ in
            guard let feed = collection.feed, feed.reconcileEvery != .zero, !collection.isSwept
            else { return nil }
            return """
                nothing follows from an id that is not listed; leave reconcileEvery out, or set \
                absence to "deletes"
                """
        },
        Contradiction("feed", "forms") { collection, _ in
            guard let feed = collection.feed,
                let form = collection.forms.first(where: {
                    [feed.order, feed.change].contains($0.field)
                })
            else { return nil }
            return "\(form.field) goes back to the server as it came; leave it out of forms"
        },
    ]

    private static let pushes = [
        Contradiction("choices", "pushes") { collection, _ in
            guard !collection.choices.isEmpty, !collection.pushes.contains(.update) else {
                return nil
            }
            return """
                what is chosen is a change of an entity, and would never be sent; add "update" to \
                pushes, or leave choices out
                """
        },
        Contradiction("rivals", "pushes") { collection, _ in
            guard collection.rivals != nil, !collection.pushes.contains(.update) else {
                return nil
            }
            return """
                the end of a loser is a change of an entity, and would never be sent; add \
                "update" to pushes, or leave rivals out
                """
        },
    ]

    private static let references = [
        Contradiction("references", "pushes") { collection, _ in
            let reference = collection.references.first { $0.onDelete == .cascade }
            guard let reference, !collection.pushes.contains(.delete) else { return nil }
            return """
                what goes with \(reference.collection) is deleted here and would never be deleted \
                there; add "delete" to pushes, or leave onDelete out of \(reference.field)
                """
        },
        Contradiction("choices", "idField") { collection, _ in
            guard collection.choices.contains(where: { $0.field == collection.idField }) else {
                return nil
            }
            return "only the server sets the id; choose for another field"
        },
        Contradiction("choices", "references") { collection, _ in
            let choice = collection.choices.first { choice in
                collection.references.contains {
                    $0.field == choice.field && $0.collection != choice.collection
                }
            }
            guard let choice else { return nil }
            return """
                \(choice.field) refers to another collection than \(choice.collection); name the \
                same one in both
                """
        },
        Contradiction("placeholder.refetch.every", "references") { collection, model in
            guard let rule = collection.placeholder, rule.refetch.every != .zero else { return nil }
            let isNamed = model.collections.contains { other in
                other.references.contains {
                    $0.collection == collection.name && $0.placeholder != nil
                }
            }
            guard !isNamed else { return nil }
            return """
                no reference makes placeholders of \(collection.name); give one of them \
                "placeholder", or leave refetch out
                """
        },
        Contradiction("placeholder.refetch.together", "placeholder.refetch.every") {
            collection, _ in
            guard let rule = collection.placeholder?.refetch, rule.together != nil,
                rule.every == .zero
            else { return nil }
            return "the server is never asked; say how often with every, or leave together out"
        },
        Contradiction("placeholder.fields", "idField") { collection, _ in
            guard let rule = collection.placeholder, rule.fields[collection.idField] != nil else {
                return nil
            }
            return "each placeholder has an id of its own; leave it out of fields"
        },
    ]

    private static let times = [
        Contradiction("rivals.whileNull", "idField") { collection, _ in
            guard collection.rivals?.whileNull == collection.idField else { return nil }
            return "the id is never null; name the field that is null while the state lasts"
        },
        Contradiction("rivals.whileNull", "lastChangeField") { collection, _ in
            guard let rule = collection.rivals, rule.whileNull == collection.lastChangeField else {
                return nil
            }
            return "only the server sets it; name a field that the app may end"
        },
        Contradiction("rivals.start", "rivals.whileNull") { collection, _ in
            guard let rule = collection.rivals, rule.start == rule.whileNull else { return nil }
            return "a field that is null has no time; name the field with the time of the start"
        },
        Contradiction("rivals.start", "idField") { collection, _ in
            guard collection.rivals?.start == collection.idField else { return nil }
            return "the id is no time; name the field with the time of the start"
        },
        Contradiction("rivals.among", "rivals.whileNull") { collection, _ in
            guard let rule = collection.rivals, rule.among.contains(rule.whileNull) else {
                return nil
            }
            return "it is null in all rivals; leave it out of among"
        },
        Contradiction("rivals.among", "idField") { collection, _ in
            guard collection.rivals?.among.contains(collection.idField) == true else { return nil }
            return "no two entities have the same id; leave it out of among"
        },
        Contradiction("retention.field", "idField") { collection, _ in
            guard collection.retention?.field == collection.idField else { return nil }
            return "the id is no time; name the field by which an entity's age is told"
        },
        Contradiction("retention.ageMax", "retention.field") { collection, _ in
            guard let rule = collection.retention, rule.ageMax == .zero else { return nil }
            return """
                everything that lies in the past would be pruned; say how long entities are kept, \
                as in "P2M"
                """
        },
        Contradiction("conflict.preferNewer.field", "idField") { collection, _ in
            guard case .preferNewer(collection.idField, _) = collection.conflict else { return nil }
            return "the id is no time; name the field with the time of the last change"
        },
    ]

    private static let forms = [
        Contradiction("forms", "idField") { collection, _ in
            guard collection.forms.contains(where: { collection.serverFields.contains($0.field) })
            else { return nil }
            return """
                only the server sets id and last change, which stay as it writes them; leave them \
                out of forms
                """
        },
        Contradiction("forms", "references") { collection, _ in
            let fields = collection.references.map(\.topField)
            guard let form = collection.forms.first(where: { fields.contains($0.field) }) else {
                return nil
            }
            return "\(form.field) holds ids, which have no other form; leave it out of forms"
        },
        Contradiction("forms", "nullable") { collection, _ in
            let missing = collection.forms.first { form in
                guard case .negativeIsNull(let field, _) = form else { return false }
                return !collection.nullable.contains(field)
            }
            guard let field = missing?.field else { return nil }
            return """
                \(field) would be left out where it is to be null, and never be sent; name it in \
                nullable, too
                """
        },
        Contradiction("rivals.end", "forms") { collection, _ in
            guard let rule = collection.rivals, rule.end == .stopTime else { return nil }
            let isNumber = collection.forms.contains { form in
                guard case .negativeIsNull(rule.whileNull, _) = form else { return false }
                return true
            }
            guard isNumber else { return nil }
            return """
                \(rule.whileNull) is a number, and a time would end it; end with \
                "secondsSinceStart" or "millisecondsSinceStart"
                """
        },
    ]

    private static let drops = [
        Contradiction("drops", "updates") { collection, _ in
            guard let name = collection.drops.first, collection.pushes.contains(.update),
                collection.updates == .whole
            else { return nil }
            return """
                a whole document would be sent without \(name), and the server would lose it; set \
                updates to "changes" where the adapter can send them, or leave drops out
                """
        },
        Contradiction("updates", "pushes") { collection, _ in
            guard collection.updates != .whole, !collection.pushes.contains(.update) else {
                return nil
            }
            return "nothing of it is updated; add \"update\" to pushes, or leave updates out"
        },
        Contradiction("drops", "idField") { collection, _ in
            guard let name = collection.drops.first(where: collection.serverFields.contains) else {
                return nil
            }
            return """
                nothing can be told without \(name); leave it out of drops, or name another field
                """
        },
        dropped("references") { collection in
            collection.references.flatMap { FieldPath($0.field).steps + $0.ruleFields }
        },
        dropped("indexes") { collection in
            collection.indexes.flatMap(\.fields).flatMap { FieldPath($0.name).steps }
        },
        dropped("contents") { $0.contents.flatMap { $0.steps + [$0.sha256].compactMap(\.self) } },
        dropped("keyed") { $0.keyed.flatMap { [$0.field, $0.key] } },
    ]

    static func dropped(
        _ other: String, _ fields: @escaping @Sendable (CollectionModel) -> [String]
    ) -> Contradiction {
        Contradiction("drops", other) { collection, _ in
            guard let field = fields(collection).first(where: collection.drops.contains) else {
                return nil
            }
            return "\(field) is never here; leave it out of drops, or of the other"
        }
    }

    /// A field that holds a list of objects for one rule, and one value for another.
    private static let keyed = [
        keyed("idField") { Array($0.serverFields).sorted() },
        keyed("references") { $0.references.map(\.topField) },
    ]

    static func keyed(
        _ other: String, _ fields: @escaping @Sendable (CollectionModel) -> [String]
    ) -> Contradiction {
        Contradiction("keyed", other) { collection, _ in
            let lists = collection.keyed.map(\.field)
            guard let field = fields(collection).first(where: lists.contains) else { return nil }
            return """
                \(field) would have to be a list of objects and one value at once; leave it out of \
                one of them
                """
        }
    }

    /// A rule by a removed field.
    private static let retired = [
        reusedName,
        retired("references") { $0.references.flatMap(\.ruleFields) },
        retired("contents") { $0.contents.flatMap(\.ruleFields) },
        retired("keyed") { $0.keyed.map(\.field) },
        retired("nullable") { $0.nullable },
        retired("placeholder.fields") { $0.placeholder?.fields.keys ?? [] },
        retired("placeholder.copies") { $0.placeholder?.copies ?? [] },
    ]

    static func retired(
        _ member: String, _ fields: @escaping @Sendable (CollectionModel) -> [String]
    ) -> Contradiction {
        Contradiction(member, "migrations") { collection, _ in
            let gone = collection.goneNames.names
            guard let field = fields(collection).first(where: gone.contains) else { return nil }
            return "\(field) is gone; name the field that documents have today, or none"
        }
    }
}

extension CollectionModel {
    /// The reference to the entity that owns another one.
    package var ownerReference: Reference? {
        access.owner.flatMap { owner in references.first { $0.field == owner } }
    }

    /// Whether its entities may be hidden: by its list, or with their owner.
    package var canBeHidden: Bool { access.hidesAbsent || access.owner != nil }

    /// Whether the owners' collection can ever be hidden; an owner of the same collection only by
    /// its list.
    fileprivate func canBeHidden(with owner: Reference, in model: SyncModel) -> Bool {
        if owner.collection == name { return access.hidesAbsent }
        return model[owner.collection]?.canBeHidden ?? true
    }
}
