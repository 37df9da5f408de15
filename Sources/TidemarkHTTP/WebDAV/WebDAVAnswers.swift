// WebDAVAnswers.swift — what the answers of a server of files mean.
//
//   status       to                 means
//   207          a list, a read     what is there
//   404, 410     a list, a read     nothing is there
//   403          a list             of the root a failure, else a list that is not whole
//   405, 412     MKCOL, PUT, MOVE, COPY   something else is there: it is read
//   412          MOVE of a version  that, or it has another version: it is read
//   404          COPY               refused: there is nothing to copy
//   207          DELETE             a part could not be deleted: refused, the rest is gone
//   207          MOVE               a part was moved: what came of it is read
//   207          COPY               a part was copied: refused, what came of it is listed
//   400, 403, 405, 409, 413 to 415, 422 to 424, 451, 501, 507   a write   refused
//   507          a file's content   a part of it may be there: it is compared, and sent again
//   502          a write            refused where the server itself says so; else unknown

public import HTTPTypes
import TidemarkEvents
public import TidemarkSync

extension WebDAVAdapter {
    /// What the answer to a call means.
    public func answer(
        to call: ServerCall, _ response: HTTPResponse, body: [UInt8]
    ) -> ServerAnswer {
        do throws(SyncFailure) {
            switch call {
            case .list(let collection, _, let page):
                let answer = try listed(page ?? "", collection, response, body)
                // There is always a root; what is not there is the home.
                return answer == .absent && page == nil
                    ? .failure(Self.refused(404, body)) : answer
            case .read(let collection, let id):
                return try read(id, collection, response, body).map { .record($0) } ?? .absent
            case .fetch(let collection, let ids):
                let record = try read(ids.first ?? "", collection, response, body)
                return .records(record.map { [$0] } ?? [])
            case .update(let collection, let id, let sent, _, let revision)
            where collection.target(of: sent, at: id) != nil:
                return try moved(id, revision, response, body)
            case .create(_, let id, _), .delete(_, let id, _), .update(_, let id, _, _, _):
                return try written(call, id, response, body)
            case .perform(let collection, let id, _, _, let document):
                let isFolder = document.map { collection.isFolder($0) } ?? false
                return try copied(id, isFolder: isFolder, response, body)
            case .describe, .listWindow, .listPart, .feed, .combined, .refetch, .batch, .poll,
                .reserve:
                throw .client(status: response.status.code, "WebDAV has no such call")
            }
        } catch {
            return .failure(error)
        }
    }

    /// A refusal proves that nothing was done, as far as the entity goes: of a folder of which a
    /// part could not be deleted, the folder itself is there.
    public func effect(
        of answer: ServerAnswer, to call: ServerCall, _ response: HTTPResponse
    ) -> WriteEffect {
        switch answer {
        case .refused: .nothing
        case .conflictUnknown: .precondition
        // A machine in between may have given up waiting, after a part of the file or all of it.
        // A full server may have kept what fitted.
        case .failure where call.file != nil && [408, 503, 507].contains(response.status.code):
            .unknown
        default: answer.usualEffect(status: response.status.code)
        }
    }

    // MARK: Lists and reads

    /// What the answer to a list of a folder means; absent where there is no such folder.
    func listed(
        _ path: String, _ collection: CollectionModel, _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let status = response.status.code
        switch status {
        case 207:
            let listing = WebDAVListing(
                try Multistatus(parsing: body).responses, of: path, collection, places)
            return .page(listing.page)
        case 404, 410: return .absent
        case 403 where !path.isEmpty:
            return .page(WebDAVListing(path: path, status: status).page)
        default: throw Self.failure(response, body)
        }
    }

    /// The entry that a read returned; nil when there is none.
    private func read(
        _ path: String, _ collection: CollectionModel, _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerRecord? {
        switch response.status.code {
        case 207: break
        case 404, 410: return nil
        default: throw Self.failure(response, body)
        }
        let responses = try Multistatus(parsing: body).responses.filter { response in
            guard case .success(let place) = places.path(ofHref: response.href) else {
                return false
            }
            return ExactString(place) == ExactString(path)
        }
        guard responses.count == 1 else {
            throw .malformed("\(responses.count) answers about what was asked for")
        }
        if let properties = responses[0].properties {
            return WebDAVResource(properties, href: responses[0].href).record(path, collection)
        }
        guard responses[0].isGone else {
            throw .malformed("an entry with status \(responses[0].status ?? 0)")
        }
        return nil
    }

    /// Why a call failed that is about no single write.
    private static func failure(_ response: HTTPResponse, _ body: [UInt8]) -> SyncFailure {
        let status = response.status.code
        switch status {
        // Trying again later does not help where the server lacks the method.
        case 501: return .client(status: 501, "not implemented")
        case 200..<300: return .foreign("\(status) with a body that is not of WebDAV")
        default: return .ofCall(status, response.headerFields) ?? refused(status, body)
        }
    }

    private static func refused(_ status: Int, _ body: [UInt8]) -> SyncFailure {
        .client(status: status, DAVError(body).words)
    }

    // MARK: Writes

    private func written(
        _ call: ServerCall, _ id: String, _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let status = response.status.code
        switch (call, status) {
        case (.delete, 404), (.delete, 410), (.update, 404), (.update, 410): return .absent
        case (.delete, 207): return try Self.deleted(id, body)
        case (.update(let collection, _, _, let changes, let revision), 207)
        where call.file == nil && WebDAVPatch.isNone(changes, in: collection):
            guard let record = try read(id, collection, response, body) else { return .absent }
            // An update of what has no version names an empty one.
            return (record.revision ?? Revision(rawValue: [])) == revision
                ? .stored(id: id, record.revision) : .conflictUnknown
        case (.update(_, _, _, _, let revision), 207):
            return try Self.patched(id, revision, body)
        case (.delete, 200..<300):
            try Self.expectNoStranger(status, body)
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        case (.create(let collection, _, let sent), 200),
            (.create(let collection, _, let sent), 201),
            (.create(let collection, _, let sent), 204):
            try Self.expectNoStranger(status, body)
            let tag = response.headerFields[.eTag]
            let isFolder = collection.isFolder(sent)
            return .stored(id: id, WebDAVVersion(tag, isFolder: isFolder)?.revision)
        case (.update, 200..<205) where call.file != nil && [200, 201, 204].contains(status):
            try Self.expectNoStranger(status, body)
            let tag = response.headerFields[.eTag]
            return .stored(id: id, WebDAVVersion(tag, isFolder: false)?.revision)
        // A folder that is there already is as good as one that was made.
        case (.create(let collection, _, let sent), 405):
            return collection.isFolder(sent) ? .conflictUnknown : .refused(.taken(status: status))
        case (.create, 412): return .refused(.taken(status: status))
        case (_, 507) where call.file != nil: throw Self.failure(response, body)
        default: return try Self.refusal(response, body)
        }
    }

    /// What the answer to a move means.
    private func moved(
        _ id: String, _ revision: Revision, _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let status = response.status.code
        switch status {
        case 200, 201, 204:
            try Self.expectNoStranger(status, body)
            return .stored(id: id, Self.lasting(revision))
        case 404, 410: return .absent
        case 412 where WebDAVVersion(revision)?.condition != nil: return .conflictUnknown
        case 405, 412: return .refused(.taken(status: status))
        case 207: throw .malformed("a move of which a part went wrong")
        default: return try Self.refusal(response, body)
        }
    }

    /// What the answer to a copy means.
    private func copied(
        _ id: String, isFolder: Bool, _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let status = response.status.code
        switch status {
        case 200, 201, 204:
            try Self.expectNoStranger(status, body)
            // The next list tells its version; a folder is known as one by its own.
            return .stored(id: id, WebDAVVersion(nil, isFolder: isFolder)?.revision)
        case 404, 410:
            return .refused(
                ServerRefusal(status: status, message: "what it is a copy of is not there"))
        case 405, 412: return .refused(.taken(status: status))
        case 207:
            return .refused(
                ServerRefusal(
                    status: status,
                    message: "a part of it could not be copied; the next list shows the rest"))
        default: return try Self.refusal(response, body)
        }
    }

    /// A write that was not done.
    private static func refusal(
        _ response: HTTPResponse, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let status = response.status.code
        let error = DAVError(body)
        switch status {
        case 412: return .conflictUnknown
        case 400, 403, 405, 409, 413, 414, 415, 422, 423, 424, 451, 501, 507: break
        // A gateway says so of what the server may have done.
        case 502 where error.isOfDAV: break
        case 200..<300: throw .malformed("status \(status) to a write")
        default: throw failure(response, body)
        }
        return .refused(ServerRefusal(status: status, message: message(status, error.words)))
    }

    /// The server's words, or what the status means where it has none.
    private static func message(_ status: Int, _ words: String) -> String {
        if !words.isEmpty { return words }
        return switch status {
        case 403, 451: "the server does not allow it"
        case 405, 501: "the server can't do this"
        case 409: "the folder that it would lie in is not there"
        case 423: "it is locked on the server"
        case 507: "there is no space left on the server"
        default: "status \(status)"
        }
    }

    /// A success with a page, most likely the sign-in page of a network.
    ///
    /// Servers send pages with 201, too, but 200 has none that a write could have.
    private static func expectNoStranger(_ status: Int, _ body: [UInt8]) throws(SyncFailure) {
        guard status == 200, body.first(where: { !" \t\r\n".utf8.contains($0) }) == 0x3C else {
            return
        }
        throw .foreign("\(status) with a body that is not of WebDAV")
    }

    /// A deletion of which each part has a status; one that was gone before is deleted.
    private static func deleted(_ id: String, _ body: [UInt8]) throws(SyncFailure) -> ServerAnswer {
        let failed = try Multistatus(parsing: body).responses.first { response in
            let status = response.status ?? 200
            return !(200..<300).contains(status) && status != 404 && status != 410
        }
        guard let failed else {
            return .deleted(ServerRecord(id: id, revision: nil, document: nil))
        }
        let status = failed.status ?? 207
        return .refused(
            ServerRefusal(
                status: status,
                message: "a part of it could not be deleted: \(message(status, "")), "
                    + "\(failed.href.prefix(200))"))
    }

    /// The version that is known after a write: a file may have another one from now on, a folder
    /// is known as one by its own.
    private static func lasting(_ revision: Revision) -> Revision? {
        WebDAVVersion(revision)?.isFolder == true ? revision : nil
    }

    private static func patched(
        _ id: String, _ revision: Revision, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerAnswer {
        let responses = try Multistatus(parsing: body).responses
        let statuses = responses.flatMap { $0.status.map { [$0] } ?? $0.partStatuses }
        // One that failed only because of another is not the reason.
        let failed = statuses.filter { !(200..<300).contains($0) }
        guard let status = failed.first(where: { $0 != 424 }) ?? failed.first else {
            if statuses.isEmpty { throw .malformed("properties without a status") }
            return .stored(id: id, lasting(revision))
        }
        return .refused(
            ServerRefusal(
                status: status,
                message: "the server does not take \"\(WebDAVPatch.member)\" from clients"))
    }
}
