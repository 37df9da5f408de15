// ReplayCorpus.swift — a folder of recorded bugs, each with its story, as arguments of one test.
//
//   Replays/NAME/STORY.md    what was seen; one of its first lines is the expected result:
//                              Expected: replays
//                              Expected: diverges at @41 (digest)
//                            and, where not both modes are meant, as of a redacted or a shrunk
//                            capsule, another line: Mode: fold
//   Replays/NAME/*.capsule   the recorded log

import Foundation
public import TidemarkEvents
public import TidemarkSync

/// One recorded bug of a corpus.
public struct RecordedReplay: Sendable, CustomStringConvertible {
    /// The expected result of a replay.
    @nonexhaustive public enum Expectation: Sendable, Hashable {
        /// It comes out as recorded.
        case replays
        /// It differs at that event, in that way.
        case diverges(at: Position, Divergence.Kind)
    }

    /// The name of its folder, with that of its file where the folder has several.
    public let name: String
    /// The capsule's file.
    public let file: String
    /// The text of its story.
    public let story: String
    /// The expected result of a replay.
    public let expectation: Expectation
    public let mode: Replay.Mode

    public var description: String { name }

    /// Replays it, and compares the result with the one that its story expects.
    ///
    /// - Parameters:
    ///   - model: a model instead of those in the log.
    ///   - adapter: the app's own adapter, where the log's remote names one that only the app has.
    ///   - rules: the app's own rules for conflicts.
    /// - Throws: `Divergence` where it differs, or differs elsewhere than expected; `ReplayMistake`
    ///   where it should differ and does not.
    @discardableResult
    public func run(
        _ model: SyncModel? = nil, adapter: (any ServerAdapter)? = nil,
        rules: [ConflictRule] = []
    ) async throws -> [ReplayReport] {
        let replay = Replay(.file(file), model, adapter: adapter, mode: mode, rules: rules)
        let reports = try await replay.reports()
        let found = reports.compactMap(\.divergence).first
        switch expectation {
        case .replays:
            if let found { throw found }
            try reports.checkDecided()
        case .diverges(let position, let kind):
            guard let found else {
                throw ReplayMistake(
                    "\(name): it should differ at \(position) (\(kind)), and replays the same; if "
                        + "the bug is mended, write \"Expected: replays\" into its STORY.md")
            }
            guard found.position == position, found.kind == kind else { throw found }
        }
        return reports
    }
}

extension Replay {
    /// The recorded bugs of a folder, by name: arguments for one test.
    ///
    /// ```swift
    /// for bug in try Replay.corpus(in: "Replays") { try await bug.run() }
    /// ```
    ///
    /// - Parameters:
    ///   - folder: an absolute path, or a name within the folder of the test's file or one above
    ///     it.
    ///   - filePath: the test's file.
    /// - Throws: `ReplayMistake` naming the folder or story that is wrong.
    public static func corpus(
        in folder: String, filePath: String = #filePath
    ) throws -> [RecordedReplay] {
        let manager = FileManager.default
        let places =
            folder.hasPrefix("/")
            ? [URL(filePath: folder)]
            : ReplaySource.folders(above: filePath).map { $0.appending(path: folder) }
        let root = places.first { manager.isFolder($0.path(percentEncoded: false)) == true }
        guard let root else { throw ReplayMistake("there is no folder \(folder)") }
        var found: [RecordedReplay] = []
        for entry in try manager.contentsOfDirectory(atPath: root.path(percentEncoded: false))
            .sorted()
        {
            let place = root.appending(path: entry)
            let files = try? manager.contentsOfDirectory(atPath: place.path(percentEncoded: false))
            let capsules = (files ?? []).filter { $0.hasSuffix(".capsule") }.sorted()
            guard !capsules.isEmpty else { continue }
            let story = place.appending(path: "STORY.md")
            guard let text = try? String(contentsOf: story, encoding: .utf8) else {
                throw ReplayMistake(
                    "\(place.path(percentEncoded: false)) has no STORY.md; write one with a line "
                        + "\"Expected: replays\", and where its file is redacted or shrunk with "
                        + "another, \"Mode: fold\"")
            }
            for capsule in capsules {
                found.append(
                    try RecordedReplay(
                        name: capsules.count == 1 ? entry : "\(entry)/\(capsule)",
                        file: place.appending(path: capsule).path(percentEncoded: false),
                        story: text))
            }
        }
        return found
    }
}

extension RecordedReplay {
    private static let linesMax = 12

    /// Reads the expected result from a story.
    package init(name: String, file: String, story: String) throws(ReplayMistake) {
        self.name = name
        self.file = file
        self.story = story
        let lines = story.split(separator: "\n", omittingEmptySubsequences: false)
            .prefix(Self.linesMax)
        func value(_ label: String) -> String? {
            lines.first { $0.hasPrefix(label) }.map {
                String($0.dropFirst(label.count)).trimmingCharacters(in: .whitespaces)
            }
        }
        guard let expected = value("Expected:") else {
            throw ReplayMistake(
                "\(name): one of the first lines of STORY.md must be \"Expected: replays\" or "
                    + "\"Expected: diverges at @41 (digest)\"")
        }
        guard let expectation = Self.expectation(expected) else {
            throw ReplayMistake(
                "\(name): \"Expected: \(expected)\" says neither \"replays\" nor "
                    + "\"diverges at @41 (KIND)\", with a kind of "
                    + Divergence.Kind.allCases.map(\.rawValue).joined(separator: ", "))
        }
        self.expectation = expectation
        let word = value("Mode:") ?? Replay.Mode.both.rawValue
        guard let mode = Replay.Mode(rawValue: word) else {
            let modes = Replay.Mode.allCases.map(\.rawValue).joined(separator: ", ")
            throw ReplayMistake("\(name): \"Mode: \(word)\" is none of \(modes)")
        }
        self.mode = mode
    }

    private static func expectation(_ text: String) -> Expectation? {
        if text == "replays" { return .replays }
        let prefix = "diverges at "
        guard text.hasPrefix(prefix), text.hasSuffix(")") else { return nil }
        let parts = text.dropFirst(prefix.count).dropLast().split(separator: " (")
        guard parts.count == 2, let position = Position(parts[0]),
            let kind = Divergence.Kind(rawValue: String(parts[1]))
        else { return nil }
        return .diverges(at: position, kind)
    }
}
