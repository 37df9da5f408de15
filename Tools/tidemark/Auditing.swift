// Auditing.swift — `tidemark dump`, `show` and `stats`.

import ArgumentParser
import Foundation
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkViews

struct Dump: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints the log, one event a line.",
        discussion: """
            -o json prints lines that conform to Schemas/dump.schema.json. Positions are
            written @12 or 12, times 2026-11-21 or 2026-11-21T11:09:00Z. Exit code 1 when
            an event is damaged; the others are printed all the same.
            """)

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case text, verbose, json
    }

    @OptionGroup var store: StoreArgument
    @Option(name: [.customShort("o"), .long], help: "How to print: text, verbose or json.")
    var output: Format = .text
    @Option(help: "Only events of this kind; may be repeated.")
    var kind: [String] = []
    @Option(help: "Only events about this collection.")
    var collection: String?
    @Option(help: "Only events about this COLLECTION/ID.")
    var entity: String?
    @Option(help: "Only events of the sync run that began at this position.")
    var sync: String?
    @Option(help: "From this position on.")
    var from: String?
    @Option(help: "Up to this position.")
    var to: String?
    @Option(help: "Only events recorded at this time or later.")
    var since: String?
    @Option(help: "Only events recorded before this time.")
    var until: String?
    @Option(name: .customShort("n"), help: "At most so many events.")
    var limit: Int?
    @Flag(name: [.customShort("r"), .long], help: "The last event first.")
    var reverse = false

    func run() throws {
        let filter = try filter()
        let columns = Terminal.outputColumns
        let damaged = try store.read { journal in
            if let beginning = try journal.beginning(), !reverse,
                filter.from ?? .start < beginning.first
            {
                Terminal.say(beginning.words)
            }
            return try journal.dump(filter, limit: limit, reversed: reverse) { position, event in
                switch output {
                case .json: Terminal.write(EventLine.json(position, event))
                case .text: Terminal.write(EventLine.text(position, event, columns: columns))
                case .verbose:
                    for line in EventLine.verbose(position, event) { Terminal.write(line) }
                }
            }
        }
        Terminal.flush()
        for error in damaged { Terminal.say("tidemark: \(error)") }
        if !damaged.isEmpty {
            throw damaged.areOfNewerFormat ? Exit.newerFormat : Exit.findings
        }
    }

    private func filter() throws -> EventFilter {
        var filter = EventFilter()
        for name in kind {
            guard let kind = EventKind(named: name) else {
                let names = EventKind.all.map(\.description).joined(separator: ", ")
                throw UsageError("\"\(name)\" is no kind of event; there are \(names)")
            }
            filter.kinds.insert(kind)
        }
        filter.collection = collection.map { CollectionName($0) }
        if let entity {
            let key = try Name.entity(entity)
            filter.collection = key.collection
            filter.entity = key.id
        }
        filter.sync = try sync.map(Name.position)
        filter.from = try from.map(Name.position)
        filter.to = try to.map(Name.position)
        filter.since = try since.map(Name.time)
        filter.until = try until.map(Name.time)
        if let limit, limit < 0 { throw UsageError("-n takes a number from 0 up") }
        return filter
    }
}

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Prints one event in full.")

    @OptionGroup var store: StoreArgument
    @Argument(help: "Its position: @12 or 12.")
    var position: String
    @OptionGroup var format: OutputOption

    func run() throws {
        let position = try Name.position(position)
        let (shown, beginning) = try store.read { journal in
            (try journal.show(position), try journal.beginning())
        }
        guard let (event, body) = shown else {
            let begun = beginning.flatMap { position < $0.first ? "; \($0.words)" : nil } ?? ""
            Terminal.say("tidemark: there is no event at \(position)" + begun)
            throw Exit.findings
        }
        if format.isJSON {
            Terminal.write(EventLine.json(position, event))
        } else {
            for line in EventLine.verbose(position, event, body: body) { Terminal.write(line) }
        }
    }
}

struct Stats: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints how large a store is, and of what.")

    @OptionGroup var store: StoreArgument

    func run() throws {
        let stats = try store.read { journal in try journal.stats() }
        Terminal.write("events     \(stats.events) in \(stats.commits) commits")
        Terminal.write("log        \(stats.logBytes) bytes")
        if let base = stats.base {
            Terminal.write(
                "dropped    up to \(base.position); the views there have \(base.rows) rows in "
                    + "\(base.bytes) bytes")
        }
        if stats.sealed.events > 0 {
            let blocks = stats.sealed.blocks == 1 ? "1 block" : "\(stats.sealed.blocks) blocks"
            Terminal.write(
                "sealed     \(stats.sealed.events) events in \(blocks) of "
                    + "\(stats.sealed.bytes) bytes")
        }
        Terminal.write("data.mdb   \(stats.fileBytes) bytes")
        if let words = stats.readerWords { Terminal.write("reader     \(words)") }
        Terminal.write("entities   \(stats.entities)")
        Terminal.write("mutations  \(stats.mutations)")
        if stats.files.count > 0 {
            Terminal.write("files      \(stats.files.count) of \(stats.files.bytes) bytes")
        }
        if let first = stats.firstAt, let last = stats.lastAt {
            Terminal.write("recorded   \(first) to \(last)")
        }
        for snapshot in stats.snapshots {
            Terminal.write(
                "snapshot   " + "\(snapshot.position)".padded(to: 9)
                    + "\(snapshot.rows) rows in \(snapshot.bytes) bytes"
                    + (snapshot.isCurrent ? "" : ", by other rules"))
        }
        for (kind, sum) in stats.kinds.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            Terminal.write(
                "  " + kind.description.padded(to: 18) + "\(sum.events)".padded(to: 8)
                    + "\(sum.bytes) bytes")
        }
    }
}
