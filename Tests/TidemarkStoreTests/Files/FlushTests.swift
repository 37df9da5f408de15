// FlushTests.swift — which flush of a file counts.

import Foundation
import Testing

@testable import TidemarkStore

@Suite struct `a flush` {
    @Test func `of the drive counts, and the system's only where there is none of the drive`() {
        var calls = 0
        func flush(_ fully: Int32, _ plainly: Int32) -> Int32 {
            Platform.flush(
                fully: { fully },
                plainly: {
                    calls += 1
                    return plainly
                })
        }
        #expect(flush(0, EIO) == 0)
        #expect(flush(EIO, 0) == EIO)
        #expect(flush(ENOSPC, 0) == ENOSPC)
        #expect(calls == 0)
        for number in [ENOTSUP, EINVAL, ENOTTY] {
            #expect(flush(number, 0) == 0)
            #expect(flush(number, EIO) == EIO)
        }
        #expect(calls == 6)
    }

    @Test func `says what the system said`() throws {
        let scratch = try Scratch()
        let descriptor = try Platform.createFile(scratch.path + "/a")
        try Platform.write([1], to: descriptor)
        try Platform.sync(descriptor)
        Platform.closeFile(descriptor)
        #expect(throws: SystemNumber.self) { try Platform.sync(-1) }
    }
}
