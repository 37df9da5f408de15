import Testing

@testable import TidemarkEvents

@Suite struct `an entity tag` {
    @Test(arguments: [
        ("\"e\"", "\"e\"", true), ("W/\"e\"", "\"e\"", true), ("\"e\"", "\"f\"", false),
        ("\"a&b\"", "\"a&amp;b\"", true), ("\"a&lt;&quot;\"", "\"a<\"\"", true),
        ("\"a&amp;lt;\"", "\"a&lt;\"", false), ("\"a\"", "", false),
    ])
    func `names the same as another, be it weak or escaped`(
        _ tag: String, _ other: String, _ isSame: Bool
    ) {
        #expect(EntityTag.isSame(tag, other) == isSame)
        #expect(EntityTag.isSame(other, tag) == isSame)
    }

    @Test(arguments: [
        ("\"e\"", "\"e\""), ("\"a b\"", "\"a b\""), ("\"\"", "\"\""),
        ("\"1/a&<>\"", "\"1/a&<>\", \"1/a&amp;&lt;&gt;\""), ("\"1/\"&\"", "\"1/&quot;&amp;\""),
        ("\"a&b\"", "\"a&b\""),
    ])
    func `is demanded as it is, and as it is when escaped`(_ tag: String, _ condition: String) {
        #expect(EntityTag.condition(tag) == condition)
    }
}
