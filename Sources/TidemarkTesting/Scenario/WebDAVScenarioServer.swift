// WebDAVScenarioServer.swift — a server of files in a scenario: what is said of it, and its folders
// and files as records, each by its path.

import HTTPTypes
import TidemarkEvents
import TidemarkSync

/// What kind of WebDAV server a scenario's server is.
struct WebDAVSetup: Sendable {
    static let members = [
        "fileIDs", "folderVersions", "failing", "refusals", "uploadsTellVersions",
        "movesChangeVersions", "takesTimes", "preconditions", "weakVersions",
        "uploadsInPlace", "ranges", "quota", "checksums", "redirectsFolders",
    ]

    /// What becomes of the preconditions of writes.
    enum Preconditions: String, CaseIterable {
        /// They are heeded, as the remote says.
        case known
        /// They are heeded, and that is found out.
        case heeded
        /// They are ignored, and that is found out.
        case ignored
    }

    var options = WebDAVOptions()
    var preconditions = Preconditions.known

    /// - Throws: for members that another kind of server does not have.
    init(_ server: ScenarioMembers, _ kind: ScenarioServerKind) throws(ScenarioError) {
        if kind != .webdav, let name = Self.members.first(where: { server[$0] != nil }) {
            throw ScenarioError(server.path(name), "such a server has no \(name)")
        }
        options.hasFileIDs = try server.flag("fileIDs") ?? false
        switch try server.text("folderVersions") {
        case nil, "none": break
        case "ownMembers": options.folderVersions = .ownMembers
        case "allBelow": options.folderVersions = .allBelow
        default:
            throw ScenarioError(
                server.path("folderVersions"), "one of none, ownMembers, allBelow is needed")
        }
        options.tellsETagOfUploads = try server.flag("uploadsTellVersions") ?? true
        options.changesETagsOfMoved = try server.flag("movesChangeVersions") ?? false
        options.takesTimes = try server.flag("takesTimes") ?? false
        preconditions = try server.word("preconditions", Preconditions.self) ?? .known
        options.ignoresPreconditions = preconditions == .ignored
        options.hasWeakETags = try server.flag("weakVersions") ?? false
        options.uploadsInPlace = try server.flag("uploadsInPlace") ?? false
        options.redirectsFolders = try server.flag("redirectsFolders") ?? false
        options.hasRanges = try server.flag("ranges") ?? true
        options.hasChecksums = try server.flag("checksums") ?? false
        options.quotaBytes = try server.integer("quota", in: 0...Int64(Int32.max))
        options.failingMembers = try Self.statuses("failing", server)
        options.refusals = try Self.statuses("refusals", server)
    }

    private static func statuses(
        _ name: String, _ server: ScenarioMembers
    ) throws(ScenarioError) -> [String: Int] {
        var statuses: [String: Int] = [:]
        for (path, place, value) in try server.members(name) {
            guard let status = value.int64Value, (400..<600).contains(status) else {
                throw ScenarioError(place, "a status of 400 or more is needed")
            }
            statuses[path] = Int(status)
        }
        return statuses
    }
}

/// A server of files.
///
/// A record is `{"kind":"folder"}` or `{"kind":"file","text":…}`, and its id is its path. One that
/// is put as `{"kind":"file","link":PATH}` has the id and the text of the file at a path.
struct WebDAVScenarioServer: ScenarioServer {
    private let server: WebDAVServer

    init(_ setup: WebDAVSetup, _ clock: ManualClock) {
        server = WebDAVServer(WebDAVServerModel(setup.options), clock: clock)
    }

    var transport: any Transport { server }
    var givesFiles: Bool { true }

    func apply(_ edit: ScenarioServerEdit) {
        switch edit {
        case .put(let key, let document):
            if document["kind"] == "folder" {
                server.makeFolder(key.id)
            } else if let file = document["link"]?.stringValue {
                server.link(key.id, to: file)
            } else {
                server.put(key.id, document["text"]?.stringValue ?? "")
            }
        case .move(let key, let path): server.move(key.id, to: path)
        case .delete(let key), .forget(let key), .archive(let key): server.delete(key.id)
        }
    }

    func record(_ key: EntityKey) -> JSONValue? {
        server.entry(key.id).map { entry in
            entry.isFolder
                ? ["kind": "folder"] : ["kind": "file", "text": .string(entry.text)]
        }
    }

    func failure(status: Int) -> TransportResponse {
        TransportResponse(response: HTTPResponse(status: .init(code: status)), body: [])
    }
}
