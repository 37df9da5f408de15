// KeepingRules.swift — the rules of a collection about placeholders, choices and retention.

extension CollectionModel {
    /// The placeholder for an entity that others refer to and that is not here.
    public struct PlaceholderRule: Sendable, Hashable {
        /// The members of its document besides the id.
        public var fields: JSONObject
        /// The fields that it copies from the entity that refers to it.
        public var copies: [String]
        /// When the server is asked for the entity again.
        public var refetch: RefetchRule

        /// A placeholder rule.
        public init(
            fields: JSONObject = [:], copies: [String] = [], refetch: RefetchRule = RefetchRule()
        ) {
            self.fields = fields
            self.copies = copies
            self.refetch = refetch
        }
    }
}

extension CollectionModel {
    /// When the server is asked for placeholders' entities, by ``ServerCall`` `refetch`.
    public struct RefetchRule: Sendable, Hashable {
        /// How long after an unsuccessful request it is repeated; zero for never.
        public var every: TimeSpan
        /// The reference whose target groups the requests.
        public var together: String?

        /// A refetch rule; by default never.
        public init(every: TimeSpan = .zero, together: String? = nil) {
            self.every = every
            self.together = together
        }
    }
}

package typealias PlaceholderRule = CollectionModel.PlaceholderRule

extension PlaceholderRule: ModelObject {
    static let blank = PlaceholderRule()

    static let members: [ModelMember<PlaceholderRule>] = [
        ModelMember("fields", \.fields, .members, "What its document holds beside the id."),
        ModelMember(
            "copies", \.copies, ModelCodec.text.list(),
            "The fields that it gets from the entity that refers to it."),
        ModelMember(
            "refetch", \.refetch, RefetchRule.codec("refetch"),
            older: [
                .spanInGroup("refetchHours", as: "every", 0...87_600) { .hours($0) },
                .inGroup("together", as: "together", ModelCodec.text.schema),
            ],
            "When the server is asked for it again; never unless given."),
    ]
}

package typealias RefetchRule = CollectionModel.RefetchRule

extension RefetchRule: ModelObject {
    static let blank = RefetchRule()

    static let members: [ModelMember<RefetchRule>] = [
        ModelMember(
            "every", \.every, .span(to: .hours(87_600), such: "PT24H"),
            "How long after an answer in vain the server is asked again; PT0S for never."),
        ModelMember(
            "together", \.together, .text,
            "The reference by whose target such questions are grouped."),
    ]
}

extension CollectionModel {
    /// When a reference makes a placeholder for an entity that is not here.
    @nonexhaustive public enum PlaceholderUse: String, Sendable, Hashable, CaseIterable {
        /// In every pull.
        case always
        /// In a pull of only some collections, which does not bring the referenced entity.
        case partial
    }
}

package typealias PlaceholderUse = CollectionModel.PlaceholderUse

extension CollectionModel {
    /// What becomes of an entity while the one that it refers to can't be had: the server does not
    /// have it, or does not show it to the user.
    @nonexhaustive public enum MissingAction: String, Sendable, Hashable, CaseIterable {
        /// It stays as it is.
        case keeps
        /// It is hidden, as far as nothing is pending on it, and an issue tells of it. It comes
        /// back with the other one.
        case hides
    }
}

extension CollectionModel {
    /// What becomes of an entity when the app deletes the one that it refers to.
    @nonexhaustive public enum ReferentialAction: String, Sendable, Hashable, CaseIterable {
        /// It stays, and goes on referring to it.
        case keep
        /// It is deleted, too, and all that refers to it in this way.
        case cascade
    }
}

extension CollectionModel {
    /// How long entities are kept; by the server's time.
    ///
    /// Entities with unsynced changes are kept longer, and so are those that they refer to, those
    /// that name a file that only this device has, hidden ones that hide others by
    /// ``Reference/missing``, and the holder of a ``CollectionModel/RivalRule``'s state. A tree has
    /// no such rule.
    public struct RetentionRule: Sendable, Hashable {
        /// The field with the time that counts as the entity's age.
        public var field: String
        /// The largest age; older entities are pruned.
        public var ageMax: TimeSpan

        /// A retention rule: entities that are older than `ageMax` are pruned.
        public init(field: String, ageMax: TimeSpan) {
            self.field = field
            self.ageMax = ageMax
        }
    }
}

package typealias RetentionRule = CollectionModel.RetentionRule

extension RetentionRule: ModelObject {
    static let blank = RetentionRule(field: "", ageMax: .zero)

    static let members: [ModelMember<RetentionRule>] = [
        ModelMember(
            "field", \.field, .text, isNeeded: true,
            "The field with the time by which an entity's age is told."),
        ModelMember(
            "ageMax", \.ageMax,
            .span(from: .zero, monthsMax: 1200, to: .days(36_500), such: "P2M"),
            older: [.spans(["months", "days"], 0...36_500) { .months($0[0]) + .days($0[1]) }],
            "How far that time may lie back; older entities are pruned."),
    ]
}

extension CollectionModel {
    /// A field that must refer to one of the entities of a collection.
    ///
    /// Where it is null and there is exactly one entity, that one is chosen and pushed.
    public struct ChoiceRule: Sendable, Hashable {
        /// The field.
        public var field: String
        /// The collection of the entities to choose from.
        public var collection: CollectionName
        /// The code of the failure `SyncFailure.missing` that ends a run while the choice is open:
        /// there is no entity, or more than one.
        public var missing: String

        /// A choice among the entities of a collection.
        public init(_ field: String, of collection: CollectionName, missing: String) {
            self.field = field
            self.collection = collection
            self.missing = missing
        }
    }
}

package typealias ChoiceRule = CollectionModel.ChoiceRule

extension ChoiceRule: ModelObject {
    static let blank = ChoiceRule("", of: "", missing: "")

    static let members: [ModelMember<ChoiceRule>] = [
        ModelMember(
            "collection", \.collection, .collectionName, isNeeded: true, older: [.name("of")],
            "The collection of the entities that the field may name."),
        ModelMember(
            "missing", \.missing, .text, isNeeded: true, older: [.name("else")],
            "The code with which a run ends where there is none of them, or more than one."),
    ]
}
