// Journal+Server.swift — whether a log tells anything of a server.

import TidemarkEvents
import TidemarkLog
import TidemarkStore

extension Journal {
    /// Whether a server may know of what is here, or the log tells anything that one said.
    ///
    /// Reads the log up to the first event that does, near its beginning in a store that is synced.
    package func tellsOfServer() throws -> Bool {
        try environment.read(isOwner: guardian != nil) { transaction in
            // What was dropped may have told of one.
            if try log.beginning(transaction) != nil { return true }
            var isTold = false
            try log.forEach(transaction) { _, event in
                isTold = event.tellsOfServer
                return !isTold
            }
            return isTold
        }
    }
}

extension Event {
    /// Whether a request changed something on a server, or a server said something.
    fileprivate var tellsOfServer: Bool {
        switch kind.family {
        case .store, .model, .local, .app, .runStart, .asset: return false
        case .request:
            guard let request = read(RequestSent.self) else { return true }
            return request.isWrite || request.file.sentDigest != nil
        case .answer: return kind == .requestAnswered
        case .runEnd:
            // Answers that brought nothing new are no events.
            guard let run = read(SyncFinished.self) else { return true }
            if case .failed? = run.outcome { return false }
            return run.requests > 0
        case .word, .notice, .list, .push, .unknown: return true
        }
    }
}
