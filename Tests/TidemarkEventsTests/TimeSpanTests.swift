// TimeSpanTests.swift — spans of time as ISO 8601 writes them.

import Testing
import TidemarkEvents

@Suite struct `spans of time` {
    @Test(arguments: [
        ("P2M", TimeSpan.months(2)), ("P7D", .days(7)), ("PT12H", .hours(12)),
        ("PT30S", .seconds(30)), ("P1M2DT3H4M5S", .months(1) + .seconds(183_845)),
        ("PT0S", .zero), ("PT90M", .minutes(90)),
    ])
    func `are read`(_ text: String, _ span: TimeSpan) {
        #expect(TimeSpan(text) == span)
        #expect(TimeSpan(span.description) == span)
    }

    @Test(arguments: [
        ("P1Y", "P12M"), ("P1Y2M", "P14M"), ("P2W", "P14D"), ("PT24H", "P1D"), ("PT60S", "PT1M"),
        ("P0D", "PT0S"), ("P0M", "PT0S"), ("PT3601S", "PT1H1S"), ("P1DT0S", "P1D"),
        ("P1W2D", "P9D"), ("P007D", "P7D"), ("P1000Y", "P12000M"), ("P3650000D", "P3650000D"),
    ])
    func `of one length are equal, and written in one way`(_ one: String, _ other: String) {
        #expect(TimeSpan(one) == TimeSpan(other))
        #expect(TimeSpan(one)?.description == other)
    }

    @Test(arguments: [
        "", "P", "PT", "P1", "1M", "p1m", "P1H", "PT1D", "P1MT", "P-1M", "P1.5D", "P1M1Y", "PT1S1M",
        "P1D1D", "P1DT1HT1M", "P1,5D", " P1D", "P1D ", "P١D", "P99999999999999D", "P12001M",
        "P4000000D", "PD", "PTS", "PT1H-", "P-1D", "-P1D", "P+1D", "p1d", "P1d", "Pt1H", "P1W-1D",
        "P999999999999Y", "P999999999999W", "PT999999999999H", "P2D1W", "P1DT", "PT1H1D", "P1TD",
        "P1M\u{301}", "P1\u{301}M", "P1D\n", "PP1D", "PT1.5S", "P1001Y", "P3650000DT1S",
    ])
    func `of any other text are none`(_ text: String) {
        #expect(TimeSpan(text) == nil)
    }

    @Test func `count months by the calendar, and days by their seconds`() throws {
        let end = try #require(
            Timestamp(year: 2024, month: 3, day: 31, hour: 1, minute: 2, second: 3))

        let back = end.subtracting(.months(1) + .days(1))

        #expect(back.description == "2024-02-28T01:02:03.000000Z")
        #expect(back.adding(.months(1)).description == "2024-03-28T01:02:03.000000Z")
        #expect(end.subtracting(.zero) == end)
    }
}
