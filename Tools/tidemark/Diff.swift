// Diff.swift — `tidemark diff`: the difference between the views of two positions, or of two
// stores.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkReplay
import TidemarkViews

struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints how a store differs between two moments, or from another store.",
        discussion: """
            tidemark diff STORE @12 @41     between two positions, or times
            tidemark diff STORE @12         between one and now
            tidemark diff STORE OTHER       between two stores as they are now

            Entities come first, with the fields that differ, old → new; then the outbox.
            + is only in the second, - only in the first, ~ differs. --all also lists rows
            that differ in what is not seen: watermarks, ids, decisions, sync runs. @0 is
            before the first event. A time is as in `tidemark help as-of`.

            -o json prints one object a line. Exit code 0 when nothing differs, 1 when
            something does.
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: ArgumentHelp("A position or a time, or another store.", valueName: "@A|OTHER"))
    var first: String
    @Argument(help: ArgumentHelp("A second position or time.", valueName: "@B"))
    var second: String?
    @Flag(help: "Also rows that differ in what is not seen.")
    var all = false
    @OptionGroup var format: OutputOption

    func run() throws {
        let difference = try compare()
        if format.isJSON {
            for line in difference.json(all: all) { Terminal.write(line) }
        } else {
            for line in difference.lines(all: all) { Terminal.write(cut(line)) }
        }
        guard difference.isEmpty, !all || difference.rows.isEmpty else { throw Exit.findings }
        let hidden = difference.rows.count
        Terminal.say(
            hidden == 0
                ? "nothing differs"
                : "nothing that is seen differs, but \(hidden) rows do: --all lists them")
    }

    private func compare() throws -> ViewsDifference {
        if second == nil, !first.hasPrefix("@"), FileManager.default.fileExists(atPath: first) {
            let other = try StoreArgument.parse([first])
            if other.isSame(as: store) {
                return try store.read { journal in
                    try journal.read { try ViewsDifference(before: $0, after: $0) }
                }
            }
            return try store.read { journal in
                try journal.read { before in
                    try other.read { journal in
                        try journal.read { try ViewsDifference(before: before, after: $0) }
                    }
                }
            }
        }
        let isMoment =
            Past.isStart(first) || Position(first) != nil || (try? Name.time(first)) != nil
        guard second != nil || isMoment else {
            throw UsageError(
                "\"\(first)\" is no store, no position and no time; write the folder of another "
                    + "store, @12, or 2026-11-21T11:09:00Z")
        }
        return try store.read { journal in
            let before = try Past.position(first, in: journal, allowsStart: true)
            let after = try second.map { try Past.position($0, in: journal, allowsStart: true) }
            let last = try after ?? journal.read { $0.last }
            return try Past.read(journal, before) { before in
                try Past.read(journal, last) { try ViewsDifference(before: before, after: $0) }
            }
        }
    }
}
