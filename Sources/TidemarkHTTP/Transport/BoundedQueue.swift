// BoundedQueue.swift — back-pressure for URLSession on Linux.
//
// There the session's thread reads from its connections and adds a call of the delegate for every
// 16 KB, however many wait already: a server faster than a disk fills the memory. A queue that lets
// the session wait makes it stop reading.

#if canImport(FoundationNetworking)
    package import Foundation

    /// Runs calls one after another, and lets whoever adds one wait while too many wait already.
    package final class BoundedQueue: OperationQueue, @unchecked Sendable {
        // @unchecked because: the superclass is, and the only variable is a semaphore.
        private let free = DispatchSemaphore(value: 0)

        /// A queue in which so many calls may wait.
        package init(callsMax: Int) {
            super.init()
            maxConcurrentOperationCount = 1
            for _ in 0..<callsMax { free.signal() }
        }

        package override func addOperation(_ block: @escaping @Sendable () -> Void) {
            free.wait()
            super.addOperation { [free] in
                block()
                free.signal()
            }
        }
    }
#endif
