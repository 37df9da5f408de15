// CollectionRules.swift — what a collection's part of a model says beyond its fields: who names new
// entities, how much is listed, what may stand beside what, what is kept for how long.

/// Who names a new entity of a collection.
public enum IDSource: String, Sendable, Hashable, CaseIterable {
    /// The app: the id that an entity is made with is the server's as well.
    case client
    /// The server, with a text; until it has answered, the entity goes by an id of its own.
    case serverText
    /// The server, with a number; references to such entities are written as numbers, too.
    case serverNumber
}

/// What may be sent of a collection's local changes.
public enum PushOperation: String, Sendable, Hashable, CaseIterable {
    /// Entities made here.
    case create
    /// Changes of entities that the server has.
    case update
    /// Deletions of entities that the server has.
    case delete
}

/// What it means that a list of everything does not name an entity.
public enum AbsenceRule: String, Sendable, Hashable, CaseIterable {
    /// The server has it no more.
    case deletes
    /// Nothing.
    case keeps
    /// It is out of reach for now, and with it everything that it owns: hidden, not pushed, and
    /// pruned in time.
    case hides
}

/// When only what changed since a time is listed, by the server's last-change times.
public struct SinceRule: Sendable, Hashable {
    /// How many calendar months of the server's time back a date may lie at most; older ones are
    /// not used, and everything is listed.
    public var months: Int
    /// Whether the server's `Date` of an earlier list may be used where the last change that was
    /// seen lies too far back.
    public var serverDate: Bool

    /// Dates of less than so many months ago.
    public init(months: Int, serverDate: Bool = false) {
        self.months = months
        self.serverDate = serverDate
    }
}

/// What of a collection is listed when everything is: a span around now.
public struct PullWindow: Sendable, Hashable {
    /// From so many calendar months ago.
    public var months: Int
    /// To so many days from now.
    public var daysAhead: Int

    /// A span around the server's time.
    public init(months: Int, daysAhead: Int) {
        self.months = months
        self.daysAhead = daysAhead
    }
}

/// Entities that may not hold a state together: of those in which a field is null, one keeps it,
/// and the others get a value.
public struct RivalRule: Sendable, Hashable {
    /// How it is found out when a loser stops.
    public enum Stop: String, Sendable, Hashable, CaseIterable {
        /// At the earliest later start of any entity, or now; one that is overtaken by a start made
        /// here stops now.
        case nextStart
        /// The same, of entities that were changed no earlier than the loser.
        case nextStartNotOlder
        /// Always now.
        case now
    }

    /// Who goes on where two were changed at the same time.
    public enum Ties: String, Sendable, Hashable, CaseIterable {
        /// The one that started later, then the one with the greater id: whatever came first.
        case start
        /// The one that was here first; then the result depends on the order of arrival.
        case arrival
    }

    /// Whoever has null here holds the state; the value that ends it is whole seconds since the
    /// start.
    public var field: String
    /// The field with the time at which an entity started.
    public var start: String
    /// The fields that are equal among rivals: one group for the whole collection without any.
    public var among: [String]
    /// When a loser stops.
    public var stop: Stop
    /// Who wins a tie.
    public var ties: Ties

    /// Rivals by a field that is null while the state lasts.
    public init(
        whileNull field: String, start: String, among: [String] = [], stop: Stop = .nextStart,
        ties: Ties = .start
    ) {
        self.field = field
        self.start = start
        self.among = among
        self.stop = stop
        self.ties = ties
    }
}

/// What stands in for an entity that others refer to and that is not here.
public struct PlaceholderRule: Sendable, Hashable {
    /// What its document holds beside the id.
    public var fields: JSONObject
    /// The fields that it gets from the entity that refers to it.
    public var copies: [String]
    /// After how many hours the server is asked for it again, by ``ServerCall`` `refetch`; 0 for
    /// never.
    public var refetchHours: Int
    /// The reference by whose target such questions are grouped.
    public var together: String?

    /// A stand-in.
    public init(
        fields: JSONObject = [:], copies: [String] = [], refetchHours: Int = 0,
        together: String? = nil
    ) {
        self.fields = fields
        self.copies = copies
        self.refetchHours = refetchHours
        self.together = together
    }
}

/// When a reference makes a placeholder of what it names and is not here.
public enum PlaceholderUse: String, Sendable, Hashable, CaseIterable {
    /// In every pull.
    case always
    /// In a pull of only some collections, which does not bring what is referred to.
    case partial
}

/// How long entities are kept; by the server's time.
///
/// What was not synced, and what it refers to, is kept longer, and so is what holds a state of a
/// ``RivalRule``.
public struct RetentionRule: Sendable, Hashable {
    /// An entity is kept while the time in this field lies back less.
    public var field: String
    /// So many calendar months.
    public var months: Int
    /// And so many days.
    public var days: Int

    /// Entities whose time lies back longer are pruned.
    public init(field: String, months: Int = 0, days: Int = 0) {
        self.field = field
        self.months = months
        self.days = days
    }
}

/// A field that must name one of the entities of a collection: where it is null and there is just
/// one, it is that one, which is pushed.
public struct ChoiceRule: Sendable, Hashable {
    /// The field.
    public var field: String
    /// The entities that it may name.
    public var collection: CollectionName
    /// How a run ends where there is none or more than one.
    public var otherwise: String

    /// A choice among the entities of a collection.
    public init(_ field: String, of collection: CollectionName, otherwise: String) {
        self.field = field
        self.collection = collection
        self.otherwise = otherwise
    }
}

extension JSONDocument {
    /// The ids that a field names: a text or a whole number, or a list of them, as texts.
    public func ids(in field: String) -> [String] {
        switch value(field) {
        case .array(let list)?: list.compactMap(\.idText)
        case let value?: value.idText.map { [$0] } ?? []
        case nil: []
        }
    }
}

extension JSONValue {
    /// An id as a text: a text that is not empty, or a whole number.
    public var idText: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .number(let number): number.int64.map(String.init)
        default: nil
        }
    }
}
