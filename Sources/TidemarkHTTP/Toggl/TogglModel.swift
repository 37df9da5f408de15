// TogglModel.swift — what is synced with Toggl, and by which rules: a value.
//
// Sources: Toggl's pages on pull sync, push sync, conflict resolution and rate limiting.

import Tidemark
public import TidemarkEvents

extension SyncModel {
    /// Toggl's workspaces, user, features, preferences, tags, clients, projects, tasks and time
    /// entries, in the order in which they are persisted.
    ///
    /// Whoever wants something else changes the value: `model["time_entries"]` is a part of it.
    public static var toggl: SyncModel {
        SyncModel(
            name: "toggl",
            collections: [
                workspaces, user, features, preferences, tags, clients, projects, tasks,
                timeEntries,
            ],
            settings: SyncSettings(
                fullPullDays: 0, batchSize: 1,
                limits: [
                    RequestLimit(requests: 60, seconds: 60, wholePulls: true),
                    RequestLimit(requests: 3, seconds: 1),
                ],
                parallel: 3))
    }

    private static let newer = ConflictPolicy.preferNewer(field: "at", marginSeconds: 0)
    private static let since = SinceRule(months: 2, serverDate: true)

    /// A collection whose entities the server numbers, and of whose absence nothing follows.
    private static func numbered(
        _ name: CollectionName, _ conflict: ConflictPolicy, push: [PushOperation],
        _ references: [Reference] = []
    ) -> CollectionModel {
        var collection = CollectionModel(
            name, lastChangeField: "at", conflict: conflict, references: references)
        collection.ids = .serverNumber
        collection.pushes = push
        collection.absence = .keeps
        return collection
    }

    /// One whose entities belong to a workspace and are listed by what changed.
    private static func owned(
        _ name: CollectionName, push: [PushOperation], after: CollectionName,
        _ references: [Reference] = []
    ) -> CollectionModel {
        var collection = numbered(
            name, newer, push: push, [Reference("workspace_id", to: "workspaces")] + references)
        collection.owner = "workspace_id"
        collection.since = since
        collection.after = [after]
        collection.match = ["workspace_id", "name"]
        return collection
    }

    private static func placeholder(_ name: String) -> PlaceholderRule {
        PlaceholderRule(fields: ["name": .string(name)], copies: ["workspace_id"])
    }

    private static var workspaces: CollectionModel {
        var workspaces = numbered("workspaces", newer, push: [.create])
        workspaces.absence = .hides
        workspaces.required = "noWorkspace"
        workspaces.restartsOnGain = true
        workspaces.placeholder = PlaceholderRule(fields: ["name": "Inaccessible workspace"])
        workspaces.match = ["name"]
        return workspaces
    }

    private static var user: CollectionModel {
        var user = numbered(
            "user", newer, push: [.update],
            [Reference("default_workspace_id", to: "workspaces")])
        user.nullable = ["default_workspace_id"]
        user.choices = [
            ChoiceRule(
                "default_workspace_id", of: "workspaces", otherwise: "noDefaultWorkspace")
        ]
        return user
    }

    private static var features: CollectionModel {
        var features = numbered(
            "workspace_features", .overwriteAlways, push: [],
            [Reference("workspace_id", to: "workspaces")])
        features.idField = "workspace_id"
        features.owner = "workspace_id"
        return features
    }

    private static var preferences: CollectionModel {
        var preferences = numbered("preferences", .overwriteUnlessDirty, push: [.update])
        preferences.ids = .client
        preferences.after = ["workspaces"]
        return preferences
    }

    private static var tags: CollectionModel {
        var tags = owned("tags", push: [.create], after: "user")
        tags.placeholder = placeholder("Inaccessible tag")
        return tags
    }

    private static var clients: CollectionModel {
        owned("clients", push: [.create], after: "workspace_features")
    }

    private static var projects: CollectionModel {
        var projects = owned(
            "projects", push: [.create], after: "preferences",
            [Reference("client_id", to: "clients")])
        projects.nullable = ["client_id"]
        projects.placeholder = PlaceholderRule(
            fields: ["name": "Inaccessible project", "color": "#cecece", "active": false],
            copies: ["workspace_id"], refetchHours: 24, together: "workspace_id")
        return projects
    }

    private static var tasks: CollectionModel {
        var tasks = owned(
            "tasks", push: [], after: "clients", [Reference("project_id", to: "projects")])
        tasks.placeholder = PlaceholderRule(
            fields: ["name": "Inaccessible task", "active": false],
            copies: ["workspace_id", "project_id"])
        return tasks
    }

    private static var timeEntries: CollectionModel {
        var entries = numbered(
            "time_entries", .preferNewer(field: "at", marginSeconds: 5),
            push: PushOperation.allCases,
            [
                Reference("workspace_id", to: "workspaces", placeholder: .partial),
                Reference("project_id", to: "projects", placeholder: .always),
                Reference("task_id", to: "tasks", placeholder: .partial),
                Reference("tag_ids", to: "tags", placeholder: .partial),
            ])
        entries.owner = "workspace_id"
        entries.nullable = ["duration", "project_id", "task_id"]
        entries.since = since
        entries.window = PullWindow(months: 2, daysAhead: 2)
        entries.after = ["tags"]
        entries.match = ["workspace_id", "start", "description"]
        entries.rivals = RivalRule(whileNull: "duration", start: "start")
        entries.retention = RetentionRule(field: "start", months: 2)
        return entries
    }
}
