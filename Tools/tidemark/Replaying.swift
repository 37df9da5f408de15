// Replaying.swift — `tidemark replay`: replays a recorded log by the code of today.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkCapsule
import TidemarkInspect
import TidemarkReplay
import TidemarkTesting

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Replays what was recorded by the code of today, and says where it differs.",
        discussion: """
            FILE is a capsule, a store, or a folder with a folder for each recorded bug
            (STORY.md and a capsule). Nothing in it changes, and nothing is sent anywhere.

            Mode fold folds the recorded events again and compares the digest of every
            commit; redecide lets the recorded answers, clock and edits drive the engine
            and compares everything that it does; both, the usual one, does the second
            where it can be done.

            --inject plays a mishap at an event: restart@P (the views are made anew after
            its commit), duplicate@P (its commit comes twice), drop@P (it is lost); and
            compares the outcome with that without it.

            --policy, --model and --without ask what would have come out under another
            policy or model, or without an event and what follows from it. What was sent
            and answered stays as it was recorded: a policy decides again what the views
            make of it, not what would have been sent then. A POLICY is serverWins,
            localWins, mergeFields:localWins, preferNewer:FIELD:SECONDS, or JSON as in a
            model. The difference is printed as `tidemark diff` prints it.

            Exit code 0 when all is the same, 1 when something differs.

            For example: tidemark replay bug.capsule
                         tidemark replay bug.capsule --policy tasks=localWins
            """)

    @Argument(help: "A capsule, a store, or a folder of recorded bugs.")
    var file: String
    @Option(help: "What is replayed: fold, redecide or both.")
    var mode: ReplayMode = .both
    @Option(help: ArgumentHelp("The last event to replay.", valueName: "@P"))
    var through: String?
    @Option(
        help: ArgumentHelp(
            "What happens otherwise, as in restart@12,drop@30.", valueName: "list"))
    var inject: String?
    @Option(
        help: ArgumentHelp(
            "Another conflict policy; may be repeated.", valueName: "COLLECTION=POLICY"))
    var policy: [String] = []
    @Option(help: ArgumentHelp("Another model.", valueName: "FILE.json"))
    var model: String?
    @Option(
        help: ArgumentHelp(
            "Leave out an event and what follows from it; may be repeated.", valueName: "@P"))
    var without: [String] = []
    @Flag(help: "Where outcomes are compared, also rows that differ in what is not seen.")
    var all = false
    @OptionGroup var format: OutputOption

    func run() async throws {
        do { try await replay() } catch let error as ReplayMistake {
            throw UsageError("\(error)")
        } catch let divergence as Divergence {
            for line in divergence.lines(file: file) { Terminal.write(cut(line)) }
            throw Exit.findings
        } catch { throw TidemarkError.wrapping(error) }
    }

    private func replay() async throws {
        let through = try through.map(Name.position)
        let inject = try inject.map { try Injection.list(parsing: $0) } ?? []
        let change = try whatIf()
        guard change == nil || inject.isEmpty else {
            throw UsageError("--inject goes with none of --policy, --model and --without")
        }
        if isCorpus {
            guard change == nil, inject.isEmpty, through == nil else {
                throw UsageError("\(file) is a folder of recorded bugs; name one of its capsules")
            }
            return try await replayCorpus()
        }
        let capsule = try capsule()
        guard !capsule.commits.isEmpty else { throw UsageError("\(file) has no events") }
        if let through { try Past.expect(through, upTo: capsule.last) }
        if let change { return try compare(change, capsule, through) }
        if !inject.isEmpty, mode != .redecide { return try compare(inject, capsule, through) }
        let count = capsule.commits.count
        let reports = try await Replay(
            .capsule(capsule), adapter: try Adapters.own(capsule), mode: mode.value,
            through: through, inject: inject
        ).reports { done in Terminal.progress("replaying \(done) of \(count) commits") }
        Terminal.endProgress()
        for report in reports { write(report) }
        if reports.contains(where: { !$0.isSame }) { throw Exit.findings }
    }

    /// The capsule, or all of the store.
    private func capsule() throws -> Capsule {
        guard FileManager.default.isFolder(file) == true else {
            return try ReplaySource.file(file).capsule()
        }
        return try StoreArgument(path: file).read {
            try $0.capsule(last: .max, note: "", namesRemote: true)
        }
    }

    private func write(_ report: ReplayReport) {
        if format.isJSON { return Terminal.write(report.json.encoded()) }
        Terminal.write(report.headline)
        for remark in report.remarks { Terminal.say("tidemark: \(remark)") }
        for line in report.divergence?.lines(file: file) ?? [] { Terminal.write(cut(line)) }
    }

    /// Writes a difference like `tidemark diff`.
    private func write(_ difference: ViewsDifference) {
        if format.isJSON {
            for line in difference.json(all: all) { Terminal.write(line) }
        } else {
            for line in difference.lines(all: all) { Terminal.write(cut(line)) }
        }
        let hidden = difference.rows.count
        guard difference.isEmpty, !all || hidden == 0 else { return }
        let rows = hidden == 1 ? "1 row does" : "\(hidden) rows do"
        Terminal.say(
            hidden == 0
                ? "nothing differs"
                : "nothing that is seen differs, but \(rows): --all lists what differs")
    }

    // MARK: What if

    private func whatIf() throws -> WhatIf? {
        guard !policy.isEmpty || model != nil || !without.isEmpty else { return nil }
        var change = WhatIf()
        for text in policy {
            let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else {
                throw UsageError("\"\(text)\" is no policy; write tasks=serverWins")
            }
            change.policies[CollectionName(parts[0])] = try ConflictPolicy(named: parts[1])
        }
        change.without = try without.map(Name.position)
        if let model {
            let bytes: Data
            do { bytes = try Data(contentsOf: URL(filePath: model)) } catch {
                throw UsageError("\(model) can't be read: \(error.localizedDescription)")
            }
            do { change.model = try ModelRegistration(parsing: Array(bytes)).model } catch {
                throw UsageError("\(model): \(error)")
            }
        }
        return change
    }

    private func compare(_ change: WhatIf, _ capsule: Capsule, _ through: Position?) throws {
        let outcome = try change.outcome(of: capsule, through: through)
        for step in outcome.leftOut { Terminal.say("tidemark: without \(step)") }
        write(outcome.difference)
        let isSame = outcome.difference.isEmpty && (!all || outcome.difference.rows.isEmpty)
        if !isSame { throw Exit.findings }
    }

    private func compare(
        _ inject: [Injection], _ capsule: Capsule, _ through: Position?
    ) throws {
        let outcome = try capsule.outcome(injecting: inject, through: through)
        write(outcome.difference)
        for fault in outcome.faults {
            if format.isJSON {
                let line: JSONValue = [
                    "fault": .string(fault.problem), "position": .string("\(fault.position)"),
                ]
                Terminal.write(line.encoded())
            } else {
                Terminal.write(cut("fault \(fault)"))
            }
        }
        guard outcome.faults.isEmpty else { throw Exit.findings }
        // A restart must make no difference at all; a lost or repeated commit may.
        let mustBeSame = inject.allSatisfy { $0.kind == .restart }
        let difference = outcome.difference
        let isSame = difference.isEmpty && (!all || difference.rows.isEmpty)
        guard mustBeSame ? outcome.isSame : isSame else { throw Exit.findings }
    }

    // MARK: A folder of recorded bugs

    private var isCorpus: Bool {
        FileManager.default.isFolder(file) == true && !StoreArgument(path: file).isStore
    }

    private func replayCorpus() async throws {
        let root = URL(filePath: file).standardizedFileURL.path(percentEncoded: false)
        let bugs = try Replay.corpus(in: root)
        guard !bugs.isEmpty else {
            throw UsageError(
                "\(file) is no store, and has no folder with a STORY.md and a capsule")
        }
        var isFine = true
        for bug in bugs {
            Terminal.progress("replaying \(bug.name)")
            var line: JSONObject = ["name": .string(bug.name)]
            var lines: [String] = []
            do {
                let adapter = try Adapters.own(try ReplaySource.file(bug.file).capsule())
                try await bug.run(adapter: adapter)
                lines = ["\(bug.name): as its story says"]
            } catch let divergence as Divergence {
                line["divergence"] = divergence.json
                lines = ["\(bug.name): otherwise than its story says"]
                lines += divergence.lines(file: bug.file).map { "  " + $0 }
            } catch let mistake as ReplayMistake {
                line["problem"] = .string("\(mistake)")
                lines = ["\(mistake)"]
            } catch {
                // The others are replayed all the same.
                let words = Self.words(of: error)
                line["problem"] = .string(words)
                lines = ["\(bug.name): \(words)"]
            }
            Terminal.endProgress()
            let isExpected = line["divergence"] == nil && line["problem"] == nil
            line["expected"] = .bool(isExpected)
            isFine = isFine && isExpected
            if format.isJSON {
                Terminal.write(JSONValue.object(line).encoded())
            } else {
                for line in lines { Terminal.write(cut(line)) }
            }
        }
        if !isFine { throw Exit.findings }
    }

    private static func words(of error: any Error) -> String {
        let told = TidemarkError.wrapping(error)
        if let told = told as? TidemarkError { return told.message }
        if let told = told as? UsageError { return told.message }
        return "\(told)"
    }
}

/// ``Replay/Mode`` as the command line names it.
enum ReplayMode: String, ExpressibleByArgument, CaseIterable {
    case fold, redecide, both

    var value: Replay.Mode { Replay.Mode(rawValue: rawValue) ?? .both }
}
