// ApplePlatforms.swift — the code of the article of that name.

import Tidemark

enum ApplePlatforms {
    static func open(_ folder: String, _ model: SyncModel, _ vendorID: String?) throws -> Replica {
        var dependencies = Dependencies.live
        dependencies.deviceID = { vendorID }
        let replica = try Replica.open(at: folder, model: model, dependencies: dependencies)
        return replica
    }
}
