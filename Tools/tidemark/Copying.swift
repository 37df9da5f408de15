// Copying.swift — `tidemark copy`: copies a store that may be in use.

import ArgumentParser
import Tidemark
import TidemarkLog

struct CopyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "copy",
        abstract: "Copies a store, also while another process writes to it.",
        discussion: """
            A folder that is copied while its store is open is no copy of it. This reads
            all at one moment into the store NEW, with the files beside entities, and
            verifies that. STORE is only read. Files that are damaged are left out and
            named, with exit code 1.

            The copy is the same store, by its id, account and device. To put it in the
            place of STORE, adopt it: reserved values that it has left may have been used
            since. Only one of the two may go on.

            tidemark copy todo.store -o backup.store
            tidemark adopt backup.store --force
            """)

    @OptionGroup var store: StoreArgument
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "The directory of the copy, which must not be there.", valueName: "NEW"))
    var new: String

    func run() throws {
        try store.expectStore("it can be copied as any other")
        guard !StoreArgument(path: new).isThere else {
            throw UsageError("\(new) is there already; name a directory that is not")
        }
        try DamagedStore.readInChild(store.store)
        ChildProcess.watchForCrash()
        do {
            defer { Terminal.endProgress() }
            let copied = try Replica.copy(of: store.store, to: new) { Terminal.progress($0.words) }
            Terminal.endProgress()
            Terminal.write("copied     events up to \(copied.last)")
            Terminal.write("made       \(new)")
            Findings.sayLeftOut(copied.damagedFiles)
        } catch { throw store.advised(error) }
    }
}
