// ExplainArticleTests.swift — the Swift of the article on explaining.

import Testing
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkTesting

@testable import SyncSupport
@testable import ViewsSupport

@Suite struct `the article on explaining` {
    @Test func `shows what an app can ask`() throws {
        let replica = try Replica.temporary(model: SyncWorld.usualModel)
        defer { try? replica.deleteTemporary() }
        let key = EntityKey("tasks", "tea")
        try replica.write { tx in _ = try tx.put(key, Array(#"{"title":"Tea"}"#.utf8)) }

        print(try replica.explanation(of: key) ?? "never heard of it")
        for entry in try replica.history(of: key)?.entries ?? [] {
            print(entry.position, entry.words, entry.changes.map(\.field))
        }
        for field in try replica.blame(of: key) { print(field.field, field.author, field.position) }

        #expect(try replica.explanation(of: key)?.hasPrefix("tasks/tea: created\n") == true)
        #expect(try replica.history(of: key)?.entries.map(\.words) == ["created here"])
        #expect(try replica.blame(of: key).map(\.author) == [.created])
        #expect(try replica.explanation(of: EntityKey("tasks", "none")) == nil)
    }
}
