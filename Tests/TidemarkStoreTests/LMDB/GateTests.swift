// GateTests.swift — who waits for whom before a transaction.

import Testing

@testable import TidemarkStore

@Suite struct `the gate` {
    @Test func `lets those read whom a write waits for, also where somebody waits to be alone`()
        throws
    {
        let gate = Gate(readersMax: 4)
        try gate.enterWriter()
        let alone = Monitored(0)
        onNewThread {
            alone.update { $0 = 1 }
            try gate.withExclusive(end: { _, _ in }) { () throws(StoreError) in
                alone.update { $0 = 2 }
            }
        }
        alone.wait { $0 > 0 }

        // One after another, so that some come while it waits.
        let passed = Monitored(0)
        for number in 1...200 {
            onNewThread {
                let me = Platform.threadID
                _ = gate.enterReader(me)
                gate.dropReader(me)
                passed.update { $0 += 1 }
            }
            passed.wait { $0 == number }
        }

        #expect(alone.update { $0 } == 1)
        gate.leaveWriter()
        alone.wait { $0 == 2 }
    }
}
