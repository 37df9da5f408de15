// ShrinkFailure.swift — what a shrunk log must still show, and when it is the same.

package import TidemarkCapsule
package import TidemarkEvents
import TidemarkLog
import TidemarkStore
package import TidemarkViews

/// What makes one failure the same as another one.
package struct FailureSignature: Sendable, Hashable, CustomStringConvertible {
    /// What is compared.
    package let description: String
    /// Where it shows, if that is known; of no matter for whether it is the same.
    package var position: Position?

    package init(_ description: String, at position: Position? = nil) {
        self.description = description
        self.position = position
    }

    /// Of a divergence: what kind it is, and of which collection and field; not where, nor of which
    /// entity.
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

/// What a log is shrunk for.
package enum ShrinkFailure {
    /// That something is true of the views after its last event.
    case holds(StatePredicate)
    /// That a commit's recorded digests are not those that today's fold gives.
    ///
    /// Where the fold that recorded them is at hand, as it is in a test that plants a mistake, it
    /// makes them anew for each part of the log; else those of a commit are kept where today's
    /// fold makes of the commit what it makes of it in the whole log.
    case diverges(recordedBy: ((Fold, Event, Position) throws -> Void)? = nil)
    /// What a check says of a capsule; nil where it finds nothing.
    case found((Capsule) throws -> FailureSignature?)

    /// Whether trials must tell what is made of each commit.
    var needsDigests: Bool {
        switch self {
        case .holds: false
        case .diverges, .found: true
        }
    }
}

/// Where a recorded digest is not the one that a fold gives.
struct RecordedDifference {
    var signature: FailureSignature

    /// The first one, by the rules of ``Journal/compareWithRebuilt(in:)``.
    init?(
        _ commits: [(last: Position, recorded: [ViewDigest], made: [ViewDigest])],
        _ rows: MemoryRows, base: Capsule.Base
    ) {
        var fingerprints: [UInt32: [UInt8]] = [:]
        if base.fingerprints == View.allFingerprints, base.position > .start {
            for view in View.allCases { fingerprints[view.rawValue] = view.fingerprint }
        }
        for commit in commits {
            for view in View.allCases {
                let recorded = commit.recorded.first { $0.view == view.rawValue }
                let made = commit.made.first { $0.view == view.rawValue }
                if let recorded { fingerprints[view.rawValue] = recorded.fingerprint }
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

    /// How the first row differs, and of which collection it is.
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
    /// The collection of the row with a key of that checksum, or what kind of a row it is.
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
    /// Of an entity its collection, of another row its letter.
    fileprivate var kind: String {
        if tree == .rows { return EntityKey(bytes: bytes)?.collection.rawValue ?? "" }
        return bytes.first.map { String(UnicodeScalar($0)) } ?? ""
    }
}
