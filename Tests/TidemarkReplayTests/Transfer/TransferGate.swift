// TransferGate.swift — a server of files that holds its answers: a test says when how many requests
// are open, and no machine's speed does.

import HTTPTypes
import Tidemark
import TidemarkEvents
import TidemarkHTTP
import TidemarkStore
import TidemarkSync
import TidemarkTesting

/// Answers the first request at once, and holds the others until it is told to let them go.
final class TransferGate: Transport, Sendable {
    private struct State: Sendable {
        var asked: [String] = []
        var open = 0
        var most = 0
        var isOpen = false
    }
    private let files: InMemoryFiles
    private let replica: Replica
    private let state = Lock(State())

    init(_ world: TransferWorld) { (files, replica) = (world.files, world.replica) }

    var asked: [String] { state.withLock(\.asked) }
    var open: Int { state.withLock(\.open) }
    var most: Int { state.withLock(\.most) }

    func letGo() { state.withLock { $0.isOpen = true } }

    func send(
        _ request: HTTPRequest, body: [UInt8]?, limits: TransportLimits
    ) async throws(TransportError) -> TransportResponse {
        let isFirst = state.withLock { state in
            state.asked.append(String((request.path ?? "").suffix(1)))
            state.open += 1
            state.most = max(state.most, state.open)
            return state.asked.count == 1
        }
        while !isFirst, !state.withLock(\.isOpen), !Task.isCancelled { await Task.yield() }
        state.withLock { $0.open -= 1 }
        return try await files.send(request, body: body, limits: limits)
    }

    /// A pass over files of which so many are held before they are let go.
    func transfer(holding count: Int, in world: TransferWorld) async throws -> TransferOutcome {
        let engine = try world.engine(over: self)
        async let outcome = engine.transfer()
        try await settle(count)
        letGo()
        return try await outcome
    }

    /// Waits until so many are held, and for what else may come: each of some edits has the pass
    /// look for more, which is stored in turn with them.
    func settle(_ count: Int) async throws {
        // The first one is open for a moment, too.
        while asked.count <= count || open < count { await Task.yield() }
        for number in 1...20 {
            let document = Array(#"{"n":\#(number)}"#.utf8)
            try await replica.write { tx in
                _ = try tx.put(EntityKey("tasks", "edited"), document)
            }
        }
    }
}
