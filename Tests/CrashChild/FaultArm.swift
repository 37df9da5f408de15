// FaultArm.swift — has a system call of this process fail. The library of Tests/FaultShim must be
// loaded into it.

import Foundation

enum FaultArm {
    struct NotLoaded: Error {}

    /// From now on the `number`-th of these calls fails, once; none where it is 0.
    static func fail(_ calls: String, _ number: Int, _ error: Int32) throws {
        typealias Arm = @convention(c) (UnsafePointer<CChar>, Int, Int32) -> Void
        guard let symbol = unsafe dlsym(nil, "tidemark_fault_arm") else { throw NotLoaded() }
        let arm = unsafe unsafeBitCast(symbol, to: Arm.self)
        unsafe arm(calls, number, error)
    }

    /// How many of the calls there were since then.
    static func count() throws -> Int {
        typealias Seen = @convention(c) () -> Int
        guard let symbol = unsafe dlsym(nil, "tidemark_fault_seen") else { throw NotLoaded() }
        return unsafe unsafeBitCast(symbol, to: Seen.self)()
    }
}
