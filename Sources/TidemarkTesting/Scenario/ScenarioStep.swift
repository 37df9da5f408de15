// ScenarioStep.swift — what happens in a scenario, one thing after another.

import Tidemark
import TidemarkEvents

/// One thing that happens, or that must hold.
struct ScenarioStep: Sendable {
    enum Action: Sendable {
        case create(EntityKey, [UInt8])
        case edit(EntityKey, Patch)
        case delete(EntityKey)
        case retry(EntityKey)
        case discard(EntityKey)
        /// The open issues about an entity or a collection get an answer.
        case answer(String, IssueAnswer)
        case server(ScenarioServerEdit)
        /// Time passes, for everybody.
        case advance(Duration)
        /// The device's clock goes so much before the server's from now on.
        case deviceClock(Duration)
        /// The server's answers are dated so much ahead of its clock from now on.
        case serverDate(Duration)
        case fault(ScenarioFault)
        /// In which order the answers to these requests come.
        case answers([ScenarioPattern])
        case sync(ScenarioSync)
        /// The process ends, and another one opens the store.
        case restart
        case background
        case foreground
        /// Time passes until the day is over, which brings a clean-up.
        case midnight
        case during(ScenarioHook)
        case expect(ScenarioExpectation)
    }
    var path: String
    var action: Action
    /// With which error it is refused, if it is to be.
    var refused: TidemarkError.Code?
}

/// What another client does.
enum ScenarioServerEdit: Sendable {
    case put(EntityKey, JSONValue)
    case delete(EntityKey)
    /// The row is gone, and nothing tells that it was there.
    case forget(EntityKey)
    case archive(EntityKey)
}

/// What goes wrong with requests.
struct ScenarioFault: Sendable {
    enum Drop: String, Sendable, CaseIterable {
        /// The connection is lost before the server got the request.
        case before
        /// The server did what was asked, and its answer is lost.
        case after
    }
    var path: String
    var request: ScenarioPattern
    /// There is no network: nothing is sent.
    var isOffline = false
    var drop: Drop?
    var status = 500
    var retryAfter: Int?
    var body: JSONValue?
    /// How many requests are let through first.
    var skip = 0
    /// How many requests it happens to.
    var times = Int.max
}

/// Which sync run.
struct ScenarioSync: Sendable {
    var scope = SyncScope.all
    var trigger = SyncTrigger.userRequested
    var isFull = false
    var deadline: Duration?
}

/// What happens while a request is on its way.
struct ScenarioHook: Sendable {
    var path: String
    var request: ScenarioPattern
    /// Which of the requests that are like it, from 1.
    var nth: Int
    /// Whether it happens before the server gets the request, and not before its answer goes back.
    var isBefore: Bool
    var steps: [ScenarioStep]
}
