// Capsule.swift — a replay bundle: the part of a store that a replay of a bug needs, as a value.

package import TidemarkEvents
package import TidemarkLog
package import TidemarkViews

/// The data that a replay of a bug needs: the views to begin with, the commits since, and their
/// digests.
///
/// Positions are those of the store that it was taken from, and may have gaps.
package struct Capsule: Sendable, Hashable {
    /// The views that the first commit is folded over.
    package struct Base: Sendable, Hashable {
        /// The last event that they include; `@0` where they are empty.
        package var position: Position
        /// The rules that made the rows: ``View/allFingerprints`` at that time.
        package var fingerprints: [UInt8]
        /// Sorted by key.
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

    /// One event, at its position.
    package struct Entry: Sendable, Hashable {
        package var position: Position
        package var event: Event

        package init(position: Position, event: Event) {
            self.position = position
            self.event = event
        }
    }

    /// Events that were written in one commit, and the digests of the views after it.
    package struct Commit: Sendable, Hashable {
        /// At least one, sorted by position.
        package var entries: [Entry]
        /// The digests that the recording engine logged; empty where they are not known.
        package var views: [ViewDigest]

        package init(entries: [Entry], views: [ViewDigest]) {
            self.entries = entries
            self.views = views
        }

        package var first: Position { entries.first?.position ?? .start }
        package var last: Position { entries.last?.position ?? .start }
    }

    /// The verbatim answers of the server that an event names.
    package struct Answers: Sendable, Hashable {
        /// The event.
        package var position: Position
        package var answers: [KeptAnswer]

        package init(position: Position, answers: [KeptAnswer]) {
            self.position = position
            self.answers = answers
        }
    }

    /// Where it comes from; a replay needs nothing of it.
    package struct Provenance: Sendable, Hashable {
        /// The version of Tidemark that wrote it.
        package var build: String
        /// The last event of the log that it was taken from.
        package var last: Position
        /// The Merkle root of that log at that time.
        package var root: Hash
        /// Whether its values were replaced by redaction.
        package var isRedacted = false
        /// What the redaction replaced, in words; empty where nothing was redacted.
        package var redaction = ""
        /// Whether events were left out, so that the digests are those of the remaining ones.
        package var isShrunk = false
        /// Whether it names the server, the account and the device that the store had.
        package var namesRemote = true
        /// A note by the person who wrote it; for people.
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
    /// The payloads that events name by hash instead of holding them.
    package var bodies: [[UInt8]]
    /// The verbatim answers that were kept, in the order of their events.
    package var answers: [Answers]
    /// The bytes of files that entities name, where they were asked for, in the order of their
    /// digests.
    package var contents: [Content]

    package init(
        provenance: Provenance, base: Base, commits: [Commit], bodies: [[UInt8]] = [],
        answers: [Answers] = [], contents: [Content] = []
    ) {
        self.provenance = provenance
        self.base = base
        self.commits = commits
        self.bodies = bodies
        self.answers = answers
        self.contents = contents
    }

    /// Its last event.
    package var last: Position { commits.last?.last ?? base.position }
}
