// Wiping.swift — `tidemark wipe`: drops what was synced, and keeps the log.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkViews

struct Wipe: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Drops what was synced, so that the next sync brings it anew.",
        discussion: """
            All entities go, with what is known of their lists and all reserved values,
            but for the collections that are kept. Those that are kept on this device
            alone stay in any case. The log stays, and tells of what was there: history,
            as-of and dump read it as before.

            tidemark wipe STORE --keep programs --keep organisationUnits

            What the server does not have yet is never dropped unasked: the verb refuses
            while something waits, and with --discard-pending gives it up.
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: ArgumentHelp("A collection that stays; may be repeated.", valueName: "NAME"))
    var keep: [String] = []
    @Flag(help: "Give up what waits for the server, too.")
    var discardPending = false
    @OptionGroup var patience: WaitOption

    func run() throws {
        let replica = try store.open(patience)
        let kept = keep.map { CollectionName($0) }
        do {
            try replica.wipe(keeping: kept, discardingPending: discardPending)
        } catch let error as TidemarkError {
            try replica.close()
            guard error.code == .pendingChanges else { throw error }
            throw UsageError(
                error.message.replacingOccurrences(
                    of: "discardingPending", with: "--discard-pending"))
        }
        let (position, keeps) = try replica.journal.read { views in
            let wiped = try views.event(at: views.last)?.read(LocalWiped.self)
            return (views.last, wiped?.keeps ?? [])
        }
        try replica.close()
        let names = keeps.joined(separator: ", ")
        Terminal.write("\(position) wiped" + (names.isEmpty ? "" : ", but for \(names)"))
    }
}
