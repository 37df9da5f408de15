// EntityPayloads.swift — payloads without members of ours: entities, what an edit changes of one,
// and models.

/// `model.registered`: a model and its server's configuration.
package enum ModelRegistered: EventPayload {
    package static let form = PayloadForm.registration
}

/// `local.created`: the entity.
package enum LocalCreated: EventPayload {
    package static let form = PayloadForm.document
    package static let cut = PayloadCut.unlessSent

    package static func words(of event: Event) -> String? {
        guard event.isKeptBoth, let cause = event.cause else { return "created here" }
        return "made by keepBoth, with what \(cause) won over"
    }
}

/// `local.updated`: a ``Patch``.
package enum LocalUpdated: EventPayload {
    package static let form = PayloadForm.patch
    package static let cut = PayloadCut.unlessSent

    package static func words(of event: Event) -> String? {
        event.isKeptBoth ? "renamed by keepBoth" : "edited here"
    }
}

/// `local.deleted`.
package enum LocalDeleted: EventPayload {
    package static let form = PayloadForm.nothing

    package static func words(of event: Event) -> String? { "deleted here" }
}

/// `local.discarded`.
package enum LocalDiscarded: EventPayload {
    package static let form = PayloadForm.nothing

    package static func words(of event: Event) -> String? { "given up by the user" }
}

/// `local.retried`.
package enum LocalRetried: EventPayload {
    package static let form = PayloadForm.nothing

    package static func words(of event: Event) -> String? { "to be sent again, says the user" }
}

/// `server.upserted`: the entity.
package enum ServerUpserted: EventPayload {
    package static let form = PayloadForm.document
    package static let cut = PayloadCut.unlessKept
}

/// `server.deleted`: perhaps what was left of the entity.
package enum ServerDeleted: EventPayload {
    package static let form = PayloadForm.document
}
