// Listing+Resume.swift — a list of everything over several runs: what is kept of it with each page,
// and how it goes on.
//
// The first page's cursor stays that of the whole list. What changed between the runs is listed
// from there, in this run before anything is concluded from what no page named, and else in the
// next one.

package import TidemarkEvents
package import TidemarkViews

extension Listing {
    /// What a later run needs of it after the page that it took last; nil where none could go on.
    ///
    /// Without a cursor nobody could list what changes between the runs. Where that is listed by a
    /// date it may go on, as long as nothing is to be concluded from what it does not name.
    package var state: ListState? {
        guard isWhole, cursor != nil || collection.since != nil && knownCount == 0 && !settles
        else { return nil }
        var state = ListState(page: pages, asOf: asOf, knownCount: knownCount)
        state.after = after
        state.next = next
        state.cursor = cursor
        state.epoch = epoch
        state.asked = asked
        state.serverTime = serverTime
        state.from = window?.from
        state.to = window?.to
        state.isDoubtful = isDoubtful
        return state
    }
}

/// A list of everything that an earlier run began, and what came of it so far.
package struct CutListing: Sendable, Hashable {
    package let state: ListState
    /// What could not be read, by name.
    let unreadable: [String]
    private let pages: [ListedPageRow]
    /// Where each entity was named last that was here before, or is only named.
    private var places: [ExactString: Place] = [:]

    private struct Place: Sendable, Hashable {
        var page: Position
        var revision: Revision?
    }

    package init(state: ListState, pages: [ListedPageRow]) {
        self.state = state
        self.pages = pages
        unreadable = pages.flatMap(\.unreadable)
        for page in pages {
            for id in page.same + page.unreadable {
                places[ExactString(id)] = Place(page: page.position)
            }
            for reference in page.references {
                places[ExactString(reference.id)] = Place(
                    page: page.position, revision: reference.revision)
            }
        }
    }

    /// The span that it lists; nil for all.
    package var window: TimeSpan? {
        guard let from = state.from, let to = state.to else { return nil }
        return TimeSpan(from: from, to: to)
    }

    /// Every entity that its pages named and that was here before, or is only named.
    package var named: [ExactString] { Array(places.keys) }

    /// Whether a page says of an entity what is known of it, or something newer.
    package func tells(_ id: String, _ row: EntityRow) -> Bool {
        guard let place = places[ExactString(id)] else { return false }
        let isOlder = row.basePosition.map { $0 <= place.page } ?? true
        return isOlder || place.revision != nil && place.revision == row.revision
    }

    /// What its pages only named and that was not fetched since.
    package func wanted(
        _ entity: (String) throws -> EntityRow?
    ) rethrows -> [ServerReference] {
        var wanted: [ServerReference] = []
        for page in pages {
            for reference in page.references {
                let row = try entity(reference.id)
                let isFetched = row?.asOf.map { $0 >= page.position } ?? false
                let isSame =
                    row?.baseState == .live && row?.isAssumed == false
                    && reference.revision != nil && row?.revision == reference.revision
                guard !isFetched, !isSame else { continue }
                wanted.append(ServerReference(reference))
            }
        }
        return wanted
    }
}

extension ListedReference {
    init(_ reference: ServerReference) {
        self.init(
            id: reference.id, revision: reference.revision, serverTime: reference.serverTime)
    }
}

extension ServerReference {
    package init(_ listed: ListedReference) {
        self.init(id: listed.id, revision: listed.revision, serverTime: listed.serverTime)
    }
}
