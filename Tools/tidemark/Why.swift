// Why.swift — `tidemark why`: which rule decided about an entity, from what, and where.

import ArgumentParser
import Tidemark
import TidemarkInspect
import TidemarkViews

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Says why an entity is as it is: which rule decided, from what, at which position.",
        discussion: """
            First how it stands; then each decision about it, in the order of the log: rule
            and version, result, fields, and the events that it was made from.

            The id may be that of the server. -o json prints one decision a line.
            Exit code 1 when the log never heard of the entity.
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: "COLLECTION/ID.")
    var entity: String
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        let key = try Name.entity(entity)
        let found = try past.read(store) { views in try EntityExplanation(key, views) }
        guard let found else {
            Terminal.say("tidemark: the log never heard of \(key)")
            throw Exit.findings
        }
        if format.isJSON {
            for line in found.json { Terminal.write(line) }
        } else {
            for line in found.lines { Terminal.write(cut(line)) }
        }
    }
}
