// TogglKind.swift — the kinds of rows, and the members of each in the order in which they are
// returned.
//
// Orders and values come from recorded answers. Members that the server works out for each answer
// (ids, times, the old names of references) have a place here, too; their values are of no matter.

import TidemarkEvents

/// The kinds of rows, by the names of their collections.
enum TogglKind: String, Sendable, Hashable, CaseIterable {
    case workspaces, user, preferences, tags, clients, projects, tasks
    case features = "workspace_features"
    case timeEntries = "time_entries"

    /// The kinds that clients write below the address of their workspace.
    static let written: [TogglKind] = [.tags, .clients, .projects, .timeEntries]

    /// Whether there is one row only.
    var isSingle: Bool { self == .user || self == .preferences }

    /// What a sentence calls a row.
    var word: String {
        switch self {
        case .workspaces: "Workspace"
        case .user: "User"
        case .preferences: "Preferences"
        case .features: "Features"
        case .tags: "Tag"
        case .clients: "Client"
        case .projects: "Project"
        case .tasks: "Task"
        case .timeEntries: "Time entry"
        }
    }

    /// The member that says that a row was deleted: tags have their own.
    var deletion: String { self == .tags ? "deleted_at" : "server_deleted_at" }

    /// The members of a row in their order, with the values that they have unless told otherwise.
    var members: JSONObject {
        switch self {
        case .timeEntries: Self.entryMembers
        case .tags: Self.tagMembers
        case .clients: Self.clientMembers
        case .projects: Self.projectMembers
        case .tasks: Self.taskMembers
        case .workspaces: Self.workspaceMembers
        case .user: Self.userMembers
        case .preferences: Self.preferenceMembers
        case .features: ["workspace_id": 0, "features": []]
        }
    }

    private static let entryMembers: JSONObject = [
        "id": 0, "workspace_id": nil, "project_id": nil, "task_id": nil, "billable": false,
        "start": nil, "stop": nil, "duration": 0, "description": nil, "tags": [], "tag_ids": [],
        "duronly": true, "at": nil, "server_deleted_at": nil, "user_id": nil, "uid": nil,
        "wid": nil,
    ]

    private static let tagMembers: JSONObject = [
        "id": 0, "workspace_id": nil, "name": "", "at": nil, "creator_id": nil,
    ]

    private static let clientMembers: JSONObject = [
        "id": 0, "wid": nil, "archived": false, "name": "", "at": nil, "creator_id": nil,
    ]

    private static let projectMembers: JSONObject = [
        "id": 0, "workspace_id": nil, "client_id": nil, "name": "", "is_private": false,
        "active": true, "at": nil, "created_at": nil, "server_deleted_at": nil,
        "color": "#0b83d9", "billable": nil, "template": nil, "auto_estimates": nil,
        "estimated_hours": nil, "estimated_seconds": nil, "rate": nil, "rate_last_updated": nil,
        "currency": nil, "recurring": false, "template_id": nil, "recurring_parameters": nil,
        "fixed_fee": nil, "actual_hours": nil, "actual_seconds": nil, "tasks_count": nil,
        "can_track_time": false, "start_date": nil, "status": nil, "wid": nil, "cid": nil,
        "is_shared": false, "pinned": false,
    ]

    private static let taskMembers: JSONObject = [
        "id": 0, "name": "", "workspace_id": nil, "project_id": nil, "user_id": nil,
        "recurring": false, "active": true, "at": nil, "server_deleted_at": nil,
        "estimated_seconds": 0, "tracked_seconds": 0,
    ]

    private static let workspaceMembers: JSONObject = [
        "id": 0, "organization_id": nil, "name": "", "premium": false, "business_ws": false,
        "admin": true, "role": "admin", "suspended_at": nil, "server_deleted_at": nil,
        "default_hourly_rate": nil, "rate_last_updated": nil, "default_currency": "USD",
        "only_admins_may_create_projects": false, "only_admins_may_create_tags": false,
        "only_admins_see_billable_rates": false, "only_admins_see_team_dashboard": false,
        "projects_billable_by_default": true, "projects_private_by_default": true,
        "projects_enforce_billable": false, "limit_public_project_data": false,
        "last_modified": nil, "reports_collapse": true, "rounding": 0, "rounding_minutes": 0,
        "api_token": "5eadbeef5eadbeef5eadbeef5eadbeef", "at": nil,
        "logo_url": "https://assets.track.toggl.com/images/workspace.jpg",
        "ical_url": "/ical/workspace_user/5eadbeef5eadbeef", "ical_enabled": true,
        "csv_upload": nil, "subscription": nil, "hide_start_end_times": false,
        "working_hours_in_minutes": nil, "active_project_count": 0,
    ]

    private static let userMembers: JSONObject = [
        "id": 0, "api_token": "f00dcafef00dcafef00dcafef00dcafe", "email": "user@example.com",
        "fullname": "User", "timezone": "Etc/UTC", "toggl_accounts_id": "AccountOfTheUser000000",
        "default_workspace_id": nil, "beginning_of_week": 1,
        "image_url": "https://example.com/avatar?d=404&s=200",
        "created_at": "2017-01-01T00:00:00Z", "updated_at": nil, "openid_email": nil,
        "openid_enabled": false, "country_id": nil, "has_password": true, "at": nil,
        "intercom_hash": "c0ffeec0ffeec0ffee", "oauth_providers": [],
        "authorization_updated_at": "2017-01-01T00:00:00Z",
    ]

    private static let preferenceMembers: JSONObject = [
        "timeofday_format": "H:mm", "date_format": "YYYY-MM-DD", "duration_format": "improved",
        "pg_time_zone_name": "Etc/UTC", "record_timeline": false,
        "send_product_emails": true, "send_timer_notifications": true, "send_weekly_report": true,
        "BeginningOfWeek": 1, "CollapseTimeEntries": false, "alpha_features": [],
    ]
}
