// ShrinkFailure.swift — the failure that a shrunk log must still show.

package import TidemarkCapsule
package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// What identifies a failure: two failures with the same signature are the same.
package struct FailureSignature: Sendable, Hashable, CustomStringConvertible {
    /// The text that is compared.
    package let description: String
    /// The position at which it shows, if known; not compared.
    package var position: Position?

    package init(_ description: String, at position: Position? = nil) {
        self.description = description
        self.position = position
    }

    /// The signature of a divergence: its kind, and its collection and field, without its position
    /// and entity.
    package init(_ divergence: Divergence) {
        var field = divergence.field ?? ""
        if let entity = divergence.entity {
            field.replace("\(entity)", with: entity.collection.rawValue)
        }
        field.replace(/@[0-9]+/, with: "@")
        self.init("\(divergence.kind.rawValue) \(field)", at: divergence.position)
    }

    package static func == (left: Self, right: Self) -> Bool {
        left.description == right.description
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(description) }
}

/// The failure that a log is shrunk to.
package enum ShrinkFailure {
    /// A predicate holds in the views after the last event.
    case holds(StatePredicate)
    /// A commit's recorded digests differ from those of today's fold.
    ///
    /// With a fold that records digests, as in a test that plants a bug, they are computed again
    /// for each part of the log. Without one, a commit keeps its digests where today's fold of the
    /// commit is the same as in the whole log.
    case diverges(recordedBy: ((Fold, Event, Position) throws -> Void)? = nil)
    /// The finding of a check on a capsule; nil where it finds nothing.
    case found((Capsule) throws -> FailureSignature?)

    /// Whether trials need the digests of each commit.
    var needsDigests: Bool {
        switch self {
        case .holds: false
        case .diverges, .found: true
        }
    }
}

/// A difference between a recorded digest and that of a fold.
struct RecordedDifference {
    var signature: FailureSignature

    /// The digests of a commit.
    struct Digests {
        var last: Position
        var recorded: [ViewDigest]
        var made: [ViewDigest]
        /// Views whose recorded digests were removed together with names.
        var takenOut: Set<View>
    }

    /// The first difference, by the rules of ``Journal/compareWithRebuilt(in:)``.
    init?(_ commits: [Digests], _ rows: MemoryRows, base: Capsule.Base) {
        var fingerprints: [UInt32: [UInt8]] = [:]
        if base.fingerprints == View.allFingerprints, base.position > .start {
            for view in View.allCases { fingerprints[view.rawValue] = view.fingerprint }
        }
        for commit in commits {
            for view in View.allCases {
                let recorded = commit.recorded.first { $0.view == view.rawValue }
                let made = commit.made.first { $0.view == view.rawValue }
                if let recorded { fingerprints[view.rawValue] = recorded.fingerprint }
                if recorded == nil, commit.takenOut.contains(view) { continue }
                guard recorded != made, fingerprints[view.rawValue] == view.fingerprint else {
                    continue
                }
                let detail = Self.detail(recorded, made, rows)
                signature = FailureSignature("digest \(view) \(detail)", at: commit.last)
                return
            }
        }
        return nil
    }

    /// How the first row differs, and its collection.
    private static func detail(
        _ recorded: ViewDigest?, _ made: ViewDigest?, _ rows: MemoryRows
    ) -> String {
        let (old, new) = (recorded?.shortHashes ?? [], made?.shortHashes ?? [])
        let (oldKeys, newKeys) = (Set(old.map(\.key)), Set(new.map(\.key)))
        let known = Set(old)
        if let row = new.first(where: { !known.contains($0) }) {
            return (oldKeys.contains(row.key) ? "different " : "extra ") + rows.kind(of: row.key)
        }
        if let row = old.first(where: { !newKeys.contains($0.key) }) {
            return "missing " + rows.kind(of: row.key)
        }
        return "different"
    }
}

extension MemoryRows {
    /// The collection of the row whose key has that checksum, or the kind of row.
    fileprivate func kind(of checksum: UInt32) -> String {
        var found = ""
        forEach { key, _ in
            guard found.isEmpty, CRC32C.checksum(of: key.bytes) == checksum else { return }
            found = key.kind
        }
        return found
    }
}

extension RowKey {
    /// The collection of an entity's row; for any other row the letter of its kind.
    fileprivate var kind: String {
        if tree == .rows { return EntityKey(bytes: bytes)?.collection.rawValue ?? "" }
        return bytes.first.map { String(UnicodeScalar($0)) } ?? ""
    }
}
