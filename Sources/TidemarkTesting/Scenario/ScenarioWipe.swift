// ScenarioWipe.swift — the app drops what was synced, in a scenario.

import Tidemark
import TidemarkEvents

/// What the app drops.
struct ScenarioWipe: Sendable {
    /// The collections that stay.
    var kept: [CollectionName] = []
    var discardsPending = false
}

extension ScenarioReader {
    func wipe(_ members: ScenarioMembers) throws(ScenarioError) -> ScenarioWipe {
        let members = try ScenarioMembers(
            try members.needed("wipe"), at: members.path("wipe"), ["keeping", "discardingPending"])
        var wipe = ScenarioWipe()
        for (path, item) in try members.list("keeping") {
            guard let name = item.stringValue else {
                throw ScenarioError(path, "a collection's name is needed")
            }
            wipe.kept.append(CollectionName(name))
        }
        wipe.discardsPending = try members.flag("discardingPending") ?? false
        return wipe
    }
}
