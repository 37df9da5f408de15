// TransferDriver+Admission.swift — a file that came whole gets its name, unless its bytes are
// others than is said of them: by the entity that names it, or else by the checksum of its answer.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

extension TransferDriver {
    /// Gives a whole file its name, unless it has another hash than it should have.
    ///
    /// - Parameter checksums: what the answer tells of the file's bytes.
    /// - Returns: what has its name now, nil for nothing; and the answer, which says so.
    func admit(
        _ request: TransferRequest, _ answer: FetchAnswer,
        _ checksums: [FileChecksums.Algorithm: String], _ files: ContentFiles
    ) throws -> (ContentFiles.Content?, FetchAnswer) {
        let content = try files.content(ofPart: request.part)
        guard case .answered(var answered) = answer else { return (nil, answer) }
        let isOther: Bool
        if let digest = request.plan.digest {
            isOther = digest != content.digest
        } else {
            isOther = try hasOther(checksums, content, request.part, files)
        }
        guard !isOther else {
            answered.file.otherDigest = content.digest
            return (nil, .answered(answered.judged(as: request.plan)))
        }
        journal.shared.contents.imports(
            content.digest, at: try journal.read { $0.last }, dependencies.now())
        try files.admit(part: request.part, as: content)
        return (content, answer)
    }

    /// Whether a file in the making has another checksum than its answer tells.
    private func hasOther(
        _ checksums: [FileChecksums.Algorithm: String], _ content: ContentFiles.Content,
        _ part: String, _ files: ContentFiles
    ) throws -> Bool {
        for algorithm in FileChecksums.Algorithm.allCases {
            guard let theirs = checksums[algorithm] else { continue }
            guard let hash = algorithm.hash else { return theirs != content.digest }
            let path = try files.path(ofPart: part)
            return try hash.digits(of: path, bytes: Int(clamping: content.bytes)) != theirs
        }
        return false
    }
}
