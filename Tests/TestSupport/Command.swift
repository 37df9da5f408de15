// Command.swift — running programs in tests.
//
// Foundation's Process is not used: run from many threads at once on Linux it now and then reads
// memory that is not its own, and the tests run from many threads.

import Dispatch
package import Foundation

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// A program that has ended.
package struct Command: Sendable {
    /// The exit code; nil when a signal ended it.
    package let code: Int32?
    /// The signal that ended it, if one did.
    package let signal: Int32?
    package let output: Data
    package let errors: Data

    package var text: String { String(decoding: output, as: UTF8.self) }
    package var complaints: String { String(decoding: errors, as: UTF8.self) }

    /// A program can't be started, or waited for.
    package struct Failure: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) { self.description = description }
    }

    /// Runs a program to its end while the calling thread waits.
    ///
    /// What goes in and comes out goes through files, so that any amount will do.
    ///
    /// - Parameters:
    ///   - program: its path, or its name to be found by PATH.
    ///   - environment: members to add to this process's environment; an empty value takes one
    /// away.
    ///   - folder: where it runs; this process's folder unless named.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
        in folder: String? = nil, input: Data = Data()
    ) throws -> Command {
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let files = ["in", "out", "err"].map { scratch.appending(path: $0).path }
        try input.write(to: URL(filePath: files[0]))
        let merged = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let place = folder.map { ["env", "-C", $0] } ?? []
        let status = try spawn(
            place + [program] + arguments, merged.filter { !$0.value.isEmpty }, files)
        let signal = status & 0x7F
        return Command(
            code: signal == 0 ? status >> 8 & 0xFF : nil, signal: signal == 0 ? nil : signal,
            output: try Data(contentsOf: URL(filePath: files[1])),
            errors: try Data(contentsOf: URL(filePath: files[2])))
    }

    /// The same without blocking the thread of the calling task.
    package static func running(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = [:],
        in folder: String? = nil, input: Data = Data()
    ) async throws -> Command {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        try run(
                            program, arguments, environment: environment, in: folder, input: input)
                    })
            }
        }
    }

    /// Starts, waits, and returns the status as `wait` tells it.
    static func spawn(
        _ words: [String], _ environment: [String: String], _ files: [String]
    ) throws -> Int32 {
        #if canImport(Darwin)
            var actions: posix_spawn_file_actions_t?
        #else
            var actions = unsafe posix_spawn_file_actions_t()
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        let create = O_WRONLY | O_CREAT | O_TRUNC
        unsafe posix_spawn_file_actions_addopen(&actions, 0, files[0], O_RDONLY, 0)
        unsafe posix_spawn_file_actions_addopen(&actions, 1, files[1], create, 0o600)
        unsafe posix_spawn_file_actions_addopen(&actions, 2, files[2], create, 0o600)

        let arguments = unsafe copies(words)
        let variables = unsafe copies(
            environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" })
        defer { unsafe (arguments + variables).forEach { unsafe free($0) } }
        var process: pid_t = 0
        let problem = unsafe posix_spawnp(
            &process, words[0], &actions, nil, arguments, variables)
        guard problem == 0 else {
            throw Failure(description: "\(words[0]) can't be started: error \(problem)")
        }
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 {
            guard errno == EINTR else {
                throw Failure(description: "\(words[0]) can't be waited for: error \(errno)")
            }
        }
        return status
    }

    private static func copies(_ words: [String]) -> [UnsafeMutablePointer<CChar>?] {
        unsafe words.map { word in unsafe strdup(word) } + [nil]
    }
}
