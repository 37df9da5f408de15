// SyncActivity.swift — what an engine's runs do, one thing after another, for whoever shows it.

public import TidemarkEvents
public import TidemarkSync

/// One thing that happens in a sync run.
///
/// Runs come one after another: of each there is one ``started(_:)`` and one ``finished(_:)``, and
/// everything else lies in between.
@nonexhaustive public enum SyncActivity: Sendable, Hashable {
    /// A run begins, for these triggers, the highest first.
    case started([SyncTrigger])
    /// A request is sent; with it, so many are open.
    case requestBegan(open: Int)
    /// A request was answered, failed or was cancelled; so many are still open.
    case requestEnded(open: Int)
    /// What the server had changed is on disk, and in every query: of collections with
    /// `allOrNone` once all of the set is there, for each collection that changed.
    case pageApplied(AppliedPage)
    /// The run ended: with its outcome, or with the error of the store that ended it.
    case finished(Result<SyncOutcome, TidemarkError>)
}

extension SyncActivity: CustomStringConvertible {
    /// On one line, for people: `started(userRequested)`, `requestBegan(1)`, `pageApplied(tasks)`,
    /// `finished(timeout)`.
    public var description: String {
        switch self {
        case .started(let triggers):
            "started(\(triggers.map(\.rawValue).joined(separator: ", ")))"
        case .requestBegan(let open): "requestBegan(\(open))"
        case .requestEnded(let open): "requestEnded(\(open))"
        case .pageApplied(let page): "pageApplied(\(page.collection))"
        case .finished(.success(let outcome)): "finished(\(outcome.word))"
        case .finished(.failure(let error)): "finished(\(error.code.rawValue))"
        }
    }
}

extension SyncOutcome {
    /// How the run ended, in one word: `synced`, `incomplete`, or the failure's name.
    package var word: String { failure?.name ?? (isSynced ? "synced" : "incomplete") }
}
