// RecordedRows.swift — the last recorded short hash of each row: enough to tell whether a row is
// still the one that was written, without folding anything again.
//
// It takes about 40 bytes of memory per row. Two keys of a large store may share a short hash;
// where a row is not as recorded, this possibility has to be checked (RowCheck.swift).

import TidemarkEvents
import TidemarkLog
import TidemarkStore
import TidemarkViews

/// The short hash of every row, as recorded by the last commit that wrote it.
struct RecordedRows {
    /// A row's view and the short hash of its key.
    struct Name: Hashable, Comparable {
        private let number: UInt64

        init(_ view: UInt32, _ key: UInt32) { number = UInt64(view) << 32 | UInt64(key) }
        init(_ key: RowKey) { self.init(key.view.rawValue, CRC32C.checksum(of: key.bytes)) }

        /// The view's name, or its number when it has none.
        var view: String {
            let number = UInt32(truncatingIfNeeded: number >> 32)
            return View(rawValue: number).map { "\($0)" } ?? "\(number)"
        }

        /// Mixed bits of the name, for its slot in a table.
        var mixed: Int {
            Int(truncatingIfNeeded: (number &* 0x9E37_79B9_7F4A_7C15) >> 24)
        }

        static func < (left: Name, right: Name) -> Bool { left.number < right.number }
    }

    /// The record of a row.
    enum Row: Hashable {
        case value(UInt32)
        /// The row was found, and is as recorded.
        case found
        /// Other rules made it; its value by today's rules is unknown.
        case foreign
    }

    /// The last commit that was added.
    var last = Position.start
    /// Whether other rules than today's made any row.
    private(set) var hasForeign = false
    private var knownForeign: Set<[UInt8]> = []
    private var rows = RowTable()

    subscript(_ name: Name) -> Row? { rows[name] }

    /// Adds the next commit; returns what is wrong with its digests.
    mutating func note(_ record: CommitRecord) -> LogError? {
        last = record.last
        var before: UInt32 = 0
        for digest in record.views {
            guard digest.view > before, digest.fingerprint.count == 4, digest.digest.count == 16,
                !digest.rows.isEmpty, digest.rows.count % 8 == 0
            else {
                return LogError(
                    .corruptDigest, at: record.last, "the digest of view \(digest.view) is damaged")
            }
            before = digest.view
            guard let view = View(rawValue: digest.view) else { continue }
            let isForeign = digest.fingerprint != view.fingerprint
            if isForeign, !isKnown(digest.fingerprint, of: view) {
                return LogError(
                    .corruptDigest, at: record.last,
                    "the digest of view \(view) names rules that no version has")
            }
            hasForeign = hasForeign || isForeign
            digest.forEachShortHash { row in
                rows.set(Name(digest.view, row.key), isForeign ? .foreign : .value(row.value))
            }
        }
        return nil
    }

    /// Adds a row that the log begins with, before any commit.
    mutating func note(_ key: RowKey, _ value: [UInt8], of base: SnapshotManifest) {
        last = base.position
        let view = key.view
        let index = View.allCases.firstIndex(of: view) ?? 0
        let isForeign = !base.fingerprints.dropFirst(4 * index).starts(with: view.fingerprint)
        hasForeign = hasForeign || isForeign
        rows.set(Name(key), isForeign ? .foreign : .value(CRC32C.checksum(of: value)))
    }

    private mutating func isKnown(_ fingerprint: [UInt8], of view: View) -> Bool {
        if knownForeign.contains(fingerprint) { return true }
        guard view.isFingerprint(fingerprint) else { return false }
        knownForeign.insert(fingerprint)
        return true
    }

    mutating func markFound(_ name: Name) { rows.set(name, .found) }

    /// The rows that should exist and were not found, sorted.
    var missing: [Name] {
        var names: [Name] = []
        rows.forEach { name, row in
            if case .value(let value) = row, value != 0 { names.append(name) }
        }
        return names.sorted()
    }
}
