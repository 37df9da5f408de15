// TransferDriver+Room.swift — makes room on a full disk: parts go of files that nobody waits for.
//
// The log says nothing of it: the next request for such a file finds that its part is gone, says
// so, and begins anew.

import TidemarkStore
import TidemarkViews

extension TransferDriver {
    /// Removes the parts of files that are not under way, and that nobody waits for or that are not
    /// fetched any more.
    func makeRoom(_ files: ContentFiles) async throws {
        let (use, signal) = (journal.shared.contents, signal)
        // No request begins meanwhile, which would go on with one of them.
        try await journal.write(at: dependencies.now()) { draft in
            guard let parts = try? files.partNames(), !parts.isEmpty else { return }
            let kept = try draft.fold.partsAwaited(isAwaited: signal.isAwaited)
            use.remove(parts: parts, except: kept, from: files)
        }
    }
}
