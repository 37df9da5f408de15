// FoldIssues.swift — the user's answers to issues.

import TidemarkEvents

extension Fold {
    /// Closes the issue that the user answered; the consequences are events of their own.
    func issueAnswered(
        _ event: Event, _ payload: IssueAnswered, _ position: Position
    ) throws {
        guard let kind = payload.kind, let cause = event.cause else { return }
        switch kind {
        case .conflict:
            let place = RowKey.lost(cause, payload.index)
            guard try get(place) != nil else { return }
            put(place, nil)
            try forgetSides(cause)
        case .absent:
            guard let collection = event.collection else { return }
            if let place = try heldPlace(of: collection, since: cause) { put(place, nil) }
        case .unreadable:
            guard let collection = event.collection else { return }
            try readAnswered(collection, payload, position)
        case .unsettled:
            guard let key = try event.key.map(resolve) else { return }
            if payload.answer == "retry" {
                try retryFailing(key)
                try resend(from: key, isRefusedByServer: false, onlyFailed: true)
            }
            if payload.answer == "discard" { try giveUpFailing(key) }
        case .warned:
            guard let key = try event.key.map(resolve) else { return }
            var row = try entity(key)
            guard row.issuesAt == cause else { return }
            forgetIssues(of: &row, key)
            try put(row, key)
        case .dangling: break  // it takes no answer
        case .unfetched: try unfetchedAnswered(cause, payload.answer)
        case .rejected: break  // what was refused is sent again or given up by its own event
        }
    }

    /// Forgets both sides of an event's conflicts once none of them is open.
    private func forgetSides(_ position: Position) throws {
        for (index, _) in try decisions(at: position) {
            if try get(.lost(position, index)) != nil { return }
        }
        put(.sides(position), nil)
    }

    private func readAnswered(
        _ collection: CollectionName, _ payload: IssueAnswered, _ position: Position
    ) throws {
        let place = RowKey.unreadable(collection, payload.name)
        guard let bytes = try get(place) else { return }
        guard payload.answer == "retry" else {
            var row = try UnreadableRow(parsing: bytes)
            row.isDismissed = true
            put(place, row.encoded)
            return
        }
        // A record that is to be read again has to be listed again: only a new list does that.
        put(place, nil)
        for target in try targets(bringing: collection) {
            try endList(target)
            try owe(target, position)
        }
    }

    /// What is listed for the records of a collection: its parts, and those of the collections in
    /// whose records they stand.
    private func targets(bringing name: CollectionName) throws -> [PullTarget] {
        let model = try model()
        guard model[name] != nil else { return [PullTarget(name)] }
        return try model.bringing([name]).flatMap(concludedTargets)
    }
}
