// Memory.swift — P13: how much memory of its own a process takes that does one thing.
//
// Each is done by a process of its own, as freed memory is not always given back. What is counted
// is `RssAnon` of /proc/self/status: pages of the file that LMDB maps belong to the system.

import Foundation
import Synchronization
import Tidemark
@_spi(Measuring) import TidemarkInspect
import TidemarkSync

/// What a process does whose memory is measured.
enum MemoryWork: String, CaseIterable {
    case idle, pull, cut, resumed, rebuild

    func run(_ options: Options) async throws {
        let base = Memory.anonymous()
        let watch = MemoryWatch()
        // What was cut off goes on where it was.
        let name = self == .resumed ? MemoryWork.cut.rawValue : rawValue
        let path = options.directory + "/memory-\(name)"
        let entities = options.count(1_000_000)
        switch self {
        case .idle:
            let peer = try TidemarkPeer(path)
            try peer.insert((0..<1000).map { Item($0) }[...])
            _ = try peer.get(Workload.id(5))
            print(Memory.anonymous() - base)
            try peer.close()
        case .pull, .cut, .resumed:
            let half = CannedServer.pages(of: entities) / 2
            let server = CannedServer(
                Workload.shuffled(entities), madeBefore: false, dyingAt: self == .cut ? half : nil)
            let model = SyncModel(
                name: "bench",
                collections: [CollectionModel(TidemarkPeer.collection, indexes: [["project_id"]])])
            let replica = try await Replica.open(at: path, model: model, remote: .bench)
            let engine = try SyncEngine(replica, remote: .bench, transport: server) {
                .bearer("a-token-of-the-bench")
            }
            let before = Memory.anonymous()
            watch.begin()
            let outcome = try await engine.sync()
            print(watch.end() - before)
            guard outcome.failure == nil else { fatalError("\(outcome)") }
            var pulled = 0
            try replica.read { context in
                try context.forEachDocument(in: TidemarkPeer.collection) { _, _, _ in
                    pulled += 1
                    return true
                }
            }
            guard pulled == entities else { fatalError("\(pulled) of \(entities) entities") }
            guard self == .pull || server.pagesAsked <= server.count - half + 1 else {
                fatalError("\(server.pagesAsked) pages were asked for, \(half) of which were here")
            }
            await engine.stop()
            try await replica.close()
        case .rebuild:
            let peer = try TidemarkPeer(path)
            for start in stride(from: 0, to: options.count(10_000_000), by: 1000) {
                let first = start % entities
                try peer.pull((first..<first + 1000).map { Item($0, version: start / entities) })
            }
            let before = Memory.anonymous()
            watch.begin()
            _ = try Measuring.rebuild(peer.replica)
            print(watch.end() - before)
            try peer.close()
        }
        try FileManager.default.removeItem(atPath: path)
    }
}

enum Memory {
    /// The bytes of memory that only this process has and that no file is behind.
    static func anonymous() -> Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 1024
    }
}

/// Watches the memory of the process from a thread of its own.
final class MemoryWatch: Sendable {
    private let most = Mutex<Int?>(nil)

    func begin() {
        most.withLock { $0 = Memory.anonymous() }
        Thread.detachNewThread {
            while true {
                let now = Memory.anonymous()
                let goesOn = self.most.withLock { most in
                    guard let before = most else { return false }
                    most = max(before, now)
                    return true
                }
                guard goesOn else { return }
                usleep(5000)
            }
        }
    }

    /// The most that was seen.
    func end() -> Int {
        most.withLock { most in
            defer { most = nil }
            return most ?? 0
        }
    }
}

extension Run {
    /// P13: private memory of an idle replica, of a first pull, and of a rebuild.
    mutating func memory() throws {
        let musts: [MemoryWork: (String, Int)] = [
            .idle: ("an idle replica", 20),
            .pull: ("a pull of \(options.count(1_000_000)) entities, ids in random order", 150),
            .resumed: ("the rest of such a pull, killed halfway", 150),
            .rebuild: ("a rebuild of \(options.count(10_000_000)) events", 150),
        ]
        for work in MemoryWork.allCases {
            let child = Process()
            child.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
            child.arguments = [
                "--directory", directory, "--scale", "\(options.scale)", "--memory", work.rawValue,
            ]
            let pipe = Pipe()
            child.standardOutput = pipe
            try child.run()
            let text = String(
                decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            child.waitUntilExit()
            guard let (what, most) = musts[work] else {
                guard child.terminationReason == .uncaughtSignal else {
                    fatalError("the process that was to be killed ended before")
                }
                continue
            }
            guard let bytes = Int(text.trimmingCharacters(in: .whitespacesAndNewlines)) else {
                fatalError("the process that was measured ended with \(child.terminationStatus)")
            }
            report.add(
                "P13", what, "\(bytes / 1_000_000) MB", "", "", must: "≤ \(most) MB",
                isMet: bytes <= most * 1_000_000)
        }
    }
}
