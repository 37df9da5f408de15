// DiskChild.swift — a device with a tree of files whose disk fails: of the calls about files that
// it makes in a day one fails, in each of many days another one.
// `crash-child disk FOLDER ERRNO FIRST STRIDE`
//
// Prints what was wrong after a day, and in the end how many calls a day has.

import Foundation
import TestSupport
import Tidemark
import TidemarkEvents
import TidemarkStore
import TidemarkViews

enum DiskChild {
    private static let calls =
        "pwrite fdatasync fsync ftruncate mmap rename fchmod mkdir unlink open pread stat opendir"
    private static let daysMax = 4_000

    static func run(_ words: [String]) async throws {
        let arguments = ChildArguments(words, "ERRNO", "FIRST", "STRIDE")
        let (error, stride) = (Int32(arguments.numbers[0]), arguments.numbers[2])
        var (number, days, last) = (arguments.numbers[1], 0, 0)
        repeat {
            let place = "errno \(error), call \(number)"
            let day = try await DiskDay(in: arguments.store + "/day-\(number)")
            try FaultArm.fail(calls, number, error)
            await day.pass()
            last = try FaultArm.count()
            try FaultArm.fail(calls, 0, error)
            for problem in await day.problems() { CrashChild.say("\(place): \(problem)") }
            try day.end()
            (number, days) = (number + stride, days + 1)
        } while last >= number - stride && days < daysMax
        CrashChild.say("days \(days) calls \(last)")
    }
}
