// FailureStreakTests.swift — when failed calls, one after another, concern everything.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `calls that fail in a row` {
    private var streak = FailureStreak<String>()

    private mutating func fail(
        _ call: String, _ collection: CollectionName? = "tasks", isForeign: Bool = false,
        isFolder: Bool = false, isFirst: Bool = true, of count: Int = 2
    ) -> Bool {
        streak.failed(
            call, collection, isForeign: isForeign, isFolder: isFolder, isFirst: isFirst, of: count)
    }

    @Test mutating func `are each about what they asked, up to the second`() {
        #expect(!fail("a"))
        #expect(!fail("b", "lists"))
    }

    @Test mutating func `concern everything from the third on, of two collections`() {
        #expect(!fail("a"))
        #expect(!fail("b"))
        #expect(!fail("c"))
        #expect(fail("d", "lists"))
    }

    @Test mutating func `are of one collection where there is just one`() {
        #expect(!fail("a", of: 1))
        #expect(!fail("b", of: 1))
        #expect(fail("c", of: 1))
    }

    @Test mutating func `have to be different ones`() {
        for _ in 1...5 { #expect(!fail("a", of: 1)) }
    }

    @Test mutating func `are counted anew after an answer`() {
        #expect(!fail("a", of: 1))
        #expect(!fail("b", of: 1))
        streak.answered()
        #expect(!fail("c", of: 1))
        #expect(!fail("d", of: 1))
        #expect(fail("e", of: 1))
    }

    @Test mutating func `with a page in the place of the first answer are the last`() {
        #expect(fail("a", isForeign: true))
    }

    @Test mutating func `with a page in the place of an entity that was asked for first go on`() {
        #expect(!fail("a", isForeign: true, isFirst: false))
        #expect(fail("b", isForeign: true))
    }

    @Test mutating func `with a page later are the last when another one follows`() {
        streak.answered()
        #expect(!fail("a", isForeign: true))
        #expect(fail("b", isForeign: true))
        streak.answered()
        #expect(!fail("a", isForeign: true))
        #expect(!fail("b"))
        #expect(!fail("c", isForeign: true))
    }

    @Test mutating func `are all that was asked until something is answered`() {
        #expect(!streak.isAll)
        _ = fail("a")
        #expect(streak.isAll)
        streak.answered()
        _ = fail("b")
        #expect(!streak.isAll && streak.hasAnswer)
    }

    @Test mutating func `leave the others of their kind alone from the tenth of a collection on`() {
        for number in 1...10 {
            #expect(!streak.leavesOthers(.write))
            // A call that is repeated counts once.
            for _ in 1...2 {
                _ = streak.failed("\(number)", "tasks", kind: .write, isForeign: false, of: 2)
            }
        }
        #expect(streak.leavesOthers(.write) && !streak.leavesOthers(.read))
        streak.answered()
        #expect(!streak.leavesOthers(.write))
    }

    @Test mutating func `count as one where they list folders of a tree, up to the tenth`() {
        for number in 1...9 { #expect(!fail("\(number)", isFolder: true, of: 1)) }
        #expect(fail("10", isFolder: true, of: 1))
    }

    @Test mutating func `tell of the server where others fail beside folders of a tree`() {
        for number in 1...9 { #expect(!fail("\(number)", isFolder: true, of: 1)) }
        #expect(!fail("a", of: 1))
        #expect(fail("b", of: 1))
    }
}
