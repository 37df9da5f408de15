// TrackReadingTests.swift — F6 to F14 and F19: the user, and the lists of everything but time
// entries.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `the user on a server like Toggl` {
    private let world = TrackWorld()

    @Test func `F6: has all members, and its time is that of the request`() throws {
        world.wait(1.25)
        let user = try world.value(.get, "/me")

        #expect(
            user.object?.keys == [
                "id", "api_token", "email", "fullname", "timezone", "toggl_accounts_id",
                "default_workspace_id", "beginning_of_week", "image_url", "created_at",
                "updated_at", "openid_email", "openid_enabled", "country_id", "has_password", "at",
                "intercom_hash", "oauth_providers", "authorization_updated_at",
            ])
        #expect(user["id"] == 9 && user["fullname"] == "Ada")
        #expect(user["at"] == "2026-11-18T11:06:41.25Z")
        #expect(user["updated_at"] == "2026-11-18T11:06:40Z")
    }

    @Test func `F7: comes with what belongs to it, but not with a kind without rows`() throws {
        world.put("projects/7", #"{"workspace_id":1,"name":"Old","active":false}"#)
        world.put("time_entries/1", #"{"start":"2026-11-07T00:00:00Z","duration":1}"#)
        let id = try world.made(#""start":"2026-11-18T10:00:00Z","duration":60"#)
        func ids(_ user: JSONValue, _ key: String) -> [Int64]? {
            user[key]?.array?.compactMap { $0["id"]?.int64Value }
        }

        let user = try world.value(.get, "/me?with_related_data=true")

        #expect(ids(user, "tags") == [6] && ids(user, "clients") == [4])
        #expect(ids(user, "projects") == [5, 7] && ids(user, "workspaces") == [1])
        #expect(ids(user, "time_entries") == [id])
        #expect(user.object?.keys.contains("tasks") == false)
        #expect(try world.value(.get, "/me")["tags"] == nil as JSONValue?)
    }

    @Test func `F10: has preferences without id and time`() throws {
        let general = try world.value(.get, "/me/preferences")
        let keys = general.object?.keys ?? []

        #expect(keys.contains("BeginningOfWeek") && keys.contains("CollapseTimeEntries"))
        #expect(keys.contains("date_format") && keys.contains("alpha_features"))
        #expect(!keys.contains("id") && !keys.contains("at"))
        for client in ["desktop", "mobile", "web"] {
            #expect(try world.value(.get, "/me/preferences/\(client)") == general)
        }
        #expect(world.send(.get, "/me/preferences/watch").hasPrefix("400 \""))
    }

    @Test func `F9: has features by workspace, without a time`() {
        world.put(
            "workspace_features/1",
            #"{"features":[{"feature_id":0,"name":"free","enabled":true}]}"#)

        #expect(
            world.send(.get, "/me/features")
                == #"200 [{"workspace_id":1,"features":[{"feature_id":0,"name":"free","#
                + #""enabled":true}]}]"#)
    }
}

@Suite struct `lists of a server like Toggl` {
    private let world = TrackWorld()
    private let since = "since=\(TrackWorld.start + 10)"

    @Test func `F8: workspaces have the day of their last change, and tokens`() throws {
        let row = try #require(try world.row("/me/workspaces", 1))

        #expect(row["organization_id"] == 2 && row["premium"] == false)
        #expect(row["last_modified"] == "2026-11-18T00:00:00Z")
        #expect(row["at"] == "2026-11-18T11:06:40+00:00")
        #expect(row["server_deleted_at"] == JSONValue.null && row["active_project_count"] == 1)
        #expect(row["api_token"]?.stringValue != nil && row["ical_url"]?.stringValue != nil)
    }

    @Test func `F11: tags have microseconds, and a time of deletion only when deleted`() throws {
        world.wait(10.5)
        world.put("tags/8", #"{"workspace_id":1,"name":"a"}"#)
        world.delete("tags/6")

        #expect(
            world.send(.get, "/me/tags")
                == #"200 [{"id":8,"workspace_id":1,"name":"a","at":"2026-11-18T11:06:50.5Z","#
                + #""creator_id":9}]"#)
        #expect(
            world.send(.get, "/me/tags?" + since)
                == #"200 [{"id":8,"workspace_id":1,"name":"a","at":"2026-11-18T11:06:50.5Z","#
                + #""creator_id":9},{"id":6,"workspace_id":1,"name":"deep","#
                + #""at":"2026-11-18T11:06:50.5Z","creator_id":9,"#
                + #""deleted_at":"2026-11-18T11:06:50.5Z"}]"#)
    }

    @Test func `F12: clients have the old name of their workspace only, and whole seconds`() throws
    {
        world.wait(10.5)
        world.put("clients/8", #"{"wid":1,"name":"B","notes":"n"}"#)
        world.delete("clients/4")

        #expect(
            world.send(.get, "/me/clients")
                == #"200 [{"id":8,"wid":1,"archived":false,"name":"B","#
                + #""at":"2026-11-18T11:06:50+00:00","creator_id":9,"notes":"n"}]"#)
        let gone = try #require(try world.row("/me/clients?" + since, 4))
        #expect(gone["server_deleted_at"] == "2026-11-18T11:06:50+00:00")
    }

    @Test func `F13: projects have old names beside the new ones`() throws {
        let row = try #require(try world.row("/me/projects", 5))

        #expect(row["workspace_id"] == 1 && row["wid"] == 1)
        #expect(row["client_id"] == 4 && row["cid"] == 4)
        #expect(row["active"] == true && row["status"] == "active")
        #expect(row["at"] == "2026-11-18T11:06:40+00:00")
        #expect(row["created_at"] == "2026-11-18T11:06:40+00:00")
        #expect(row["server_deleted_at"] == JSONValue.null && row["rate"] == JSONValue.null)
        #expect(row["start_date"] == "2026-11-18")
    }

    @Test func `F13: archived projects are listed only when they are wanted`() throws {
        world.wait(10)
        world.send(.put, "/workspaces/1/projects/5", #"{"active":false}"#)

        #expect(try world.ids("/me/projects") == [])
        #expect(try world.ids("/me/projects?" + since) == [])
        #expect(try world.ids("/me/projects?include_archived=true") == [5])
        #expect(try world.row("/me/projects?include_archived=true", 5)?["status"] == "archived")
    }

    @Test func `F13: a list of changes has deleted projects`() throws {
        world.wait(10)
        world.delete("projects/5")

        #expect(try world.ids("/me/projects") == [])
        let gone = try #require(try world.row("/me/projects?" + since, 5))
        #expect(gone["server_deleted_at"] == "2026-11-18T11:06:50+00:00")
        #expect(gone["status"] == "deleted")
    }

    // Toggl's reference, GET /me/tasks: include_not_active is false unless given, "Include tasks
    // marked as done".
    @Test func `F14: tasks have their members, and those that are done come when wanted`() throws {
        world.put("tasks/3", #"{"workspace_id":1,"project_id":5,"name":"t"}"#)
        world.put("tasks/4", #"{"workspace_id":1,"project_id":5,"name":"u","active":false}"#)

        #expect(
            world.send(.get, "/me/tasks")
                == #"200 [{"id":3,"name":"t","workspace_id":1,"project_id":5,"user_id":null,"#
                + #""recurring":false,"active":true,"at":"2026-11-18T11:06:40+00:00","#
                + #""server_deleted_at":null,"estimated_seconds":0,"tracked_seconds":0}]"#)
        #expect(try world.ids("/me/tasks?include_not_active=false") == [3])
        #expect(try world.ids("/me/tasks?since=\(TrackWorld.start)") == [3])
        let all = "/me/tasks?include_not_active=true"
        #expect(try world.ids(all) == [3, 4])
        #expect(try world.ids(all + "&per_page=1") == [3])
        #expect(try world.ids(all + "&per_page=1&offset=1") == [4])
    }

    @Test func `F14: empty lists are null or not, as the test wants`() {
        let paths = ["tags", "clients", "tasks", "projects", "time_entries"].map { "/me/\($0)?" }
        func answers() -> [String] {
            paths.map { world.send(.get, $0 + "since=\(TrackWorld.start + 99)") }
        }

        #expect(answers() == ["200 null", "200 null", "200 null", "200 []", "200 []"])
        world.model.emptyListsAreNull = false
        #expect(answers() == Array(repeating: "200 []", count: 5))
    }

    @Test func `F19: single rows are there, but for tags`() throws {
        #expect(try world.value(.get, "/workspaces/1")["name"] == "Home")
        #expect(try world.value(.get, "/workspaces/1/clients/4")["name"] == "Acme")
        #expect(try world.value(.get, "/workspaces/1/projects/5")["name"] == "Site")
        #expect(try world.ids("/workspaces/1/tags") == [6])
        #expect(world.answer(.get, "/workspaces/1/tags/6").status == 405)
        #expect(world.send(.get, "/workspaces/2") == #"403 "User cannot access workspace""#)
        #expect(world.send(.get, "/workspaces/1/projects/99") == #"404 "Project not found""#)
    }
}
