// Dhis2Words.swift — which words of DHIS2's API are no secrets.

public import TidemarkSync

extension Dhis2Adapter {
    /// Names in addresses and the words of parameters stay; ids, dates and units don't.
    public var words: ServerWords { Self.words }

    static let words = ServerWords(
        segments: [
            "api", "tracker", "trackedEntities", "trackedEntityInstances", "enrollments", "events",
            "trackedEntityAttributes", "generateAndReserve", "dataValueSets", "ownership",
            "override", "transfer", "fileResources", "files", "file", "attributes", "dataValues",
        ],
        parameters: [
            "page": .count, "pageSize": .count, "includeDeleted": .flag,
            "includeAllAttributes": .flag, "numberToReserve": .count, "children": .flag,
        ],
        remoteVersions: ["version"],
        others: ["override", "transfer", "program", "reason", "orgUnit"])
}
