// FaultShim.swift — lets the n-th system call of a child process fail; see Tests/FaultShim/fault.c.

import Foundation
import TestSupport
import Testing

@testable import SyncSupport

/// The compiled library, in a folder that goes with the test.
struct FaultShim {
    /// What happens at a call.
    enum Fault: Int32, CaseIterable {
        case killed = 0
        case inputOutput = 5
        case noSpace = 28
    }

    let folder: SyncFolder
    private var library: String { folder / "fault.so" }
    private var mark: String { folder / "mark" }

    /// Compiles it; nil where there is no C compiler, or no LD_PRELOAD.
    init?(in folder: SyncFolder) throws {
        self.folder = folder
        #if os(Linux)
            let source = Checkout.root.appending(path: "Tests/FaultShim/fault.c").path
            let built = try? Command.run(
                "cc", ["-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"])
            guard built?.code == 0 else { return nil }
        #else
            return nil
        #endif
    }

    static let isPossible: Bool = {
        guard let folder = try? SyncFolder() else { return false }
        defer { folder.delete() }
        return (try? FaultShim(in: folder)) != nil
    }()
    static let missing: Comment = "needs Linux and a C compiler named cc"

    static let allCalls = "pwrite fdatasync fsync ftruncate mmap rename"

    /// Runs a program of which the `number`-th of those calls fails.
    ///
    /// - Returns: how it ended, and whether the call was reached.
    func run(
        _ program: String, _ arguments: [String], _ fault: Fault, at number: Int,
        calls: String = allCalls
    ) async throws -> (ended: Command, isReached: Bool) {
        try? FileManager.default.removeItem(atPath: mark)
        let ended = try await Command.running(
            program, arguments,
            environment: [
                "LD_PRELOAD": library, "TIDEMARK_FAULT_CALLS": calls,
                "TIDEMARK_FAULT_NUMBER": "\(number)", "TIDEMARK_FAULT_ERRNO": "\(fault.rawValue)",
                "TIDEMARK_FAULT_MARK": mark,
            ])
        return (ended, FileManager.default.fileExists(atPath: mark))
    }

    /// Runs a program that arms the library by itself.
    func run(_ program: String, _ arguments: [String]) async throws -> Command {
        try await Command.running(program, arguments, environment: ["LD_PRELOAD": library])
    }
}
