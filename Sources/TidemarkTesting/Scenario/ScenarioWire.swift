// ScenarioWire.swift — what lies between the engine and the server: it notes each request, loses
// some, has steps done while one is on its way, and puts answers in an order.
//
// What a process sent that has ended meanwhile is answered to nobody.

import HTTPTypes
import Synchronization
import TidemarkEvents
import TidemarkSync

/// The way to the server.
final class ScenarioWire: Sendable {
    fileprivate struct State {
        var requests: [JSONValue] = []
        var faults: [(fault: ScenarioFault, seen: Int, met: Int)] = []
        var hooks: [(hook: ScenarioHook, seen: Int)] = []
        /// Which answers come in which order, and which of them have come.
        var order: [(pattern: ScenarioPattern, isAnswered: Bool)] = []
        /// Requests that waited for others' answers in vain.
        var stuck: [String] = []
        /// How far answers are dated ahead of the server's clock.
        var dateAhead: Duration?
        var perform: (@Sendable ([ScenarioStep]) async -> Void)?
        /// The process that lives.
        var process = 0
    }
    private let state = Mutex(State())
    private let server: any ScenarioServer
    private let clock: ManualClock

    init(_ server: any ScenarioServer, _ clock: ManualClock) {
        self.server = server
        self.clock = clock
    }

    /// Who does the steps of hooks; nil for nobody any more.
    func connect(_ perform: (@Sendable ([ScenarioStep]) async -> Void)?) {
        state.withLock { $0.perform = perform }
    }

    func add(_ fault: ScenarioFault) { state.withLock { $0.faults.append((fault, 0, 0)) } }

    func add(_ hook: ScenarioHook) { state.withLock { $0.hooks.append((hook, 0)) } }

    func date(ahead duration: Duration) { state.withLock { $0.dateAhead = duration } }

    func order(_ patterns: [ScenarioPattern]) {
        state.withLock { $0.order = patterns.map { ($0, false) } }
    }

    /// What was sent, in order: `{"request", "body", "status"}`.
    var requests: [JSONValue] { state.withLock(\.requests) }

    func clearRequests() { state.withLock { $0.requests = [] } }

    /// The hooks that nothing has come for.
    var waitingHooks: [ScenarioHook] {
        state.withLock { state in state.hooks.filter { $0.seen < $0.hook.nth }.map(\.hook) }
    }

    /// The faults that no request has met.
    var unmetFaults: [ScenarioFault] {
        state.withLock { state in state.faults.filter { $0.met == 0 }.map(\.fault) }
    }

    /// The requests whose turn to be answered never came.
    var stuck: [String] { state.withLock(\.stuck) }

    /// The way of a new process, which is the one that lives from now on.
    func connectProcess() -> some Transport {
        ScenarioProcess(
            wire: self,
            number: state.withLock { state in
                state.process += 1
                return state.process
            })
    }

    fileprivate func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits, from process: Int
    ) async throws(TransportError) -> TransportResponse {
        let line = "\(request.method.rawValue) \(request.path ?? "/")"
        let begun = state.withLock { state -> Begun? in
            guard state.process == process else { return nil }
            let fault = state.fault(line)
            if fault?.isOffline == true { return Begun(fault: fault) }
            state.requests.append(Self.note(line, body))
            return Begun(
                number: state.requests.count - 1, fault: fault, hooks: state.hooks(line),
                perform: state.perform)
        }
        guard let begun else { throw TransportError(.cancelled) }
        if begun.fault?.isOffline == true {
            throw TransportError(.offline, detail: "nothing was sent")
        }
        for hook in begun.hooks where hook.isBefore { await begun.perform?(hook.steps) }
        try checkLife(of: process)
        var answer: TransportResponse
        do { answer = try await exchange(request, body, limits, begun.fault) } catch {
            // What happens meanwhile happens also where no answer comes.
            for hook in begun.hooks where !hook.isBefore { await begun.perform?(hook.steps) }
            try checkLife(of: process)
            throw error
        }
        if let ahead = state.withLock(\.dateAhead) {
            let now = Timestamp(microseconds: clock.now.rawValue + ahead.wholeMicroseconds)
            answer.response.headerFields[.date] = HTTPDate.text(now)
        }
        for hook in begun.hooks where !hook.isBefore { await begun.perform?(hook.steps) }
        await waitForTurn(line, process)
        try checkLife(of: process)
        state.withLock { state in
            guard state.requests.indices.contains(begun.number),
                var note = state.requests[begun.number].object
            else { return }
            note["status"] = .number(JSONNumber(answer.response.status.code))
            state.requests[begun.number] = .object(note)
        }
        return answer
    }

    /// What there is to a request that is sent.
    private struct Begun {
        var number = 0
        var fault: ScenarioFault?
        var hooks: [ScenarioHook] = []
        var perform: (@Sendable ([ScenarioStep]) async -> Void)?
    }

    private func checkLife(of process: Int) throws(TransportError) {
        guard state.withLock({ $0.process == process }) else { throw TransportError(.cancelled) }
    }

    private static func note(_ line: String, _ body: [UInt8]?) -> JSONValue {
        var note: JSONObject = ["request": .string(line), "status": .null]
        if let body {
            let text = JSONValue.string(String(decoding: body, as: UTF8.self))
            note["body"] = (try? JSONValue(parsing: body)) ?? text
        }
        return .object(note)
    }

    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8]?, _ limits: TransportLimits,
        _ fault: ScenarioFault?
    ) async throws(TransportError) -> TransportResponse {
        guard let fault else {
            return try await server.transport.send(request, body: body, limits: limits)
        }
        switch fault.drop {
        case .before: throw TransportError(.connectionLost, detail: "before the server got it")
        case .after:
            _ = try await server.transport.send(request, body: body, limits: limits)
            throw TransportError(.connectionLost, detail: "after the server got it")
        case nil:
            var answer = server.failure(status: fault.status)
            answer.response.headerFields[.date] = HTTPDate.text(clock.now)
            answer.response.headerFields[.retryAfter] = fault.retryAfter.map(String.init)
            if let body = fault.body {
                answer.body = body.stringValue.map { Array($0.utf8) } ?? body.encoded()
            }
            return answer
        }
    }

    /// Waits until the answers have come that come before this one.
    private func waitForTurn(_ line: String, _ process: Int) async {
        var turns = 0
        while true {
            let isMine = state.withLock { state in
                guard state.process == process else { return true }
                guard
                    let place = state.order.firstIndex(where: {
                        !$0.isAnswered && $0.pattern.matches(line)
                    }), state.order[..<place].contains(where: { !$0.isAnswered })
                else {
                    state.answered(line)
                    return true
                }
                // Never to be reached by a scenario that can be fulfilled.
                guard turns > Self.turnsMax else { return false }
                state.stuck.append(line)
                state.answered(line)
                return true
            }
            if isMine { return }
            turns += 1
            await Task.yield()
        }
    }

    /// How often others get their turn before an answer that is held back.
    ///
    /// What it waits for is never asked then. It is no time: a slow machine takes longer.
    private static let turnsMax = 2_000_000
}

/// The way of one process.
private struct ScenarioProcess: Transport {
    let wire: ScenarioWire
    let number: Int

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        try await wire.send(request, body: body, limits: limits, from: number)
    }
}

extension ScenarioWire.State {
    /// What goes wrong with a request: of the faults that it is like the first that acts.
    fileprivate mutating func fault(_ line: String) -> ScenarioFault? {
        var found: ScenarioFault?
        for index in faults.indices where faults[index].fault.request.matches(line) {
            faults[index].seen += 1
            let fault = faults[index].fault
            let number = faults[index].seen - fault.skip
            guard found == nil, number >= 1, number <= fault.times else { continue }
            found = fault
            faults[index].met += 1
        }
        return found
    }

    /// The hooks whose time has come with a request.
    fileprivate mutating func hooks(_ line: String) -> [ScenarioHook] {
        var found: [ScenarioHook] = []
        for index in hooks.indices where hooks[index].hook.request.matches(line) {
            hooks[index].seen += 1
            if hooks[index].seen == hooks[index].hook.nth { found.append(hooks[index].hook) }
        }
        return found
    }

    fileprivate mutating func answered(_ line: String) {
        let place = order.firstIndex { !$0.isAnswered && $0.pattern.matches(line) }
        if let place { order[place].isAnswered = true }
    }
}
