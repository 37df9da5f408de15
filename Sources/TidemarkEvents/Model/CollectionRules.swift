// CollectionRules.swift — the rules of a collection about ids, pushes, actions, absence, access,
// since-dates and windows.

/// Who gives a new entity its id.
///
/// What the server told with a number for its id is named by that number in what is sent, also
/// where nobody makes such entities here.
@nonexhaustive public enum IDSource: String, Sendable, Hashable, CaseIterable {
    /// The app: the server takes the id that the entity was created with.
    case client
    /// The server, as a text; until it has answered, the entity has a local id.
    case serverText
    /// The server, as a number; references to such entities are written as numbers, too.
    case serverNumber
}

/// Which local changes of a collection may be sent.
@nonexhaustive public enum PushOperation: String, Sendable, Hashable, CaseIterable {
    /// Creations.
    case create
    /// Updates of entities that the server has.
    case update
    /// Deletions of entities that the server has.
    case delete
}

/// What an update of an entity sends.
public enum UpdateContent: String, Sendable, Hashable, CaseIterable {
    /// The whole document, which replaces the server's.
    case whole
    /// The fields that changed; the server keeps the others.
    case changes
}

/// What a list of everything says of entities that it does not name.
@nonexhaustive public enum AbsenceRule: String, Sendable, Hashable, CaseIterable {
    /// They are deleted on the server.
    ///
    /// With neither cursors nor ``CollectionModel/since`` each is asked for first: ten, and ten
    /// more as long as all of them are gone, up to 100 in a run. Where lists leave out what is
    /// there, say ``keeps``.
    case deletes
    /// Nothing.
    case keeps
}

extension CollectionModel {
    /// What happens to a list of which a page fails, where the server's pages have numbers.
    @nonexhaustive public enum FailedPageRule: String, Sendable, Hashable, CaseIterable {
        /// Where the server fails at it, or it can't be read, the next page is asked for, until a
        /// third one fails. What the others bring is kept, and the list is made again in the next
        /// run.
        case next
        /// The list ends. What came before is kept, and the list is made again in the next run.
        case endsList
    }

    /// How the user gets and loses access to entities: by the collection's list, or together with
    /// the entity's owner.
    public struct AccessRule: Sendable, Hashable {
        /// Whether an entity that a list of everything does not name is hidden, with everything
        /// that it owns, instead of deleted: not seen, not pushed, and pruned in time.
        public var hidesAbsent: Bool
        /// The reference to the entity that owns this one, which is hidden while its owner is.
        ///
        /// Entities of one collection that own each other are hidden by its list alone.
        public var owner: String?
        /// The code of the failure `SyncFailure.missing` that ends a run after which the collection
        /// has no entity; nil where it may be empty.
        public var missing: String?
        /// Whether everything is listed again when an entity becomes accessible.
        public var relistsOnGain: Bool

        /// Access rules; by default everything is accessible.
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
    /// Lists of changes since a date, by the server's last-change times.
    public struct SinceRule: Sendable, Hashable {
        /// The largest age of a date, by the server's clock; with an older one everything is
        /// listed.
        public var ageMax: TimeSpan
        /// Whether the server's `Date` of an earlier list may be used where the last change is too
        /// old.
        public var serverDate: Bool
        /// How much earlier than the date lists begin: as long as it may take until the server
        /// shows a change that it has dated, as by long transactions or several clocks.
        ///
        /// What is listed again so and is as it was costs no event of an entity, but each page of
        /// a list of several costs one in each run, until something changes later. Fewer than
        /// ``PullWindow/limit`` entities may change in it: what is cut is listed whole.
        public var overlap: TimeSpan

        /// A since-rule with dates that are less than `ageMax` old.
        public init(ageMax: TimeSpan, serverDate: Bool = false, overlap: TimeSpan = .zero) {
            self.ageMax = ageMax
            self.serverDate = serverDate
            self.overlap = overlap
        }
    }
}

package typealias SinceRule = CollectionModel.SinceRule

/// The most months and days in a rule of a model.
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
        ModelMember(
            "overlap", \.overlap, .span(to: .days(1), such: "PT1M"),
            """
            How much earlier lists begin, for changes that the server shows later than it dates \
            them.
            """),
    ]
}

extension CollectionModel {
    /// The window of a list of everything: a span around now.
    public struct PullWindow: Sendable, Hashable {
        /// How far it reaches back.
        public var back: TimeSpan
        /// How far it reaches ahead.
        public var ahead: TimeSpan
        /// The most entities that the server lists at once; nil for no such limit.
        ///
        /// A list of so many is not complete: its window is listed in halves, and those in halves
        /// again, down to a day.
        public var limit: Int?
        /// How far back the server lists at all; nil for no such bound.
        ///
        /// A window is extended to creations without an answer, which its list is to find, but not
        /// beyond this. What lies further back is not found, and sent again.
        public var reach: TimeSpan?

        /// A span around the server's time.
        public init(
            back: TimeSpan, ahead: TimeSpan = .zero, limit: Int? = nil, reach: TimeSpan? = nil
        ) {
            self.back = back
            self.ahead = ahead
            self.limit = limit
            self.reach = reach
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
        ModelMember(
            "limit", \.limit, .number(1...1_000_000),
            """
            How many entities the server lists at most; of a window with so many, each half is \
            listed by itself.
            """),
        ModelMember(
            "reach", \.reach, .calendar(from: .seconds(1), such: "P85D"),
            """
            How far back the server lists at all: the window is extended to creations without an \
            answer, but not beyond this.
            """),
    ]
}

extension CollectionModel {
    /// A member in which the server sends entities of another collection.
    public struct EmbedRule: Sendable, Hashable {
        /// The member, an array of objects.
        public var member: String
        /// The collection of what stands in it.
        public var collection: CollectionName

        /// `member` holds entities of `collection`.
        public init(_ member: String, _ collection: CollectionName) {
            self.member = member
            self.collection = collection
        }
    }
}

package typealias EmbedRule = CollectionModel.EmbedRule

extension ModelCodec where Value == [EmbedRule] {
    /// An object of member to collection.
    static let embeds: ModelCodec = {
        let name = ModelCodec<CollectionName>.collectionName
        let one = ModelCodec<EmbedRule>(
            schema: name.schema, wanted: name.wanted,
            read: { (value, place) throws(ModelError) in
                EmbedRule("", try name.read(value, place))
            },
            write: { name.write($0.collection) })
        return one.named(by: \.member, "an object of member to collection is needed")
    }()
}

extension CollectionModel {
    /// How a feed is listed: by keyset pagination, the newest first.
    ///
    /// The *backfill* walks back by ``order`` from now, in blocks, until one is short. What changed
    /// is listed forward by ``change``, from the last change of the backfill's first block. A
    /// block, its entities and its cursor are one commit.
    ///
    /// The server must filter and sort by both fields. Both hold times, in the form of
    /// ``CollectionModel/dates``; a record whose key is missing or no time is put aside.
    public struct FeedRule: Sendable, Hashable {
        /// How the server compares two keys.
        @nonexhaustive public enum Comparison: String, Sendable, Hashable, CaseIterable {
            /// As texts, byte by byte, or as numbers: `…Z` and `…+00:00` are two keys.
            case verbatim
            /// By the time that they say: `…Z` and `…+00:00` are one key.
            case instants
        }

        /// The field of the order of display.
        public var order: String
        /// The field of the last change on the server.
        public var change: String
        /// How many entities a block has.
        public var block: Int
        /// How far the backfill goes back, by ``order``; nil for all that there is.
        public var ageMax: TimeSpan?
        /// How often the ids of all entities are listed, so that what was deleted goes and what is
        /// missing comes; zero for never.
        ///
        /// A record that was dated ahead by ``order`` when the backfill began, and does not change
        /// any more, comes with these ids, or with a run that lists everything.
        public var reconcileEvery: TimeSpan
        /// How the server compares keys.
        public var compares: Comparison

        /// The default of ``block``.
        public static let usualBlock = 50

        /// A feed by two fields.
        public init(
            order: String, change: String, block: Int = usualBlock, ageMax: TimeSpan? = nil,
            reconcileEvery: TimeSpan = .zero, compares: Comparison = .verbatim
        ) {
            self.order = order
            self.change = change
            self.block = block
            self.ageMax = ageMax
            self.reconcileEvery = reconcileEvery
            self.compares = compares
        }
    }
}

package typealias FeedRule = CollectionModel.FeedRule

extension FeedRule: ModelObject {
    static let blank = FeedRule(order: "", change: "")

    static let members: [ModelMember<FeedRule>] = [
        ModelMember(
            "order", \.order, .text, isNeeded: true, "The field with the time of display."),
        ModelMember(
            "change", \.change, .text, isNeeded: true,
            "The field with the time of the last change on the server."),
        ModelMember(
            "block", \.block, .number(2...10_000), "How many entities are listed at once."),
        ModelMember(
            "ageMax", \.ageMax,
            .span(from: .seconds(1), monthsMax: 1200, to: .days(36_500), such: "P1Y"),
            "How far back the list begins; all there is unless given."),
        ModelMember(
            "reconcileEvery", \.reconcileEvery, .span(to: .days(365), such: "P7D"),
            """
            How often the ids of all entities are listed, to find what was deleted; PT0S for \
            never.
            """),
        ModelMember(
            "compares", \.compares, .word,
            "How the server compares two keys: as it wrote them, or by the time that they say."),
    ]
}

extension JSONDocument {
    /// The ids in a field, or by a path as in JSON Pointer: a text or a whole number, or a list of
    /// them, as texts.
    public func ids(in field: String) -> [String] {
        guard FieldPath.isPath(field) else { return value(field)?.ids ?? [] }
        let path = FieldPath(field)
        var ids: [String] = []
        value(path.top)?.forEach(at: path.rest) { ids += $0.ids }
        return ids
    }
}

extension JSONValue {
    fileprivate var ids: [String] {
        if case .array(let list) = self { return list.compactMap(\.idText) }
        return idText.map { [$0] } ?? []
    }

    /// An id as a text: a text that is not empty, or a whole number.
    public var idText: String? {
        switch self {
        case .string(let text): text.isEmpty ? nil : text
        case .number(let number): number.int64.map(String.init)
        default: nil
        }
    }
}

extension CollectionModel {
    /// Something that the server does with an entity when it is asked to: an action.
    ///
    /// What it means, and which parameters it needs, the server's adapter says.
    public struct ActionRule: Sendable, Hashable {
        /// The action's name, as the adapter knows it.
        public var name: String
        /// Whether it waits while anything that counts in the entity waits for the server, was
        /// refused or has a warning: ``Reference/rollUp``.
        public var waitsForTree: Bool
        /// How long what it grants lasts, from the beginning of the run on that had it carried
        /// out; zero where it grants nothing.
        public var grants: TimeSpan
        /// The parameter with the id of the entity of the same collection of which it makes a new
        /// one, as a copy is; nil for an action that makes none.
        public var source: String?

        /// An action.
        public init(
            _ name: String, waitsForTree: Bool = false, grants: TimeSpan = .zero,
            source: String? = nil
        ) {
            self.name = name
            self.waitsForTree = waitsForTree
            self.grants = grants
            self.source = source
        }
    }
}

package typealias ActionRule = CollectionModel.ActionRule

extension ActionRule: ModelObject {
    static let blank = ActionRule("")

    static let members: [ModelMember<ActionRule>] = [
        ModelMember(
            "waitsForTree", \.waitsForTree, .flag,
            """
            Whether it waits while anything in the entity's tree waits for the server, was refused \
            or has a warning.
            """),
        ModelMember(
            "grants", \.grants, .span(to: .days(365), such: "PT2H"),
            """
            How long what it grants lasts, from the beginning of the run that had it carried out.
            """),
        ModelMember(
            "source", \.source, .text,
            """
            The parameter with the id of the entity of which it makes a new one, as a copy is; \
            without it, it makes none.
            """),
    ]
}

extension CollectionModel {
    /// The rule of an action; nil where it has no such action.
    package func rule(of action: String) -> ActionRule? {
        actions.first { ExactString($0.name) == ExactString(action) }
    }
}
