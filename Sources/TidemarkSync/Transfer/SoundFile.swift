// SoundFile.swift — whether a file of the user's can be sent: it is here, and holds what its name
// says. A block that went bad would be everybody's once the server had it.

import TidemarkEvents
import TidemarkStore
import TidemarkViews

extension Journal {
    /// Why a file can't be sent: it is not here, or it is damaged; nil where it can.
    ///
    /// It is read whole before the first request with it in this process.
    func fault(ofFile digest: String, _ bytes: UInt64) async throws -> AssetRemoved.Reason? {
        guard let files = contentFiles, try files.bytes(of: digest) == bytes else {
            return .missing
        }
        guard !shared.contents.isSound(digest) else { return nil }
        // A short one takes no time that counts, and so keeps its place among the requests.
        let found =
            bytes <= 1 << 20
            ? try files.content(of: digest)
            : try await BlockingWork.run { try files.content(of: digest) }
        guard found.digest == digest else { return .damaged }
        shared.contents.noteSound(digest)
        return nil
    }
}
