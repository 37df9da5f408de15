// Divergence.swift — where a replay is not what was recorded, for people who did not write the
// engine.

public import TidemarkEvents

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
    /// How it came to the event, from the event itself back to what began it.
    public var causes: [CauseStep]

    /// A divergence.
    public init(
        _ kind: Kind, at position: Position, recorded: String? = nil, replayed: String? = nil,
        field: String? = nil, causes: [CauseStep] = []
    ) {
        self.kind = kind
        self.position = position
        self.recorded = recorded
        self.replayed = replayed
        self.field = field
        self.causes = causes
    }
}

/// One event of a chain of causes.
public struct CauseStep: Sendable, Hashable {
    /// Where it stands in the log.
    public var position: Position
    /// What it says, in one line.
    public var text: String

    /// A step.
    public init(position: Position, text: String) {
        self.position = position
        self.text = text
    }
}
