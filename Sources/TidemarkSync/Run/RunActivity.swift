// RunActivity.swift — what a sync run tells while it goes on.

public import TidemarkEvents
import TidemarkViews

/// What a sync run tells while it goes on, in the order in which it happens.
package enum RunActivity: Sendable {
    /// It begins, for these triggers, the highest first. Not told of a run that a gate of the model
    /// holds.
    case started([SyncTrigger])
    /// A step begins, or the run ends.
    case progress(SyncProgress)
    /// A request is sent; ``requestEnded`` follows, whatever comes of it.
    case requestBegan
    /// It was answered, failed or was cancelled.
    case requestEnded
    /// What the server had changed is on disk, and in every query.
    case applied(AppliedPage)
}

/// A part of what the server had changed, as it was written to the store: a page of a list,
/// entities that were fetched by their ids, or those that a whole list did not name.
public struct AppliedPage: Sendable, Hashable {
    /// The collection.
    public var collection: CollectionName
    /// How many entities were new, changed or deleted by it; 0 where only the list goes on.
    public var count: Int
    /// The first key in the order of the list, where the list has one.
    public var first: String?
    /// The last one.
    public var last: String?

    /// A page that changed so many entities.
    public init(
        collection: CollectionName, count: Int, first: String? = nil, last: String? = nil
    ) {
        self.collection = collection
        self.count = count
        self.first = first
        self.last = last
    }
}

extension SyncDriver {
    /// Tells of what was applied; what waits for the rest of its set is told of when that is taken.
    func tellApplied(_ pages: [AppliedPage], _ run: inout SyncRun) throws {
        for page in pages {
            if model[page.collection]?.allOrNone == nil {
                tell(.applied(page))
            } else if let place = run.staged.firstIndex(where: { $0.collection == page.collection })
            {
                run.staged[place].count += page.count
            } else {
                run.staged.append(page)
            }
        }
        guard !run.staged.isEmpty else { return }
        let (staged, start) = (run.staged, run.recorder.start)
        run.staged = []
        for page in staged {
            let waits = try journal.read { views in
                try model[page.collection]?.allOrNone.map { try views.isStaging($0, in: start) }
            }
            if waits == true { run.staged.append(page) } else { tell(.applied(page)) }
        }
    }
}
