// Project.swift — this project's files, as Git and the disk have them.

import Foundation
import TestSupport

/// The project these tests belong to.
enum Project {
    /// The folder with Package.swift.
    static let root = Checkout.root

    /// Whether the project is a Git working copy; an unpacked archive is not.
    static var isWorkingCopy: Bool {
        FileManager.default.fileExists(atPath: root.appending(path: ".git").path)
    }

    /// The paths that Git has or would take: ignored files are left out, deleted ones too.
    static func files() throws -> [String] {
        let listed = try run(
            "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
        guard listed.status == 0 else { throw ProjectError(what: listed.output) }
        return listed.output.split(separator: "\0").map(String.init).filter {
            FileManager.default.fileExists(atPath: root.appending(path: $0).path)
        }
    }

    /// The Swift files under Sources, Tests and Tools, by path; hidden folders, what protoc
    /// made and manifests are left out.
    static func swiftFiles() throws -> [String] {
        try ["Sources", "Tests", "Tools"].flatMap { folder in
            try FileManager.default.subpathsOfDirectory(
                atPath: root.appending(path: folder).path
            )
            .map { "\(folder)/\($0)" }
            .filter { path in
                path.hasSuffix(".swift") && !path.hasSuffix(".pb.swift") && !path.contains("/.")
                    && !path.hasSuffix("/Package.swift")
            }
        }.sorted()
    }

    static func bytes(_ path: String) throws -> Data {
        try Data(contentsOf: root.appending(path: path))
    }

    static func text(_ path: String) throws -> String {
        String(decoding: try bytes(path), as: UTF8.self)
    }

    /// Runs a command in the project's root: its exit status and all it printed.
    static func run(_ command: String...) throws -> (status: Int32, output: String) {
        let ended = try Command.run(
            command[0], Array(command.dropFirst()), in: root.path(percentEncoded: false))
        return (ended.code ?? -1, ended.text + ended.complaints)
    }
}

/// Git could not list the files.
struct ProjectError: Error {
    var what: String
}
