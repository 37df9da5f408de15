// Golden.swift — the stores of Tests/Fixtures/v1: where they are, and what is compared of them.

import Foundation
import TestSupport
import Testing
import TidemarkEvents
import TidemarkInspect
import TidemarkLog
import TidemarkStore
import TidemarkViews

@testable import SyncSupport

/// A golden store that is sound, or a damaged twin of one.
struct Golden: CustomTestStringConvertible {
    /// Its folder.
    var name: String
    /// Where all of them are.
    static let folder = Checkout.root.appending(path: "Tests/Fixtures/v1")

    var testDescription: String { name }
    var path: String { Self.folder.appending(path: name).path }

    static let sound = ["empty", "small", "whole"].map { Golden(name: $0) }
    static let small = Golden(name: "small")

    func text(_ file: String) throws -> String {
        try String(contentsOf: Self.folder.appending(path: "\(name)/\(file)"), encoding: .utf8)
    }

    /// Runs `body` with a copy of the store, which goes afterwards.
    func withCopy<R>(_ body: (String) throws -> R) throws -> R {
        let copy = FileManager.default.temporaryDirectory
            .appending(path: "golden-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: copy) }
        for file in try FileManager.default.contentsOfDirectory(atPath: path)
        where !["dump.jsonl", "state.txt", "lock.mdb"].contains(file) {
            try FileManager.default.copyItem(
                atPath: "\(path)/\(file)", toPath: copy.appending(path: file).path)
        }
        return try body(copy.path)
    }
}

/// What a damaged twin must be found to be.
struct Finding: Codable, Equatable {
    /// What is said when it is opened; nil when it opens.
    var open: String?
    /// What `verify` finds.
    var verify: [String] = []
    /// What `dump` passes over.
    var dump: [String] = []
    /// How many events `dump` prints.
    var events = 0

    /// Asks all of a store.
    ///
    /// - Parameter path: stands as `STORE` in what is said.
    init(of path: String) throws {
        func clean(_ error: Any) -> String { "\(error)".replacing(path, with: "STORE") }
        do {
            let journal = try Journal.open(at: path, readOnly: true)
            verify = try journal.verify().findings.map(clean)
            var events = 0
            dump = try journal.dump(EventFilter()) { _, _ in events += 1 }.map(clean)
            self.events = events
            try journal.close()
        } catch { open = clean(error) }
    }
}

/// The manifest: by the name of a twin what is wrong with it.
typealias Manifest = [String: Finding]

extension Journal {
    /// The log as the tool prints it.
    func goldenDump() throws -> String {
        var lines: [UInt8] = []
        let damaged = try dump(EventFilter()) { position, event in
            lines += EventLine.json(position, event) + [UInt8(ascii: "\n")]
        }
        #expect(damaged == [])
        return String(decoding: lines, as: UTF8.self)
    }

    /// What the log comes to, in lines: its root, every entity, mutation, decision and cursor.
    func goldenState() throws -> String {
        let result = try verify()
        #expect(result.findings == [])
        var lines = ["\(result.events) events, \(result.commits) commits", "root \(result.root)"]
        try read { views in
            try views.forEachEntity { key, row in
                let document = row.document.map { String(decoding: $0, as: UTF8.self) } ?? "-"
                lines.append("entity \(key) \(row.status.rawValue) \(document)")
                return true
            }
            for entry in try views.outbox(all: true) {
                let proof = entry.mutation.proof.map { " by \($0)" } ?? ""
                lines.append(
                    "mutation \(entry.position) \(entry.mutation.key) \(entry.word)\(proof)")
            }
            try views.forEachDecision { position, decision in
                lines.append("decision \(position) \(decision.key) \(decision.result)")
                return true
            }
            for collection in try views.registration()?.model.collections ?? [] {
                let cursor = try views.watermark(PullTarget(collection.name))?.cursor
                lines.append("cursor \(collection.name) \(cursor.map { "\($0)" } ?? "-")")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }
}

extension URL {
    /// The files in the folder whose contents never change, each with its SHA-256, in the form that
    /// sha256sum takes.
    func goldenSums() throws -> String {
        let files = try FileManager.default.subpathsOfDirectory(atPath: path).sorted()
        return try files.filter { file in
            var isFolder: ObjCBool = false
            let name = file.split(separator: "/").last ?? ""
            return unsafe FileManager.default.fileExists(
                atPath: appending(path: file).path, isDirectory: &isFolder)
                && !isFolder.boolValue && !["README.md", "SHA256SUMS", "lock.mdb"].contains(name)
        }.map { file in
            let bytes = [UInt8](try Data(contentsOf: appending(path: file)))
            return "\(BodyReference(to: bytes).digits)  \(file)\n"
        }.joined()
    }
}
