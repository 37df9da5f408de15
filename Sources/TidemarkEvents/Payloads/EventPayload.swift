// EventPayload.swift — what each kind of event knows of its payloads: what stands in them, what may
// be cut of them, and what they tell a person. Payload.swift names the type of each kind.

/// The payloads of one kind of event.
package protocol EventPayload {
    /// What stands in them.
    static var form: PayloadForm { get }

    /// What may be cut of one to show the same with less.
    static var cut: PayloadCut { get }

    /// What an event means for the entity that it is about, in a few words for a person; nil where
    /// it depends on more than the event.
    ///
    /// Texts of a server and of strangers stand in it as they came.
    static func words(of event: Event) -> String?
}

/// What stands in the payloads of a kind.
package enum PayloadForm: Sendable {
    /// An entity, or what was left of it.
    case document
    /// The difference between two documents.
    case patch
    /// A model.
    case registration
    /// Members of ours.
    case members(any MemberPayload.Type)
    case nothing
}

/// What may be cut of a payload without the log contradicting itself.
package enum PayloadCut: Sendable {
    case nothing
    /// Fields of an edit that no request carried.
    case unlessSent
    /// Fields, or entities, in what an answer said that is not kept word for word.
    case unlessKept
}

extension EventPayload {
    package static var cut: PayloadCut { .nothing }

    package static func words(of event: Event) -> String? { nil }
}

extension EventPayload where Self: MemberPayload {
    package static var form: PayloadForm { .members(Self.self) }
}

extension EventKind {
    /// What stands in its payloads; nil for a kind of another version.
    package var form: PayloadForm? { owner?.form }
}

extension Event {
    /// What it means for the entity that it is about, as its kind has it.
    package var words: String? { kind.owner?.words(of: self) }

    /// What may be cut of its payload.
    package var cut: PayloadCut { kind.owner?.cut ?? .nothing }

    /// Its payload as the type of its kind; nil where it is of another kind, or can't be read.
    package func read<Kind: MemberPayload>(_ type: Kind.Type) -> Kind? {
        guard let owner = kind.owner, owner == type else { return nil }
        return isOfKnownShape ? try? Kind(reading: payload) : nil
    }

    /// Whether its payload has a shape that this version reads.
    package var isOfKnownShape: Bool { schemaVersion <= kind.newestSchema }

    /// Whether a newer version wrote it: its kind, or the shape of its payload, is not known here.
    package var isOfNewerVersion: Bool {
        if case .unknown = kind { true } else { !isOfKnownShape }
    }

    /// Whether its payload is an object of ours, in this version's shape.
    package var holdsMembers: Bool {
        if isOfKnownShape, case .members = kind.form { true } else { false }
    }
}
