// ContentFilesTests.swift — files beside the data: how they get there, and what is refused.

import Foundation
import TestSupport
import Testing
import TidemarkStore

/// A folder of a store, and files to put into its contents.
private struct Place {
    let scratch: Scratch
    let files: ContentFiles

    init() throws {
        scratch = try Scratch()
        try FileManager.default.createDirectory(
            atPath: scratch.store, withIntermediateDirectories: false)
        files = ContentFiles(of: scratch.store)
    }

    /// A file of those bytes.
    func file(_ bytes: [UInt8], named name: String = "file") throws -> String {
        let path = scratch.path + "/" + name
        try Data(bytes).write(to: URL(filePath: path))
        return path
    }

    func read(_ digest: String) throws -> [UInt8] {
        [UInt8](try Data(contentsOf: URL(filePath: try files.path(of: digest))))
    }

    func store(_ bytes: [UInt8]) throws -> ContentFiles.Content {
        let content = try files.copy(try file(bytes), toPart: "import-1")
        try files.admit(part: "import-1", as: content)
        return content
    }
}

@Suite struct `contents of a store` {
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    @Test(arguments: [0, 1, 255, 256 << 10, (256 << 10) + 1, 1_000_000])
    func `take in a file of any length under its hash, for the owner to read`(
        _ count: Int
    ) throws {
        let place = try Place()
        let content = try place.store(pattern(count))

        #expect(content.bytes == UInt64(count))
        #expect(content.digest == digits(SHA256Digest.of(pattern(count))))
        #expect(count > 0 || content.digest == Self.empty)
        #expect(try place.read(content.digest) == pattern(count))
        #expect(try place.files.bytes(of: content.digest) == UInt64(count))
        #expect(try place.files.digests() == [content.digest])
        #expect(try place.files.partNames() == [])
        #expect(try place.files.content(of: content.digest) == content)
        let path = try place.files.path(of: content.digest)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o400)
        #expect(path.hasSuffix("/store/contents/\(content.digest.prefix(2))/\(content.digest)"))
    }

    @Test func `are copied all or not at all, unless those that fail may be left out`() throws {
        let place = try Place()
        let content = try place.store(pattern(1000))
        let target = place.scratch.path + "/other"
        try FileManager.default.createDirectory(
            atPath: target + "/contents", withIntermediateDirectories: true)
        // Nothing can be made in the place of a folder.
        let parts = target + "/contents/.part"
        try Data().write(to: URL(filePath: parts))
        let other = ContentFiles(of: target)

        try place.files.copyWhole(to: other, isLossy: true)
        #expect(try other.digests() == [])
        #expect(throws: StoreError.self) {
            try place.files.copyWhole(to: other, isLossy: false)
        }

        try FileManager.default.removeItem(atPath: parts)
        try place.files.copyWhole(to: other, isLossy: false)
        #expect(try other.digests() == [content.digest])
    }

    @Test func `hold equal files once, and what was damaged is mended by another copy`() throws {
        let place = try Place()
        let first = try place.store(pattern(1000))
        let path = try place.files.path(of: first.digest)
        try FileManager.default.removeItem(atPath: path)
        try Data([1, 2, 3]).write(to: URL(filePath: path))
        #expect(try place.files.content(of: first.digest) != first)

        #expect(try place.store(pattern(1000)) == first)
        #expect(try place.read(first.digest) == pattern(1000))
        #expect(try place.files.digests() == [first.digest])
    }

    @Test(arguments: [
        "../x", "", ".", "ab", String(repeating: "g", count: 64),
        String(repeating: "A", count: 64), String(repeating: "a", count: 63),
        String(repeating: "a", count: 65), "../" + String(repeating: "a", count: 61),
        String(repeating: "a", count: 63) + "\0",
    ])
    func `have no name but the digits of a hash`(_ name: String) throws {
        let place = try Place()
        let files = place.files

        #expect(!ContentFiles.isDigest(name))
        for error in [
            Result { try files.path(of: name) }.failure,
            Result { _ = try files.bytes(of: name) ?? 0 }.failure,
            Result { try files.remove(name) }.failure,
            Result { try files.content(of: name) }.failure,
            Result {
                try files.admit(part: "p", as: ContentFiles.Content(digest: name, bytes: 0))
            }.failure,
        ] {
            #expect(error?.code == .unfitFile)
            #expect(error?.detail.contains("64 hexadecimal digits") == true)
        }
    }

    @Test(arguments: ["../x", "", "..", "a/b", "A", "a.b", String(repeating: "a", count: 65)])
    func `have no part but of letters, digits and hyphens`(_ name: String) throws {
        let place = try Place()
        let source = try place.file([1])

        #expect(!ContentFiles.isPart(name))
        #expect(
            Result { try place.files.copy(source, toPart: name) }.failure?.code == .unfitFile)
        #expect(Result { try place.files.remove(part: name) }.failure?.code == .unfitFile)
    }

    @Test func `take nothing in that is no regular file`() throws {
        let place = try Place()
        let path = place.scratch.path
        unsafe mkfifo(path + "/pipe", 0o600)
        try FileManager.default.createSymbolicLink(
            atPath: path + "/nowhere", withDestinationPath: path + "/none")

        for name in ["none", "pipe", "nowhere", "store"] {
            let error = Result { try place.files.copy(path + "/" + name, toPart: "p") }.failure
            #expect(error?.code == .unfitFile, "\(name)")
            #expect(error?.detail.contains(path + "/" + name) == true)
            #expect(try place.files.partNames() == [], "\(name)")
        }
    }

    @Test func `take a file in by a link to it`() throws {
        let place = try Place()
        let file = try place.file(pattern(10))
        try FileManager.default.createSymbolicLink(
            atPath: file + ".link", withDestinationPath: file)

        #expect(try place.files.copy(file + ".link", toPart: "p").bytes == 10)
    }

    @Test(arguments: ["longer", "other bytes", "another file", "gone"])
    func `take nothing in that is changed meanwhile`(_ change: String) throws {
        let place = try Place()
        let source = try place.file(pattern(1 << 20))
        // A clock of the file system ticks every few milliseconds.
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_795_000_000)], ofItemAtPath: source)
        func spoil() throws {
            switch change {
            case "longer", "other bytes":
                let writer = try FileHandle(forUpdating: URL(filePath: source))
                if change == "longer" { try writer.seekToEnd() }
                try writer.write(contentsOf: [1])
                try writer.close()
            default:
                try FileManager.default.removeItem(atPath: source)
                if change == "another file" { _ = try place.file(pattern(1 << 20)) }
            }
        }

        var spoilt = Result<Bool, any Error>.success(false)
        let error = Result {
            try place.files.copy(source, toPart: "p") { bytes in
                guard bytes == 256 << 10 else { return }
                spoilt = Result {
                    try spoil()
                    return true
                }
            }
        }.failure
        #expect(try spoilt.get())
        #expect(error?.code == .unfitFile)
        let what = change == "gone" ? "went away" : "changed"
        #expect(error?.detail == "\(source) \(what) while it was copied")
        #expect(try place.files.partNames() == [])
    }

    @Test func `admit no part of another length, and none that is not there`() throws {
        let place = try Place()
        let content = try place.files.copy(try place.file(pattern(10)), toPart: "p")
        let longer = ContentFiles.Content(digest: content.digest, bytes: 11)

        #expect(Result { try place.files.admit(part: "p", as: longer) }.failure?.code == .unfitFile)
        #expect(Result { try place.files.admit(part: "q", as: content) }.failure != nil)
        #expect(try place.files.bytes(of: content.digest) == nil)
        try place.files.admit(part: "p", as: content)
        #expect(try place.files.bytes(of: content.digest) == 10)
    }

    @Test func `that another hand began are what they hold by now`() throws {
        let place = try Place()
        try place.files.prepare()
        try Data(pattern(7)).write(to: URL(filePath: try place.files.path(ofPart: "get-9")))

        let content = try place.files.content(ofPart: "get-9")
        try place.files.admit(part: "get-9", as: content)
        #expect(try place.read(content.digest) == pattern(7))
    }

    @Test func `leave alone what is not theirs`() throws {
        let place = try Place()
        let content = try place.store(pattern(3))
        let folder = place.scratch.store + "/contents"
        let shelf = folder + "/" + content.digest.prefix(2)
        for path in [folder + "/notes.txt", shelf + "/x", folder + "/.part/A"] {
            try Data().write(to: URL(filePath: path))
        }

        #expect(try place.files.digests() == [content.digest])
        #expect(try place.files.partNames() == [])
        place.files.removeAll()
        #expect(FileManager.default.fileExists(atPath: shelf + "/x"))
        #expect(FileManager.default.fileExists(atPath: folder + "/notes.txt"))
        #expect(try place.files.digests() == [])
    }

    @Test func `go as a whole, and are not there before the first`() throws {
        let place = try Place()
        let folder = place.scratch.store + "/contents"
        #expect(try place.files.digests() == [])
        #expect(try place.files.partNames() == [])
        for count in 0..<20 { _ = try place.store(pattern(count)) }
        #expect(try place.files.digests().count == 20)

        place.files.removeAll()
        #expect(!FileManager.default.fileExists(atPath: folder))
        place.files.removeAll()
    }

    @Test func `are not looked for behind a link`() throws {
        let place = try Place()
        let content = try place.store(pattern(5))
        let folder = place.scratch.store + "/contents"
        try FileManager.default.moveItem(atPath: folder, toPath: place.scratch.path + "/mine")
        try FileManager.default.createSymbolicLink(
            atPath: folder, withDestinationPath: place.scratch.path + "/mine")

        #expect(try place.files.digests() == [])
        place.files.removeAll()
        let kept = place.scratch.path + "/mine/\(content.digest.prefix(2))/\(content.digest)"
        #expect(FileManager.default.fileExists(atPath: kept))
        #expect(Result { try place.files.prepare() }.failure != nil)
    }

    @Test(.enabled(if: TinyDisk.isPossible, "\(TinyDisk.reason)"))
    func `lose nothing when the disk is full in the middle of a file`() throws {
        let place = try Place()
        let disk = try #require(try TinyDisk())
        defer { withExtendedLifetime(disk) {} }
        let files = ContentFiles(of: disk.path)
        let small = try place.file(pattern(100_000), named: "small")
        let kept = try files.copy(small, toPart: "p")
        try files.admit(part: "p", as: kept)
        let free = try disk.freeBytes

        let large = try place.file(pattern(2 << 20), named: "large")
        let error = Result { try files.copy(large, toPart: "q") }.failure

        #expect(error?.code == .diskFull)
        #expect(error?.detail.contains(large) == true)
        #expect(try files.partNames() == [])
        #expect(try files.digests() == [kept.digest])
        #expect(try disk.freeBytes == free)
    }

    private func digits(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
