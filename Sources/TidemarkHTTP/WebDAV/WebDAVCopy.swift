// WebDAVCopy.swift — the one action that a server of files has: it copies.

import TidemarkEvents
import TidemarkSync

/// What is copied, and to where.
struct WebDAVCopy {
    /// The action's name in the model.
    static let action = "copy"

    static let onlyCopies =
        "WebDAV has one action, \"\(action)\": what it copies stands in the parameter that the "
        + "model names as its source"

    /// The paths.
    var source: String
    var target: String
    /// Whether it is a folder, which is copied with all that lies in it.
    var isFolder: Bool

    /// Nil for any other call.
    init?(_ call: ServerCall) {
        guard
            case .perform(
                let collection, let id, action: Self.action, let parameters, let document?) = call,
            let rule = collection.actions.first(where: { $0.name == Self.action }),
            let source = rule.source.flatMap({ parameters[$0] }), !source.isEmpty
        else { return nil }
        self.source = source
        target = id
        isFolder = collection.isFolder(document)
    }
}
