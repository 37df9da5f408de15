// BoundedQueueTests.swift — whoever adds too many calls waits.

#if canImport(FoundationNetworking)
    import Foundation
    import Synchronization
    import Testing
    import TidemarkHTTP

    @Suite struct `the queue of URLSession's calls` {
        @Test func `no more than its number wait, and all run in order`() {
            let queue = BoundedQueue(callsMax: 3)
            let order = Mutex<[Int]>([])
            let waiting = Mutex(0)
            let longest = Mutex(0)
            for number in 0..<10_000 {
                queue.addOperation {
                    let now = waiting.withLock {
                        $0 -= 1
                        return $0
                    }
                    longest.withLock { $0 = max($0, now) }
                    order.withLock { $0.append(number) }
                }
                waiting.withLock { $0 += 1 }
            }
            queue.waitUntilAllOperationsAreFinished()

            #expect(order.withLock { $0 } == Array(0..<10_000))
            #expect(longest.withLock { $0 } <= 3)
        }
    }
#endif
