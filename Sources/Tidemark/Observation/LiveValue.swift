// LiveValue.swift — the common part of the live models: a value that follows an observed source.

import Observation

/// The newest value of an observed source, for the main thread.
@MainActor @Observable final class LiveValue<Value: Sendable> {
    private(set) var value: Value
    private(set) var error: (any Error)?

    @ObservationIgnored private var following: Following?
    /// Counts the sources so far; a cancelled task must not change the value any more.
    @ObservationIgnored private var turn = 0

    /// Reads the first value at once; `empty` is used when that fails.
    init(_ source: ObservedSource<Value>, orElse empty: Value) {
        value = empty
        follow(source)
    }

    /// Follows another source from now on; reads it at once.
    func follow(_ source: ObservedSource<Value>) {
        turn += 1
        let (turn, reader) = (turn, ObservedReader(source))
        do {
            if let first = try reader.first() { value = first }
            if error != nil { error = nil }
        } catch {
            self.error = error
            following = nil
            return
        }
        following = Following(
            Task { [weak self] in
                do {
                    while let value = try await reader.next() {
                        guard let self, self.turn == turn else { return }
                        self.value = value
                    }
                } catch {
                    guard let self, self.turn == turn else { return }
                    self.error = error
                }
            })
    }
}
