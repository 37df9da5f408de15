// ScenarioPaths.swift — entities of trees that servers know by paths: a scenario, too, names them
// by the paths that they have on the device at that time.

import Tidemark
import TidemarkEvents
import TidemarkViews

extension ReadContext {
    /// The entity at a path, where a tree is known by paths and none has the path as its id.
    func named(_ key: EntityKey) throws -> EntityKey {
        guard let collection = try views.model()[key.collection],
            collection.isByPath, try views.entity(key) == nil
        else { return key }
        var found: EntityKey?
        try forEachDocument(in: key.collection) { other, _, _ in
            if try path(of: other)?.joined(separator: "/") == key.id { found = other }
            return found == nil
        }
        return found ?? key
    }

    /// What a run is to do, with the entities and folders that it names by their keys.
    func named(_ scope: SyncScope) throws -> SyncScope {
        switch scope {
        case .fetch(let keys): .fetch(try keys.map { try named($0) })
        case .folders(let folders):
            .folders(
                try folders.map { folder in
                    guard let id = folder.id else { return folder }
                    return SyncScope.Folder(try named(EntityKey(folder.collection, id)))
                })
        default: scope
        }
    }

    /// The id by which a scenario names an entity: its path, where a tree is known by paths.
    func name(of key: EntityKey) throws -> String {
        guard let tree = try views.model()[key.collection]?.tree, tree.isByPath else {
            return key.id
        }
        return try path(of: key)?.joined(separator: "/") ?? key.id
    }

    /// A document whose folder is named by its path.
    func placed(_ bytes: [UInt8], in name: CollectionName) throws -> [UInt8] {
        guard let tree = try views.model()[name]?.tree, tree.isByPath else { return bytes }
        let document = try JSONDocument(parsing: bytes)
        guard let parent = document.ids(in: tree.parent).first else { return bytes }
        let id = try named(EntityKey(name, parent)).id
        return document.applying(set: [(tree.parent, JSONValue.string(id).encoded())])
    }

    /// The same with the fields that an edit sets.
    func placed(_ patch: Patch, in name: CollectionName) throws -> Patch {
        guard let tree = try views.model()[name]?.tree, tree.isByPath else { return patch }
        var patch = patch
        for index in patch.set.indices where patch.set[index].name == tree.parent {
            guard let path = try JSONValue(parsing: patch.set[index].value).stringValue else {
                continue
            }
            let id = try named(EntityKey(name, path)).id
            patch.set[index] = Patch.Field(tree.parent, JSONValue.string(id).encoded())
        }
        return patch
    }
}
