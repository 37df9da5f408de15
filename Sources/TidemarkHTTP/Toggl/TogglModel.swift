// TogglModel.swift — what is synced with Toggl, and by which rules: a value.
//
// Sources: Toggl's pages on pull sync, push sync, conflict resolution and rate limiting.

import Tidemark
public import TidemarkEvents

extension SyncModel {
    /// Toggl's workspaces, user, features, preferences, tags, clients, projects, tasks and time
    /// entries, in the order in which they are persisted.
    ///
    /// To sync something else, change the value: `model["time_entries"]` is a part of it.
    public static var toggl: SyncModel { toggl(plan: .free) }

    /// The same for workspaces of a plan.
    public static func toggl(plan: TogglPlan) -> SyncModel {
        SyncModel(
            name: "toggl",
            collections: [
                workspaces, user, features, preferences, tags, clients, projects, tasks,
                timeEntries,
            ],
            settings: SyncSettings(
                runEvery: .minutes(15), fullPullEvery: .zero, batchSize: 1, limits: plan.limits,
                parallel: 3))
    }

    private static let newer = ConflictPolicy.preferNewer(field: "at", margin: .zero)
    private static let since = SinceRule(ageMax: .months(2), serverDate: true)
    private static let workspace = Reference("workspace_id", to: "workspaces")
    /// How often lists are made in which little changes, and those that tell what was deleted.
    private static let seldom = TimeSpan.days(1)
    private static let hourly = TimeSpan.hours(1)

    private static let workspaces = CollectionModel(
        "workspaces", lastChangeField: "at", conflict: newer, drops: ["api_token", "ical_url"],
        ids: .serverNumber, pushes: [],
        access: AccessRule(hidesAbsent: true, missing: "noWorkspace", relistsOnGain: true),
        listEvery: seldom,
        placeholder: PlaceholderRule(fields: ["name": "Inaccessible workspace"]))

    private static let user = CollectionModel(
        "user", lastChangeField: "updated_at",
        conflict: .preferNewer(field: "updated_at", margin: .zero),
        references: [Reference("default_workspace_id", to: "workspaces")],
        nullable: ["default_workspace_id"], drops: ["at", "api_token", "intercom_hash"],
        ids: .serverNumber, pushes: [.update], updates: .changes, absence: .keeps,
        listEvery: hourly,
        choices: [
            ChoiceRule("default_workspace_id", of: "workspaces", missing: "noDefaultWorkspace")
        ])

    private static let features = CollectionModel(
        "workspace_features", idField: "workspace_id", lastChangeField: "at",
        conflict: .overwriteAlways, references: [workspace], ids: .serverNumber, pushes: [],
        absence: .keeps, access: AccessRule(owner: "workspace_id"), listEvery: seldom)

    private static let preferences = CollectionModel(
        "preferences", lastChangeField: "at", conflict: .overwriteUnlessDirty, pushes: [.update],
        updates: .changes, absence: .keeps, listedAfter: ["workspaces"], listEvery: seldom)

    private static let tags = owned(
        "tags", pushes: [.create], listedAfter: "user", placeholder: placeholder("Inaccessible tag")
    )

    private static let clients = owned(
        "clients", workspace: "wid", pushes: [.create], listedAfter: "workspace_features")

    private static let projects = owned(
        "projects", references: [Reference("client_id", to: "clients")], nullable: ["client_id"],
        pushes: [.create], listedAfter: "preferences",
        placeholder: PlaceholderRule(
            fields: ["name": "Inaccessible project", "color": "#cecece", "active": false],
            copies: ["workspace_id"], refetch: RefetchRule(every: .hours(24))))

    private static let tasks = owned(
        "tasks", references: [Reference("project_id", to: "projects")], pushes: [],
        listedAfter: "clients",
        placeholder: PlaceholderRule(
            fields: ["name": "Inaccessible task", "active": false],
            copies: ["workspace_id", "project_id"]))

    private static let timeEntries = CollectionModel(
        "time_entries", lastChangeField: "at",
        conflict: .preferNewer(field: "at", margin: .seconds(5)),
        references: [
            Reference("workspace_id", to: "workspaces", placeholder: .partial),
            Reference("project_id", to: "projects", placeholder: .always),
            Reference("task_id", to: "tasks", placeholder: .partial),
            Reference(
                "tag_ids", to: "tags", placeholder: .partial, removal: .init(names: "tags")),
        ],
        nullable: ["duration", "project_id", "task_id"],
        forms: [.negativeIsNull("duration"), .wholeSeconds("start"), .wholeSeconds("stop")],
        ids: .serverNumber, updates: .changes,
        match: ["workspace_id", "start", "description"], absence: .keeps,
        access: AccessRule(owner: "workspace_id"), since: since,
        window: PullWindow(back: .months(2), ahead: .days(2), limit: 1000, reach: .days(85)),
        listedAfter: ["tags"], listEvery: hourly,
        rivals: RivalRule(whileNull: "duration", start: "start", stopped: "stop"),
        retention: RetentionRule(field: "start", ageMax: .months(2)))

    /// A collection whose entities belong to a workspace and whose changes can be listed.
    private static func owned(
        _ name: CollectionName, workspace field: String = workspace.field,
        references: [Reference] = [], nullable: [String] = [], pushes: [PushOperation],
        listedAfter: CollectionName, placeholder: PlaceholderRule? = nil
    ) -> CollectionModel {
        CollectionModel(
            name, lastChangeField: "at", conflict: newer,
            references: [Reference(field, to: workspace.collection)] + references,
            nullable: nullable, ids: .serverNumber, pushes: pushes, match: [field, "name"],
            absence: .keeps, access: AccessRule(owner: field), since: since,
            listedAfter: [listedAfter], listEvery: hourly, placeholder: placeholder)
    }

    private static func placeholder(_ name: String) -> PlaceholderRule {
        PlaceholderRule(fields: ["name": .string(name)], copies: ["workspace_id"])
    }
}
