// Capsule.swift — a replay bundle: the part of a store that is needed to replay a bug, as a value.

package import TidemarkEvents
package import TidemarkLog
package import TidemarkViews

/// What is needed to replay a bug: views to begin with, the commits since, and what they made.
///
/// Positions are those of the store that it was taken from, and may have holes.
package struct Capsule: Sendable, Hashable {
    /// The views that the first commit is folded over.
    package struct Base: Sendable, Hashable {
        /// The last event that they know of; `@0` where they are empty.
        package var position: Position
        /// Which rules made the rows: ``View/allFingerprints`` of then.
        package var fingerprints: [UInt8]
        /// In the order of their keys.
        package var rows: [SnapshotRow]

        package init(
            position: Position = .start, fingerprints: [UInt8] = View.allFingerprints,
            rows: [SnapshotRow] = []
        ) {
            self.position = position
            self.fingerprints = fingerprints
            self.rows = rows
        }
    }

    /// One event, where it was.
    package struct Entry: Sendable, Hashable {
        package var position: Position
        package var event: Event

        package init(position: Position, event: Event) {
            self.position = position
            self.event = event
        }
    }

    /// Events that were written together, and what the views made of them.
    package struct Commit: Sendable, Hashable {
        /// At least one, in the order of their positions.
        package var entries: [Entry]
        /// What the recording engine made of them; empty where that is not known.
        package var views: [ViewDigest]

        package init(entries: [Entry], views: [ViewDigest]) {
            self.entries = entries
            self.views = views
        }

        package var first: Position { entries.first?.position ?? .start }
        package var last: Position { entries.last?.position ?? .start }
    }

    /// Answers of the server as they came, which an event names.
    package struct Answers: Sendable, Hashable {
        /// The event.
        package var position: Position
        package var answers: [KeptAnswer]

        package init(position: Position, answers: [KeptAnswer]) {
            self.position = position
            self.answers = answers
        }
    }

    /// Where it comes from; nothing of it is needed for a replay.
    package struct Provenance: Sendable, Hashable {
        /// The version of Tidemark that wrote it.
        package var build: String
        /// The last event of the log that it was taken from.
        package var last: Position
        /// The Merkle root of that log then.
        package var root: Hash
        /// Whether its values are others than those that were recorded.
        package var isRedacted = false
        /// What the redaction did to them, in words; empty where nothing was redacted.
        package var redaction = ""
        /// Whether events were left out, so that the digests are those of what is left.
        package var isShrunk = false
        /// Whether it names the server, the account and the device that the store had.
        package var namesRemote = true
        /// The author's note; for people.
        package var note = ""

        package init(build: String, last: Position, root: Hash) {
            self.build = build
            self.last = last
            self.root = root
        }
    }

    package var provenance: Provenance
    package var base: Base
    package var commits: [Commit]
    /// What payloads name by hash instead of holding it.
    package var bodies: [[UInt8]]
    /// What was kept of answers as they came, in the order of their events.
    package var answers: [Answers]

    package init(
        provenance: Provenance, base: Base, commits: [Commit], bodies: [[UInt8]] = [],
        answers: [Answers] = []
    ) {
        self.provenance = provenance
        self.base = base
        self.commits = commits
        self.bodies = bodies
        self.answers = answers
    }

    /// Its last event.
    package var last: Position { commits.last?.last ?? base.position }
}
