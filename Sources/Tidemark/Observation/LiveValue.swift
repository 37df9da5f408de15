// LiveValue.swift — the common part of the live models: a value that follows an observed source,
// over errors, too.

import Observation

/// The newest value of an observed source, for the main thread.
///
/// After an error it stays, and the next commit that concerns the source has it read again.
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
        let (turn, reader) = (turn, ObservedReader(source, endsWithErrors: false))
        do { show(try reader.first()) } catch { self.error = error }
        following = Following(
            Task { [weak self] in
                while true {
                    do {
                        guard let value = try await reader.next() else { return }
                        guard let self, self.turn == turn else { return }
                        self.show(value)
                    } catch {
                        guard let self, self.turn == turn else { return }
                        self.error = error
                    }
                }
            })
    }

    /// Shows what could be read, after an error, too; nil for what is there already.
    private func show(_ value: Value?) {
        if let value { self.value = value }
        if error != nil { error = nil }
    }
}
