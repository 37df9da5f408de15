// DamageChild.swift — reads damaged copies of a store, one case after another, and says what became
// of each. The damage may kill the process: whoever started it begins a new one with the next case.

import Foundation
import TestSupport
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

enum DamageChild {
    /// `STORE SEED FROM TO`: the store to copy, and which cases.
    ///
    /// Its folder gets another one beside it.
    static func run(_ words: [String]) throws {
        let arguments = ChildArguments(words, "SEED", "FROM", "TO")
        let (seed, from, to) = (
            arguments.numbers[0], arguments.numbers[1], arguments.numbers[2]
        )
        let folder = "\(arguments.store)/../case-\(getpid())"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let whole = try Data(contentsOf: URL(filePath: "\(arguments.store)/data.mdb"))
        let file = URL(filePath: "\(folder)/data.mdb")
        try whole.write(to: file)
        let reference = try everything(folder)
        let checkpoint = try withStore(folder) { journal in try journal.checkpoint() }
        for number in from..<to {
            CrashChild.say("\(number) begun")
            dieWhenStuck()
            let damage = StoreDamage(
                seed: UInt64(seed) &+ UInt64(number), number: number, bytes: whole.count)
            try damage.applied(to: whole).write(to: file)
            let outcome = outcome(folder, checkpoint, reference, foldFirst: number == from)
            CrashChild.say("\(number) \(outcome) \(damage)")
        }
        try FileManager.default.removeItem(atPath: folder)
    }

    /// Ends the process when a case takes half a minute of processor time, as the reading of a page
    /// that names itself does, which LMDB follows for ever.
    private static func dieWhenStuck() {
        var time = itimerval()
        time.it_value.tv_sec = 30
        #if canImport(Glibc)
            let clock = __itimer_which_t(ITIMER_PROF.rawValue)
        #else
            let clock = ITIMER_PROF
        #endif
        _ = unsafe setitimer(clock, &time, nil)
    }

    /// At which step a verification reported the damage; `refused` when the store could not be
    /// opened for a reason that is no damage in itself, such as a newer format.
    ///
    /// Folding the log again costs most, and is left out where all reads as it did. Reading may
    /// then kill this process before the fold has told: the next one begins with that case, and
    /// folds first.
    private static func outcome(
        _ folder: String, _ checkpoint: LogCheckpoint, _ reference: [[UInt8]], foldFirst: Bool
    ) -> String {
        var step = "log"
        func isFine(_ level: VerifyLevel) throws -> Bool {
            try Journal.verifyStore(at: folder, level, against: [checkpoint]) {
                step =
                    switch $0 {
                    case .pages: "pages"
                    case .events: "log"
                    case .rows: "rows"
                    case .folding: "fold"
                    case .files: "files"
                    }
            }.isFine
        }
        do {
            guard try isFine(foldFirst ? .deep : .full) else { return step }
            CrashChild.say(foldFirst ? "fine" : "reading")
            if (try? everything(folder)) == reference { return "harmless" }
            return try foldFirst || isFine(.deep) ? "SILENT" : step
        } catch let error as LogError where error.code == .newerFormat {
            return "refused"
        } catch let error as StoreError {
            return "refused by \(error.code)"
        } catch { return "SILENT (\(error))" }
    }

    private static func withStore<R>(_ folder: String, _ body: (Journal) throws -> R) throws -> R {
        let journal = try Journal.open(at: folder, readOnly: true)
        defer { try? journal.close() }
        return try body(journal)
    }

    /// All that can be read: the dump, each event by its position, the commits, every row in order
    /// and by its key.
    private static func everything(_ folder: String) throws -> [[UInt8]] {
        try withStore(folder) { journal in
            var all: [[UInt8]] = []
            let damaged = try journal.dump(EventFilter()) { position, event in
                all.append(EventLine.json(position, event))
            }
            all += damaged.map { Array("\($0)".utf8) }
            try journal.read { views in
                for position in 1...views.last.rawValue {
                    all.append(try views.event(at: Position(position))?.payload ?? [])
                }
            }
            try journal.environment.read { transaction in
                try journal.log.forEachCommit(transaction) { record in
                    all.append(record.encoded)
                    return true
                }
                let state = try journal.views.state(transaction)
                for tree in Tree.allCases {
                    let generation = state?.generation ?? .a
                    try journal.views.scan(tree, generation, transaction) { key, value in
                        let table = journal.views.table(tree, generation)
                        all += [key, value, try transaction.get(table, key) ?? []]
                        return true
                    }
                }
            }
            return all
        }
    }
}

/// One damage of a data file, from its seed.
struct StoreDamage: CustomStringConvertible {
    enum Kind {
        case bit(Int)
        case zeroedSector(Int)
        case swapped(Int, Int, bytes: Int)
    }
    let kind: Kind

    /// Four in five are bits; the rest are sectors and pages.
    init(seed: UInt64, number: Int, bytes: Int) {
        var random = SplitMix64(seed: seed)
        switch number % 15 {
        case 0..<12: kind = .bit(random.below(bytes * 8))
        case 12: kind = .zeroedSector(random.below(bytes / 512))
        case 13: kind = .swapped(random.below(bytes / 512), random.below(bytes / 512), bytes: 512)
        default:
            kind = .swapped(random.below(bytes / 4096), random.below(bytes / 4096), bytes: 4096)
        }
    }

    func applied(to whole: Data) -> Data {
        var data = whole
        switch kind {
        case .bit(let bit): data[bit / 8] ^= 1 << UInt8(bit % 8)
        case .zeroedSector(let sector):
            data.replaceSubrange(sector * 512..<sector * 512 + 512, with: Data(count: 512))
        case .swapped(let a, let b, let bytes):
            let (first, second) = (a * bytes..<(a + 1) * bytes, b * bytes..<(b + 1) * bytes)
            data.replaceSubrange(first, with: whole[second])
            data.replaceSubrange(second, with: whole[first])
        }
        return data
    }

    var description: String {
        switch kind {
        case .bit(let bit): "bit \(bit % 8) of byte \(bit / 8)"
        case .zeroedSector(let sector): "sector \(sector) zeroed"
        case .swapped(let a, let b, let bytes): "\(a) and \(b) swapped, of \(bytes) bytes each"
        }
    }
}
