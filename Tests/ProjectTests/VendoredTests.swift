// VendoredTests.swift — the C libraries in Sources/Vendored are as they were published, show what
// the system's show, and are compiled where the system has none.

import Crypto
import Foundation
import TestSupport
import Testing

@Suite struct `a vendored library` {
    @Test(arguments: ["CLMDB", "CZstd"])
    func `has the files that its README names, byte for byte`(library: String) throws {
        let folder = "Sources/Vendored/\(library)"
        let sums = try Project.text("\(folder)/README.md").split(separator: "\n").compactMap {
            $0.wholeMatch(of: /([0-9a-f]{64})  (\S+)/)
        }
        let named = Dictionary(
            sums.map { (String($0.output.2), String($0.output.1)) }, uniquingKeysWith: { $1 })
        let own: Set = ["README.md", "module.modulemap", "shim.h", "tidemark_mdb.c"]
        let present = try files(in: folder).filter { !own.contains($0) }

        #expect(present.count >= 6)
        #expect(Set(present) == Set(named.keys))
        for file in present {
            let bytes = try Project.bytes("\(folder)/\(file)")

            #expect(sum(of: bytes) == named[file], "\(file)")
        }
    }

    @Test(arguments: ["CLMDB", "CZstd"])
    func `shows what the system's shows, and asks for no library`(library: String) throws {
        func lines(_ folder: String) throws -> [String] {
            try Project.text("\(folder)/module.modulemap").components(separatedBy: "\n")
        }
        let system = try lines("Sources/\(library)")
        let vendored = try lines("Sources/Vendored/\(library)")
        let shim = try Project.bytes("Sources/\(library)/shim.h")

        #expect(vendored == system.filter { !$0.hasPrefix("    link ") })
        #expect(vendored.count == system.count - 1)
        #expect(try Project.bytes("Sources/Vendored/\(library)/shim.h") == shim)
    }

    @Test func `is compiled where the manifest is told to`() throws {
        let targets = try libraries(vendored: "1")

        #expect(
            targets == [
                Library(name: "CLMDB", type: "regular", path: "Sources/Vendored/CLMDB"),
                Library(name: "CZstd", type: "regular", path: "Sources/Vendored/CZstd"),
            ])
    }

    #if os(Linux)
        @Test func `is the system's on Linux`() throws {
            let targets = try libraries(vendored: "")

            #expect(
                targets == [
                    Library(name: "CLMDB", type: "system"), Library(name: "CZstd", type: "system"),
                ])
        }
    #endif

    @Test func `has locks that a killed process gives back, and that have no name`() throws {
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-locks-\(UUID().uuidString)")
        let store = scratch.appending(path: "store").path
        try FileManager.default.createDirectory(atPath: store, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: scratch) }
        let program = scratch.appending(path: "locks").path
        let made = try Command.run(
            "clang",
            [
                "-O1", "-w", "-pthread", "-ISources/Vendored/CLMDB",
                "Tests/Fixtures/vendored-locks.c", "Sources/Vendored/CLMDB/midl.c", "-o", program,
            ],
            in: Project.root.path(percentEncoded: false))
        try #require(made.code == 0, "\(made.complaints)")

        let ended = try Command.run(program, [store])

        #expect(ended.code == 0, "\(ended.complaints)")
    }

    @Test func `is no reason for Xcode to refuse the package to an app`() throws {
        // It compiles what an app depends on with `-suppress-warnings`.
        for (value, isStrict) in [("", false), ("1", true)] {
            let dumped = try dump(["TIDEMARK_STRICT": value])

            let text = String(decoding: dumped, as: UTF8.self)
            #expect(text.contains("treatAllWarnings") == isStrict)
        }
    }

    @Test func `has no unsafe flags, which would bar apps from depending on the package`() throws {
        let manifest = try Project.text("Package.swift")
        let start = try #require(manifest.range(of: "let lmdb: Target ="))
        let behind = start.upperBound..<manifest.endIndex
        let end = try #require(manifest.range(of: "\n\n", range: behind))
        let targets = manifest[start.lowerBound..<end.lowerBound]

        #expect(targets.contains("Sources/Vendored/CZstd"))
        #expect(!targets.contains("unsafeFlags"))
    }

    /// The files in a folder, by their paths from there; what the system's file browser left there
    /// is none.
    private func files(in folder: String) throws -> [String] {
        let place = Project.root.appending(path: folder).path
        return try FileManager.default.subpathsOfDirectory(atPath: place).filter { file in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(place)/\(file)")
            let isFolder = attributes[.type] as? FileAttributeType == .typeDirectory
            return !isFolder && !file.hasSuffix(".DS_Store")
        }
    }

    private func sum(of bytes: Data) -> String {
        SHA256.hash(data: bytes).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// The targets of the two libraries, as the manifest has them under a value of
    /// `TIDEMARK_VENDORED`.
    private func libraries(vendored: String) throws -> [Library] {
        let dumped = try dump(["TIDEMARK_VENDORED": vendored])
        let manifest = try JSONDecoder().decode(Manifest.self, from: dumped)
        return manifest.targets.filter { ["CLMDB", "CZstd"].contains($0.name) }
    }

    /// The manifest as SwiftPM reads it in an environment.
    private func dump(_ environment: [String: String]) throws -> Data {
        let scratch = FileManager.default.temporaryDirectory
            .appending(path: "tidemark-manifest-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        let dumped = try Command.run(
            "swift", ["package", "--scratch-path", scratch.path, "dump-package"],
            environment: environment,
            in: Project.root.path(percentEncoded: false))
        try #require(dumped.code == 0, "\(dumped.complaints)")
        return dumped.output
    }
}

/// What `swift package dump-package` prints, as far as it is looked at.
private struct Manifest: Decodable {
    var targets: [Library]
}

private struct Library: Decodable, Equatable {
    var name: String
    var type: String
    var path: String?
}
