// Adopting.swift — `tidemark adopt`: accepts a store as it is.

import ArgumentParser
import Tidemark

struct Adopt: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Accepts a store that is whole, but not what its identity.json says.",
        discussion: """
            The remedy where a store can't be opened because an older copy was put in its
            place, it came from another device, identity.json is gone or of another store,
            or opening it died twice. Verifies the whole log, then writes a new
            identity.json; without --force only says what it would do. Damage is not
            accepted.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @Flag(help: "Do it.")
    var force = false

    func run() throws {
        let adoption: Replica.Adoption
        do {
            adoption = try Replica.adopt(
                at: store.store, isDryRun: !force, waiting: patience.waiting)
        } catch { throw store.advised(error) }
        for reason in adoption.reasons { Terminal.write("was: \(reason)") }
        let account = adoption.account.map { ", account \($0)" } ?? ""
        Terminal.write(
            "store \(adoption.storeID)\(account): events up to \(adoption.position), all verified")
        if force {
            Terminal.write("adopted")
        } else {
            Terminal.write("nothing was changed; with --force it is adopted as it is")
        }
    }
}
