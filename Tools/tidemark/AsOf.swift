// AsOf.swift — `tidemark as-of`, and the option of the same name: a store at an earlier position.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkRules
import TidemarkSync
import TidemarkViews

struct AsOf: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "as-of",
        abstract: "Reads a store as it was at a position or a time.",
        discussion: """
            The VERB is get, list, status, outbox, why or issues, with its own arguments
            and the output that it would have had then:

            tidemark as-of STORE @41 get tasks/tea
            tidemark as-of STORE 2026-11-21T11:09:00Z list tasks --where done=true

            As of a position is after its event; as of a time, after the last event that
            was recorded up to the end of that second, by the device's clock, in UTC; a
            date is its first second. The views are folded from the nearest snapshot in a
            temporary folder; nothing in the store changes. Exit code 2 when the log has
            nothing there, else that of the verb.
            """)

    /// The verbs that can read an earlier position.
    private static let verbs = ["get", "list", "status", "outbox", "why", "issues"]

    @Argument(help: "The directory of the store.")
    var store: String
    @Argument(help: ArgumentHelp("@12, or 2026-11-21T11:09:00Z.", valueName: "@P|TIME"))
    var moment: String
    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("What to read, with its own arguments.", valueName: "VERB"))
    var verb: [String] = []

    func run() throws {
        guard let name = verb.first, Self.verbs.contains(name) else {
            let known = Self.verbs.joined(separator: ", ")
            throw UsageError(
                "say what to read as of \(moment): one of \(known), as in "
                    + "`tidemark as-of \(store.shellQuoted) \(moment.shellQuoted) list`")
        }
        var command = try Tool.parseAsRoot([name, "--as-of", moment, store] + verb.dropFirst())
        try command.run()
    }
}

/// The position or time at which a verb reads.
struct PastOption: ParsableArguments {
    @Option(
        name: .customLong("as-of"),
        help: ArgumentHelp(
            "As it was after this event, or at this time.", valueName: "@P|TIME"))
    var asOf: String?

    /// Reads the views at that position, or the current ones.
    func read<R>(_ store: StoreArgument, _ body: (ViewReader) throws -> R) throws -> R {
        try store.read { journal in try read(journal, body) }
    }

    /// The same, with the journal, which has the events behind that position, too.
    func read<R>(
        _ store: StoreArgument, _ body: (ViewReader, Journal) throws -> R
    ) throws -> R {
        try store.read { journal in try read(journal) { views in try body(views, journal) } }
    }

    private func read<R>(_ journal: Journal, _ body: (ViewReader) throws -> R) throws -> R {
        let position = try asOf.map { try Past.position($0, in: journal) }
        return try Terminal.whileReading {
            guard let position else { return try journal.read(body) }
            return try Past.read(journal, position, body)
        }
    }

    /// The time used in the output: now, or the time of the last event that is read; of a capsule
    /// always that, and it is said.
    func moment(_ views: ViewReader, of store: StoreArgument) throws -> Moment {
        guard asOf != nil || store.isFile, let event = try views.event(at: views.last) else {
            return Dependencies.live.moment
        }
        if asOf == nil {
            Terminal.say("as of \(views.last), the last event, recorded \(event.recordedAt)")
        }
        return Moment(now: event.recordedAt, bootID: "", uptime: 0)
    }
}

/// Reads earlier positions of a store.
enum Past {
    /// Whether a word names the position before the first event.
    static func isStart(_ text: String) -> Bool { text == "@0" || text == "0" }

    /// Refuses a position behind the last event.
    static func expect(_ position: Position, upTo last: Position) throws {
        guard position <= last else {
            throw UsageError("there is no event at \(position); the log ends at \(last)")
        }
    }

    /// The position that a word names: a position, or that of the last event recorded up to a time.
    ///
    /// - Parameter allowsStart: whether `@0`, the position before the first event, is allowed.
    static func position(
        _ text: String, in journal: Journal, allowsStart: Bool = false
    ) throws -> Position {
        let last = try journal.read { $0.last }
        if isStart(text) {
            guard allowsStart else {
                throw UsageError("there is nothing as of @0: it is before the first event")
            }
            return .start
        }
        if let position = Position(text) {
            try expect(position, upTo: last)
            return position
        }
        guard let time = try? Name.time(text) else {
            throw UsageError(
                "\"\(text)\" is neither a position nor a time; write @12, 2026-11-21 or "
                    + "2026-11-21T11:09:00Z, in UTC")
        }
        // Times are shown without fractions: events recorded within the given second are included.
        let isDate = text.split { !$0.isNumber }.count == 3
        let end = isDate ? time : Timestamp(rawValue: time.rawValue + 999_999)
        guard let position = try journal.position(asOf: end) else {
            let first = try journal.firstEvent()
            let begun = first.map { ": the first event is of \($0.recordedAt)" } ?? ""
            throw UsageError("nothing was recorded up to \(time)\(begun)")
        }
        let recordedAt = try journal.read { try $0.event(at: position)?.recordedAt }
        Terminal.say(
            "as of \(position), " + (position == last ? "the last event, " : "")
                + "recorded \(recordedAt ?? time)")
        return position
    }

    /// Reads the views as they were just after an event.
    static func read<R>(
        _ journal: Journal, _ position: Position, _ body: (ViewReader) throws -> R
    ) throws -> R {
        defer { Terminal.endProgress() }
        return try ScratchDirectory.withLazily { directory in
            do {
                return try ScratchDirectory.naming {
                    try journal.read(
                        asOf: position, in: directory,
                        progress: { Terminal.progress("folding \($0.done) of \($0.last)") },
                        {
                            Terminal.endProgress()
                            return try body($0)
                        })
                }
            } catch let error as LogError where [.missingEvent, .dropped].contains(error.code) {
                // The log holds only a part, and the views before it are not known.
                throw UsageError(error.detail)
            }
        }
    }
}
