// Registry.swift — which data files are open in this process.
//
// Opening one file twice in a process breaks LMDB without any error: closing the second handle
// drops the locks of the first, and another process overwrites what our readers still see. So a
// second opening, by whatever path, gets the environment that is open already.

/// The process-wide list of open data files.
enum Registry {
    /// What the list says about a file.
    enum Finding {
        case absent
        /// Open; this opening is counted.
        case shared(Environment)
        /// Open, and why it can't be shared. Carries the environment so that it isn't released
        /// under the lock.
        case refused(Environment, StoreError)
        /// It is being closed. Carries the environment, which is nil where nobody has it any more.
        case closing(Environment?)
    }

    private struct Entry {
        weak var environment: Environment?
        var openings = 1
        var isClosing = false
    }

    private static let entries = Monitor<[FileIdentity: Entry]>([:])
    /// The number of openings ever begun; held while one goes on.
    private static let opening = Monitor(0)

    /// Runs `body` while no other thread opens anything.
    static func whileOpening<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        try opening.withLock { count throws(StoreError) in
            count += 1
            return try body()
        }
    }

    /// Looks a file up.
    static func find(
        _ identity: FileIdentity, refusing objection: (Environment) -> StoreError?
    ) -> Finding {
        entries.withLock { entries -> Finding in
            guard let entry = entries[identity] else { return .absent }
            guard !entry.isClosing, let environment = entry.environment else {
                return .closing(entry.environment)
            }
            if let error = objection(environment) { return .refused(environment, error) }
            entries[identity]?.openings += 1
            return .shared(environment)
        }
    }

    /// What a file is open with; nil where it is not, or is being closed.
    static func environment(_ identity: FileIdentity) -> Environment? {
        entries.withLock { entries in
            entries[identity].flatMap { $0.isClosing ? nil : $0.environment }
        }
    }

    /// Blocks while a file is being closed.
    static func waitWhileClosing(_ identity: FileIdentity) {
        // Where it is open, its environment is carried out, not to be released under the lock.
        _ = entries.waitUntil { entries -> [Environment]? in
            guard let entry = entries[identity] else { return [] }
            guard !entry.isClosing, let environment = entry.environment else { return nil }
            return [environment]
        }
    }

    static func add(_ environment: Environment, _ identity: FileIdentity) {
        entries.withLock { $0[identity] = Entry(environment: environment) }
    }

    /// How many files are open.
    static var count: Int { entries.withLock { $0.count } }

    /// How often a file is open.
    static func openings(_ identity: FileIdentity) -> Int {
        entries.withLock { $0[identity]?.openings ?? 0 }
    }

    /// Takes one opening off; true when it was the last and the caller must close.
    static func endOpening(_ identity: FileIdentity) throws(StoreError) -> Bool {
        try entries.withLock { entries throws(StoreError) in
            guard let entry = entries[identity], !entry.isClosing else {
                throw StoreError(.closed, during: "close", detail: "the store was closed before")
            }
            entries[identity]?.openings -= 1
            entries[identity]?.isClosing = entry.openings == 1
            return entry.openings == 1
        }
    }

    /// Closes the file and takes it off the list, in one step.
    static func remove(_ identity: FileIdentity, _ close: () -> Void) {
        entries.withLock { entries in
            close()
            entries[identity] = nil
        }
        entries.wakeAll()
    }
}
