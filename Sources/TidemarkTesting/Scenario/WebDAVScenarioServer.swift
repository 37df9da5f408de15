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

extension ScenarioServerKind {
    /// Checks what is put on the server: on one of files, that nothing of it goes unheard.
    ///
    /// - Parameter idField: the member that has the id; nil where it stands outside.
    func check(
        _ document: JSONValue, idField: String? = nil, at path: String
    ) throws(ScenarioError) {
        guard self == .webdav else { return }
        let members = try ScenarioMembers(
            document, at: path, ["kind", "text", "link"] + (idField.map { [$0] } ?? []))
        switch try members.neededText("kind") {
        case "folder":
            for name in ["text", "link"] where members[name] != nil {
                throw ScenarioError(members.path(name), "a folder has none")
            }
        case "file":
            _ = try members.text("link")
            guard members["text"].map({ $0.stringValue != nil }) ?? true else {
                throw ScenarioError(members.path("text"), "a text is needed")
            }
            guard members["text"] == nil || members["link"] == nil else {
                throw ScenarioError(members.path("text"), "a link has the text of its file")
            }
        default:
            throw ScenarioError(members.path("kind"), "one of folder, file is needed")
        }
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

    func apply(_ edit: ScenarioServerEdit) -> String? {
        switch edit {
        case .put(let key, let document):
            let isFolder = document["kind"] == "folder"
            if let problem = problem(putting: WebDAVPath(key.id), isFolder: isFolder) {
                return problem
            }
            if isFolder {
                server.makeFolder(key.id)
            } else if let file = document["link"]?.stringValue {
                guard let target = server.entry(file) else { return "there is no \(file)" }
                guard !target.isFolder else { return "\(file) is a folder" }
                server.link(key.id, to: file)
            } else {
                server.put(key.id, document["text"]?.stringValue ?? "")
            }
        case .move(let key, let target):
            let (path, place) = (WebDAVPath(key.id), WebDAVPath(target))
            guard !path.isRoot, path != place, !place.isBelow(path), !path.isBelow(place) else {
                return "\(key.id) can't be moved to \(target)"
            }
            if let problem = problem(above: place) { return problem }
            server.move(key.id, to: target)
        case .delete(let key), .forget(let key), .archive(let key):
            guard !WebDAVPath(key.id).isRoot else { return "the root can't be deleted" }
            server.delete(key.id)
        }
        return nil
    }

    /// Why nothing can lie at a path, or nothing of this kind; nil where it can.
    private func problem(putting path: WebDAVPath, isFolder: Bool) -> String? {
        if let entry = server.entry(path.text), entry.isFolder != isFolder {
            return "\(path.text) is a \(isFolder ? "file" : "folder")"
        }
        return problem(above: path)
    }

    /// Why nothing can lie at a path: what should be a folder above it is a file.
    private func problem(above path: WebDAVPath) -> String? {
        var folder = path.parent
        while !folder.isRoot {
            if let entry = server.entry(folder.text), !entry.isFolder {
                return "\(folder.text) is a file"
            }
            folder = folder.parent
        }
        return nil
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
