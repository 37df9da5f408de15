// DavLikenessTests.swift — the server in memory beside a real wsgidav: the same requests to both.

import Foundation
import TestSupport
import Testing
import TidemarkTesting

@Suite(.serialized, .enabled(if: Wsgidav.isThere, "\(Wsgidav.reason)"))
struct `with a real WebDAV server` {
    @Test func `the server in memory answers as it does, but where the script says`() async throws {
        let memory = WebDAVServer(WebDAVServerModel(home: "/dav"), clock: ManualClock())
        let loopback = try await LoopbackServer.start(memory)
        let name = "script-\(UUID().uuidString)"
        let mine = WebDAVRun(address: "\(loopback.origin)/dav/\(name)")
        let theirs = WebDAVRun(address: "\(Wsgidav.url ?? "")/\(name)")
        _ = try await mine.send("MKCOL", "")
        _ = try await theirs.send("MKCOL", "")

        var told: [String: (mine: [String], theirs: [String])] = [:]
        for step in WebDAVStep.all {
            let answer = try await mine.send(step)
            let real = try await theirs.send(step)
            #expect(answer.status == step.status, "\(step)")
            #expect(real.status == step.realStatus, "\(step), wsgidav")
            if step.status != step.realStatus { continue }
            switch step.method {
            case "GET": #expect(answer.body == real.body || answer.status >= 400, "\(step)")
            case "PROPFIND" where answer.status == 207:
                told[step.description] = (mine.entries(answer), theirs.entries(real))
            default: break
            }
        }

        #expect(told.count > 8)
        for (step, lists) in told { #expect(lists.mine == lists.theirs, "\(step)") }
        _ = try await theirs.send("DELETE", "")
        await loopback.stop()
    }
}

/// A wsgidav beside the tests.
private enum Wsgidav {
    static let url = ProcessInfo.processInfo.environment["TIDEMARK_WSGIDAV"]
    static let isThere = url != nil
    static let reason: String = "TIDEMARK_WSGIDAV names no wsgidav; Tools/test starts one"
}

/// The script on one server.
private struct WebDAVRun {
    /// The whole address of the folder in which all of it is done.
    let address: String

    private var authority: String {
        String(address.dropFirst("http://".count).prefix { $0 != "/" })
    }

    private var path: String {
        String(address.dropFirst("http://".count).drop { $0 != "/" })
    }

    func send(_ step: WebDAVStep) async throws -> PlainHTTP {
        try await send(step.method, step.path, step.fields(below: address), step.body)
    }

    func send(
        _ method: String, _ place: String, _ fields: [(name: String, value: String)] = [],
        _ body: String? = nil
    ) async throws -> PlainHTTP {
        try await PlainHTTP.sending(
            method, authority: authority, path: "\(path)/\(place)", fields: fields,
            body: body.map { Array($0.utf8) })
    }

    /// The addresses that a multistatus names, below the folder and in one order.
    func entries(_ answer: PlainHTTP) -> [String] {
        let text = String(decoding: answer.body, as: UTF8.self)
        return text.split(separator: "href>").filter { $0.hasPrefix(path) }
            .map { String($0.dropFirst(path.count).prefix { $0 != "<" }) }.sorted()
    }
}
