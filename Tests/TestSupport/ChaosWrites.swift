// ChaosWrites.swift — every write that a server answered, whoever sent it, in the order of the
// answers: for servers that keep no history.

import Foundation

/// One write and its answer; of an answer that was lost on its way too.
package struct ChaosWrite: Codable, Sendable {
    package var user: String
    package var method: String
    package var path: String
    package var body: String
    package var status: Int
    /// The version that it made; nil where the answer names none.
    package var revision: String?

    /// A write that has just been answered.
    package init(
        user: String, _ method: String, _ path: String, _ body: [UInt8]?, _ answer: PlainHTTP
    ) {
        self.user = user
        self.method = method
        self.path = path
        self.body = String(decoding: body ?? [], as: UTF8.self)
        status = answer.status
        revision = answer.fields.first { $0.name.lowercased() == "etag" }?.value
    }

    package var tookEffect: Bool { (200..<300).contains(status) }
}

/// A file that several processes, one at a time, append their writes to.
package struct ChaosWrites: Sendable {
    private let path: String

    package init(folder: String) { path = folder + "/writes" }

    /// Appends a write; once this returns the process may die.
    package func append(_ write: ChaosWrite) throws {
        let line = try JSONEncoder().encode(write) + Data("\n".utf8)
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw Command.Failure(description: "\(path) can't be made")
            }
        }
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        try file.seekToEnd()
        try file.write(contentsOf: line)
        try file.close()
    }

    /// The writes after the first so many.
    package func read(after count: Int) throws -> [ChaosWrite] {
        guard FileManager.default.fileExists(atPath: path) else { return [] }
        let data = try Data(contentsOf: URL(filePath: path))
        return try data.split(separator: UInt8(ascii: "\n")).dropFirst(count).map {
            try JSONDecoder().decode(ChaosWrite.self, from: Data($0))
        }
    }
}
