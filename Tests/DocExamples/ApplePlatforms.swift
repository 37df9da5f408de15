// ApplePlatforms.swift — the code of the article of that name.

import Tidemark

enum ApplePlatforms {
    static func open(
        _ folder: String, _ model: SyncModel, _ vendorID: String?
    ) async throws -> Replica {
        var dependencies = Dependencies.live
        dependencies.deviceID = { vendorID }
        let replica = try await Replica.open(at: folder, model: model, dependencies: dependencies)
        return replica
    }

    static func openRestored(
        _ folder: String, _ model: SyncModel, _ dependencies: Dependencies,
        _ isOldPhoneGone: () -> Bool
    ) async throws -> Replica {
        do {
            return try await Replica.open(at: folder, model: model, dependencies: dependencies)
        } catch let error as TidemarkError where error.code == .otherDevice {
            guard isOldPhoneGone() else { throw error }
            try await Replica.adopt(at: folder, dependencies: dependencies)
            return try await Replica.open(at: folder, model: model, dependencies: dependencies)
        }
    }

    static func refresh(_ engine: SyncEngine, _ task: some RefreshTask) async throws {
        var isDone = false
        defer { task.setTaskCompleted(success: isDone) }
        isDone = try await engine.sync(.background, deadline: .seconds(25)).failure == nil
    }

    static func moved(_ engine: SyncEngine, _ isActive: Bool) async {
        if isActive { await engine.appDidReturn() } else { await engine.appDidLeave() }
    }
}

/// As a `BGTask`.
protocol RefreshTask {
    func setTaskCompleted(success: Bool)
}
