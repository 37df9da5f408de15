// Divergence.swift — where a replay is not what was recorded, for people who did not write the
// engine.

public import TidemarkEvents
import TidemarkInspect

/// The first place at which a replay differs from what was recorded.
public struct Divergence: Error, Sendable, Hashable {
    /// What differs.
    public enum Kind: String, Sendable, CaseIterable {
        /// It was recorded, and the replay does not do it.
        case missing
        /// The replay does it, and it was not recorded.
        case extra
        /// Both do it, each otherwise.
        case different
        /// The same events make other rows.
        case digest
        /// The replay could not go on.
        case threw
    }

    /// The recorded event; of a digest the last event of the commit, of something extra the last
    /// event before it.
    public var position: Position
    /// What differs.
    public var kind: Kind
    /// What was recorded, in one line; nil where nothing was.
    public var recorded: String?
    /// What the replay does instead, in one line; nil for nothing.
    public var replayed: String?
    /// The first field that differs: `path`, `payload.covers`, or the row and its member.
    public var field: String?
    /// The entity that it is about, where it is about one.
    public var entity: EntityKey?
    /// How it came to the event, from the event itself back to what began it.
    public var causes: [CauseStep]

    public init(
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
    /// What happened, where, how it came to that, and where to look next; several short lines.
    public var description: String { lines().joined(separator: "\n") }

    /// The lines of ``description``.
    ///
    /// - Parameter file: what the commands that it ends with are to name.
    package func lines(file: String = "FILE") -> [String] {
        var lines = [headline]
        // Some of it is what a server or a stranger wrote.
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

    /// The commands that show more.
    private func commands(_ file: String) -> [String] {
        var commands = ["tidemark show \(file) \(position)"]
        if let entity {
            commands.append("tidemark why \(file) \(entity)")
        }
        let run = causes.first { $0.text.hasPrefix(EventKind.syncStarted.description) }
        if kind != .digest, let run {
            commands.append("tidemark dump \(file) --sync \(run.position)")
        }
        return commands
    }
}

extension String {
    /// The text with spaces behind it up to a width, at least one.
    fileprivate func padded(_ width: Int) -> String {
        self + String(repeating: " ", count: max(1, width - count))
    }
}
