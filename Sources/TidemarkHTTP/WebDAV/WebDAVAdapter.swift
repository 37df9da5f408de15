// WebDAVAdapter.swift — calls of servers of files that speak WebDAV, class 1 (RFC 4918).
//
//   list    PROPFIND  HOME/PATH/   Depth: 1: a folder, and what lies in it
//   read    PROPFIND  HOME/PATH    Depth: 0; the checksums of a file: WebDAVChecksums
//   create  MKCOL     HOME/PATH/   a folder
//           PUT       HOME/PATH    a file; If-None-Match: *
//   update  MOVE      HOME/PATH    to another name or folder; Overwrite: F, If-Match: ETAG
//           PUT       HOME/PATH    another content; If-Match: ETAG
//           PROPPATCH HOME/PATH    the time of the last change, and nothing else
//           PROPFIND  HOME/PATH    Depth: 0; a name or a folder that was undone: nothing
//   copy    COPY      HOME/PATH    an action; a folder with all in it; Overwrite: F
//   delete  DELETE    HOME/PATH    If-Match: ETAG for a file; never for a folder, since servers
//                                  delete half of it and answer 412
//
// The id of an entity is its path: WebDAVPlaces. A version is an ETag: WebDAVVersion. The server
// has no cursors.

import HTTPTypes
import Tidemark
import TidemarkEvents
public import TidemarkSync

/// Speaks to a server of files by WebDAV.
///
/// An entity is a folder or a file, `{"kind":"folder","modified":…,"fileId":…}` or
/// `{"kind":"file","size":…,"modified":…,"type":…,"fileId":…}` without the members that the server
/// does not tell. Its id is its path from the root down, not encoded. Contents are fetched and sent
/// where the model names a field for them: `content` of its tree.
public struct WebDAVAdapter: ServerAdapter {
    let places: WebDAVPlaces
    private let heedsPreconditions: Bool

    /// An adapter for the tree below one path.
    ///
    /// - Parameters:
    ///   - origin: the server's address: scheme, host and port, and a base path if it has one.
    ///   - home: the path below it that is the root of the tree, percent-encoded:
    ///     `/remote.php/dav/files/user/`.
    ///   - heedsPreconditions: whether the server is known to heed `If-Match` and `If-None-Match`;
    ///     else that is found out by the first upload of at most a mebibyte, and again after seven
    ///     days.
    public init(origin: String, home: String, heedsPreconditions: Bool = false) {
        places = WebDAVPlaces(origin: origin, home: home)
        self.heedsPreconditions = heedsPreconditions
    }

    /// Entries are read and written one by one, and of what is told of them only the time of their
    /// last change is written.
    public var traits: ServerTraits {
        var traits = ServerTraits(sendsChanges: true)
        traits.hasPaths = true
        traits.keptByMoves = ["size"]
        traits.lengthField = "size"
        traits.triesPreconditions = !heedsPreconditions
        return traits
    }

    /// The request for a call; see the table at the top of the file.
    public func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(_, _, let path): return try find(path ?? "", depth: "1", isFolder: true)
        case .read(_, let id): return try find(id, depth: "0")
        case .fetch(_, let ids): return try find(ids.first ?? "", depth: "0")
        case .create(let collection, let id, let body):
            if collection.isFolder(body) {
                return ServerRequest(
                    method: try Self.method("MKCOL"), path: places.path(id, isFolder: true))
            }
            return put(call.file, at: id, [.ifNoneMatch: "*"])
        case .update(let collection, let id, let body, let changes, let revision):
            if let target = collection.target(of: body, at: id) {
                // Another file may lie there by now, which is not to be moved.
                let version = WebDAVVersion(revision)
                return try transfer(
                    "MOVE", id, to: target,
                    isFolder: version?.isFolder ?? false || collection.isFolder(body),
                    Self.condition(version))
            }
            if let file = call.file {
                return put(file, at: id, Self.condition(WebDAVVersion(revision)))
            }
            let version = WebDAVVersion(revision)
            let isFolder = version?.isFolder ?? false || collection.isFolder(body)
            // What was undone is sent as a look.
            if WebDAVPatch.isNone(changes, in: collection) {
                return try find(id, depth: "0", isFolder: isFolder)
            }
            guard case .success(let time) = WebDAVPatch.time(of: changes, in: collection) else {
                throw .client(status: 0, WebDAVPatch.onlyTimes)
            }
            return ServerRequest(
                method: try Self.method("PROPPATCH"),
                path: places.path(id, isFolder: isFolder),
                headers: Self.xml + Self.condition(version), body: WebDAVPatch.body(time))
        case .delete(_, let id, let revision):
            let version = WebDAVVersion(revision)
            return ServerRequest(
                method: .delete, path: places.path(id, isFolder: version?.isFolder ?? false),
                headers: Self.condition(version))
        case .perform:
            guard let copy = WebDAVCopy(call) else {
                throw .client(status: 0, WebDAVCopy.onlyCopies)
            }
            return try transfer("COPY", copy.source, to: copy.target, isFolder: copy.isFolder)
        case .describe, .listWindow, .listPart, .feed, .combined, .refetch, .batch, .poll, .reserve:
            throw .client(status: 0, "WebDAV has no such call")
        }
    }

    /// Refuses names that no address can have, and writes that would go without a version although
    /// one is known.
    public func refusal(of call: ServerCall) -> ServerRefusal? {
        switch call {
        case .create(_, let id, _), .update(_, let id, _, _, _), .delete(_, let id, _):
            if id.isEmpty || !WebDAVPlaces.canAddress(id) {
                return ServerRefusal(status: 0, message: "no address can have this name")
            }
        case .perform:
            guard let copy = WebDAVCopy(call) else {
                return ServerRefusal(status: 0, message: WebDAVCopy.onlyCopies)
            }
            return WebDAVPlaces.canAddress(copy.target) && !copy.target.isEmpty
                ? nil : ServerRefusal(status: 0, message: "no address can have this name")
        case .describe, .list, .listWindow, .listPart, .feed, .combined, .read, .fetch, .refetch,
            .batch, .poll, .reserve:
            return nil
        }
        if case .update(let collection, let id, let body, let changes, _) = call {
            if let target = collection.target(of: body, at: id) {
                guard WebDAVPlaces.canAddress(target) else {
                    return ServerRefusal(status: 0, message: "no address can have this name")
                }
                // A move names a version where it can, and needs none: no content is replaced.
                return WebDAVPatch.refusalBesideMove(changes, in: collection)
            }
            if call.file != nil {
                if let refusal = WebDAVPatch.refusalBesideContent(changes) { return refusal }
                // Nothing is replaced that is not known.
                guard let version = call.revision.flatMap({ WebDAVVersion($0) }),
                    !version.isFolder
                else {
                    return ServerRefusal(
                        status: 0,
                        message: "no version of the file is known that could be replaced")
                }
            } else if WebDAVPatch.isNone(changes, in: collection) {
                // Nothing is written.
                return nil
            } else if case .failure(let problem) = WebDAVPatch.time(of: changes, in: collection) {
                return ServerRefusal(status: 0, message: problem.description)
            }
        }
        guard let revision = call.revision, let version = WebDAVVersion(revision),
            !version.isFolder, version.condition == nil
        else { return nil }
        return ServerRefusal(
            status: 0,
            message: "its version is a weak ETag, which no write can ask for; send it again "
                + "once the server tells a strong one")
    }
}

// MARK: Files

extension WebDAVAdapter {
    /// A file lies where its entity does.
    public func address(
        ofFile name: String, in field: String, of entity: EntityKey?
    ) -> String? { entity.map { places.path($0.id, isFolder: false) } }
}

// MARK: Requests

extension WebDAVAdapter {
    /// A move or a copy, which overwrites nothing.
    private func transfer(
        _ method: String, _ path: String, to target: String, isFolder: Bool,
        _ condition: HTTPFields = [:]
    ) throws(SyncFailure) -> ServerRequest {
        var headers = condition
        headers[try Self.field("Destination")] = places.address(target, isFolder: isFolder)
        headers[try Self.field("Overwrite")] = "F"
        return ServerRequest(
            method: try Self.method(method), path: places.path(path, isFolder: isFolder),
            headers: headers)
    }

    /// - Parameter file: what is sent; nil for an empty file.
    private func put(
        _ file: ContentName?, at path: String, _ condition: HTTPFields
    ) -> ServerRequest {
        var headers = condition
        headers[.contentType] = "application/octet-stream"
        return ServerRequest(
            method: .put, path: places.path(path, isFolder: false), headers: headers,
            body: file == nil ? [] : nil, file: file)
    }

    func find(
        _ path: String, depth: String, isFolder: Bool = false, _ asked: [UInt8] = Self.asked
    ) throws(SyncFailure) -> ServerRequest {
        var headers = Self.xml
        headers[try Self.field("Depth")] = depth
        return ServerRequest(
            method: try Self.method("PROPFIND"), path: places.path(path, isFolder: isFolder),
            headers: headers, body: asked)
    }

    private static let asked = question(
        for: "<D:resourcetype/><D:getcontentlength/><D:getlastmodified/><D:getcontenttype/>"
            + "<D:getetag/><O:id/><O:fileid/>")

    /// The body that asks for properties.
    static func question(for properties: String) -> [UInt8] {
        Array(
            (#"<?xml version="1.0" encoding="utf-8"?>"#
                + #"<D:propfind xmlns:D="DAV:" xmlns:O="\#(WebDAVResource.ownCloud)"><D:prop>"#
                + properties + "</D:prop></D:propfind>").utf8)
    }

    private static let xml: HTTPFields = [.contentType: "application/xml; charset=utf-8"]

    private static func condition(_ version: WebDAVVersion?) -> HTTPFields {
        guard let condition = version?.condition else { return [:] }
        return [.ifMatch: condition]
    }

    private static func method(_ name: String) throws(SyncFailure) -> HTTPRequest.Method {
        guard let method = HTTPRequest.Method(name) else {
            throw .client(status: 0, "\(name) is no method")
        }
        return method
    }

    private static func field(_ name: String) throws(SyncFailure) -> HTTPField.Name {
        guard let field = HTTPField.Name(name) else {
            throw .client(status: 0, "\(name) is no field")
        }
        return field
    }
}

extension CollectionModel {
    /// Whether a document is that of a folder, by the words of the model's tree.
    func isFolder(_ document: [UInt8]) -> Bool {
        guard let document = try? JSONDocument(parsing: document) else { return false }
        return document.value(kindField)?.stringValue == folderWord
    }

    /// The path to which an update moves an entity; nil where it stays.
    func target(of body: [UInt8], at path: String) -> String? {
        guard let target = tree?.path(in: body), ExactString(target) != ExactString(path) else {
            return nil
        }
        return target
    }

    /// The member that says what an entity is.
    var kindField: String { tree?.kind ?? "kind" }

    /// What it says of a folder.
    var folderWord: String { tree?.folder ?? TreeRule.usualFolder }
}
