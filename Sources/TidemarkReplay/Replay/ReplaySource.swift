// ReplaySource.swift — where a recorded log is found: a capsule beside the test, a file, a store.

package import Foundation
import Tidemark
package import TidemarkCapsule
package import TidemarkEvents
import TidemarkInspect
import TidemarkViews

/// Where a recorded log is.
public struct ReplaySource: Sendable {
    private enum Place: Sendable {
        case path(String)
        case fixture(String, beside: String)
        case value(Capsule)
    }
    private let place: Place

    /// A capsule beside the test: in the folder of the test's file, or one above it up to that of
    /// the package, directly or in `Fixtures` or `Replays`; or a resource of the tests.
    ///
    /// - Parameters:
    ///   - name: the name of the file, with or without `.capsule`.
    ///   - filePath: the test's file.
    public static func fixture(_ name: String, filePath: String = #filePath) -> ReplaySource {
        ReplaySource(place: .fixture(name, beside: filePath))
    }

    /// The file of a capsule, or the directory of a store.
    public static func file(_ path: String) -> ReplaySource { ReplaySource(place: .path(path)) }

    /// A capsule in memory.
    package static func capsule(_ capsule: Capsule) -> ReplaySource {
        ReplaySource(place: .value(capsule))
    }

    /// Reads it.
    ///
    /// - Throws: `ReplayMistake` where there is none; ``TidemarkError`` where it can't be read.
    package func capsule() throws -> Capsule {
        do {
            switch place {
            case .value(let capsule): return capsule
            case .path(let path): return try Self.read(path)
            case .fixture(let name, let file):
                return try Self.read(try Self.find(name, beside: file))
            }
        } catch { throw TidemarkError.wrapping(error) }
    }

    private static func read(_ path: String) throws -> Capsule {
        guard let isFolder = FileManager.default.isFolder(path) else {
            throw ReplayMistake("there is no \(path); name a capsule or the folder of a store")
        }
        if !isFolder { return try Capsule(file: path) }
        let journal = try Journal.open(at: path, readOnly: true)
        defer { try? journal.close() }
        return try ScratchDirectory.with(nil) { scratch in
            try Capsule(of: journal, build: "", scratch: scratch)
        }
    }

    /// The file of a fixture.
    private static func find(_ name: String, beside file: String) throws -> String {
        let names = name.hasSuffix(".capsule") ? [name] : [name, name + ".capsule"]
        for folder in folders(above: file) {
            for place in [".", "Fixtures", "Replays"] {
                for name in names {
                    let url = folder.appending(path: place).appending(path: name)
                    let path = url.standardizedFileURL.path(percentEncoded: false)
                    if FileManager.default.isFolder(path) == false { return path }
                }
            }
        }
        for bundle in Bundle.allBundles {
            for name in names {
                if let url = bundle.url(forResource: name, withExtension: nil) {
                    return url.path(percentEncoded: false)
                }
            }
        }
        let folder = URL(filePath: file).deletingLastPathComponent().path(percentEncoded: false)
        throw ReplayMistake(
            "there is no \(name) in \(folder), nor in its Fixtures or Replays, nor in a folder "
                + "above it; record one: tidemark capsule STORE -o \(name.shellQuoted)")
    }

    /// The folder of a file and those above it, up to that of the package.
    static func folders(above file: String) -> [URL] {
        var folders: [URL] = []
        var folder = URL(filePath: file).deletingLastPathComponent()
        while folders.count < 12 {
            folders.append(folder)
            let manifest = folder.appending(path: "Package.swift").path(percentEncoded: false)
            let above = folder.deletingLastPathComponent().standardizedFileURL
            if FileManager.default.fileExists(atPath: manifest) || above == folder { break }
            folder = above
        }
        return folders
    }
}

extension Capsule {
    /// The last model in the capsule.
    package func lastRegistration() throws -> ModelRegistration? {
        for commit in commits.reversed() {
            for entry in commit.entries.reversed() where entry.event.kind == .modelRegistered {
                return try ModelRegistration(parsing: entry.event.payload, isLogged: true)
            }
        }
        guard let row = base.rows.first(where: { $0.key == .store("model") }) else { return nil }
        return try ModelRegistration(
            parsing: try StoreFactRow(parsing: row.value).payload, isLogged: true)
    }
}

extension Capsule {
    /// Whether an app's model is the last one in the capsule, with what its registration adds.
    func holds(_ model: SyncModel) throws -> Bool {
        guard let known = try lastRegistration() else { return false }
        let own = ModelRegistration(model: model, remote: known.remote)
        return (try? own.checked(beside: known))?.model == known.model
    }
}

extension FileManager {
    /// Whether a folder is at the path; nil where nothing is there.
    package func isFolder(_ path: String) -> Bool? {
        let place = URL(filePath: path).resolvingSymlinksInPath().path(percentEncoded: false)
        let type = try? attributesOfItem(atPath: place)[.type] as? FileAttributeType
        return type.map { $0 == .typeDirectory }
    }
}
