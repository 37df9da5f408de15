// Salvaging.swift — `tidemark salvage`: makes a new store of what can be proven in a damaged one.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkInspect
import TidemarkLog
import TidemarkViews

struct Salvage: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Makes a new store of what can be proven of a damaged one.",
        discussion: """
            Reads the file page by page and looks on each, also on freed ones, for events,
            bodies and commits. Takes the longest beginning of the log that the Merkle
            roots of commits prove, folds it into the store NEW, and verifies that. The
            damaged STORE is left as it is, byte for byte.

            What follows the proven events is listed, and with --unproven taken up to the
            first hole: events with right checksums that no root proves. The tables are
            always made anew.

            A store that lost events gets an id of its own. Where nothing is lost, the new
            one keeps the old one's id and can be put in its place.

            tidemark salvage broken.store -o new.store

            Exit codes: 0 all of the log was taken and proven, 1 events are lost or not
            proven.
            """)

    @OptionGroup var store: StoreArgument
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The directory of the new store, which must not be there.", valueName: "NEW"))
    var new: String
    @Flag(help: "Take also events that follow and that no root proves.")
    var unproven = false
    @Flag(help: "Print the report as a JSON object on one line.")
    var json = false

    func run() throws {
        try store.expectStore("a capsule has no pages to look at")
        guard store.isThere else { throw UsageError("there is nothing at \(store.store)") }
        guard !StoreArgument(path: new).isThere else {
            throw UsageError("\(new) is there already; name a directory that is not")
        }
        let report: SalvageReport
        do {
            defer { Terminal.endProgress() }
            report = try SalvageReport.salvage(
                store.store, to: new, withUnproven: unproven, .live
            ) { Terminal.progress($0) }
        } catch { throw TidemarkError.wrapping(error) }
        if json { Terminal.write(report.json) } else { report.lines.forEach(Terminal.write) }
        guard report.isComplete else {
            throw report.isNewer ? Exit.newerFormat : Exit.findings
        }
    }
}
