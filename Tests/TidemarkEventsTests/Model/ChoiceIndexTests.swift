// ChoiceIndexTests.swift — the indexes that are kept for choices, each once.

import Testing
import TidemarkEvents

@Suite struct `the index of a choice` {
    @Test func `is that of the reference, or the declared one, where there is one`() {
        var entries = CollectionModel("entries", references: [Reference("place", to: "places")])
        entries.choices = [ChoiceRule("place", of: "places", missing: "noPlace")]
        #expect(entries.allIndexes == [["place"]])

        entries.indexes = [["place"]]
        #expect(entries.allIndexes == [["place"]])
        entries.indexes = [["place", "name"]]
        #expect(entries.allIndexes == [["place", "name"], ["place"]])
    }
}
