// WebDAVServer+Entries.swift — the server's folders and files, as another client reads and changes
// them: by their paths, without checks, faults and log.

public import TidemarkEvents

/// A folder or a file of the server.
public struct WebDAVEntry: Sendable, Hashable {
    /// Names from the root down with slashes between them, not encoded.
    public var path: String
    public var isFolder: Bool
    /// What is in a file; empty for a folder.
    public var bytes: [UInt8]
    /// Its id for life, whether or not the server tells it.
    public var fileID: String
    /// Its ETag; nil where it has none.
    public var tag: String?
    /// When it last changed.
    public var modified: Timestamp

    /// What is in a file, as text.
    public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension WebDAVServer {
    /// Writes a file, with the folders above it where they are missing.
    public func put(_ path: String, _ bytes: [UInt8]) {
        change { $0.put(bytes, at: WebDAVPath(path), now: $1) }
    }

    /// Writes a file of a text, with the folders above it where they are missing.
    public func put(_ path: String, _ text: String) { put(path, Array(text.utf8)) }

    /// Makes a link to a file: a file at another path with the same content and the same id.
    public func link(_ path: String, to file: String) {
        change { model, now in
            guard let target = model.tree.find(WebDAVPath(file)) else {
                fatalError("there is no \(file)")
            }
            model.put(target.content, at: WebDAVPath(path), now: now)
            guard let link = model.tree.find(WebDAVPath(path)) else { return }
            model.tree.link(link.id, to: target.id)
        }
    }

    /// Makes a folder, with those above it where they are missing.
    public func makeFolder(_ path: String) {
        change { _ = $0.makeFolders(down: WebDAVPath(path), now: $1) }
    }

    /// Moves a folder or a file; what is at the other path goes.
    public func move(_ path: String, to other: String) {
        change { $0.move(WebDAVPath(path), to: WebDAVPath(other), now: $1) }
    }

    /// Deletes a folder or a file with all that is below it.
    public func delete(_ path: String) { change { $0.remove(WebDAVPath(path), now: $1) } }

    /// A folder or a file; nil for none.
    public func entry(_ path: String) -> WebDAVEntry? {
        core.withModel { model in
            model.tree.find(WebDAVPath(path)).map { model.entry($0, WebDAVPath(path)) }
        }
    }

    /// All folders and files but the root, ordered by the names' bytes, each folder before what is
    /// in it.
    public var entries: [WebDAVEntry] {
        core.withModel { $0.entries(below: $0.tree.node(WebDAVTree.root), WebDAVPath("")) }
    }

    private func change(_ body: (inout WebDAVServerModel, Int64) -> Void) {
        let now = core.now().milliseconds
        core.withModel { body(&$0, now) }
    }
}

extension WebDAVServerModel {
    fileprivate func entry(_ node: WebDAVNode, _ path: WebDAVPath) -> WebDAVEntry {
        WebDAVEntry(
            path: path.text, isFolder: node.isFolder, bytes: node.content,
            fileID: fileID(of: node), tag: tag(of: node),
            modified: Timestamp(milliseconds: node.modifiedMilliseconds))
    }

    fileprivate func entries(below folder: WebDAVNode, _ path: WebDAVPath) -> [WebDAVEntry] {
        tree.members(of: folder).flatMap { member in
            let place = path.appending(member.name)
            return [entry(member, place)] + entries(below: member, place)
        }
    }

    fileprivate mutating func makeFolders(down path: WebDAVPath, now: Int64) -> Int {
        if let node = tree.find(path) {
            guard node.isFolder else { fatalError("\(path.text) is a file") }
            return node.id
        }
        let parent = makeFolders(down: path.parent, now: now)
        let folder = tree.add(path.last, to: parent, isFolder: true, [], now)
        tree.noteChange(in: parent, options.folderVersions, now)
        return folder
    }

    fileprivate mutating func put(_ bytes: [UInt8], at path: WebDAVPath, now: Int64) {
        let folder = makeFolders(down: path.parent, now: now)
        if let old = tree.find(path) {
            guard !old.isFolder else { fatalError("\(path.text) is a folder") }
            tree.write(bytes, to: old.id, now)
        } else {
            _ = tree.add(path.last, to: folder, isFolder: false, bytes, now)
        }
        tree.noteChange(in: folder, options.folderVersions, now)
    }

    fileprivate mutating func move(_ path: WebDAVPath, to target: WebDAVPath, now: Int64) {
        guard let node = tree.find(path) else {
            fatalError("there is no \(path.text)")
        }
        guard !path.isRoot, !target.isBelow(path), !path.isBelow(target), path != target else {
            fatalError("\(path.text) can't be moved to \(target.text)")
        }
        if let old = tree.find(target) { tree.remove(old.id) }
        let folder = makeFolders(down: target.parent, now: now)
        tree.move(node.id, to: folder, as: target.last)
        tree.noteChange(in: node.parent, options.folderVersions, now)
        if folder != node.parent { tree.noteChange(in: folder, options.folderVersions, now) }
    }

    fileprivate mutating func remove(_ path: WebDAVPath, now: Int64) {
        guard let node = tree.find(path), !path.isRoot else {
            fatalError("there is no \(path.text) that could be deleted")
        }
        tree.remove(node.id)
        tree.noteChange(in: node.parent, options.folderVersions, now)
    }
}
