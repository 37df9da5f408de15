// FileVerification.swift — checks that the files beside entities are those that the log tells of.

import TidemarkEvents
import TidemarkLog
import TidemarkRules
import TidemarkStore
import TidemarkViews

/// What the log tells of files.
private struct ToldFiles {
    /// Those that are stored.
    var stored: [(digest: String, content: ContentRow.Stored)] = []
    /// Those of the user's that are named and were lost here, and by which fields.
    var lost: [(digest: String, fields: String)] = []
    /// How many of the user's are named, and may be another device's: they were never lost here.
    var elsewhere = 0

    init(_ views: ViewReader) throws {
        try views.forEachContent { digest, row in add(digest, row) }
    }

    private mutating func add(_ digest: String, _ row: ContentRow) {
        if let content = row.stored {
            stored.append((digest, content))
        } else if !row.own.isEmpty, !row.isLost {
            elsewhere += 1
        } else if !row.own.isEmpty {
            let fields = row.own.map { "\($0.field.collection), \($0.field.field)" }
            lost.append((digest, fields.joined(separator: "; ")))
        }
    }
}

extension Journal {
    private static let fileFindingsMax = 100

    /// Checks presence and length of every file, and at the level `deep` its hash; adds findings.
    ///
    /// Files that go while they are looked at are no findings.
    func verifyFiles(
        in directory: String, _ result: inout StoreVerification,
        _ progress: (VerifyProgress) throws -> Void
    ) throws {
        let told: ToldFiles
        do { told = try read { try ToldFiles($0) } } catch let error as StoreError
            where error.code == .otherVersion
        {
            result.notes.append(
                "which files there are is known once the store was opened for writing")
            return
        }
        let files = ContentFiles(of: directory)
        for (digest, content) in told.stored {
            try progress(.files(done: result.files, of: told.stored.count))
            result.files += 1
            guard let what = try problem(of: digest, content.bytes, files, result.level),
                try read({ try $0.content(digest)?.stored == content }),
                result.problems.count < Self.fileFindingsMax
            else { continue }
            result.problems.append(
                LogError(.corruptFile, at: content.position, "the file \(digest) \(what)"))
        }
        if told.elsewhere > 0 {
            result.notes.append(
                "files of users that entities name and that are not here: \(told.elsewhere); "
                    + "none was lost here, and they may be another device's")
        }
        for (digest, fields) in told.lost where result.problems.count < Self.fileFindingsMax {
            result.problems.append(
                LogError(
                    .corruptFile, at: .start,
                    "the user's file \(digest) is not here, and an entity names it (\(fields)): "
                        + "name another one, or take it in again"))
        }
    }

    private func problem(
        of digest: String, _ bytes: UInt64, _ files: ContentFiles, _ level: VerifyLevel
    ) throws -> String? {
        guard ContentFiles.isDigest(digest) else { return "has a name that no file can have" }
        guard let found = try files.bytes(of: digest) else {
            return "is missing; the next opening of the store says so in its log"
        }
        guard found == bytes else { return "has \(found) bytes, not \(bytes)" }
        guard level == .deep else { return nil }
        do {
            let isWhole = try files.content(of: digest).digest == digest
            return isWhole ? nil : "is damaged: it has another hash"
        } catch { return "can't be read: \(error)" }
    }
}
