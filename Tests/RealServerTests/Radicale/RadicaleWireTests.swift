// RadicaleWireTests.swift — what other CalDAV servers do, put into Radicale's answers.

import HTTPTypes
import Synchronization
import Testing
import Tidemark
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

extension `with a real CalDAV server` {
    @Suite struct `a CalDAV server of another kind` {
        @Test(arguments: [
            (403, #"<error xmlns="DAV:"><supported-report/></error>"#), (501, ""), (400, "no"),
            (207, #"<multistatus xmlns="DAV:"/>"#), (207, "cut off"),
        ])
        func `items are got one by one where several can't be fetched at once`(
            _ status: Int, _ body: String
        ) async throws {
            try await RadicaleWorld.run { world in
                for number in 1...4 { try await world.client.write("tasks/t\(number)", "s") }
                let reports = SyncBox<Int>()
                let a = try world.device("a") { network in
                    let wire = SyncWire(network)
                    wire.tap { request, _, pass in
                        let isFetch =
                            request.method.rawValue == "REPORT" && Self.depth(request) == nil
                        guard isFetch else { return await pass() }
                        reports.value = (reports.value ?? 0) + 1
                        return .success(
                            TransportResponse(
                                response: HTTPResponse(status: .init(code: status)),
                                body: Array(body.utf8)))
                    }
                    return wire
                }

                let outcome = try await a.sync()

                #expect(outcome.isSynced)
                #expect(reports.value == 1)
                #expect(a.wire.lines.count { $0.method == .get } == 4)
                try await world.expectEqual(a)
            }
        }

        @Test func `a list that is cut off goes on, and its last token is kept`() async throws {
            try await RadicaleWorld.run { world in
                for number in 1...4 { try await world.client.write("tasks/t\(number)", "s") }
                let rest = SyncBox<TransportResponse>()
                let a = try world.device("a") { network in
                    let wire = SyncWire(network)
                    wire.tap { request, _, pass in
                        let isList = request.path?.hasSuffix("/tasks/") == true
                        guard isList, Self.depth(request) == "0" else { return await pass() }
                        if let page = rest.value {
                            rest.value = nil
                            return .success(page)
                        }
                        let answer = await pass()
                        guard case .success(let whole) = answer,
                            let cut = Self.cut(whole, at: request.path ?? "")
                        else { return answer }
                        rest.value = cut.rest
                        return .success(cut.first)
                    }
                    return wire
                }

                let first = try await a.sync()
                #expect(first.isSynced)
                try await world.expectEqual(a)
                try await world.client.remove("tasks/t1")
                a.wire.forget()
                let second = try await a.sync()

                #expect(second.isSynced)
                #expect(a.wire.lines.allSatisfy { $0.status != 403 })
                try await world.expectEqual(a)
            }
        }

        @Test func `a sign-in page instead of the server changes nothing`() async throws {
            try await RadicaleWorld.run { world in
                try await world.client.write("tasks/t", "s")
                let isCaught = SyncBox<Bool>()
                let a = try world.device("a") { network in
                    let wire = SyncWire(network)
                    wire.tap { _, _, pass in
                        guard isCaught.value == true else { return await pass() }
                        return .success(
                            TransportResponse(
                                response: HTTPResponse(status: .ok),
                                body: Array("<html>Welcome to the hotel</html>".utf8)))
                    }
                    return wire
                }
                try await world.settle(a)
                try a.write("tasks/t", "a")
                isCaught.value = true

                let outcome = try await a.sync()

                #expect(outcome.failure?.name == "foreign")
                #expect(try a.mutations("tasks/t") == ["pending"])
                isCaught.value = false
                try await world.settle(a)
                try await world.expectEqual(a)
                #expect(try await world.summary("tasks/t") == "a")
            }
        }

        private static func depth(_ request: HTTPRequest) -> String? {
            HTTPField.Name("Depth").flatMap { request.headerFields[$0] }
        }

        /// A list of four items as two pages of two; nil for another list.
        private static func cut(
            _ whole: TransportResponse, at path: String
        ) -> (first: TransportResponse, rest: TransportResponse)? {
            let parts = whole.text.split(separator: "<response>").map(String.init)
            guard parts.count == 5 else { return nil }
            let (start, items) = (parts[0], parts.dropFirst().map { "<response>" + $0 })
            let first =
                start.replacing(#/<sync-token>.*</sync-token>/#, with: "<sync-token>2</sync-token>")
                + items[0] + items[1] + "<response><href>\(path)</href>"
                + "<status>HTTP/1.1 507 Insufficient Storage</status></response></multistatus>"
            return (whole.with(body: first), whole.with(body: start + items[2] + items[3]))
        }
    }
}
