// StatusBroadcast.swift — one sender, any number of listeners; each sees what comes after it began.

import TidemarkStore

/// Hands each status to every listener; a slow listener misses none but the oldest of many.
final class StatusBroadcast: Sendable {
    private struct Listeners {
        var next = 0
        var all: [Int: AsyncStream<EngineStatus>.Continuation] = [:]
    }
    private let listeners = Lock(Listeners())

    func subscribe() -> AsyncStream<EngineStatus> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: EngineStatus.self, bufferingPolicy: .bufferingNewest(256))
        let number = listeners.withLock { state in
            state.next += 1
            state.all[state.next] = continuation
            return state.next
        }
        continuation.onTermination = { [weak self] _ in
            self?.listeners.withLock { state in state.all[number] = nil }
        }
        return stream
    }

    func send(_ status: EngineStatus) {
        let all = listeners.withLock { state in state.all.sorted { $0.key < $1.key }.map(\.value) }
        for continuation in all { continuation.yield(status) }
    }
}
