// ContentUse.swift — which files of a store's contents this process uses right now, so that nothing
// removes them: neither a sweep, nor whoever else opens the store.
//
// A file that is imported has its name before an event tells of it. It is noted here first, and
// stays noted until a sweep sees its event: who removes files asks here, and only then looks at the
// log. So a file is either noted, or its event can be read. What nothing came to name for a day is
// let go of.

package import TidemarkEvents
package import TidemarkStore

/// The files that are in use.
package final class ContentUse: Sendable {
    /// What is known of an import.
    struct Import: Sendable {
        /// The log's last position then.
        let last: Position
        let at: Timestamp

        /// Whether nothing will come to name it any more.
        func isOver(at now: Timestamp) -> Bool { at.adding(.days(1)) <= now }
    }

    private struct State: Sendable {
        /// What was imported since the store was opened, by digest.
        var imported: [String: Import] = [:]
        /// Files in the making that somebody writes.
        var parts: Set<String> = []
        /// How many imports there were.
        var imports = 0
        /// How many fetch or send a file, by its digest.
        var files: [String: Int] = [:]
        /// Files that hold what their names say, as somebody found who read them.
        var sound: Set<String> = []
        /// How many fetch what is called so.
        var sources: [ContentSource: Int] = [:]
        /// When somebody looked for something to sweep.
        var lookedAt: Timestamp?

        func isImported(_ digest: String, since position: Position) -> Bool {
            imported[digest].map { $0.last >= position } ?? false
        }

        func isInFlight(_ digest: String, _ row: ContentRow) -> Bool {
            if let stored = row.stored?.position, isImported(digest, since: stored) { return true }
            return files[digest] != nil || row.sources.contains { sources[$0] != nil }
        }
    }

    private let state = Lock(State())

    init() {}

    // MARK: Imports

    /// Notes a file before it gets its name.
    ///
    /// - Parameters:
    ///   - last: the log's last position.
    ///   - now: by the device's clock.
    package func imports(_ digest: String, at last: Position, _ now: Timestamp) {
        state.withLock { $0.imported[digest] = Import(last: last, at: now) }
    }

    /// The imports that are noted, by digest; not to be asked for inside a read.
    var imports: [String: Import] { state.withLock(\.imported) }

    /// Whether a file was imported after its event at a position, so that the import has none yet.
    package func isImported(_ digest: String, since position: Position) -> Bool {
        state.withLock { $0.isImported(digest, since: position) }
    }

    /// Forgets an import whose event is at a position; a newer one stays noted for a day.
    func forgetImport(of digest: String, storedAt position: Position, _ now: Timestamp) {
        state.withLock { state in
            guard let noted = state.imported[digest] else { return }
            if noted.last < position || noted.isOver(at: now) { state.imported[digest] = nil }
        }
    }

    /// Removes a file, unless it is in use; nobody begins to use it meanwhile.
    ///
    /// - Parameters:
    ///   - now: by the device's clock, for an import that is over; nil where none may be removed.
    ///   - body: asks the log once more whether anything names the file, and removes it.
    package func remove(
        _ digest: String, at now: Timestamp? = nil, _ body: () throws -> Void
    ) rethrows {
        try state.withLock { state in
            guard state.files[digest] == nil else { return }
            if let noted = state.imported[digest] {
                guard let now, noted.isOver(at: now) else { return }
            }
            try body()
            state.imported[digest] = nil
            state.sound.remove(digest)
        }
    }

    // MARK: Parts

    /// Begins to write a file in the making for an import, under a name of its own.
    package func beginImport() -> String {
        state.withLock { state in
            state.imports += 1
            let part = "import-\(state.imports)"
            state.parts.insert(part)
            return part
        }
    }

    /// Begins to write a file in the making.
    package func begin(part: String) { state.withLock { _ = $0.parts.insert(part) } }

    /// Ends it; what is left of it may be removed.
    package func end(part: String) { state.withLock { _ = $0.parts.remove(part) } }

    /// Whether nobody writes a file in the making.
    func mayRemove(part: String) -> Bool { state.withLock { !$0.parts.contains(part) } }

    /// Removes files in the making that nobody writes, but for some; what can't be removed stays.
    ///
    /// - Returns: how many were removed.
    @discardableResult
    package func remove(
        parts: [String], except kept: Set<String>, from files: ContentFiles
    ) -> Int {
        parts.count { part in
            !kept.contains(part) && mayRemove(part: part)
                && (try? files.remove(part: part)) != nil
        }
    }

    /// Cuts files in the making that nobody writes to as many bytes as are said of each; what can't
    /// be cut stays.
    func cut(parts: [String: UInt64], _ files: ContentFiles) {
        for (part, bytes) in parts where mayRemove(part: part) {
            try? files.cut(part: part, at: bytes)
        }
    }

    // MARK: Transfers

    /// Begins to fetch or to send a file.
    package func begin(_ digest: String) { state.withLock { $0.files[digest, default: 0] += 1 } }

    /// Begins to fetch what is called so.
    package func begin(_ source: ContentSource) {
        state.withLock { $0.sources[source, default: 0] += 1 }
    }

    /// Ends what one ``begin(_:)-(String)`` began.
    package func end(_ digest: String) {
        state.withLock { state in
            let count = state.files[digest, default: 0] - 1
            state.files[digest] = count > 0 ? count : nil
        }
    }

    /// Ends what one ``begin(_:)-(ContentSource)`` began.
    package func end(_ source: ContentSource) {
        state.withLock { state in
            let count = state.sources[source, default: 0] - 1
            state.sources[source] = count > 0 ? count : nil
        }
    }

    /// Notes that a file holds what its name says.
    package func noteSound(_ digest: String) { state.withLock { _ = $0.sound.insert(digest) } }

    /// Whether somebody noted so since the store was opened.
    package func isSound(_ digest: String) -> Bool { state.withLock { $0.sound.contains(digest) } }

    /// Whether a file is being fetched or sent, by its digest or by one of its sources, or was
    /// imported again after its last event.
    package func isInFlight(_ digest: String, _ row: ContentRow) -> Bool {
        state.withLock { $0.isInFlight(digest, row) }
    }

    /// ``isInFlight(_:_:)`` as it is now, for a read: who removes a file begins a read while nobody
    /// else may ask here, and would wait for one that asks.
    func inFlightNow() -> (_ digest: String, _ row: ContentRow) -> Bool {
        let state = state.withLock(\.self)
        return { state.isInFlight($0, $1) }
    }

    // MARK: Sweeps

    /// When somebody looked for something to sweep.
    var lookedAt: Timestamp? {
        get { state.withLock(\.lookedAt) }
        set { state.withLock { $0.lookedAt = newValue } }
    }
}
