// TogglServerCommand.swift — `toggl-server`: the server in memory that behaves like Toggl, over
// sockets, until it is ended.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkTesting

@main
struct TogglServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "toggl-server",
        abstract: "Runs a server that behaves like Toggl's API 9 on 127.0.0.1, in memory.",
        discussion: """
            Any name and password are the user. Without rows there are a workspace and a
            project. Prints READY and its address, then a line for each request and its
            status. Everything is gone when it ends.
            """)

    @Option(help: "Where to listen; 0 for a free port.")
    var port: UInt16 = 8889
    @Option(help: "Requests an hour allows: those of the plan free, starter or premium.")
    var quotas: Plan?
    @Option(help: "A JSON file of what it holds: for each collection a list of rows.")
    var rows: String?

    enum Plan: String, ExpressibleByArgument, CaseIterable {
        case free, starter, premium

        var limits: TogglQuotaLimits {
            switch self {
            case .free: .free
            case .starter: .starter
            case .premium: .premium
            }
        }
    }

    func run() async throws {
        let server = TogglServer(
            TogglServerModel(quotas: quotas?.limits), now: Dependencies.live.now)
        try fill(server)
        let listener = try await LoopbackServer.start(server, port: port)
        say("READY \(listener.origin)")
        var said = 0
        while true {
            try await Task.sleep(for: .milliseconds(200))
            for request in server.requestLog.dropFirst(said) {
                say("\(request.method) \(request.path) \(request.status.map(String.init) ?? "-")")
                said += 1
            }
        }
    }

    private func fill(_ server: TogglServer) throws {
        server.put("workspaces/1", #"{"name":"Home","organization_id":1}"#)
        server.put("user/1", #"{"default_workspace_id":1}"#)
        guard let rows else {
            return server.put("projects/5", #"{"workspace_id":1,"name":"Garden"}"#)
        }
        guard let bytes = FileManager.default.contents(atPath: rows),
            let kinds = (try? JSONValue(parsing: Array(bytes)))?.object
        else { throw ValidationError("\(rows) is no JSON object that can be read") }
        for (kind, list) in kinds {
            for row in list.array ?? [] {
                let id = row["id"]?.idText ?? row["workspace_id"]?.idText ?? "1"
                let key = kind == "preferences" ? "preferences/preferences" : "\(kind)/\(id)"
                guard TogglServer.isRow(key), row.object != nil else {
                    throw ValidationError("\(rows): \(key) is no row; projects/5 would be")
                }
                server.put(key, row.description)
            }
        }
    }

    private func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }
}
