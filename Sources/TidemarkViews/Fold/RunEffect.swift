// RunEffect.swift — what the end of a sync run means for the next one.

package import TidemarkEvents

/// What a run that ended means for the next one.
enum RunEffect {
    /// Nothing.
    case none
    /// Nobody has to wait any more.
    case clears
    /// No run begins by itself until somebody does something.
    case freezes
    /// The next one waits, the longer the more failed.
    case backsOff
    /// The next one waits where one before it made it wait, and as long again.
    case waitsAgain
    /// The next one waits as if one had failed, unless it still waits for one that did.
    case waits

    init(_ end: SyncFinished) {
        switch end.outcome {
        // Of one that missed something, every list was answered.
        case .synced, .incomplete: self = .clears
        case nil: self = .none
        case .failed(let name): self.init(name.kind, wasSent: end.requests > 0)
        }
    }

    /// - Parameters:
    ///   - failure: nil for one of another version.
    ///   - wasSent: whether anything was; a run that sent nothing was only told to wait.
    private init(_ failure: FailureKind?, wasSent: Bool) {
        switch failure {
        // Every list was answered here, too.
        case .missing: self = .clears
        case .unauthorized, .apiDeprecated, .clientDeprecated: self = .freezes
        case .tooManyRequests: self = wasSent ? .backsOff : .waits
        case .offline, .timeout, .server, .foreign, .malformed:
            self = wasSent ? .backsOff : .waitsAgain
        case .client, .forbidden, .noProgress, .ruleMissing, .ruleFailed, .diskFull:
            self = .waitsAgain
        case .backoff, .deadline, .cancelled, .gated, nil: self = .none
        }
    }
}

extension SyncScope {
    /// What a run of this scope lists, feeds as a whole.
    func targets(in model: SyncModel) -> [PullTarget] {
        if case .select(let parts) = self {
            return parts.filter { model[$0.collection] != nil }.map(\.target)
        }
        return listed(model).flatMap(\.listTargets)
    }

    /// The collections that a run of this scope lists by the model's lists.
    func listed(_ model: SyncModel) -> [CollectionModel] {
        switch self {
        case .all: model.collections
        case .pull(let names): model.pulled(names)
        case .select, .folders, .push, .fetch, .reserve, .cleanUp: []
        }
    }
}

extension SyncRunRow {
    /// What the run was to do.
    package var scope: SyncScope { RunStart(stored: started.isEmpty ? summary : started).scope }
}
