// Bisecting.swift — `tidemark bisect`: the event at which an answer changes, and its causes.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkCapsule
import TidemarkEvents
import TidemarkReplay
import TidemarkViews

struct BisectCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bisect",
        abstract: "Finds the position at which something turns true, or false.",
        discussion: """
            STORE is a store or a capsule; nothing in it changes. By halves between --from
            and --to, first over the commits, then over the events of one. What turns more
            than once has other turns: name one with --from and --to.

            \(CheckOptions.help)
            TIDEMARK_POSITION is the capsule's last event.

            Exit code 0 when a turn was found, 1 when there is none.

            For example: tidemark bisect STORE --predicate 'tasks/1 missing'
                         tidemark bisect STORE --check \\
                           'tidemark replay "$TIDEMARK_CAPSULE" --mode fold'
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var checks: CheckOptions
    @Option(
        help: ArgumentHelp("Where it was not so yet (default: the beginning).", valueName: "@A"))
    var from: String?
    @Option(help: ArgumentHelp("Where it is so (default: the end).", valueName: "@B"))
    var to: String?
    @OptionGroup var format: OutputOption

    func validate() throws {
        guard (checks.check == nil) != (checks.predicate == nil) else {
            throw ValidationError("what is looked for? one of --predicate EXPR and --check CMD")
        }
    }

    func run() throws {
        let from = try from.map(Name.position)
        let to = try to.map(Name.position)
        if let from, let to, from >= to {
            throw UsageError("--from \(from) is not before --to \(to)")
        }
        let predicate = try checks.statePredicate()
        try store.read { journal in
            if let to { try Past.expect(to, upTo: try journal.read { $0.last }) }
            let bisect = try Bisect(of: journal, from: from, to: to)
            guard bisect.count > 0 else {
                throw UsageError("there is nothing after \(bisect.from)")
            }
            let outcome = try find(bisect, journal, predicate)
            Terminal.endProgress()
            guard case .turn(let turn) = outcome else { return try sayNone(outcome) }
            try write(try BisectFinding(turn, bisect), turn)
        }
    }

    private func find(
        _ bisect: Bisect, _ journal: Journal, _ predicate: StatePredicate?
    ) throws -> Bisect.Outcome {
        func progress(_ left: Int) { Terminal.progress("bisecting: \(left) commits left") }
        if let predicate { return try bisect.run(predicate, progress: progress) }
        let whole = try whole(journal)
        return try CheckCommand.with(checks.check ?? "", isVerbose: checks.verbose) { check in
            let outcome = try bisect.run(progress: progress) { position in
                let capsule = whole.through(position)
                // Before the first event, nothing can be wrong, but for what rows have already.
                guard !capsule.commits.isEmpty else { return .no }
                switch try check.ask(capsule) {
                case .passes: return .no
                case .fails: return .yes
                case .skips: return .skipped
                }
            }
            if case .turn(let turn) = outcome, turn.before == whole.base.position,
                whole.base.position > .start
            {
                Terminal.say(
                    lines: "tidemark: it is so at \(turn.position), the first event that is here: "
                        + "\(question)\n  Whether it was before, only a longer capsule or an "
                        + "archive tells.")
                throw Exit.findings
            }
            return outcome
        }
    }

    /// All of a store or a capsule, of which checks get parts.
    private func whole(_ journal: Journal) throws -> Capsule {
        var whole = try journal.capsule(last: .max, note: "", namesRemote: false)
        if store.isFile { whole.takeRules(of: try store.capsule()) }
        return whole
    }

    private var question: String { checks.predicate ?? "the check fails" }

    private func sayNone(_ outcome: Bisect.Outcome) throws {
        switch outcome {
        case .turn: return
        case .same(let answer, let from, let to):
            Terminal.say(
                lines: "tidemark: it is \(answer) at \(from) as at \(to): \(question)\n"
                    + "  Name a position at which it is not, with --from or --to.")
        case .unknown(let position):
            Terminal.say(
                "tidemark: the check can't tell at \(position); it must at --from and at --to")
        }
        throw Exit.findings
    }

    private func write(_ finding: BisectFinding, _ turn: Bisect.Turn) throws {
        guard !format.isJSON else { return Terminal.write(try finding.json(question)) }
        for line in finding.lines(question, store: store.store) { Terminal.write(cut(line)) }
        if !turn.skipped.isEmpty {
            let between = turn.skipped.map(\.description).joined(separator: ", ")
            Terminal.say("tidemark: the check could not tell at \(between): it may be any of them")
        }
    }
}

extension Capsule {
    /// The capsule up to and including an event.
    func through(_ position: Position) -> Capsule {
        var capsule = self
        capsule.commits.removeAll { $0.first > position }
        if let last = capsule.commits.indices.last, capsule.commits[last].last > position {
            // Of a part of a commit no digests were recorded: today's take their place, as none at
            // all would say that it made no rows.
            let isDigested = commits.contains { !$0.views.isEmpty }
            capsule.commits[last].entries.removeAll { $0.position > position }
            capsule.commits[last].views = []
            // A fold that throws does so in the check as well.
            if isDigested, let folded = try? capsule.refolded() {
                capsule.commits[last].views = folded.commits[last].views
            }
        }
        return capsule
    }
}
