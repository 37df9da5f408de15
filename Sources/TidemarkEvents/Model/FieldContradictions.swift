// FieldContradictions.swift — contradictions about fields that name files or entities above, about
// the fields that rules go by, and about what is kept on the device alone.

extension Contradiction {
    static let contents = [
        Contradiction("contents", "idField") { collection, _ in
            guard named(by: collection, in: Array(collection.serverFields)) != nil else {
                return nil
            }
            return "id and last change are no names of files; name the field that holds one"
        },
        Contradiction("contents", "references") { collection, _ in
            let rule = collection.contents.first { rule in
                collection.references.contains { [rule.field, rule.topField].contains($0.field) }
            }
            guard let rule else { return nil }
            return "\(rule.topField) names another entity, and no file; leave it out of one of them"
        },
        Contradiction("contents", "choices") { collection, _ in
            let fields = collection.choices.map(\.field)
            guard let field = named(by: collection, in: fields) else { return nil }
            return "\(field) names another entity, and no file; leave it out of one of them"
        },
        Contradiction("contents", "rivals.whileNull") { collection, _ in
            let fields = [collection.rivals?.whileNull].compactMap(\.self)
            guard let field = named(by: collection, in: fields) else { return nil }
            return "\(field) is ended with a time; leave it out of contents"
        },
        Contradiction("contents", "forms") { collection, _ in
            guard let field = named(by: collection, in: collection.forms.map(\.field)) else {
                return nil
            }
            return "the name of a file has no other form; leave \(field) out of forms"
        },
    ]

    /// Rules that go by fields, and what contradicts them.
    static let fields: [Contradiction] = ofRules + paths + droppedParts

    /// A rule, and the fields of an entity by which it goes.
    private typealias RuleFields = (
        member: String, fields: @Sendable (CollectionModel) -> [String]
    )

    /// The rules that can go neither by what is cut off or gone, nor by a list, nor by a path.
    private static let ruleFields: [RuleFields] = [
        ("match", { $0.match }),
        ("choices", { $0.choices.map(\.field) }),
        ("rivals", { $0.rivals?.fields ?? [] }),
        ("forms", { $0.forms.flatMap(\.ruleFields) }),
        ("feed", { $0.feed.map { [$0.order, $0.change] } ?? [] }),
        ("retention.field", { [$0.retention?.field].compactMap(\.self) }),
        (
            "conflict.preferNewer.field",
            { collection in
                if case .preferNewer(let field, _) = collection.conflict { [field] } else { [] }
            }
        ),
    ]

    private static let ofRules: [Contradiction] = ruleFields.flatMap { rule -> [Contradiction] in
        [
            dropped(rule.member, rule.fields), keyed(rule.member, rule.fields),
            retired(rule.member, rule.fields), path(rule.member, rule.fields),
        ]
    }

    /// Members that are read beside those of the fields themselves.
    private static let droppedParts = [
        dropped("tree") { collection in
            collection.tree.map { [$0.name, $0.kind, $0.serverID].compactMap(\.self) } ?? []
        },
        dropped("embeds") { $0.embeds.map(\.member) },
        // By these members a list tells which of its entities it left out; one with a limit, its
        // own or a shared one, tells nothing of these.
        dropped("lists") { collection in
            guard collection.isSwept, collection.listLimit == nil else { return [] }
            let lists = (collection.lists ?? []).filter { $0.limit == nil }
            return lists.flatMap { $0.parameters.all.map(\.name) }
        },
        Contradiction("lists", "drops") { collection, model in
            for source in (collection.lists ?? []).flatMap(\.from) {
                let drops = model[source.collection]?.drops ?? []
                let steps = source.field.map { FieldPath($0).steps } ?? []
                guard let name = steps.first(where: drops.contains) else { continue }
                return """
                    \(name) is never here in \(source.collection); leave it out of the drops of \
                    that one, or name another field
                    """
            }
            return nil
        },
        Contradiction("references", "drops") { collection, model in
            // Without names there is nothing from which a name is taken out.
            for reference in collection.references {
                guard let rule = reference.removal, rule.names != nil,
                    model[reference.collection]?.drops.contains(rule.name) == true
                else { continue }
                return """
                    \(rule.name) is never here in \(reference.collection); leave it out of the \
                    drops of that one, or names out of \(reference.field)
                    """
            }
            return nil
        },
        Contradiction("placeholder.copies", "drops") { collection, model in
            guard let copies = collection.placeholder?.copies, !copies.isEmpty else { return nil }
            let referring = model.collections.filter { other in
                other.references.contains {
                    $0.collection == collection.name && $0.placeholder != nil
                }
            }
            let name = copies.first { name in
                !referring.isEmpty && referring.allSatisfy { $0.drops.contains(name) }
            }
            guard let name else { return nil }
            return """
                \(name) is never here in what refers to \(collection.name); leave it out of \
                copies, or of the drops there
                """
        },
    ]

    /// Members that name fields of an entity: a path would be taken for one that is never there.
    private static let paths = [
        path("keyed") { $0.keyed.flatMap { [$0.field, $0.key] } },
        path("nullable") { $0.nullable },
        path("drops") { $0.drops },
    ]

    private static func path(
        _ member: String, _ fields: @escaping @Sendable (CollectionModel) -> [String]
    ) -> Contradiction {
        Contradiction(member, member) { collection, _ in
            guard let field = fields(collection).first(where: FieldPath.isPath) else { return nil }
            return "\(field) is a path, which is not followed here; name a member without \"/\""
        }
    }

    /// Of what is kept on the device: rules that only mean something with a server, and rules of
    /// what is synced that name it.
    static let local: [Contradiction] =
        CollectionModel.members.filter { !membersWithoutServer.contains($0.name) }.map { member in
            Contradiction(member.name, "localOnly") { collection, model in
                guard !collection.localOnly else {
                    guard member.write(collection) != nil else { return nil }
                    return "nothing of it is listed or sent; leave one of them out"
                }
                return adviceOnLocal(collection.named(by: member.name), model)
            }
        } + [
            Contradiction("references", "localOnly") { collection, model in
                guard collection.localOnly else {
                    return adviceOnLocal(collection.references.map(\.collection), model)
                }
                let reference = collection.references.first { reference in
                    reference.placeholder != nil || reference.removal != nil
                        || reference.rollUp != nil || reference.missing != .keeps
                }
                guard let reference else { return nil }
                return """
                    only what a server lists goes by these rules; leave placeholder, removal, \
                    rollUp and missing out of \(reference.field)
                    """
            }
        ]

    /// The members that say how documents look, what they name and how they are found.
    private static let membersWithoutServer: Set<String> = [
        "name", "idField", "references", "dates", "keys", "nullable", "indexes", "migrations",
        "keyed", "localOnly",
    ]

    private static func adviceOnLocal(_ names: [CollectionName], _ model: SyncModel) -> String? {
        guard let name = names.first(where: { model[$0]?.localOnly == true }) else { return nil }
        return """
            \(name) is kept on this device alone, and the server knows none of its ids; name a \
            collection that is synced, or keep this one on the device, too
            """
    }

    /// A field under the name of another one that was renamed or removed.
    static let reusedName = Contradiction("migrations", "migrations") { collection, _ in
        guard let name = collection.goneNames.reused else { return nil }
        return """
            \(name) was renamed or removed by an earlier step, which takes today's field for that \
            one; give it a name that no field had
            """
    }

    static let rollUps = [
        Contradiction("references", "rollUp") { collection, model in
            // Counted in itself, by way of others, an entity would never be clean again.
            var waiting = collection.references.filter { $0.rollUp != nil }.map(\.collection)
            var seen: Set<CollectionName> = []
            while let name = waiting.popLast() {
                guard name != collection.name else {
                    return """
                        by rollUp its entities count in themselves; leave it out of one of the \
                        references between
                        """
                }
                guard seen.insert(name).inserted else { continue }
                let above = model[name]?.references.filter { $0.rollUp != nil } ?? []
                waiting += above.map(\.collection)
            }
            return nil
        }
    ]

    static let actions = [
        Contradiction("actions.source", "actions.waitsForTree") { collection, _ in
            guard
                let rule = collection.actions.first(where: { $0.source != nil && $0.waitsForTree })
            else { return nil }
            return "what \(rule.name) makes has nothing below it yet; leave one of them out"
        },
        Contradiction("actions.source", "actions.grants") { collection, _ in
            guard
                let rule = collection.actions.first(where: {
                    $0.source != nil && $0.grants != .zero
                })
            else { return nil }
            return "\(rule.name) makes an entity, and grants nothing; leave one of them out"
        },
    ]

    static let hiding = [
        Contradiction("references", "access") { collection, _ in
            let reference = collection.references.first { $0.missing == .hides }
            guard let reference, collection.canBeHidden else { return nil }
            return """
                its entities are hidden by their access; leave missing out of \(reference.field), \
                or access
                """
        }
    ]

    static let stops = [
        Contradiction("rivals.stopped", "rivals.start") { collection, _ in
            guard let rule = collection.rivals, rule.stopped == rule.start else { return nil }
            return "what has started would have stopped; name the field with the time of the stop"
        },
        Contradiction("rivals.stopped", "rivals.whileNull") { collection, _ in
            guard let rule = collection.rivals, rule.stopped == rule.whileNull else { return nil }
            return "it is read where that one is left out; name another field, or leave stopped out"
        },
        Contradiction("rivals.stopped", "idField") { collection, _ in
            guard collection.rivals?.stopped == collection.idField else { return nil }
            return "the id is no time; name the field with the time of the stop"
        },
    ]

    static let sets = [
        Contradiction("allOrNone", "pushes") { collection, _ in
            guard collection.allOrNone != nil, !collection.pushes.isEmpty else { return nil }
            return "what comes as a whole is only read; leave pushes empty, or allOrNone out"
        },
        Contradiction("allOrNone", "lists") { collection, model in
            guard collection.allOrNone != nil else { return nil }
            let isPlain =
                collection.lists == nil && collection.feed == nil && collection.window == nil
                && collection.since == nil && collection.listEvery == .zero
                && collection.embeds.isEmpty && !collection.makesPlaceholders
                && collection.tree == nil && !collection.canBeHidden
                && collection.access.missing == nil
                && !model.collections.contains { owner in
                    owner.embeds.contains { $0.collection == collection.name }
                }
            guard !isPlain else { return nil }
            return """
                what comes as a whole has a list of all; leave lists, feed, window, since, \
                listEvery, embeds, placeholders, tree and access out, or allOrNone
                """
        },
    ]

    /// The first field of the collection's contents that is one of some others.
    private static func named(by collection: CollectionModel, in fields: [String]) -> String? {
        collection.contents.map(\.topField).first(where: fields.contains)
    }
}

extension CollectionModel {
    /// The collections that a member names, beside references.
    fileprivate func named(by member: String) -> [CollectionName] {
        switch member {
        case "choices": choices.map(\.collection)
        case "lists": (lists ?? []).flatMap { $0.from.map(\.collection) }
        case "embeds": embeds.map(\.collection)
        case "listedAfter": listedAfter
        default: []
        }
    }

    /// Whether what its entities refer to may get placeholders.
    package var makesPlaceholders: Bool { references.contains { $0.placeholder != nil } }
}
