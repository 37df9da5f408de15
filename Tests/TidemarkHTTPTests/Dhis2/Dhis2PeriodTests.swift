// Dhis2PeriodTests.swift — of which periods aggregate data values are asked for.

import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `periods of data values` {
    private let values = CollectionModel("dataValues")

    /// What is asked for of a data set, at a day.
    private func asked(
        _ type: String?, _ periods: String, at day: String = "2026-03-10", ahead: Int = 0
    ) throws -> ListParameters {
        let adapter = try #require(Dhis2Adapter(version: "2.41"))
        let now = try #require(Timestamp("\(day)T10:00:00Z"))
        return adapter.asked(
            ["dataSet": "S1", "orgUnit": "O1", "periods": periods], of: values, at: now
        ) { key in
            guard let type, key == EntityKey("dataSets", "S1") else { return nil }
            let text = #"{"id":"S1","periodType":"\#(type)","openFuturePeriods":\#(ahead)}"#
            return try? JSONDocument(parsing: Array(text.utf8))
        }
    }

    @Test(arguments: [
        ("Daily", "1", "20260309,20260310"), ("Weekly", "1", "2026W10,2026W11"),
        ("WeeklyWednesday", "1", "2026WedW9,2026WedW10"),
        ("WeeklySunday", "1", "2026SunW9,2026SunW10"),
        ("BiWeekly", "1", "2026BiW5,2026BiW6"), ("Monthly", "3", "202512,202601,202602,202603"),
        ("BiMonthly", "2", "202506B,202601B,202602B"), ("Quarterly", "1", "2025Q4,2026Q1"),
        ("SixMonthly", "1", "2025S2,2026S1"), ("SixMonthlyApril", "1", "2025AprilS1,2025AprilS2"),
        ("Yearly", "2", "2024,2025,2026"), ("FinancialApril", "1", "2024April,2025April"),
        ("FinancialJuly", "1", "2024July,2025July"), ("FinancialOct", "1", "2024Oct,2025Oct"),
    ])
    func `are those of the data set until now`(_ type: String, _ back: String, _ ids: String) throws
    {
        let asked = try asked(type, back)

        #expect(asked["period"] == ids)
        #expect(asked["periods"] == nil && asked["dataSet"] == "S1" && asked["orgUnit"] == "O1")
    }

    @Test(arguments: [
        ("Daily", 61), ("Weekly", 14), ("BiWeekly", 14), ("Monthly", 13), ("BiMonthly", 7),
        ("Quarterly", 6), ("SixMonthly", 6), ("Yearly", 6),
    ])
    func `are so many by themselves`(_ type: String, _ count: Int) throws {
        let ids = try asked(type, "usual")["period"]?.split(separator: ",") ?? []

        #expect(ids.count == count && Set(ids).count == count)
    }

    @Test func `reach as far ahead as the data set takes values`() throws {
        #expect(try asked("Monthly", "1", ahead: 2)["period"] == "202602,202603,202604,202605")
        #expect(
            try asked("Monthly", "1", at: "2025-12-31", ahead: 1)["period"]
                == "202511,202512,202601")
    }

    @Test func `of weeks belong to the year that has most of their days`() throws {
        #expect(
            try asked("Weekly", "1", at: "2021-01-03", ahead: 1)["period"]
                == "2020W52,2020W53,2021W1")
        #expect(try asked("Weekly", "1", at: "2024-12-30")["period"] == "2024W52,2025W1")
        #expect(try asked("BiWeekly", "1", at: "2021-01-05")["period"] == "2020BiW26,2021BiW1")
    }

    @Test func `are of some years where the data set is not here, or goes by other ones`() throws {
        for type in [nil, "TwoYearly"] {
            let asked = try asked(type, "usual", at: "2024-02-29")

            #expect(asked["startDate"] == "2019-02-28" && asked["endDate"] == "2025-02-28")
            #expect(asked["period"] == nil && asked["periods"] == nil)
        }
    }

    @Test(arguments: ["0", "401", "all"])
    func `are refused where they are none`(_ word: String) throws {
        let adapter = try #require(Dhis2Adapter(version: "2.41"))
        let parameters = try asked("Monthly", word)

        let error = #expect(throws: SyncFailure.self) {
            try adapter.request(for: .listPart(values, parameters, after: nil, page: nil))
        }
        #expect("\(error.map { "\($0)" } ?? "")".contains("how many, at most 400;"))
    }
}
