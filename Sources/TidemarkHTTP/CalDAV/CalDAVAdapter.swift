// CalDAVAdapter.swift — calls of CalDAV and CardDAV servers with sync tokens (RFC 6578).
//
//   list    REPORT HOME/COLLECTION/   sync-collection: the token, names and ETags; Depth: 0
//                                     next page (507 of the collection) and cursor: the new token
//                                     a limit: where there is a token
//   fetch   REPORT HOME/COLLECTION/   calendar-multiget or addressbook-multiget; of one item: GET
//   read    GET    HOME/COLLECTION/NAME
//   create  PUT    HOME/COLLECTION/NAME   If-None-Match: *
//   update  PUT    HOME/COLLECTION/NAME   If-Match: ETAG
//   delete  DELETE HOME/COLLECTION/NAME   If-Match: ETAG
//
// CalDAVNames maps ids to names, CalDAVItem maps an item to a document. The server sends no times
// of change: a version is an ETag, a cursor a token, and both are opaque.

import HTTPTypes
import Tidemark
import TidemarkEvents
public import TidemarkSync

/// Speaks to a CalDAV or CardDAV server.
///
/// An entity is `{"id":…,"data":…}` with the item's text. A version is the item's ETag with its
/// quotes; a weak ETag counts as none, since it can't be used as a precondition.
public struct CalDAVAdapter: ServerAdapter {
    /// What the collections hold.
    @nonexhaustive public enum Content: Sendable, Hashable {
        /// iCalendar (RFC 5545): calendars.
        case events
        /// vCard (RFC 6350): address books.
        case contacts
    }

    let content: Content
    /// The path of the origin, which is put before every path.
    private let prefix: String
    /// The path of the home, with a slash before and none after.
    private let home: String

    /// An adapter for the collections of one home.
    ///
    /// - Parameters:
    ///   - origin: the server's address: scheme, host and port, and a base path if it has one.
    ///   - home: the path below it in which the collections lie, percent-encoded: `/user/`.
    ///   - content: what the collections hold.
    public init(origin: String, home: String, content: Content = .events) {
        prefix = URLPath.path(of: origin)
        let parts = home.split(separator: "/").joined(separator: "/")
        self.home = parts.isEmpty ? "" : "/" + parts
        self.content = content
    }

    /// Items are fetched fifty at a time, and written one by one.
    ///
    /// The same state may have the same token again: Radicale's tokens are hashes of the state.
    public var traits: ServerTraits {
        var traits = ServerTraits(entitiesPerFetchMax: 50, cursorIsState: true)
        // An item and a calendar that is not there are told by the same status.
        traits.absenceNeedsList = true
        return traits
    }

    /// The request for a call; see the table at the top of the file.
    public func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(let collection, let after, let page):
            let token = page ?? after?.description ?? ""
            // Some servers refuse a limit where everything is listed (RFC 6578, 3.7), as Nextcloud.
            let limit = token.isEmpty ? nil : collection.pageSize
            return report(collection, changes(since: token, limit: limit), depth: "0")
        case .fetch(let collection, let ids) where ids.count > 1:
            let paths = try ids.map { (id) throws(SyncFailure) in
                prefix + (try path(collection, id))
            }
            return report(collection, multiget(paths))
        case .fetch(let collection, let ids):
            return ServerRequest(method: .get, path: try path(collection, ids.first ?? ""))
        case .read(let collection, let id):
            return ServerRequest(method: .get, path: try path(collection, id))
        case .create(let collection, let id, let body):
            return try put(collection, id, body, [.ifNoneMatch: "*"])
        case .update(let collection, let id, let body, _, let revision):
            return try put(collection, id, body, [.ifMatch: revision.description])
        case .delete(let collection, let id, let revision):
            return ServerRequest(
                method: .delete, path: try path(collection, id),
                headers: [.ifMatch: revision.description])
        case .describe, .listWindow, .listPart, .feed, .combined, .refetch, .perform, .batch, .poll,
            .reserve:
            throw .client(status: 0, "CalDAV has no such call")
        }
    }

    /// Refuses documents that are no items, and names that a server would read as another address.
    public func refusal(of call: ServerCall) -> ServerRefusal? {
        switch call {
        case .create(_, let id, _) where !names.canCreate(id):
            return ServerRefusal(
                status: 0,
                message: "the id can't name an item: it must have no /, not be empty, . or .., "
                    + "and begin with = or % only as the server would name it")
        case .create(let collection, _, let body), .update(let collection, _, let body, _, _):
            guard
                case .failure(let problem) = CalDAVItem.content(
                    of: body, idField: collection.idField)
            else { return nil }
            return ServerRefusal(status: 0, message: problem.description)
        case .delete, .describe, .list, .listWindow, .listPart, .feed, .combined, .read, .fetch,
            .refetch, .perform, .batch, .poll, .reserve:
            return nil
        }
    }

    private func put(
        _ collection: CollectionModel, _ id: String, _ document: [UInt8],
        _ precondition: HTTPFields
    ) throws(SyncFailure) -> ServerRequest {
        // `refusal(of:)` checks the document first; the request of a document that it refuses is
        // never sent.
        let item = CalDAVItem.content(of: document, idField: collection.idField)
        var headers = precondition
        headers[.contentType] =
            content == .events ? "text/calendar; charset=utf-8" : "text/vcard; charset=utf-8"
        return ServerRequest(
            method: .put, path: try path(collection, id), headers: headers,
            body: (try? item.get()) ?? [])
    }
}

// MARK: Addresses

extension CalDAVAdapter {
    var names: CalDAVNames { CalDAVNames(suffix: content == .events ? ".ics" : ".vcf") }

    /// The collection's path below the origin, with a slash at its end.
    private func path(_ collection: CollectionModel) -> String {
        "\(home)/\(ServerRequest.percentEncoded(collection.name.rawValue))/"
    }

    /// The path of an item.
    ///
    /// - Throws: ``SyncFailure/client(status:_:)`` for a name that would lead to the collection, or
    ///   out of it.
    private func path(
        _ collection: CollectionModel, _ id: String
    ) throws(SyncFailure) -> String {
        let name = names.component(of: id)
        guard !CalDAVNames.isPlace(name) else {
            throw .client(status: 0, "\(id) has no address of its own")
        }
        return path(collection) + name
    }

    /// What an address in an answer names.
    enum Target: Hashable {
        /// The collection that was asked about.
        case collection
        /// An item of it, by the last part of its path as the answer has it.
        case item(Substring)
        /// A collection in it, or something below one.
        case inner
        /// Something else.
        case foreign
    }

    /// What an address names; it may have scheme and host, or be a path from the root.
    func target(of href: String, in collection: CollectionModel) -> Target {
        let path =
            href.hasPrefix("/") ? href[...] : href.dropFirst(URLPath.authority(of: href).count)
        let own = CalDAVNames.parts(ofPath: (prefix + self.path(collection))[...])
        let parts = CalDAVNames.parts(ofPath: path)
        guard parts.starts(with: own) else { return .foreign }
        if parts.count == own.count { return .collection }
        guard parts.count == own.count + 1, !path.hasSuffix("/"),
            let last = path.split(separator: "/").last
        else { return .inner }
        return .item(last)
    }
}

// MARK: Bodies of reports

extension CalDAVAdapter {
    /// The XML namespace and element names: those of calendars, or of address books.
    var dialect: (namespace: String, multiget: String, data: String) {
        switch content {
        case .events: ("urn:ietf:params:xml:ns:caldav", "calendar-multiget", "calendar-data")
        case .contacts:
            ("urn:ietf:params:xml:ns:carddav", "addressbook-multiget", "address-data")
        }
    }

    private func report(
        _ collection: CollectionModel, _ xml: String, depth: String? = nil
    ) -> ServerRequest {
        guard let method = HTTPRequest.Method("REPORT"), let depthField = HTTPField.Name("Depth")
        else { preconditionFailure("both are tokens of HTTP") }
        var headers: HTTPFields = [.contentType: "application/xml; charset=utf-8"]
        headers[depthField] = depth
        return ServerRequest(
            method: method, path: path(collection), headers: headers,
            body: Array(#"<?xml version="1.0" encoding="utf-8"?>"#.utf8) + Array(xml.utf8))
    }

    private func changes(since token: String, limit: Int?) -> String {
        let limit = limit.map { "<D:limit><D:nresults>\($0)</D:nresults></D:limit>" } ?? ""
        return #"<D:sync-collection xmlns:D="DAV:">"#
            + "<D:sync-token>\(XMLTree.escape(token))</D:sync-token>"
            + "<D:sync-level>1</D:sync-level>\(limit)"
            + "<D:prop><D:getetag/></D:prop></D:sync-collection>"
    }

    private func multiget(_ hrefs: [String]) -> String {
        let (namespace, multiget, data) = dialect
        let list = hrefs.map { "<D:href>\(XMLTree.escape($0))</D:href>" }.joined()
        return #"<C:\#(multiget) xmlns:D="DAV:" xmlns:C="\#(namespace)">"#
            + "<D:prop><D:getetag/><C:\(data)/></D:prop>\(list)</C:\(multiget)>"
    }
}
