// Divergence.swift — the difference between a replay and the recording, in words for people who did
// not write the engine.

public import TidemarkEvents
import TidemarkInspect

/// The first place at which a replay differs from what was recorded.
public struct Divergence: Error, Sendable, Hashable {
    /// The kind of difference.
    @nonexhaustive public enum Kind: String, Sendable, CaseIterable {
        /// An event was recorded, and the replay does not make it.
        case missing
        /// The replay makes an event that was not recorded.
        case extra
        /// Both make the event, with different contents.
        case different
        /// The same events make different rows.
        case digest
        /// The replay could not go on.
        case threw
    }

    /// The recorded event; for a digest the last event of the commit, for an extra event the last
    /// recorded event before it.
    public var position: Position
    /// The kind of difference.
    public var kind: Kind
    /// The recorded event or row, in one line; nil where there was none.
    public var recorded: String?
    /// What the replay makes instead, in one line; nil for nothing.
    public var replayed: String?
    /// The first field that differs: `path`, `payload.covers`, or the row and its member.
    public var field: String?
    /// The entity that the difference is about, if it is about one.
    public var entity: EntityKey?
    /// The chain of causes, from the event itself back to its origin.
    public var causes: [CauseStep]

    package init(
        _ kind: Kind, at position: Position, recorded: String? = nil, replayed: String? = nil,
        field: String? = nil, entity: EntityKey? = nil, causes: [CauseStep] = []
    ) {
        self.kind = kind
        self.position = position
        self.recorded = recorded
        self.replayed = replayed
        self.field = field
        self.entity = entity
        self.causes = causes
    }
}

extension Divergence: CustomStringConvertible {
    /// The difference, its place, its causes, and the next commands to try; several short lines.
    public var description: String { lines().joined(separator: "\n") }

    /// The lines of ``description``.
    ///
    /// - Parameter file: the file name in the commands at the end.
    package func lines(file: String = "FILE") -> [String] {
        var lines = [headline]
        // Some of the text comes from a server or a stranger.
        func add(_ label: String, _ texts: [String]) {
            for (index, text) in texts.map(EventText.printable).enumerated() {
                let label = index == 0 ? label : ""
                lines.append("  " + label.padded(11) + text)
            }
        }
        add("differs in", field.map { [$0] } ?? [])
        add("recorded", [recorded ?? "nothing"])
        add("replayed", [replayed ?? "nothing"])
        add("came from", causes.map(\.description))
        add("look at", commands(file))
        return lines
    }

    private var headline: String {
        switch kind {
        case .missing: "\(position): it was recorded, and today's engine does not do it"
        case .extra: "after \(position): today's engine does what was not recorded"
        case .different: "\(position): today's engine does it otherwise than recorded"
        case .digest: "\(position): the same events make another row today than when recorded"
        case .threw: "\(position): the replay could not go on"
        }
    }

    /// The commands that show details.
    private func commands(_ file: String) -> [String] {
        let file = file.shellQuoted
        var commands = ["tidemark show \(file) \(position)"]
        if let entity {
            commands.append("tidemark why \(file) \("\(entity)".shellQuoted)")
        }
        let run = causes.first { $0.text.hasPrefix(EventKind.syncStarted.description) }
        if kind != .digest, let run {
            commands.append("tidemark dump \(file) --sync \(run.position)")
        }
        return commands
    }
}

extension String {
    /// The text, padded with at least one space to a width.
    fileprivate func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
