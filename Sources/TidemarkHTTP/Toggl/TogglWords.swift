// TogglWords.swift — which words of Toggl's API are no secrets.

public import TidemarkSync

extension TogglAdapter {
    /// The header fields about the quota are kept; a version made of a time and a workspace keeps
    /// its form.
    public var words: ServerWords { Self.words }

    static let words = ServerWords(
        fields: TogglQuota.fields.map { .init($0, .number) },
        segments: [
            "api", "v9", "me", "workspaces", "workspace", "features", "preferences", "tags",
            "clients", "projects", "tasks", "reports", "v3", "search",
        ],
        parameters: [
            "since": .seconds, "start_date": .version, "end_date": .version,
            "include_archived": .flag, "include_not_active": .flag, "with_related_data": .flag,
        ],
        members: Dictionary(
            uniqueKeysWithValues: ["description", "id", "name", "permissions"].map {
                ($0, .anything)
            }),
        versions: .init(
            separator: TogglRevision.separator, unknown: TogglRevision.unknownTime))
}
