// SalvageReport.swift — salvages a damaged store into a new one, and reports the result: to a
// person in lines of at most 80 columns, or to a program as one JSON object.

import Tidemark
package import TidemarkEvents
package import TidemarkLog
import TidemarkStore
package import TidemarkSync
import TidemarkViews

/// What was salvaged, and what was lost.
package struct SalvageReport: Sendable {
    /// The new store's directory; nil where nothing was proven, so that no store was made.
    package var directory: String?
    /// The new store's id.
    package var storeID: String?
    /// Whether it is the damaged store's id.
    package var keepsID: Bool
    package var pages: Int
    package var pageBytes: Int
    package var proven: Position
    package var root: Hash
    package var commits: Int
    /// Commits whose records are lost.
    package var unrecorded: Int
    package var mended: [Position]
    package var mendedBodies: Int
    /// The last event that follows the proven ones without a gap.
    package var unproven: Position
    package var takesUnproven: Bool
    package var end: SalvagedLog.End
    package var gaps: [SalvagedLog.Gap]
    package var newer: Int
    /// What is wrong with files of the old store that the new one does not have.
    package var lostFiles: [String] = []
    /// Whether the whole log was taken and proven.
    package var hasWholeLog: Bool

    /// Whether nothing was lost: neither of the log nor of the files.
    package var isComplete: Bool { hasWholeLog && lostFiles.isEmpty }

    /// Whether the missing part may be of a newer format.
    package var isNewer: Bool { newer > 0 }

    /// Makes a new store of everything that can be proven in a damaged one, and verifies it.
    ///
    /// The damaged store is only read. The new one gets its name once it is complete.
    ///
    /// - Throws: ``StoreError`` or ``LogError``, when the damaged store can't be read or the new
    ///   one can't be made; `busy` while another one is made there.
    package static func salvage(
        _ store: String, to directory: String, withUnproven: Bool, _ dependencies: Dependencies,
        progress: (String) throws -> Void = { _ in }
    ) throws -> SalvageReport {
        let salvaged = try SalvagedLog(in: store) { step in
            switch step {
            case .pages(let done, let all): try progress("looking at page \(done) of \(all)")
            case .events(let position): try progress("proving \(position)")
            }
        }
        var report = SalvageReport(salvaged, withUnproven: withUnproven)
        guard report.commits > 0 else { return report }
        try StoreFiles.make(at: directory, from: store) { folder, lock in
            var opening = StoreOpening(
                device: dependencies.deviceID(), makeID: dependencies.makeID)
            opening.lock = lock
            try Journal.make(
                of: salvaged, withUnproven: withUnproven, in: folder, opening
            ) { try progress("folding \($0.done) of \($0.last)") }
            try progress("copying files")
            try ContentFiles(of: store).copyWhole(to: ContentFiles(of: folder), isLossy: true)
            let verified = try Journal.verifyStore(at: folder)
            // A file that was lost is no reason to lose the rest.
            let problem = verified.problems.first { $0.code != .corruptFile }
            if let problem { throw problem }
            report.lostFiles = verified.problems.map(\.detail)
            report.storeID = try StoreIdentity.find(in: folder).identity?.storeID
        }
        report.directory = directory
        return report
    }

    private init(_ salvaged: SalvagedLog, withUnproven: Bool) {
        keepsID = salvaged.isWhole && salvaged.storeID != nil
        (pages, pageBytes) = (salvaged.pages, salvaged.pageBytes)
        (proven, root) = (salvaged.proven, salvaged.root)
        commits = salvaged.commits(withUnproven: withUnproven).count
        (unrecorded, mended) = (salvaged.unrecorded, salvaged.mended)
        mendedBodies = salvaged.mendedBodies
        (unproven, takesUnproven) = (salvaged.unproven, withUnproven)
        (end, gaps, newer) = (salvaged.end, salvaged.gaps, salvaged.newer)
        hasWholeLog = salvaged.isWhole
    }

    /// The last event that is in the new store.
    package var taken: Position { takesUnproven ? unproven : proven }
}

// MARK: - For a person

extension SalvageReport {
    /// How many gaps and positions are listed individually.
    private static let listedMax = 20

    /// The report in lines.
    package var lines: [String] {
        var lines = ["read       \(pages) pages of \(pageBytes) bytes"]
        if proven == .start {
            lines.append("proven     nothing: no commit's root is met by what was found")
        } else {
            lines.append("proven     events up to \(proven)")
            lines.append("root       \(Hexadecimal.encode(root))")
        }
        if unrecorded > 0 {
            lines.append(
                "commits    \(unrecorded) made anew, where the records of commits are lost")
        }
        if !mended.isEmpty {
            let list = Self.list(mended.map { "\($0)" })
            lines.append("mended     one turned bit each of \(list)")
        }
        if mendedBodies > 0 {
            lines.append("mended     one turned bit each of \(mendedBodies) bodies")
        }
        switch end {
        case .known(let position): lines.append("ended      \(position)")
        case .atLeast(let position):
            lines.append("ended      \(position) or later: nothing whole says where")
        }
        if unproven > proven {
            let range = Self.range(proven.next, unproven)
            lines.append(
                takesUnproven
                    ? "unproven   \(range): taken, but no root proves them"
                    : "unproven   \(range): not taken; with --unproven they are")
        }
        for gap in gaps.prefix(Self.listedMax) where gap.last > unproven {
            lines.append(
                "lost       \(Self.range(max(gap.first, unproven.next), gap.last)): \(gap)")
        }
        if gaps.count > Self.listedMax {
            lines.append("           and \(gaps.count - Self.listedMax) more such ranges")
        }
        if newer > 0 {
            lines.append("newer      frames of a newer format were found; use a newer tidemark")
        }
        for file in lostFiles.prefix(Self.listedMax) {
            let short = file.replacing(/[0-9a-f]{64}/) { $0.output.prefix(16) + "…" }
            lines.append("lost       " + EventText.cut(short, to: 69))
        }
        if lostFiles.count > Self.listedMax {
            lines.append("           and \(lostFiles.count - Self.listedMax) more files")
        }
        guard let directory else { return lines + ["made       nothing"] }
        lines.append("made       \(directory)")
        lines.append(
            "store      \(storeID ?? "unknown"), \(keepsID ? "the old one's id" : "a new id")")
        return lines
    }

    private static func range(_ first: Position, _ last: Position) -> String {
        first == last ? "\(first)" : "\(first) to \(last)"
    }

    private static func list(_ words: [String]) -> String {
        words.prefix(3).joined(separator: ", ")
            + (words.count > 3 ? " and \(words.count - 3) others" : "")
    }
}

extension SalvagedLog.Gap: CustomStringConvertible {
    /// Why the events were not taken.
    package var description: String {
        switch reason {
        case .missing: "no frame with a right checksum"
        case .unproven: "frames that no root proves"
        case .body(let reference): "body \(reference.digits.prefix(16))… is not whole"
        }
    }
}

// MARK: - For a program

extension SalvageReport {
    /// One JSON object.
    package var json: [UInt8] {
        var object: JSONObject = ["complete": .bool(isComplete)]
        object["pages"] = .number(JSONNumber(pages))
        object["pageBytes"] = .number(JSONNumber(pageBytes))
        object["proven"] = Self.number(proven)
        object["root"] = .string(Hexadecimal.encode(root))
        object["taken"] = Self.number(taken)
        object["end"] = Self.number(end.position)
        if case .known = end { object["endKnown"] = true } else { object["endKnown"] = false }
        object["commits"] = .number(JSONNumber(commits))
        object["commitsMadeAnew"] = .number(JSONNumber(unrecorded))
        object["mended"] = .array(mended.map(Self.number))
        object["mendedBodies"] = .number(JSONNumber(mendedBodies))
        if unproven > proven {
            object["unproven"] = ["first": Self.number(proven.next), "last": Self.number(unproven)]
        }
        object["gaps"] = .array(
            gaps.map { gap in
                var entry: JSONObject = ["first": Self.number(gap.first)]
                entry["last"] = Self.number(gap.last)
                switch gap.reason {
                case .missing: entry["reason"] = "missing"
                case .unproven: entry["reason"] = "unproven"
                case .body(let reference):
                    entry["reason"] = "body"
                    entry["bodySHA256"] = .string(reference.digits)
                }
                return .object(entry)
            })
        object["lostFiles"] = .array(lostFiles.map(JSONValue.string))
        object["newer"] = .number(JSONNumber(newer))
        object["made"] = directory.map(JSONValue.string) ?? .some(.null)
        object["store"] = storeID.map(JSONValue.string) ?? .some(.null)
        object["keepsID"] = .bool(keepsID)
        return JSONValue.object(object).encoded()
    }

    private static func number(_ position: Position) -> JSONValue {
        .number(JSONNumber(position.rawValue))
    }
}
