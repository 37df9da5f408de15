// TogglWire.swift — the way from a device to the server: it loses and breaks, and sees what is
// sent.

import HTTPTypes
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

/// What the devices' wires have seen together.
final class TogglLedger: Sendable {
    struct State {
        /// How often the server made what has this mark, by collection and mark.
        var made: [String: Int] = [:]
        /// What was sent that must not be.
        var problems: [String] = []
        /// The collections' rows that a client deleted on the server, and when.
        var deleted: [String: Timestamp] = [:]
        /// Marks of rows that somebody else touched, so that nobody can recognise them any more.
        var tainted: Set<String> = []
    }
    private let state = Mutex(State())

    func with<R: Sendable>(_ body: (inout sending State) -> sending R) -> R {
        state.withLock(body)
    }
}

/// A transport whose faults are a function of the seed, the run and the request, whatever the order
/// in which requests of a run come.
final class TogglWire: Transport, Sendable {
    /// What a test may do while a write is on its way.
    typealias Meanwhile = @Sendable (_ chance: UInt64) throws -> Void

    struct State {
        var percent = 0
        var run = 0
        var seen: [String: Int] = [:]
        var meanwhile: Meanwhile?
        /// When a list of everything was answered last, by path.
        var whole: [String: Timestamp] = [:]
        /// The requests of the run and their answers.
        var lines: [String] = []
    }
    private let seed: UInt64
    /// Whether requests come one at a time, so that something may happen during any of them.
    private let isAlone: Bool
    private let server: TogglServer
    private let clock: ManualClock
    let ledger: TogglLedger
    let state = Mutex(State())
    /// Says what is wrong with a write to a row, if anything is: asked before it is sent.
    let objection = Mutex<(@Sendable (String, String?) -> String?)?>(nil)

    init(
        _ server: TogglServer, _ clock: ManualClock, _ ledger: TogglLedger, seed: UInt64,
        isAlone: Bool = false
    ) {
        self.isAlone = isAlone
        self.server = server
        self.clock = clock
        self.ledger = ledger
        self.seed = seed
    }

    /// Begins a run in which so many of a hundred requests fail.
    func begin(failing percent: Int, _ meanwhile: Meanwhile?) {
        state.withLock {
            $0.percent = percent
            $0.run += 1
            $0.seen = [:]
            $0.meanwhile = meanwhile
            $0.lines = []
        }
    }

    var lines: [String] { state.withLock(\.lines) }

    /// When a list of everything was asked for last.
    func whole(_ collection: String) -> Timestamp? {
        state.withLock { $0.whole["/api/v9/me/\(collection)"] }
    }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let path = request.path ?? ""
        let line = "\(request.method.rawValue) \(path)"
        let (count, run, percent, meanwhile) = state.withLock {
            state -> (Int, Int, Int, Meanwhile?) in
            let count = state.seen[line, default: 0]
            state.seen[line] = count + 1
            return (count, state.run, state.percent, state.meanwhile)
        }
        let chance = chance("\(run) \(line) \(count)")
        let isWrite = request.method != .get && !path.hasPrefix("/reports")
        if isWrite { look(at: request, path, body) }
        let kind = Int(chance % 100) < percent ? Int(chance / 100 % 12) : -1
        let said = kind >= 0 ? "!\(kind)" : ""
        do throws(TransportError) {
            if isWrite || isAlone { try act(meanwhile, chance / 7919) }
            let answer = try await exchange(request, body, limits, kind)
            if isWrite || isAlone { try act(meanwhile, chance / 104_729) }
            note("\(line)\(text(body)) -> \(answer.response.status.code)\(said)")
            return answer
        } catch {
            note("\(line)\(text(body)) -> \(error)\(said)")
            throw error
        }
    }

    private func text(_ body: [UInt8]?) -> String {
        body.map { " " + String(decoding: $0, as: UTF8.self) } ?? ""
    }

    private func note(_ line: String) { state.withLock { $0.lines.append(line) } }

    private func act(_ meanwhile: Meanwhile?, _ chance: UInt64) throws(TransportError) {
        clock.advance(by: .milliseconds(40))
        do { try meanwhile?(chance) } catch {
            ledger.with { $0.problems.append("an edit during a request: \(error)") }
        }
    }

    private func exchange(
        _ request: HTTPRequest, _ body: [UInt8]?, _ limits: TransportLimits, _ kind: Int
    ) async throws(TransportError) -> TransportResponse {
        switch kind {
        case 0: throw TransportError(.offline)
        case 1: throw TransportError(.timeout)
        case 2: return Self.answer(500)
        case 3: return Self.answer(503, retryAfter: "3")
        case 4: return Self.answer(429, retryAfter: "5")
        case 5: return Self.answer(402)
        case 6: return Self.answer(400)
        default: break
        }
        let answer = try await server.send(request, body: body, limits: limits)
        if (200..<300).contains(answer.response.status.code) { count(request, body, answer, kind) }
        switch kind {
        case 7, 8: throw TransportError(.connectionLost)
        case 9: throw TransportError(.timeout)
        case 10: return Self.answer(502)
        case 11: return Self.answer(500)
        default: return answer
        }
    }

    private static func answer(_ status: Int, retryAfter: String? = nil) -> TransportResponse {
        var fields: HTTPFields = [:]
        fields[.retryAfter] = retryAfter
        return TransportResponse(
            response: HTTPResponse(status: .init(code: status), headerFields: fields), body: [])
    }

    /// Looks for what must never be sent.
    private func look(at request: HTTPRequest, _ path: String, _ body: [UInt8]?) {
        let text = String(decoding: body ?? [], as: UTF8.self)
        var problems: [String] = []
        if path.contains("loc-") || text.contains("\"loc-") {
            problems.append("a local id is sent: \(request.method) \(path) \(text)")
        }
        if text.contains("Inaccessible") { problems.append("a placeholder is sent: \(path)") }
        let parts = path.split(separator: "/").map(String.init)
        if parts.count >= 5, parts[2] == "workspaces" {
            let row = parts.count > 5 ? "\(parts[4])/\(parts[5])" : nil
            if let words = objection.withLock({ $0 })?(parts[3], row) {
                problems.append("\(words): \(request.method) \(path)")
            }
        }
        let found = problems
        ledger.with { $0.problems += found }
    }

    /// Counts what the server has done.
    private func count(
        _ request: HTTPRequest, _ body: [UInt8]?, _ answer: TransportResponse, _ kind: Int
    ) {
        let path = request.path ?? ""
        let parts = path.split(separator: "/").map(String.init)
        let now = clock.trueNow
        if request.method == .get {
            // It was told, also if the answer got lost: only answers count.
            guard kind < 0 else { return }
            let place = String(path.prefix { $0 != "?" })
            if !path.contains("since=") { state.withLock { $0.whole[place] = now } }
        } else if request.method == .post, !path.hasPrefix("/reports") {
            guard let mark = Self.mark(answer.body) else { return }
            ledger.with { $0.made[mark, default: 0] += 1 }
        } else if request.method == .delete, parts.count == 6 {
            ledger.with { $0.deleted["\(parts[4])/\(parts[5])"] = now }
        }
    }

    /// The mark by which the simulation knows a row again.
    static func mark(_ bytes: [UInt8]) -> String? {
        (try? JSONDocument(parsing: bytes))?.value("mark")?.stringValue
    }

    private func chance(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325 ^ seed
        for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return hash ^ (hash >> 31)
    }
}
