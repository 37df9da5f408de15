// ServerWorld.swift — a server with a clock in the test's hand.

import Foundation
import HTTPTypes
import Synchronization
import TidemarkEvents
import TidemarkSync
import TidemarkTesting

/// A server that holds bucket `b` with the empty collection `c`, at a time that tests move.
final class ServerWorld: Sendable {
    static let records = "/v1/buckets/b/collections/c/records"
    static let credentials = "Basic dTpw"

    let server: KintoServer
    private let clock: Clock

    private final class Clock: Sendable {
        let milliseconds = Atomic<Int64>(1_795_000_000_000)
    }

    init(_ model: KintoServerModel = KintoServerModel(), rules: [FaultRule] = []) {
        let clock = Clock()
        self.clock = clock
        server = KintoServer(model, faults: FaultPlan(rules)) {
            Timestamp(milliseconds: clock.milliseconds.load(ordering: .relaxed))
        }
    }

    /// A world with bucket `b` and collection `c`.
    static func withCollection(
        _ model: KintoServerModel = KintoServerModel(), rules: [FaultRule] = []
    ) -> ServerWorld {
        let world = ServerWorld(model, rules: rules)
        world.server.request(.put, "/v1/buckets/b")
        world.server.request(.put, "/v1/buckets/b/collections/c")
        return world
    }

    func advance(milliseconds: Int64) {
        clock.milliseconds.add(milliseconds, ordering: .relaxed)
    }

    /// A client's request for a record or, with an empty id, the list.
    func send(
        _ method: HTTPRequest.Method, _ id: String = "", query: String = "",
        fields: HTTPFields = [:], body: String? = nil
    ) async throws -> TransportResponse {
        var request = HTTPRequest(
            method: method, scheme: "https", authority: "kinto.test:8443",
            path: Self.records + (id.isEmpty ? "" : "/\(id)") + query, headerFields: fields)
        request.headerFields[.authorization] = Self.credentials
        return try await server.send(
            request, body: body.map { Array($0.utf8) }, limits: TransportLimits())
    }

    /// The ids and timestamps of a list's rows, as `id@ms` in their order.
    static func rows(_ answer: TransportResponse) throws -> [String] {
        struct Page: Decodable {
            struct Row: Decodable {
                var id: String
                var last_modified: Int64
            }
            var data: [Row]
        }
        return try JSONDecoder().decode(Page.self, from: Data(answer.body)).data
            .map { "\($0.id)@\($0.last_modified - 1_795_000_000_000)" }
    }
}
