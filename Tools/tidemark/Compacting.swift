// Compacting.swift — `tidemark compact`.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkViews

struct Compact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Seals the events of a store: makes them smaller.",
        discussion: """
            Events are put into blocks of some hundred and compressed. All that reads the
            log reads them as before, and no root changes. An app seals old events by
            itself. The file keeps its length: what becomes free in it is used by what is
            written next. --shrink gives it back to the disk: all is written into a new
            file, which is verified and takes the old one's place. Others may read
            meanwhile.

            --truncate and --keep say which of the first events would be dropped, and with
            --force drop them: never what waits in the outbox or is at issue. What is left
            of them are the tables as they were there, and their root, from which all later
            ones follow. --archive first writes them to a file that every verb reads.

            tidemark compact STORE --shrink
            tidemark compact STORE --keep P90D
            tidemark compact STORE --truncate @41000 --archive old.capsule --force
            """)

    @OptionGroup var store: StoreArgument
    @Option(help: "How many events at the end stay as they are, at least 1.")
    var keepEvents: UInt64 = 1
    @Flag(help: "Then make the file as small as what it holds.")
    var shrink = false
    @OptionGroup var truncation: TruncateOptions
    @OptionGroup var patience: WaitOption

    func validate() throws {
        if keepEvents < 1 { throw ValidationError("--keep-events is at least 1") }
    }

    func run() throws {
        try store.expectStore("a capsule is compressed as a whole")
        if let place = try truncation.place {
            do {
                try truncation.run(place, store, patience, keeping: keepEvents)
                if shrink, truncation.force { try shrinkFile() }
            } catch let error as UsageError { throw error } catch { throw store.advised(error) }
            return
        }
        do {
            try compact()
            if shrink { try shrinkFile() }
        } catch { throw store.advised(error) }
    }

    private func shrinkFile() throws {
        defer { Terminal.endProgress() }
        let made = try Replica.shrink(at: store.store, waiting: patience.waiting) {
            Terminal.progress($0.words)
        }
        Terminal.endProgress()
        Terminal.write(
            made.bytesAfter < made.bytesBefore
                ? "file       \(made.bytesBefore) bytes before, \(made.bytesAfter) now"
                : "file       \(made.bytesBefore) bytes, and no smaller without its free pages")
    }

    private func compact() throws {
        let replica = try store.open(patience)
        let sealing = try replica.journal.seal(keeping: keepEvents) { done, last in
            Terminal.progress("sealing \(done) of \(last)")
        }
        Terminal.endProgress()
        try replica.close()
        guard let sealing else {
            return Terminal.write("nothing to seal: only the last events are not")
        }
        let blocks = sealing.blocks == 1 ? "1 block" : "\(sealing.blocks) blocks"
        Terminal.write("sealed     \(sealing.first) to \(sealing.last) in \(blocks)")
        Terminal.write("bytes      \(sealing.recordBytes) before, \(sealing.storedBytes) now")
    }
}

extension Replica.CopyingProgress {
    var words: String {
        switch self {
        case .copying(let bytes, let all): "copying \(bytes) bytes of a file of \(all)"
        case .proving(let position, let last): "verifying \(position) of \(last)"
        }
    }
}
