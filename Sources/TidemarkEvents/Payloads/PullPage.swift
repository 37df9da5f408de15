// PullPage.swift — which entities a page names.

/// `pull.page`.
package struct PullPage: MemberPayload, EventPayload {
    /// What stands in the log of an entity that a page names.
    package enum Place: Sendable, Hashable {
        /// The event with the server's word.
        case event(Position)
        /// It was here as the page says.
        case same
        /// It was asked for, and the server has none.
        case absent
        /// It was left out, as something in its tree waits: ``CollectionModel/withholdsTrees``.
        case withheld
    }

    /// The scope of a page that holds what placeholders were asked for.
    package static let refetchScope = "refetch"
    /// The scope of a page of an answer about several collections.
    package static let combinedScope = "combined"
    /// The scope of a page of a list of all ids of a feed.
    package static let reconcileScope = "reconcile"
    /// The scope of a page of those entities of a feed that have the same key.
    package static let equalsScope = "equals"
    /// The scope of a page that holds what was asked for by its ids.
    package static let fetchScope = "fetch"

    /// Whether it is a page of the collection's list, by which a later list goes on.
    package var isOfList: Bool {
        ![Self.refetchScope, Self.combinedScope, Self.fetchScope].contains(scope)
    }

    package var scope = ""
    /// The entities that the page names.
    package var ids: [String] = []
    /// What stands of each.
    package var places: [Place] = []
    /// The last changes of those of which no row tells.
    package var times: [Named<Timestamp>] = []
    /// What its entities say of those that stand in them.
    package var within: [Within] = []
    /// What it says of the list of everything that it is part of; nil where it says nothing.
    package var list: ListProgress?

    /// Folders that are listed with all that lies below, each with its version then; without an id
    /// the root.
    package var folders: [ListedReference] = []

    /// What was asked for, where it is a block of a feed.
    package var parameters: FeedParameters?
    /// Whether it only named ids, so that nothing is said of the entities but that they are there.
    package var isIDsOnly = false
    /// Whether its entities are known only in part: stubs.
    package var isPartial = false
    /// Where the parts of a feed go on after it, by their names.
    package var cursors: [Named<FeedCursor>] = []
    /// The identity of the collection on the server, where it was not known before, or where the
    /// backfill of a feed begins anew with another one.
    package var epoch: Revision?

    package init() {}

    package static let members: [PayloadMember<Self>] = [
        PayloadMember("scope", \.scope, .text, .listScope),
        PayloadMember("ids", \.ids, .list(of: .text), .text),
        PayloadMember("at", \.places, .list(of: .place), .plain),
        PayloadMember("times", \.times, .byName(.time), .timesByID) { $0.isEmpty },
        PayloadMember("within", \.within, .list(of: .object), .object(Within.shapes)) {
            $0.isEmpty
        },
        PayloadMember("list", \.list, .object, .object(ListProgress.shapes)),
        PayloadMember("folders", \.folders, .list(of: .reference), .references) { $0.isEmpty },
        PayloadMember("parameters", \.parameters, .object, .object(FeedParameters.shapes)),
        PayloadMember("idsOnly", \.isIDsOnly, .flag, .plain) { !$0 },
        PayloadMember("partial", \.isPartial, .flag, .plain) { !$0 },
        PayloadMember("cursors", \.cursors, .byName(.feedCursor), .cursors) { $0.isEmpty },
        PayloadMember("epoch", \.epoch, .revision, .token),
    ]

    package var gist: String? { ids.count == 1 ? "1 id" : "\(ids.count) ids" }

    package static let cut = PayloadCut.unlessKept

    /// The entities that are there.
    package var named: [String] { ids(where: { $0 != .absent }) }

    /// Those of them that were here as the page says.
    package var same: [String] { ids(where: { $0 == .same }) }

    /// The entities that were asked for and are not there.
    package var absent: [String] { ids(where: { $0 == .absent }) }

    /// The events with the server's words.
    package var events: [Position] {
        (places + within.flatMap(\.places)).compactMap {
            if case .event(let position) = $0 { position } else { nil }
        }
    }

    private func ids(where isMeant: (Place?) -> Bool) -> [String] {
        ids.enumerated().filter { isMeant($0.offset < places.count ? places[$0.offset] : nil) }
            .map(\.element)
    }

    /// The page without some of the entities that it names, by their indexes; nil where it names
    /// none any more.
    package func without(_ gone: Set<Int>) -> PullPage? {
        guard gone.count < ids.count || !within.isEmpty else { return nil }
        var page = self
        page.ids = ids.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
        page.places = places.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
        return page
    }
}

extension PullPage {
    /// What an entity of a page says of those that stand in one of its members: these are all that
    /// belong to it, as far as the list shows them.
    package struct Within: MemberPayload {
        /// The entity that holds them: `collection/id`.
        package var of = ""
        /// The collection of what stands in it.
        package var collection = ""
        /// The entities that it names.
        package var ids: [String] = []
        /// What stands in the log of each.
        package var places: [Place] = []

        package init() {}

        package static let members: [PayloadMember<Self>] = [
            PayloadMember("of", \.of, .text, .entity),
            PayloadMember("collection", \.collection, .text, .text),
            PayloadMember("ids", \.ids, .list(of: .text), .text),
            PayloadMember("at", \.places, .list(of: .place), .plain),
        ]

        /// What it says of its collection, as a page.
        package var page: PullPage {
            var page = PullPage()
            page.scope = PullPage.combinedScope
            (page.ids, page.places) = (ids, places)
            return page
        }
    }

    /// The page without the entities of some events; nil where it names none any more.
    package func without(events gone: Set<Position>) -> PullPage? {
        func isGone(_ place: Place) -> Bool {
            if case .event(let position) = place { gone.contains(position) } else { false }
        }
        var page = without(Set(places.indices.filter { isGone(places[$0]) }))
        page?.within = within.map { part in
            var part = part
            let kept = part.places.indices.filter { !isGone(part.places[$0]) }
            part.ids = kept.filter(part.ids.indices.contains).map { part.ids[$0] }
            part.places = kept.map { part.places[$0] }
            return part
        }
        return page
    }
}

extension PayloadCodec<PullPage.Place> {
    fileprivate static var place: Self {
        PayloadCodec(
            "a position, \"=\", \"absent\" or \"withheld\"",
            {
                switch $0 {
                case "=": .same
                case "absent": .absent
                case "withheld": .withheld
                default: PayloadCodec<Position>.position.parse($0).map { .event($0) }
                }
            },
            append: { place, output in
                switch place {
                case .event(let position): output += String(position.rawValue).utf8
                case .same: JSON.appendString("=", to: &output)
                case .absent: JSON.appendString("absent", to: &output)
                case .withheld: JSON.appendString("withheld", to: &output)
                }
            })
    }
}
