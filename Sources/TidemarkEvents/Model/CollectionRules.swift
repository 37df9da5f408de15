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
}

extension CollectionModel {
    /// How the user gets and loses access to entities: by the list of the collection, or with the
    /// entity that owns them.
    public struct AccessRule: Sendable, Hashable {
        /// Whether an entity that a list of everything does not name is hidden, with everything
        /// that it owns, instead of deleted: not seen, not pushed, and pruned in time.
        public var hidesAbsent: Bool
        /// The reference to the entity that owns this one, which is hidden while its owner is.
        public var owner: String?
        /// The code of the failure `SyncFailure.missing` with which a run ends where there is no
        /// entity of the collection after it was pulled; nil where that may be.
        public var missing: String?
        /// Whether everything is listed again when an entity becomes accessible.
        public var relistsOnGain: Bool

        /// Everything is accessible, unless said otherwise.
        public init(
            hidesAbsent: Bool = false, owner: String? = nil, missing: String? = nil,
            relistsOnGain: Bool = false
        ) {
            self.hidesAbsent = hidesAbsent
            self.owner = owner
            self.missing = missing
            self.relistsOnGain = relistsOnGain
        }
    }
}

package typealias AccessRule = CollectionModel.AccessRule

extension AccessRule: ModelObject {
    static let blank = AccessRule()

    static let members: [ModelMember<AccessRule>] = [
        ModelMember(
            "hidesAbsent", \.hidesAbsent, .flag,
            """
            Whether an entity that a list of everything does not name is hidden, with everything \
            that it owns, instead of deleted.
            """),
        ModelMember(
            "owner", \.owner, .text,
            "The reference to the entity that owns this one, which is hidden while its owner is."),
        ModelMember(
            "missing", \.missing, .text,
            """
            The code with which a run ends where there is no entity of the collection after it \
            was pulled; without it that may be.
            """),
        ModelMember(
            "relistsOnGain", \.relistsOnGain, .flag,
            "Whether everything is listed anew when an entity gets accessible."),
    ]
}

extension CollectionModel {
    /// When only what changed since a time is listed, by the server's last-change times.
    public struct SinceRule: Sendable, Hashable {
        /// How far a date may lie back at most, by the server's clock; older ones are not used, and
        /// everything is listed.
        public var ageMax: TimeSpan
        /// Whether the server's `Date` of an earlier list may be used where the last change that
        /// was seen lies too far back.
        public var serverDate: Bool

        /// Dates that lie back less than `ageMax`.
        public init(ageMax: TimeSpan, serverDate: Bool = false) {
            self.ageMax = ageMax
            self.serverDate = serverDate
        }
    }
}

package typealias SinceRule = CollectionModel.SinceRule

/// The most months and days that a rule of a model may name.
private let monthsMax = 1200
private let daysMax = 36_500

extension ModelCodec where Value == TimeSpan {
    /// A span of calendar months and days.
    fileprivate static func calendar(from least: TimeSpan = .zero, such example: String) -> Self {
        .span(from: least, monthsMax: monthsMax, to: .days(daysMax), such: example)
    }
}

extension OlderSpelling {
    fileprivate static let months = OlderSpelling.span("months", 1...1200) { .months($0) }
}

extension SinceRule: ModelObject {
    static let blank = SinceRule(ageMax: .zero)

    static let members: [ModelMember<SinceRule>] = [
        ModelMember(
            "ageMax", \.ageMax, .calendar(from: .seconds(1), such: "P2M"), isNeeded: true,
            older: [.months],
            """
            How far the date may lie back at most, by the server's clock; where it lies further \
            back, everything is listed.
            """),
        ModelMember(
            "serverDate", \.serverDate, .flag,
            """
            Whether the Date of an earlier list may be used where the last change that was seen \
            lies too far back.
            """),
    ]
}

extension CollectionModel {
    /// What of a collection is listed when everything is: a span around now.
    public struct PullWindow: Sendable, Hashable {
        /// From so long ago.
        public var back: TimeSpan
        /// To so long from now.
        public var ahead: TimeSpan

        /// A span around the server's time.
        public init(back: TimeSpan, ahead: TimeSpan = .zero) {
            self.back = back
            self.ahead = ahead
        }
    }
}

package typealias PullWindow = CollectionModel.PullWindow

extension PullWindow: ModelObject {
    static let blank = PullWindow(back: .zero)

    static let members: [ModelMember<PullWindow>] = [
        ModelMember(
            "back", \.back, .calendar(from: .seconds(1), such: "P2M"), isNeeded: true,
            older: [.months], "How far back the list begins."),
        ModelMember(
            "ahead", \.ahead, .calendar(such: "P2D"),
            older: [.span("daysAhead", 0...36_500) { .days($0) }], "How far ahead it ends."),
    ]
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
