// PathWorld+Contents.swift — the contents of files in a tree that several change: what devices and
// a plain client write, and that all have the same bytes in the end.

import Foundation
import HTTPTypes
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

/// A request of a device, and what the server did with it.
struct PathExchange: Sendable {
    var request: HTTPRequest
    var body: [UInt8]?
    /// The server's own status; nil where it got nothing, or only a part.
    var status: Int?
    /// Whether it got a part of the body only.
    var isTorn = false

    var isApplied: Bool { status.map { (200..<300).contains($0) } ?? false }
}

/// How often something happened that a day is there for.
struct PathTally: CustomStringConvertible {
    var refusedVersions = 0
    var moves = 0
    var torn = 0
    var keptBoth = 0
    var contents = 0

    var description: String {
        "\(contents) contents written, \(refusedVersions) answers 412, \(moves) moves, "
            + "\(torn) torn uploads, both kept \(keptBoth) times"
    }

    static func += (sum: inout PathTally, other: PathTally) {
        sum.refusedVersions += other.refusedVersions
        sum.moves += other.moves
        sum.torn += other.torn
        sum.keptBoth += other.keptBoth
        sum.contents += other.contents
    }
}

extension PathWorld {
    /// A content that no other one is alike, nor as long: servers of files tell versions by length
    /// and seconds.
    func text() -> String {
        made += 1
        return String(repeating: "\(made) ", count: 40 + made)
    }

    /// Gives some files other contents: on a device, and by the plain client.
    func editContents(_ device: Device) async throws {
        for _ in 0..<random.below(3) {
            let files = try device.replica.seenFiles().filter { !$0.isFolder }
            guard !files.isEmpty else { break }
            let one = random.pick(files)
            let text = text()
            let content = try device.replica.importText(text).encoded()
            steps.append("\(device.name): content \(made) of \(one.key.id)=\(one.path)")
            let position = try? await device.replica.write { tx in
                try tx.patch(one.key, Patch(set: [.init("content", content)]))
            }
            guard let position else { continue }
            written.append(
                WrittenContent(
                    replica: device.replica, key: one.key, text: text, position: position))
        }
        guard random.chance(40) else { return }
        let files = try await server.all().filter { !$0.isFolder }
        guard !files.isEmpty else { return }
        let path = random.pick(files).path
        let text = text()
        steps.append("server: content \(made) of \(path)")
        try await server.put(path, text)
    }

    /// A file of which a device has not the bytes that the server has; nil where there is none.
    ///
    /// - Parameter tells: whether the steps tell what is logged of it.
    func otherContent(tells: Bool = false) async throws -> String? {
        guard setting.hasContents else { return nil }
        for entry in try await server.all() where !entry.isFolder {
            let there = try await server.content(entry.path)
            for device in devices {
                let file = try device.replica.seenFiles().first { $0.path == entry.path }
                let path = try file.flatMap { file in
                    try device.replica.read { try $0.files(of: file.key).first?.stored?.path }
                }
                let here = try path.map {
                    String(decoding: try Data(contentsOf: URL(filePath: $0)), as: UTF8.self)
                }
                guard here == there else {
                    if tells, let file { try tell(device, file.key) }
                    return "\(device.name) has of \(entry.path) \(here?.prefix(20) ?? "nothing"), "
                        + "and the server \(there.prefix(20)) of \(there.utf8.count)"
                }
            }
        }
        return nil
    }

    /// Adds the log of an entity to the steps.
    private func tell(_ device: Device, _ key: EntityKey) throws {
        steps.append("\(device.name) has logged of \(key.id):")
        _ = try device.replica.journal.dump(EventFilter()) { position, event in
            let payload = String(decoding: event.payload.prefix(200), as: UTF8.self)
            guard event.key == key || payload.contains(key.id) else { return }
            steps.append("\(position) \(event.kind) \(event.key?.id ?? "") \(payload)")
        }
    }

    /// Checks what became of the contents that were written.
    func checkContents() throws {
        let uploads = setting.exchanges().filter { $0.request.method == .put }.map { exchange in
            ContentUpload(
                path: exchange.request.path ?? "", fields: exchange.request.headerFields,
                text: String(decoding: exchange.body ?? [], as: UTF8.self),
                isApplied: exchange.isApplied)
        }
        if let problem = try written.problem(uploads) { throw failure(problem) }
    }

    /// What happened in the day.
    func tally() throws -> PathTally {
        let exchanges = setting.exchanges()
        var tally = PathTally(
            refusedVersions: exchanges.count { $0.status == 412 },
            moves: exchanges.count { $0.request.method.rawValue == "MOVE" && $0.isApplied },
            torn: exchanges.count(where: \.isTorn), contents: written.count)
        for device in devices {
            _ = try device.replica.journal.dump(EventFilter()) { _, event in
                guard event.kind == .issueAnswered else { return }
                if String(decoding: event.payload, as: UTF8.self).contains("keepBoth") {
                    tally.keptBoth += 1
                }
            }
        }
        return tally
    }
}
