// TrackOtherWriteTests.swift — F26 to F28 and F30: tags, clients, projects, the user, the
// preferences and the reports' search.

import HTTPTypes
import Testing
import TidemarkEvents
import TidemarkTesting

@Suite struct `other rows made on a server like Toggl` {
    private let world = TrackWorld()

    @Test func `F26: a tag is an object with a name that is not blank and not taken`() {
        let path = "/workspaces/1/tags"

        #expect(
            world.send(.post, path, #"{"name":"new","workspace_id":1}"#)
                == #"200 {"id":1000,"workspace_id":1,"name":"new","at":"2026-11-18T11:06:40Z","#
                + #""creator_id":9}"#)
        for body in [#"{"name":" "}"#, "{}", #"{"name":"deep"}"#] {
            #expect(world.send(.post, path, body).hasPrefix("400 \""))
        }
        #expect(world.send(.put, path + "/6", #"{"name":"new"}"#).hasPrefix("400 \""))
        #expect(world.send(.put, path + "/6", #"{"name":"low"}"#).contains(#""name":"low""#))
        #expect(world.send(.delete, path + "/6") == "200")
        #expect(world.send(.delete, path + "/6") == #"404 "Tag not found""#)
    }

    @Test func `F26: only admins make tags and projects where the workspace says so`() {
        world.put(
            "workspaces/1",
            #"{"name":"Home","admin":false,"only_admins_may_create_tags":true,"#
                + #""only_admins_may_create_projects":true}"#)

        for path in ["tags", "projects"] {
            #expect(
                world.send(.post, "/workspaces/1/\(path)", #"{"name":"new"}"#).hasPrefix("403 \""))
        }
    }

    @Test func `F26: a client has the old name of its workspace, notes and a reference`() {
        let path = "/workspaces/1/clients"

        #expect(
            world.send(.post, path, #"{"name":"B","notes":"n","external_reference":"r"}"#)
                == #"200 {"id":1000,"wid":1,"archived":false,"name":"B","#
                + #""at":"2026-11-18T11:06:40+00:00","creator_id":9,"notes":"n","#
                + #""external_reference":"r"}"#)
        for body in [#"{"name":""}"#, #"{"name":"Acme"}"#] {
            #expect(world.send(.post, path, body).hasPrefix("400 \""))
        }
    }

    @Test func `F26: a project is archived unless it is made active`() throws {
        let path = "/workspaces/1/projects"

        let archived = try world.value(.post, path, #"{"name":"A"}"#)
        let active = try world.value(.post, path, #"{"name":"B","active":true,"cid":4}"#)

        #expect(archived["active"] == false && archived["status"] == "archived")
        #expect(active["active"] == true && active["client_id"] == 4 && active["cid"] == 4)
        #expect(try world.ids("/me/projects") == [5, 1001])
    }

    @Test func `F26: a project needs a free name, a client of its workspace and a colour`() {
        world.put("workspaces/2", #"{"name":"Other"}"#)
        world.put("clients/8", #"{"wid":2,"name":"C"}"#)
        world.put("projects/7", #"{"workspace_id":1,"name":"Old","active":false}"#)
        let path = "/workspaces/1/projects"

        for name in ["Site", "Old"] {
            #expect(
                world.send(.post, path, "{\"name\":\"\(name)\"}")
                    == #"400 "Name has already been taken""#)
        }
        for member in [#""client_id":8"#, #""client_id":99"#, #""color":"red""#] {
            #expect(world.send(.post, path, "{\"name\":\"X\",\(member)}").hasPrefix("400 \""))
        }
        #expect(
            world.send(.post, path, ##"{"name":"X","color":"#06aaf5"}"##)
                .contains(##""color":"#06aaf5""##))
        #expect(world.send(.post, path, #"{"name":"Y","rate":5}"#).hasPrefix("402 \""))
    }

    @Test func `F30: a new project is not seen at once, where the test wants that`() throws {
        world.model.settlingSeconds = 3
        world.send(.post, "/workspaces/1/projects", #"{"name":"A","active":true}"#)
        let entry = #""start":"2026-11-18T10:00:00Z","duration":1,"project_id":1000"#

        #expect(world.make(entry) == #"403 "User cannot access the selected project""#)
        #expect(try world.ids("/me/projects") == [5])
        world.wait(3)
        #expect(world.make(entry).hasPrefix("200"))
        #expect(try world.ids("/me/projects") == [5, 1000])
    }

    @Test func `F27: the user is changed where it is, with a new time of change`() throws {
        world.wait(2)

        let user = try world.value(.put, "/me", #"{"fullname":"Eve","beginning_of_week":0}"#)

        #expect(user["fullname"] == "Eve" && user["beginning_of_week"] == 0)
        #expect(user["updated_at"] == "2026-11-18T11:06:42Z")
        #expect(
            world.send(.put, "/me", #"{"default_workspace_id":77}"#)
                == #"400 "Invalid default_workspace_id""#)
        #expect(world.send(.put, "/me", #"{"email":"x"}"#).hasPrefix("400 \""))
        world.wait(2)
        #expect(try world.value(.get, "/me")["updated_at"] == "2026-11-18T11:06:42Z")
    }

    @Test func `F28: preferences are changed in part, and answered with a text`() throws {
        world.put("preferences/preferences", #"{"alpha_features":[{"code":"a","enabled":true}]}"#)
        let path = "/me/preferences"

        let answer = try world.value(
            .post, path,
            #"{"date_format":"DD.MM.YYYY","alpha_features":[{"code":"a","enabled":false}]}"#)

        #expect(answer.stringValue != nil)
        let preferences = try world.value(.get, path)
        #expect(preferences["date_format"] == "DD.MM.YYYY")
        #expect(preferences["timeofday_format"] == "H:mm")
        #expect(preferences["alpha_features"] == [["code": "a", "enabled": false]])
        #expect(world.send(.post, path, "{}") == #"400 "Missing data""#)
        #expect(
            world.send(.post, path, #"{"date_format":"D"}"#)
                == #"400 "Value in date_format is invalid""#)
        #expect(
            world.send(.post, path, #"{"alpha_features":[{"code":"b","enabled":true}]}"#)
                == #"400 "Invalid feature code(s)""#)
    }

    @Test func `the reports' search answers seven members, archived projects included`() throws {
        world.send(.put, "/workspaces/1/projects/5", #"{"active":false}"#)
        let path = "//reports/api/v3/workspace/1/search/projects"

        #expect(
            world.send(.post, path, #"{"ids":[5,99]}"#)
                == ##"200 [{"id":5,"name":"Site","client_id":4,"color":"#0b83d9","active":false,"##
                + #""currency":null,"billable":null}]"#)
        #expect(
            world.send(.post, path, "{}") == #"400 "At least one parameter must be set""#)
    }

    @Test func `the reports' search has pages of two hundred and one`() throws {
        for id in 100...400 { world.put("projects/\(id)", #"{"workspace_id":1,"name":"n\#(id)"}"#) }
        func ids(_ body: String) throws -> [Int64] {
            let path = "//reports/api/v3/workspace/1/search/projects"
            return (try world.value(.post, path, body).array ?? []).compactMap {
                $0["id"]?.int64Value
            }
        }

        #expect(try ids(#"{"name":"n"}"#).count == 201)
        #expect(try ids(#"{"name":"n","start":201}"#).count == 100)
        #expect(try ids(#"{"name":"n","start":1,"page_size":2}"#) == [101, 102])
    }
}
