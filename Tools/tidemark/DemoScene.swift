// DemoScene.swift — the setting of the demo: a server in this process, a network that can fail, and
// two replicas.

import Foundation
import HTTPTypes
import Synchronization
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkInspect
import TidemarkTesting
import TidemarkViews

/// Server, network and the two replicas.
struct DemoScene {
    /// Toggl's model, without its limit of three requests a second, which would make the demo slow.
    static let model: SyncModel = {
        var model = SyncModel.toggl
        model.settings.limits = []
        return model
    }()

    let phone: DemoReplica
    let laptop: DemoReplica
    let network: DemoNetwork
    let server: TogglServer
    private let listener: LoopbackServer
    /// Begins with the second in which the demo does, and moves only by ``wait(seconds:)``: what is
    /// logged does not depend on how fast the machine is.
    private let clock = ManualClock(
        start: Timestamp(milliseconds: Dependencies.live.now().milliseconds / 1000 * 1000))

    init(in folder: String) async throws {
        let model = TogglServerModel(nextID: 100, nextEntryID: nil)
        server = TogglServer(model, clock: clock)
        server.put("workspaces/1", #"{"name":"Studio"}"#)
        server.put("user/7", #"{"fullname":"Ada","default_workspace_id":1}"#)
        server.put("preferences/preferences", #"{"duration_format":"classic"}"#)
        server.put("projects/10", #"{"workspace_id":1,"name":"Website","active":true}"#)
        server.put("projects/11", #"{"workspace_id":1,"name":"Leaflet","active":true}"#)
        listener = try await LoopbackServer.start(server)
        network = DemoNetwork()
        let remote = Remote.toggl(origin: listener.origin)
        phone = try DemoReplica(
            "phone", folder, Self.model, remote, network, dependencies: .seeded(1, clock: clock))
        laptop = try DemoReplica(
            "laptop", folder, Self.model, remote, network, dependencies: .seeded(2, clock: clock))
    }

    /// Prints one part of the story, and the time that it took.
    func chapter(_ title: String, _ body: () async throws -> Void) async throws {
        try await Demo.chapter(title, body)
    }

    /// A time entry's document; without minutes it is running.
    func entry(
        _ description: String, project: String? = nil, minutesAgo: Int, minutes: Int? = nil
    ) -> String {
        let start = clock.now.adding(seconds: Int64(-60 * minutesAgo)).description.prefix(19)
        return #"{"description":"\#(description)","start":"\#(start)Z","duration":"#
            + (minutes.map { "\($0 * 60)" } ?? "null")
            + (project.map { #","project_id":\#($0)"# } ?? "") + #","workspace_id":1}"#
    }

    func wait(seconds: Double) { clock.advance(by: .seconds(seconds)) }

    /// Prints how many entries with this description the server has.
    func count(_ description: String) {
        let count = server.records(in: "time_entries").values.count { $0.contains(description) }
        Terminal.write("   server  has \(description) \(count == 1 ? "once" : "\(count) times")")
    }

    /// Makes the server refuse every creation of a project.
    func refuseProjects() {
        server.faults = FaultPlan([
            FaultRule(
                .answer(status: 402, body: Array("The plan has no more projects".utf8)),
                method: .post, pathContains: "/projects")
        ])
    }

    func end() async throws {
        try phone.close()
        try laptop.close()
        await listener.stop()
    }
}

/// The real network, with the failures of the demo.
final class DemoNetwork: Transport, Sendable {
    private let losing = Mutex<String?>(nil)
    private let down = Mutex(false)

    /// Whether the network is down.
    var isDown: Bool {
        get { down.withLock(\.self) }
        set { down.withLock { $0 = newValue } }
    }

    /// The next answer to a request of this method is lost on its way back.
    func loseNextAnswer(to method: String) { losing.withLock { $0 = method } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        guard !isDown else { throw TransportError(.offline, detail: "no network on the train") }
        let answer = try await URLSessionTransport.urlSession.send(
            request, body: body, limits: limits)
        let isLost = losing.withLock { method in
            guard method == request.method.rawValue else { return false }
            method = nil
            return true
        }
        if isLost { throw TransportError(.connectionLost, detail: "the answer was lost") }
        return answer
    }
}

/// One replica with its engine; it prints what it did by reading its own log.
struct DemoReplica {
    let name: String
    let directory: String
    let replica: Replica
    private let engine: SyncEngine
    /// The width that lines are cut to, also where the output is no terminal; nil for none.
    private let columns: Int?

    init(
        _ name: String, _ folder: String, _ model: SyncModel, _ remote: Remote,
        _ network: DemoNetwork, columns: Int? = nil, dependencies: Dependencies = .live
    ) throws {
        self.name = name
        self.columns = columns
        directory = "\(folder)/\(name)"
        replica = try Replica.open(
            at: directory, model: model, remote: remote, dependencies: dependencies)
        engine = try SyncEngine(replica, remote: remote, transport: network) {
            .basic(user: "me", password: "secret")
        }
    }

    func close() throws { try replica.close() }

    func edit(put entity: String, _ json: String) throws {
        let position = try replica.write { tx in
            try tx.put(try Name.entity(entity), Array(json.utf8))
        }
        try say(position)
    }

    func edit(patch entity: String, _ json: String) throws {
        let patch = Patch(settingAllOf: try JSONDocument(parsing: Array(json.utf8)))
        let position = try replica.write { tx in try tx.patch(try Name.entity(entity), patch) }
        try say(position)
    }

    /// Makes edits in one commit, and prints its events, a line each.
    func edit(_ body: sending (WriteContext) throws -> Void) throws {
        let before = try replica.journal.read { $0.last }
        try replica.write { tx in try body(tx) }
        try replica.journal.read { views in
            var position = before.next
            while position <= views.last {
                if let event = try views.event(at: position) {
                    let what = event.key.map { "\($0)" } ?? event.read(ReservedTaken.self)?.gist
                    say("\(position) \(event.kind) \(what ?? "")")
                }
                position = position.next
            }
        }
    }

    private func say(_ position: Position?) throws {
        guard let position,
            let event = try replica.journal.read({ try $0.event(at: position) })
        else { return }
        say(
            "\(position) \(event.kind) \(event.key.map { "\($0)" } ?? "")  "
                + EventLine.onOneLine(event.payload))
    }

    /// Syncs once, and prints what was logged.
    @discardableResult
    func sync(_ scope: SyncScope = .all, full: Bool = false) async throws -> SyncOutcome {
        let outcome = try await engine.sync(.userRequested, scope: scope, full: full)
        try replica.journal.read { views in
            try views.forEachSyncRun { start, run in
                let end = run.finished.map { " to \($0)" } ?? ""
                say("\(start)\(end) sync run: \(Self.words(run.summary))")
                try self.blocks(since: start, views)
                try self.decisions(since: start, views)
                return false
            }
        }
        return outcome
    }

    /// Fetches and sends the files that are due.
    func fetchFiles() async throws -> TransferOutcome { try await engine.transfer() }

    /// The blocks of feeds, and where they go on.
    private func blocks(since start: Position, _ views: ViewReader) throws {
        for number in start.rawValue...max(start.rawValue, views.last.rawValue) {
            let position = Position(number)
            guard let page = try views.event(at: position)?.read(PullPage.self),
                let asked = page.parameters
            else { continue }
            let news = page.events.count
            say(
                "  \(position) \(asked.field) \(asked.cursor.map { "\($0)" } ?? ""): "
                    + "\(page.ids.count), \(news) new")
        }
    }

    private func decisions(since start: Position, _ views: ViewReader) throws {
        try views.forEachDecision { position, decision in
            guard position >= start else { return true }
            let fields =
                decision.fields.isEmpty ? "" : " on " + decision.fields.joined(separator: ", ")
            let inputs = decision.inputs.map { "\($0)" }.joined(separator: " against ")
            say("  \(decision.key): \(inputs)\(fields), \(decision.result)")
            return true
        }
        for entry in try views.outbox(all: false) {
            var line = "  \(entry.mutation.key): \(entry.position) is \(entry.word)"
            if let row = try views.entity(entry.mutation.key), let refusal = row.refusal {
                line += " (\(refusal.status) \(refusal.message))"
            }
            if !entry.blockers.isEmpty {
                line += " by " + entry.blockers.map(\.description).joined(separator: ", ")
            }
            say(line)
        }
    }

    /// Prints a line of the replica's.
    func say(_ line: String) {
        let line = cut("   \(name.padded(to: 7)) \(line)")
        Terminal.write(columns.map { EventText.cut(line, to: $0) } ?? line)
    }

    /// The payload of `sync.finished` in words.
    private static func words(_ summary: [UInt8]) -> String {
        guard let value = try? JSONValue(parsing: summary) else { return "" }
        let parts = [
            ("pulled", "pulled"), ("pushed", "pushed"), ("conflicts", "in conflict"),
            ("rejected", "rejected"), ("readBack", "read back"), ("pending", "pending"),
            ("refused", "refused"),
        ].compactMap { name, word in value[name]?.int64Value.map { "\($0) \(word)" } }
        return ([value["outcome"]?.stringValue ?? ""] + parts).joined(separator: ", ")
    }
}
