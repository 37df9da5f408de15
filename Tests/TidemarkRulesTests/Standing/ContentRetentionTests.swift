// ContentRetentionTests.swift — which files beside entities a sweep removes.

import Testing
import TidemarkEvents
import TidemarkRules

private let now = Timestamp(milliseconds: 1_795_000_000_000)
private let photo = ContentField("tasks", "photo")
private let sketch = ContentField("tasks", "sketch")

/// A stored file that is two days old.
private func file(
    _ digest: String, bytes: UInt64 = 10, hours: Int64 = 48, used: Int64? = nil,
    by fields: [ContentField] = [], _ change: (inout ContentStanding) -> Void = { _ in }
) -> ContentStanding {
    let stored = now.adding(seconds: -hours * 3600)
    var file = ContentStanding(
        digest: digest, bytes: bytes, storedAt: stored,
        usedAt: used.map { now.adding(seconds: -$0 * 3600) } ?? stored)
    file.fields = fields
    change(&file)
    return file
}

/// What goes of some files, as `digest reason`.
private func removed(
    _ files: [ContentStanding], _ rules: ContentRule...
) -> [String] {
    var collection = CollectionModel("tasks")
    collection.contents = rules
    let rule = ContentRetention(SyncModel(name: "m", collections: [collection]))
    return rule.removals(of: files, at: now).map { "\($0.digest) \($0.reason.rawValue)" }
}

@Suite struct `a sweep of contents` {
    @Test func `es-sweep-1: keeps what is downloaded and what is young`() {
        let files = [
            file("A") { $0.isInFlight = true }, file("B"), file("C", hours: 1),
        ]

        #expect(removed(files, ContentRule("photo", grace: .hours(24))) == ["B unused"])
    }

    @Test func `keeps what is just as old as its grace, and not a microsecond more`() {
        var older = file("B", hours: 24)
        older.storedAt = Timestamp(rawValue: older.storedAt.rawValue - 1)

        #expect(removed([file("A", hours: 24), older], ContentRule("photo")) == ["B unused"])
    }

    @Test func `keeps nothing for a time that a clock far ahead gave it`() {
        let years: Int64 = -5 * 366 * 24

        #expect(removed([file("A", hours: years), file("B", hours: -1)]) == ["A unused"])
        let old = file("A", hours: years, by: [photo])
        #expect(
            removed([old, file("B", by: [photo])], ContentRule("photo", quotaBytes: 15))
                == ["A quota"])
        let used = file("A", hours: years, used: 1, by: [photo])
        #expect(removed([used], ContentRule("photo", unwanted: .days(7))) == [])
        #expect(removed([old], ContentRule("photo", unwanted: .days(7))) == ["A unused"])
    }

    @Test func `takes the longest grace of the model for what nothing names any more`() {
        let rules = [ContentRule("photo", grace: .zero), ContentRule("sketch", grace: .hours(72))]

        #expect(removed([file("A")], rules[0], rules[1]) == [])
        #expect(removed([file("A")], rules[0]) == ["A unused"])
        #expect(removed([file("A", hours: 0)]) == [])
        #expect(removed([file("A", hours: 1)]) == ["A unused"])
    }

    @Test func `keeps what is referenced, however old`() {
        #expect(removed([file("A", hours: 9_000, by: [photo])], ContentRule("photo")) == [])
    }

    @Test func `takes what nobody wants some time after its last use, where the model says so`() {
        let rule = ContentRule("photo", unwanted: .hours(30))
        let files = [
            file("A", by: [photo]), file("B", used: 29, by: [photo]),
            file("C", by: [photo]) { $0.isWanted = true },
            file("D", by: [photo]) { $0.isOwn = true },
            file("E", by: [photo]) { $0.isInFlight = true },
            file("F", used: 31, by: [photo]), file("G", by: [photo, sketch]),
        ]

        #expect(removed(files, rule, ContentRule("sketch")) == ["A unused", "F unused"])
        #expect(removed(files, ContentRule("photo", when: .all, unwanted: .hours(1))) == [])
    }

    @Test func `takes what was not used for longest until the rest is within the quota`() {
        let rule = ContentRule("photo", quotaBytes: 25)
        let files = [
            file("A", used: 3, by: [photo]), file("B", used: 40, by: [photo]),
            file("C", used: 5, by: [photo]), file("D", used: 40, by: [photo]),
            file("E", bytes: 1_000), file("F", bytes: 1_000, by: [sketch]),
        ]

        #expect(
            removed(files, rule, ContentRule("sketch"))
                == ["E unused", "B quota", "D quota"])
    }

    @Test func `takes nothing for a quota that is kept for another reason`() {
        let rule = ContentRule("photo", quotaBytes: 0)
        let kept = [
            file("A", by: [photo]) { $0.isWanted = true },
            file("B", by: [photo]) { $0.isOwn = true },
            file("C", by: [photo]) { $0.isInFlight = true },
            file("D", hours: 23, by: [photo]), file("E", by: [photo, sketch]),
        ]

        #expect(removed(kept, rule, ContentRule("sketch")) == [])
        #expect(removed(kept, rule, ContentRule("sketch", quotaBytes: 1_000)) == ["E quota"])
    }

    @Test func `counts a file for each field that names it`() {
        let files = [file("A", by: [photo, sketch]), file("B", used: 1, by: [sketch])]
        let rules = [
            ContentRule("photo", quotaBytes: 100), ContentRule("sketch", quotaBytes: 10),
        ]

        #expect(removed(files, rules[0], rules[1]) == ["A quota"])
    }

    @Test func `does not overflow by lengths that nobody has`() {
        let files = [
            file("A", bytes: .max, by: [photo]), file("B", bytes: .max, by: [photo]),
        ]

        #expect(removed(files, ContentRule("photo", quotaBytes: 1)) == ["A quota", "B quota"])
    }
}
