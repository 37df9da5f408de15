// PartHashes.swift — hashes of files that come in parts: what has come is hashed while the next
// part is on its way.

import Synchronization
import TidemarkStore

/// The hashes of the part files of one pass.
///
/// Nothing of them is kept: what another process fetched is hashed at the end.
final class PartHashes: Sendable {
    private let files: ContentFiles
    private let begun = Mutex<[String: Task<FileHash, any Error>]>([:])

    init(_ files: ContentFiles) { self.files = files }

    /// Hashes a part file up to there, beside what the caller does next.
    func advance(_ part: String, upTo bytes: UInt64) {
        begun.withLock { begun in
            let before = begun[part]
            begun[part] = Task { [files] in
                var hash = try await before?.value ?? FileHash()
                try files.add(part: part, to: &hash, upTo: bytes)
                return hash
            }
        }
    }

    /// What a part file holds, to its end.
    func finish(_ part: String) async throws -> ContentFiles.Content {
        let before = begun.withLock { $0.removeValue(forKey: part) }
        // What could not be read then may be readable now.
        var hash = (try? await before?.value) ?? FileHash()
        try files.add(part: part, to: &hash)
        return hash.content
    }

    /// Forgets what was hashed of a part file: it may have been replaced.
    func forget(_ part: String) { begun.withLock { _ = $0.removeValue(forKey: part) } }
}
