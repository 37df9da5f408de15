// ScenarioWire.swift — the connection between engine and server: it logs each request, drops some,
// performs steps while one is in flight, and orders the answers.
//
// Requests of a process that has ended are never answered.

import HTTPTypes
import Synchronization
import TidemarkEvents
import TidemarkSync

/// The connection to the server.
final class ScenarioWire: Sendable {
    fileprivate struct State {
        var requests: [JSONValue] = []
        var faults: [(fault: ScenarioFault, seen: Int, met: Int)] = []
        var hooks: [(hook: ScenarioHook, seen: Int)] = []
        /// The order in which answers arrive, and which of them have arrived.
        var order: [(pattern: ScenarioPattern, isAnswered: Bool)] = []
        /// Requests that waited in vain for the answers before theirs.
        var stuck: [String] = []
        /// How far answers are dated ahead of the server's clock.
        var dateAhead: Duration?
        var perform: (@Sendable ([ScenarioStep]) async -> Void)?
        /// The number of the current process.
        var process = 0
    }
    private let state = Mutex(State())
    private let server: any ScenarioServer
    /// The server's files, before all else that it answers.
    private let files: InMemoryFiles
    private let clock: ManualClock

    init(_ server: any ScenarioServer, _ clock: ManualClock) {
        self.server = server
        files = InMemoryFiles(beside: server.transport, givesAll: !server.givesFiles)
        self.clock = clock
    }

    /// Sets who performs the steps of hooks; nil for nobody any more.
    func connect(_ perform: (@Sendable ([ScenarioStep]) async -> Void)?) {
        state.withLock { $0.perform = perform }
    }

    /// Puts a file on the server; nil for none any more.
    func serve(_ path: String, _ bytes: [UInt8]?) {
        files[ScenarioServerKind.origin + path] = bytes.map { bytes in
            // Other bytes are another version.
            let sum = bytes.reduce(UInt64(bytes.count)) { $0 &* 31 &+ UInt64($1) }
            return InMemoryFiles.File(bytes, tag: "\"\(sum)\"")
        }
    }

    /// Lets the server take files below a path from now on.
    func takeFiles(below path: String) {
        files.takeFiles(below: ScenarioServerKind.origin + path)
    }

    func add(_ fault: ScenarioFault) { state.withLock { $0.faults.append((fault, 0, 0)) } }

    func add(_ hook: ScenarioHook) { state.withLock { $0.hooks.append((hook, 0)) } }

    func date(ahead duration: Duration) { state.withLock { $0.dateAhead = duration } }

    func order(_ patterns: [ScenarioPattern]) {
        state.withLock { $0.order = patterns.map { ($0, false) } }
    }

    /// The requests sent so far, in order: `{"request", "body", "status"}`.
    var requests: [JSONValue] { state.withLock(\.requests) }

    func clearRequests() { state.withLock { $0.requests = [] } }

    /// The hooks whose request has not come yet.
    var waitingHooks: [ScenarioHook] {
        state.withLock { state in state.hooks.filter { $0.seen < $0.hook.nth }.map(\.hook) }
    }

    /// The faults that have hit no request.
    var unmetFaults: [ScenarioFault] {
        state.withLock { state in state.faults.filter { $0.met == 0 }.map(\.fault) }
    }

    /// The requests whose turn to be answered never came.
    var stuck: [String] { state.withLock(\.stuck) }

    /// The connection of a new process, which is the current one from now on.
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
            // Hooks are run even where no answer comes.
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

    /// The circumstances of a request in flight.
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
            return try await files.send(request, body: body, limits: limits)
        }
        switch fault.drop {
        case .before: throw TransportError(.connectionLost, detail: "before the server got it")
        case .after:
            _ = try await files.send(request, body: body, limits: limits)
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

    /// Waits until all answers before this one have arrived.
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
                // A scenario that can be fulfilled never gets here.
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

    /// How often other tasks get their turn before a held-back answer is released.
    ///
    /// By then, the requests before it are never sent. It counts turns and not time, because a slow
    /// machine takes longer.
    private static let turnsMax = 2_000_000
}

/// The connection of one process.
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
    /// The fault of a request: the first active one among the matching faults.
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

    /// The hooks that a request triggers.
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
