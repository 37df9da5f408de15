// WebDAVTree.swift — folders and files, by ids that stay when they are moved.

import TidemarkHTTP

/// A folder or a file.
struct WebDAVNode: Sendable {
    let id: Int
    /// The entry whose id clients are told, where it is a link to that.
    var target: Int?
    /// The folder that it lies in; nil for the root.
    var parent: Int?
    var name: [UInt8]
    /// The members of a folder by name; nil for a file.
    var members: [[UInt8]: Int]?
    var content: [UInt8] = []
    var type = "application/octet-stream"
    var createdMilliseconds: Int64
    var modifiedMilliseconds: Int64
    /// Another number after each change.
    var version: Int
    /// What clients said of it: properties that mean nothing to the server.
    var properties: [XMLTree] = []

    var isFolder: Bool { members != nil }
}

/// All entries of a server.
struct WebDAVTree: Sendable {
    static let root = 1
    private(set) var nodes: [Int: WebDAVNode]
    private var idsMade = root
    private var versionsMade = 1
    /// How many bytes all files have together.
    private(set) var bytes = 0

    init() {
        nodes = [
            Self.root: WebDAVNode(
                id: Self.root, name: [], members: [:], createdMilliseconds: 0,
                modifiedMilliseconds: 0, version: 1)
        ]
    }

    // MARK: Reading

    func node(_ id: Int) -> WebDAVNode {
        guard let node = nodes[id] else { fatalError("there is no entry \(id)") }
        return node
    }

    func find(_ path: WebDAVPath) -> WebDAVNode? {
        var id = Self.root
        for name in path.names {
            guard let next = nodes[id]?.members?[name] else { return nil }
            id = next
        }
        return nodes[id]
    }

    /// A folder's members, ordered by the bytes of their names.
    func members(of folder: WebDAVNode) -> [WebDAVNode] {
        (folder.members ?? [:]).values.map { node($0) }
            .sorted { $0.name.lexicographicallyPrecedes($1.name) }
    }

    /// How many bytes an entry has with all that is below it.
    func size(of node: WebDAVNode) -> Int {
        node.content.count + members(of: node).reduce(0) { $0 + size(of: $1) }
    }

    // MARK: Changing

    /// Makes an entry in a folder; the name must be free.
    mutating func add(
        _ name: [UInt8], to folder: Int, isFolder: Bool, _ content: [UInt8],
        _ milliseconds: Int64
    ) -> Int {
        idsMade += 1
        versionsMade += 1
        nodes[idsMade] = WebDAVNode(
            id: idsMade, parent: folder, name: name, members: isFolder ? [:] : nil,
            content: content, createdMilliseconds: milliseconds,
            modifiedMilliseconds: milliseconds, version: versionsMade)
        nodes[folder]?.members?[name] = idsMade
        bytes += content.count
        return idsMade
    }

    mutating func write(_ content: [UInt8], to file: Int, _ milliseconds: Int64) {
        bytes += content.count - node(file).content.count
        nodes[file]?.content = content
        touch(file, milliseconds)
    }

    /// Gives an entry a new version, and the time of a change.
    mutating func touch(_ id: Int, _ milliseconds: Int64) {
        versionsMade += 1
        nodes[id]?.version = versionsMade
        nodes[id]?.modifiedMilliseconds = milliseconds
    }

    /// Has an entry tell another one's id, as a link to it.
    mutating func link(_ id: Int, to target: Int) { nodes[id]?.target = target }

    mutating func set(type: String, of file: Int) { nodes[file]?.type = type }

    mutating func set(properties: [XMLTree], of id: Int) { nodes[id]?.properties = properties }

    /// Removes an entry with all that is below it.
    mutating func remove(_ id: Int) {
        let node = node(id)
        for member in (node.members ?? [:]).values { remove(member) }
        bytes -= node.content.count
        if let parent = node.parent { nodes[parent]?.members?[node.name] = nil }
        nodes[id] = nil
    }

    /// Moves an entry into a folder; the name must be free there.
    mutating func move(_ id: Int, to folder: Int, as name: [UInt8]) {
        let node = node(id)
        if let parent = node.parent { nodes[parent]?.members?[node.name] = nil }
        nodes[id]?.parent = folder
        nodes[id]?.name = name
        nodes[folder]?.members?[name] = id
    }

    /// Copies an entry into a folder, where asked with all that is below it; the name must be free.
    mutating func copy(
        _ id: Int, to folder: Int, as name: [UInt8], withMembers: Bool, _ milliseconds: Int64
    ) {
        let node = node(id)
        let copy = add(name, to: folder, isFolder: node.isFolder, node.content, milliseconds)
        set(type: node.type, of: copy)
        set(properties: node.properties, of: copy)
        guard withMembers else { return }
        for member in members(of: node) {
            self.copy(member.id, to: copy, as: member.name, withMembers: true, milliseconds)
        }
    }

    /// Gives folders new versions after a change in one of them.
    mutating func noteChange(
        in folder: Int?, _ versions: WebDAVOptions.FolderVersions, _ milliseconds: Int64
    ) {
        guard let folder else { return }
        touch(folder, milliseconds)
        if versions == .allBelow {
            noteChange(in: nodes[folder]?.parent, versions, milliseconds)
        }
    }
}
