// DirectoryLock.swift — one writing process a store: a lock on the directory itself.
//
// The lock belongs to the open descriptor of the directory, so it holds whatever happens to the
// files in it, ends with the process however that ends, and isn't passed on to children.

/// A directory that this process alone may write to, until this is released or let go of.
package final class DirectoryLock: Sendable {
    /// Which directory it is, whatever path led to it.
    package let identity: FileIdentity
    private let descriptor: Lock<Int32?>

    /// Takes the lock of a directory that is there.
    ///
    /// Held once a process: a second attempt fails like that of another process.
    ///
    /// - Throws: ``StoreError`` when the directory can't be opened; `busy` when it is locked.
    package init(_ directory: String) throws(StoreError) {
        do throws(SystemNumber) {
            let opened = try Platform.openDirectory(directory)
            // Until both are set, an error runs no `deinit`: it is closed here, and once. Closed
            // twice, it may be what another thread has opened in between.
            do throws(SystemNumber) {
                let identity = try Platform.status(of: opened).identity
                guard try Platform.tryLock(opened) else {
                    throw SystemNumber(number: Platform.wouldBlock)
                }
                self.identity = identity
            } catch {
                Platform.closeFile(opened)
                throw error
            }
            descriptor = Lock(opened)
        } catch  where error.number == Platform.wouldBlock {
            throw StoreError(
                .busy, during: "lock",
                detail: "another process has \(directory) open for writing")
        } catch {
            throw .system(error.number, during: "open", directory)
        }
    }

    /// Shares a lock that is held: others get in once both are released.
    ///
    /// - Throws: ``StoreError``: what the system says.
    package init(sharing other: DirectoryLock) throws(StoreError) {
        identity = other.identity
        do throws(SystemNumber) {
            let shared = try other.descriptor.withLock { held throws(SystemNumber) in
                try Platform.duplicate(held ?? -1)
            }
            descriptor = Lock(shared)
        } catch {
            throw .system(error.number, during: "lock", "a folder whose lock is held")
        }
    }

    deinit { release() }

    /// Lets another process in; nothing when it was released before.
    package func release() {
        let held = descriptor.withLock { descriptor in descriptor.take() }
        if let held { Platform.closeFile(held) }
    }
}

extension FileIdentity {
    /// Which directory a path leads to.
    package init(ofDirectory path: String) throws(StoreError) {
        do throws(SystemNumber) {
            self = try Platform.status(of: path, followingLinks: true).identity
        } catch {
            throw .system(error.number, during: "open", path)
        }
    }

    /// Refuses to touch what lies in the place of this directory, which was opened at a path.
    ///
    /// - Throws: ``StoreError``: `lost`, or why it can't be told.
    package func checkPlace(_ directory: String, during action: String) throws(StoreError) {
        guard try FileIdentity(ofDirectory: directory) != self else { return }
        throw StoreError(
            .lost, during: action, detail: "\(directory) is another folder than was opened")
    }
}

/// What a store needs to know about processes and time.
package enum Waiting {
    /// The number of this process.
    package static var processID: Int32 { Platform.processID }

    /// Whether a process of that number runs now.
    package static func isRunning(_ process: Int32) -> Bool { Platform.isRunning(process) }

    /// Tries until it works, every 10 ms for at most so long, while the thread blocks.
    ///
    /// - Returns: what `attempt` returned at last; nil when it returned nothing in time.
    package static func retry<R>(
        for longest: Duration, _ attempt: () throws -> R?
    ) rethrows -> R? {
        let (seconds, attoseconds) = max(.zero, min(longest, .seconds(1_000_000_000))).components
        let nanoseconds = UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
        let deadline = Platform.monotonicNanoseconds + nanoseconds
        while true {
            if let result = try attempt() { return result }
            guard Platform.monotonicNanoseconds < deadline else { return nil }
            Platform.pause(nanoseconds: 10_000_000)
        }
    }
}
