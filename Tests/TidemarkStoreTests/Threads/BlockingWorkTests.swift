// BlockingWorkTests.swift — work that blocks keeps no thread from tasks.

import Testing
import TidemarkStore

@Suite struct `work that blocks` {
    @Test func `is done by four threads at most, beside which tasks go on`() async throws {
        let isOpen = Monitored(false)
        let threads = Monitored((running: 0, most: 0))
        let sum = try await withThrowingTaskGroup(of: Int.self) { group in
            for number in 1...50 {
                group.addTask {
                    try await BlockingWork.run {
                        threads.update {
                            $0.running += 1
                            $0.most = max($0.most, $0.running)
                        }
                        isOpen.wait { $0 }
                        threads.update { $0.running -= 1 }
                        return number
                    }
                }
            }
            // It would have no thread if all of Swift's waited for it.
            group.addTask {
                isOpen.set(true)
                return 0
            }
            var sum = 0
            for try await number in group { sum += number }
            return sum
        }
        #expect(sum == 1275)
        #expect((1...4).contains(threads.update { $0.most }))
    }

    @Test func `and waits for others keeps no thread from them`() async throws {
        let (isOpen, begun) = (Monitored(false), Monitored(0))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 1...4 {
                group.addTask {
                    try await BlockingWork.run(waits: true) {
                        begun.update { $0 += 1 }
                        isOpen.wait { $0 }
                    }
                }
            }
            group.addTask {
                while begun.update({ $0 }) < 4 { await Task.yield() }
                // It would have no thread if all four waited there.
                try await BlockingWork.run { isOpen.set(true) }
            }
            try await group.waitForAll()
        }
    }

    @Test func `throws what it threw`() async {
        struct Failure: Error {}
        await #expect(throws: Failure.self) {
            try await BlockingWork.run { throw Failure() }
        }
    }
}
