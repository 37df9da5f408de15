// FileServers.swift — the code of the article of that name.

import Tidemark

enum FileServers {
    static func list(_ folder: EntityKey, _ engine: SyncEngine) async throws -> SyncOutcome {
        await engine.trigger(.remoteChange, in: SyncScope.Folder(folder))
        let outcome = try await engine.sync(.remoteChange, scope: .folders([.init("files")]))
        return outcome
    }
}
