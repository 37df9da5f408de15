// ObservedSource.swift — an observed source: how to read it, and which changes may affect it.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

/// Something that can be read at any time, and that a commit may change.
struct ObservedSource<Value: Sendable>: Sendable {
    let replica: Replica
    /// Which changes may affect the result, under the current model; nil where what is read tells.
    let interest: (@Sendable (ViewReader) throws -> Interest)?
    /// Reads the result within a context.
    let read: @Sendable (ReadContext) throws -> ObservedReading<Value>
}

/// A reading that has not been made into a value yet.
struct ObservedReading<Value: Sendable>: Sendable {
    /// Equal for two readings under one model whose values have the same inputs.
    let fingerprint: [UInt8]
    let value: @Sendable () throws -> Value
}

/// Reads an observed source repeatedly; only one task may read at a time.
final class ObservedReader<Value: Sendable>: Sendable {
    private let source: ObservedSource<Value>
    /// Whether nothing is read any more after an error, and not only after the replica's closing.
    private let endsWithErrors: Bool
    private let signal = ChangeSignal()
    private let state = Lock(State())

    private struct State: Sendable {
        var watch: Int?
        /// The registration of the model under which changes are watched.
        var model: Position?
        /// Which changes these are.
        var interest = Interest.everyCommit
        var fingerprint: [UInt8]?
        var value: Value?
        var hasEnded = false
    }

    init(_ source: ObservedSource<Value>, endsWithErrors: Bool = true) {
        self.source = source
        self.endsWithErrors = endsWithErrors
    }

    deinit {
        let watch = state.withLock { state in
            state.hasEnded = true
            return state.watch
        }
        if let watch { feed.unwatch(watch) }
    }

    private var journal: Journal { source.replica.journal }
    private var feed: CommitFeed { journal.shared.feed }

    /// The next value that differs from the one before; the first one at once.
    ///
    /// - Returns: nil once the replica was closed or the task was cancelled, and ever after; also
    ///   after an error that ends it.
    @concurrent func next() async throws -> Value? {
        while !state.withLock(\.hasEnded) {
            guard await signal.wait() else { return end() }
            if let value = try readIfChanged() { return value }
        }
        return nil
    }

    /// The first value, without waiting; ``next()`` continues from there.
    ///
    /// - Throws: errors of reading, including `closed`; ``next()`` then reads again at once.
    func first() throws -> Value? {
        try TidemarkError.mapped {
            signal.lower()
            // What was committed since such a read began is not seen in it, nor told of.
            let isInside = journal.isReadingHere
            defer { if isInside { signal.raise() } }
            do { return try read() } catch {
                signal.raise()
                throw error
            }
        }
    }

    private func readIfChanged() throws -> Value? {
        do { return try read() } catch {
            let error = TidemarkError.wrapping(error)
            let isClosed = (error as? TidemarkError)?.code == .closed
            if isClosed || endsWithErrors { end() }
            if isClosed { return nil }
            throw error
        }
    }

    /// - Returns: nil when the value is unchanged.
    private func read() throws -> Value? {
        let reading = try readWhileWatched()
        let last = state.withLock { state in
            defer { state.fingerprint = reading.fingerprint }
            return (fingerprint: state.fingerprint, value: state.value)
        }
        guard reading.fingerprint != last.fingerprint else { return nil }
        let value: Value
        do { value = try reading.value() } catch {
            // What comes after an error is news, also where it is as it was before.
            state.withLock { $0.value = nil }
            throw error
        }
        if let old = last.value, areEqual(old, value) { return nil }
        state.withLock { $0.value = value }
        return value
    }

    /// Reads, and has the next change that concerns it raise the signal, also after an error.
    private func readWhileWatched() throws -> ObservedReading<Value> {
        do {
            while true {
                if let reading = try readWatched() { return reading }
            }
        } catch {
            let isWatched = state.withLock { state in
                (state.fingerprint, state.value) = (nil, nil)
                return state.watch != nil
            }
            if !isWatched || Self.isOfStorage(error) { watch(.everyCommit, under: nil) }
            throw error
        }
    }

    /// Whether an error may end without a change of what was read: any commit may mend the tables.
    private static func isOfStorage(_ error: any Error) -> Bool {
        let code = (TidemarkError.wrapping(error) as? TidemarkError)?.code
        return code == .damaged || code == .storage
    }

    /// Reads, if the relevant changes are already watched under the current model and ids;
    /// otherwise it starts to watch them, so that the next reading misses none.
    private func readWatched() throws -> ObservedReading<Value>? {
        let (watched, last) = state.withLock { ($0.model, $0.interest) }
        return try journal.read { views in
            let model = try views.modelPosition()
            if watched == model {
                guard let interest = source.interest else {
                    return try readNoted(views, under: model, watching: last.collections)
                }
                let isCurrent = try last.names.isEmpty || interest(views).names == last.names
                if isCurrent { return try source.read(ReadContext(views)) }
            }
            watch(try source.interest?(views) ?? .everyCommit, under: model)
            return nil
        }
    }

    /// Reads, and watches the changes of what was read from then on.
    ///
    /// - Parameter watched: the collections whose changes are watched; nil for every commit.
    /// - Returns: nil where others were read: what changed in them meanwhile may have been missed.
    private func readNoted(
        _ views: ViewReader, under model: Position, watching watched: Set<CollectionName>?
    ) throws -> ObservedReading<Value>? {
        let nested = journal.nestedReads
        let noted = views.noting { try source.read(ReadContext(views)) }
        // What was read beside the context is not noted.
        let read = journal.nestedReads == nested ? noted.collections : nil
        if let watched, read?.isSubset(of: watched) != true {
            watch(.everyCommit, under: model)
            return nil
        }
        if read != watched {
            watch(read.map { Interest(allIn: $0) } ?? .everyCommit, under: model)
        }
        return try noted.result.get()
    }

    /// Has other changes raise the signal from now on, and no more those before.
    private func watch(_ interest: Interest, under model: Position?) {
        let signal = signal
        let watch = feed.watch(interest, for: journal) { signal.raise() }
        let old = state.withLock { state in
            // Another model may read the same documents otherwise.
            if state.model != model { state.fingerprint = nil }
            (state.model, state.interest) = (model, interest)
            defer { state.watch = watch }
            return state.watch
        }
        // Only now, so that no commit falls in between.
        if let old { feed.unwatch(old) }
    }

    @discardableResult
    private func end() -> Value? {
        let watch = state.withLock { state in
            state.hasEnded = true
            state.value = nil
            return state.watch.take()
        }
        if let watch { feed.unwatch(watch) }
        return nil
    }
}

/// Whether two values are known to be equal; values of types without equality are not.
private func areEqual<Value>(_ left: Value, _ right: Value) -> Bool {
    func compare<E: Equatable>(_ left: E) -> Bool { (right as? E) == left }
    return (left as? any Equatable).map { compare($0) } ?? false
}
