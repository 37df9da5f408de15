// WrittenContent.swift — what has to have become of the contents of files that devices wrote.

import Foundation
import HTTPTypes
import Tidemark
import TidemarkEvents
import TidemarkViews

/// A content that a device wrote.
struct WrittenContent {
    var replica: Replica
    var key: EntityKey
    var text: String
    var position: Position
}

/// An upload of a device, and whether the server took it, whatever the device heard of it.
struct ContentUpload {
    var path: String
    var fields: HTTPFields
    var text: String
    var isApplied: Bool
}

extension [WrittenContent] {
    /// What is otherwise than it must be; nil where nothing is: each has one outcome, what was
    /// accepted the server got, and no upload went without a condition.
    func problem(_ uploads: [ContentUpload]) throws -> String? {
        for upload in uploads where upload.fields[.ifMatch] == nil {
            guard upload.fields[.ifNoneMatch] == "*" else {
                return "an upload to \(upload.path) without a condition"
            }
        }
        let sent = Set(uploads.filter(\.isApplied).map(\.text))
        for content in self {
            let outcome = try content.replica.read { try $0.outcome(of: content.position) }
            switch outcome {
            case nil: return "nothing became of \(content.text)"
            case .accepted?, .merged?:
                guard sent.contains(content.text) || isOverwritten(content) else {
                    return "\(content.text) was accepted, and never sent"
                }
            case .superseded?, .coalesced?, .annihilated?, .withdrawn?, .rejected?, .discarded?:
                break
            }
        }
        return nil
    }

    /// Whether the same device gave the file another content later.
    private func isOverwritten(_ content: WrittenContent) -> Bool {
        contains { other in
            other.replica.directory == content.replica.directory && other.key == content.key
                && other.position > content.position
        }
    }
}

extension Replica {
    /// Takes a text in as a file; what a field that names it is set to.
    func importText(_ text: String) throws -> JSONValue {
        let path = directory + ".content"
        try Data(text.utf8).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        return try importFile(at: path).json
    }
}
