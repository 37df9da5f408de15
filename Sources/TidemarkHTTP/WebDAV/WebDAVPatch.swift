// WebDAVPatch.swift — the one property that is written: the time of the last change.

import TidemarkEvents
import TidemarkSync

/// A PROPPATCH of the time of the last change.
///
/// `getlastmodified` is the server's alone. `lastmodified` in seconds is what ownCloud's and
/// Nextcloud's servers take; others refuse it.
enum WebDAVPatch {
    /// The member with the time.
    static let member = "modified"

    static let onlyTimes =
        "of a file or folder, WebDAV takes only \"\(member)\": a time, as in 2026-11-26T18:45:45Z"

    /// What is wrong with a change, for a person.
    struct Problem: Error {
        var description: String
    }

    /// Whether a change that moves nothing changes nothing: a name or a folder that was undone.
    static func isNone(_ changes: [UInt8], in collection: CollectionModel) -> Bool {
        guard let document = try? JSONDocument(parsing: changes) else { return false }
        return others(document, in: collection).isEmpty
    }

    /// The members of a change but for name and folder.
    private static func others(
        _ document: JSONDocument, in collection: CollectionModel
    ) -> [String] {
        let own = collection.tree.map { [ExactString($0.parent), ExactString($0.name)] } ?? []
        return document.keys.filter { !own.contains(ExactString($0)) }
    }

    /// The time that a change sets.
    static func time(
        of changes: [UInt8], in collection: CollectionModel
    ) -> Result<Timestamp, Problem> {
        guard let document = try? JSONDocument(parsing: changes),
            others(document, in: collection) == [member],
            let raw = document.rawValue(member),
            let time = DateFormat.iso8601.timestamp(Array(raw)[...])
        else { return .failure(Problem(description: onlyTimes)) }
        return .success(time)
    }

    /// Why an update that moves an entity is refused: what else it changes would be lost.
    static func refusalBesideMove(
        _ changes: [UInt8], in collection: CollectionModel
    ) -> ServerRefusal? {
        guard let document = try? JSONDocument(parsing: changes) else { return nil }
        let others = others(document, in: collection)
        guard !others.isEmpty else { return nil }
        return ServerRefusal(
            status: 0,
            message: "the server moves it or changes \(others.joined(separator: ", ")), not both "
                + "in one: edit them one after another")
    }

    /// The same of an update that sends another content.
    static func refusalBesideContent(_ changes: [UInt8]) -> ServerRefusal? {
        // What only the server tells is not taken away by leaving it out.
        guard let document = try? JSONDocument(parsing: changes),
            document.keys.count(where: { document.value($0) != .null }) > 1
        else { return nil }
        return ServerRefusal(
            status: 0,
            message: "the server takes a content by itself: edit the other fields after it")
    }

    static func body(_ time: Timestamp) -> [UInt8] {
        let seconds = (Double(time.milliseconds) / 1000).rounded(.down)
        return Array(
            (#"<?xml version="1.0" encoding="utf-8"?><D:propertyupdate xmlns:D="DAV:"><D:set>"#
                + "<D:prop><D:lastmodified>\(Int64(seconds))</D:lastmodified></D:prop></D:set>"
                + "</D:propertyupdate>").utf8)
    }
}
