// Listing+Resume.swift — a list that spans several runs: what is logged with each page, and how a
// later run continues.
//
// The first page's cursor is that of the whole list. Changes between the runs are listed from that
// cursor: in this run, before anything is concluded from absence or settled, else in the next one.
// What went between the runs moves others past a page with a number, as it does between two pages.

package import TidemarkEvents
package import TidemarkViews

extension Listing {
    /// What a later run needs to continue after the last page; nil where none could.
    ///
    /// Without a cursor, changes between the runs could not be listed. A whole list with a
    /// since-date may continue, as long as nothing is concluded from absence. A window in parts
    /// restarts. Behind a page that failed it goes on at that page. One by folders goes on at the
    /// next folder: what changes in those before it the next list tells. Where something moved past
    /// a page with a number, all are asked for once more from the first one on. A list of changes
    /// continues by the tokens of its pages alone: by numbers nobody could tell what moved past one
    /// between the runs, and a date is another one by then.
    package var state: ListState? {
        // By the versions of folders the next walk comes to what is left. That something was not
        // listed only this run knows.
        if let walk,
            walk.isOfFolders || walk.use == .skipping || walk.isUnsure || walk.isUnmoved
        {
            return nil
        }
        guard !isSplit, failedPages == 0 || failedNext != nil,
            isWhole
                ? target.limit == nil && canGoOnWhole
                : cursor != nil && numberedPages == nil && collection.since == nil && walk == nil
        else { return nil }
        var state = ListState(page: pages, asOf: asOf, knownCount: knownCount)
        state.after = after
        state.next = failedNext ?? next
        state.cursor = cursor
        state.epoch = epoch
        state.asked = asked
        state.serverTime = serverTime
        state.from = window?.from
        state.to = window?.to
        state.isDoubtful = isDoubtful
        state.pageSize = numberedPages
        state.isOfChanges = !isWhole
        if isByNumber { shifts.note(in: &state, isAtFailed: failedNext != nil) }
        guard let walk else { return state }
        (state.found, state.pass) = (walk.foundCount, walk.pass)
        if isPaging, next == nil { state.next = "" }
        return state
    }

    /// Whether a list of everything can be continued, as far as its pages tell.
    private var canGoOnWhole: Bool {
        cursor != nil || isOfIDs || walk != nil
            || collection.since != nil && knownCount == 0 && !settles
    }
}

/// A list that an earlier run did not finish.
package struct CutListing: Sendable, Hashable {
    package let state: ListState
    /// The names of its records that could not be read.
    let unreadable: [String]
    private let pages: [ListedPageRow]
    /// The last place that named an entity: of entities that were here before, and of references.
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

    /// The window that it lists; nil for everything.
    package var window: TimeSpan? {
        guard let from = state.from, let to = state.to else { return nil }
        return TimeSpan(from: from, to: to)
    }

    /// The entities that its pages named: those that were here before, and the references.
    package var named: [ExactString] { Array(places.keys) }

    /// Whether a page of it is at least as new as the row of an entity.
    package func tells(_ id: String, _ row: EntityRow) -> Bool {
        guard let place = places[ExactString(id)] else { return false }
        let isOlder = row.basePosition.map { $0 <= place.page } ?? true
        return isOlder || place.revision != nil && place.revision == row.revision
    }

    /// Of a list by folders, what is missing in those that were listed.
    package func missing(
        _ entity: (String) throws -> EntityRow?
    ) rethrows -> Set<ExactString> {
        var missing: [ExactString: Position] = [:]
        for page in pages {
            for id in page.missing { missing[ExactString(id)] = page.position }
            for id in page.same { missing[ExactString(id)] = nil }
        }
        // What was told since is there.
        return Set(
            try missing.filter { id, position in
                try entity(id.text)?.basePosition.map { $0 < position } ?? false
            }.keys)
    }

    /// Of a list by folders, the files that came and may have been moved.
    ///
    /// Those of a folder stand on its own page, and on one with which a run left the list all that
    /// came until then.
    var arrived: [TreeWalk.Moves.Arrival] {
        var counts: [TreeWalk.Moves.Arrival: Int] = [:]
        var found: [TreeWalk.Moves.Arrival] = []
        for page in pages {
            var own: [TreeWalk.Moves.Arrival: Int] = [:]
            for reference in page.references {
                guard let arrival = TreeWalk.Moves.Arrival(reference) else { continue }
                own[arrival, default: 0] += 1
                guard own[arrival, default: 0] > counts[arrival, default: 0] else { continue }
                counts[arrival, default: 0] += 1
                found.append(arrival)
            }
        }
        return found
    }

    /// References of its pages that were not fetched since.
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
