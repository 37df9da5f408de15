// ScenarioStep.swift — the steps of a scenario, one after another.

import Tidemark
import TidemarkEvents

/// An action, or an expectation.
struct ScenarioStep: Sendable {
    enum Action: Sendable {
        case create(EntityKey, [UInt8])
        case edit(EntityKey, Patch)
        case delete(EntityKey)
        /// The user wants the server to do something with an entity, or to make it.
        case request(EntityKey, String, [String: String], making: [UInt8]?)
        case retry(EntityKey)
        case discard(EntityKey, withBuiltOn: Bool)
        /// The open issues about an entity or a collection get an answer.
        case answer(String, IssueAnswer)
        case server(ScenarioServerEdit)
        /// The server has a file under a path from now on, or none any more.
        case serverFile(String, [UInt8]?)
        case serverTakesFiles(String)
        /// The user gives an entity a file.
        case attach(ScenarioAttachment)
        case want(ScenarioWish)
        /// The user takes values of a pool.
        case take(ScenarioTake)
        /// What is pending was sent another way, or arrived.
        case relay(EntityKey, via: String?, isConfirmed: Bool)
        /// What was synced is dropped.
        case wipe(ScenarioWipe)
        /// Files that are due are transferred.
        case transfer
        /// Files go that need not be kept.
        case sweep
        /// Time passes on device and server.
        case advance(Duration)
        /// From now on, the device's clock is this far ahead of the server's.
        case deviceClock(Duration)
        /// From now on, the server's answers are dated this far ahead of its clock.
        case serverDate(Duration)
        case fault(ScenarioFault)
        /// The order in which the answers to these requests arrive.
        case answers([ScenarioPattern])
        case sync(ScenarioSync)
        /// The process ends, with the device or alone, and another one opens the store.
        case restart(ofDevice: Bool)
        case background
        case foreground
        /// Time passes until midnight, which starts a clean-up.
        case midnight
        case during(ScenarioHook)
        case expect(ScenarioExpectation)
    }
    var path: String
    var action: Action
    /// The error with which it is to be refused, if any.
    var refused: TidemarkError.Code?
}

/// An edit of another client.
enum ScenarioServerEdit: Sendable {
    case put(EntityKey, JSONValue)
    case delete(EntityKey)
    /// The row is removed without a trace.
    case forget(EntityKey)
    case archive(EntityKey)
    /// What has a path gets another one.
    case move(EntityKey, to: String)
}

/// A fault of requests.
struct ScenarioFault: Sendable {
    enum Drop: String, Sendable, CaseIterable {
        /// The connection breaks before the server has received the request.
        case before
        /// The server has handled the request, and its answer is lost.
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
    /// How many matching requests pass first.
    var skip = 0
    /// How many requests are hit.
    var times = Int.max
}

/// The kind of sync run.
struct ScenarioSync: Sendable {
    var scope = SyncScope.all
    var trigger = SyncTrigger.userRequested
    var mode = PullMode.changes
    var deadline: Duration?
}

/// Steps that are performed while a request is in flight.
struct ScenarioHook: Sendable {
    var path: String
    var request: ScenarioPattern
    /// The number of the matching request, counted from 1.
    var nth: Int
    /// Whether they are performed before the server receives the request, rather than before its
    /// answer returns.
    var isBefore: Bool
    var steps: [ScenarioStep]
}
