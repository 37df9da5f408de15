// TogglAdapter.swift — calls and answers of Toggl's API, version 9.
//
//   list     GET    /api/v9/me/TYPE                      since a time: ?since=SECONDS
//                   the user is /me itself, workspace_features are /me/features; projects with
//                   ?include_archived=true, tasks with ?include_not_active=true
//   several  GET    /api/v9/me?with_related_data=true    of what is about the user, ten days
//   window   GET    /api/v9/me/time_entries              ?start_date=T&end_date=T
//   read     GET    /api/v9/me/time_entries/ID, /workspaces/ID, /me, /me/preferences
//   refetch  GET    /api/v9/me/projects                  ?include_archived=true
//   create   POST   /api/v9/workspaces/W/TYPE
//   update   PUT    /api/v9/workspaces/W/TYPE/ID, /me
//            POST   /api/v9/me/preferences
//   delete   DELETE /api/v9/workspaces/W/TYPE/ID
//
// There are no pages, no versions and no preconditions. The body of a creation or an update names
// the workspace (TogglBody.swift); an entry that is moved is sent to the new one, as by Toggl's own
// apps. A deletion has no body, so the version that is made of `at` also holds the workspace. The
// reports' search for projects is no refetch: what it answers is a part of each. Workspaces are
// made on Toggl's web pages.

public import HTTPTypes
import Tidemark
import TidemarkEvents
public import TidemarkSync

/// Speaks to Toggl.
///
/// It knows the collections of `SyncModel.toggl`. A read that it can't make is a failure `client`;
/// a write that it can't make is refused unsent.
public struct TogglAdapter: ServerAdapter {
    /// What Toggl is told that its entries were made with, unless said otherwise.
    public static let usualCreatedWith = "tidemark"

    /// The app's name, as time entries and requests have it.
    private let createdWith: String

    /// An adapter.
    ///
    /// - Parameter createdWith: the app's name, which must not be empty: the `created_with` of new
    ///   time entries, where their documents have none, and the `User-Agent` of requests.
    public init(createdWith: String = TogglAdapter.usualCreatedWith) {
        precondition(!createdWith.isEmpty, "Toggl takes no entry without the name of an app")
        self.createdWith = createdWith
    }

    /// An update sends what changed, no write is conditional, and several lists can be asked for
    /// together.
    public var traits: ServerTraits {
        ServerTraits(
            hasVersions: false, sendsChanges: true,
            combined: Set(([.user] + TogglType.related).map { CollectionName($0.rawValue) }))
    }

    /// The request for a call; see the table at the top of the file.
    public func request(for call: ServerCall) throws(SyncFailure) -> ServerRequest {
        var request = try plain(call)
        request.headers[.userAgent] = createdWith
        return request
    }

    private func plain(_ call: ServerCall) throws(SyncFailure) -> ServerRequest {
        switch call {
        case .list(let collection, let after, nil):
            let type = try TogglType.known(collection)
            // Without those that are archived, or done, it would not be known that one is there, or
            // became so.
            let words = Self.words(toListAll: type) + (try Self.words(since: after))
            let query = words.isEmpty ? "" : "?" + words.joined(separator: "&")
            return ServerRequest(method: .get, path: type.listPath + query)
        case .listWindow(let collection, let from, let to, nil):
            let type = try TogglType.known(collection)
            guard type == .timeEntries else { break }
            let query = "?start_date=\(Self.text(from))&end_date=\(Self.text(to))"
            return ServerRequest(method: .get, path: type.listPath + query)
        case .combined:
            let path = TogglType.user.listPath + "?with_related_data=true"
            return ServerRequest(method: .get, path: path)
        case .read(let collection, let id):
            guard let path = try TogglType.known(collection).readPath(id) else { break }
            return ServerRequest(method: .get, path: path)
        case .refetch(let collection, _, _) where try TogglType.known(collection) == .projects:
            let path = TogglType.projects.listPath + "?" + Self.withArchived
            return ServerRequest(method: .get, path: path)
        case .create(let collection, _, let body):
            return try creation(TogglType.known(collection), body)
        case .update(let collection, let id, let body, let changes, _):
            return try Self.update(TogglType.known(collection), id, body, changes)
        case .delete(let collection, let id, let revision):
            return try Self.deletion(TogglType.known(collection), id, revision)
        case .describe, .list, .listWindow, .listPart, .feed, .fetch, .refetch, .perform, .reserve,
            .batch,
            .poll:
            break
        }
        throw .client(status: 0, "Toggl has no such call")
    }

    /// The quota that a call counts for: that of the user, or that of a workspace.
    public func group(of call: ServerCall) -> RequestGroup? { TogglQuota.group(of: call) }

    /// The quota that a 402 says is used up; a 429 is about requests that come too fast, whatever
    /// they are about.
    public func exhausted(by response: HTTPResponse, to call: ServerCall) -> RequestGroup? {
        let isQuota =
            response.status.code == 402 && TogglQuota.failure(response.headerFields) != nil
        return isQuota ? TogglQuota.group(of: call) : nil
    }

    // MARK: Reading

    private static let withArchived = "include_archived=true"

    /// The words of a query for all of a list, of which some would be left out.
    private static func words(toListAll type: TogglType) -> [String] {
        switch type {
        case .projects: [withArchived]
        case .tasks: ["include_not_active=true"]
        case .workspaces, .user, .features, .preferences, .tags, .clients, .timeEntries: []
        }
    }

    /// The words of a query for what changed since a time: in whole seconds since 1970, rounded
    /// down so that no change is missed.
    private static func words(since: Revision?) throws(SyncFailure) -> [String] {
        guard let since else { return [] }
        guard let time = Timestamp("\(since)") else {
            throw .client(status: 0, "a list since \"\(since)\", which is no time")
        }
        let (seconds, rest) = time.rawValue.quotientAndRemainder(dividingBy: 1_000_000)
        return ["since=\(rest < 0 ? seconds - 1 : seconds)"]
    }

    private static func text(_ time: Timestamp) -> String {
        ServerRequest.percentEncoded(DateFormat.iso8601.encoded(time).dropFirst().dropLast())
    }

    // MARK: Writing

    private func creation(
        _ type: TogglType, _ body: [UInt8]
    ) throws(SyncFailure) -> ServerRequest {
        let path = try type.path(in: Self.workspace(of: body, type), "created")
        return Self.json(.post, path, try TogglBody.created(type, body, with: createdWith))
    }

    private static func update(
        _ type: TogglType, _ id: String, _ body: [UInt8], _ changes: [UInt8]
    ) throws(SyncFailure) -> ServerRequest {
        let path: String
        switch type {
        case .user, .preferences: path = type.listPath
        default:
            let place = try type.path(in: workspace(of: body, type), "changed")
            path = place + "/" + ServerRequest.percentEncoded(id)
        }
        let sent = try TogglBody.changed(type, body, changes)
        return json(type == .preferences ? .post : .put, path, sent)
    }

    private static func deletion(
        _ type: TogglType, _ id: String, _ revision: Revision
    ) throws(SyncFailure) -> ServerRequest {
        let path = try type.path(in: TogglRevision.workspace(of: revision), "deleted")
        return ServerRequest(method: .delete, path: path + "/" + ServerRequest.percentEncoded(id))
    }

    /// The workspace that a document belongs to.
    static func workspace(of body: [UInt8], _ type: TogglType) -> String? {
        (try? JSONDocument(parsing: body))?.value(type.workspaceField)?.idText
    }

    private static func json(
        _ method: HTTPRequest.Method, _ path: String, _ body: [UInt8]
    ) -> ServerRequest {
        ServerRequest(
            method: method, path: path, headers: [.contentType: "application/json"], body: body)
    }
}
