// TimestampTests.swift — moments as microseconds, as text, and as parts of a civil date.

import Testing
import TidemarkEvents

@Suite struct `timestamps` {
    /// Seconds since 1970 and the text, as computed by other calendars.
    static let known: [(Int64, String)] = [
        (0, "1970-01-01T00:00:00.000000Z"),
        (-1, "1969-12-31T23:59:59.000000Z"),
        (-14_182_940, "1969-07-20T20:17:40.000000Z"),
        (951_782_400, "2000-02-29T00:00:00.000000Z"),
        (951_868_800, "2000-03-01T00:00:00.000000Z"),
        (1_709_164_800, "2024-02-29T00:00:00.000000Z"),
        (1_234_567_890, "2009-02-13T23:31:30.000000Z"),
        (-2_203_891_200, "1900-03-01T00:00:00.000000Z"),
        (-2_203_977_600, "1900-02-28T00:00:00.000000Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000000Z"),
        (253_402_300_799, "9999-12-31T23:59:59.000000Z"),
        (-62_135_596_800, "0001-01-01T00:00:00.000000Z"),
    ]

    @Test(arguments: known)
    func `a known moment has its known date`(_ seconds: Int64, _ text: String) {
        #expect(Timestamp(microseconds: seconds * 1_000_000).description == text)
    }

    @Test func `microseconds stand in the text, also before 1970`() {
        #expect(Timestamp(microseconds: 1).description == "1970-01-01T00:00:00.000001Z")
        #expect(Timestamp(microseconds: -1).description == "1969-12-31T23:59:59.999999Z")
        #expect(Timestamp(microseconds: 123_456).description == "1970-01-01T00:00:00.123456Z")
    }

    @Test func `every number has a text`() {
        #expect(!Timestamp(rawValue: .min).description.isEmpty)
        #expect(!Timestamp(rawValue: .max).description.isEmpty)
    }

    @Test(arguments: known)
    func `the parts of a date give the moment`(_ seconds: Int64, _ text: String) throws {
        let parts = text.split { "-T:.Z".contains($0) }.compactMap { Int($0) }
        let moment = Timestamp(
            year: parts[0], month: parts[1], day: parts[2], hour: parts[3], minute: parts[4],
            second: parts[5])

        #expect(moment == Timestamp(microseconds: seconds * 1_000_000))
    }

    @Test func `every day of four centuries comes back from its parts`() {
        var day = Timestamp(year: 1899, month: 12, day: 31, hour: 0, minute: 0, second: 0)
        for _ in 0..<146_097 {
            guard let next = day?.adding(seconds: 86_400) else { break }
            let parts = next.description.prefix(10).split(separator: "-").compactMap { Int($0) }
            let read = Timestamp(
                year: parts[0], month: parts[1], day: parts[2], hour: 0, minute: 0, second: 0)
            guard read == next else {
                Issue.record("\(next) was read as \(String(describing: read))")
                return
            }
            day = next
        }
        #expect(day?.description == "2299-12-31T00:00:00.000000Z")
    }

    @Test(arguments: [
        (0, 1, 1, 0, 0, 0), (10_000, 1, 1, 0, 0, 0), (2024, 0, 1, 0, 0, 0),
        (2024, 13, 1, 0, 0, 0), (2024, 1, 0, 0, 0, 0), (2024, 1, 32, 0, 0, 0),
        (2023, 2, 29, 0, 0, 0), (1900, 2, 29, 0, 0, 0), (2024, 2, 30, 0, 0, 0),
        (2024, 4, 31, 0, 0, 0), (2024, 1, 1, 24, 0, 0), (2024, 1, 1, -1, 0, 0),
        (2024, 1, 1, 0, 60, 0), (2024, 1, 1, 0, 0, 61),
    ])
    func `a date that there is not gives no moment`(_ parts: (Int, Int, Int, Int, Int, Int)) {
        let (year, month, day, hour, minute, second) = parts
        #expect(
            Timestamp(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
                == nil)
    }

    @Test func `a leap second is the second after`() {
        #expect(
            Timestamp(year: 2016, month: 12, day: 31, hour: 23, minute: 59, second: 60)
                == Timestamp(year: 2017, month: 1, day: 1, hour: 0, minute: 0, second: 0))
    }

    @Test func `milliseconds are rounded down and held at the ends`() {
        #expect(Timestamp(microseconds: 1_999).milliseconds == 1)
        #expect(Timestamp(microseconds: -1).milliseconds == -1)
        #expect(Timestamp(microseconds: -1_000).milliseconds == -1)
        #expect(Timestamp(milliseconds: -1).rawValue == -1_000)
        #expect(Timestamp(milliseconds: .max).rawValue == .max)
        #expect(Timestamp(milliseconds: .min).rawValue == .min)
    }

    @Test func `adding never leaves the range`() {
        #expect(Timestamp(rawValue: 5).adding(seconds: 2).rawValue == 2_000_005)
        #expect(Timestamp(rawValue: 5).adding(seconds: -2).rawValue == -1_999_995)
        #expect(Timestamp(rawValue: .max).adding(seconds: 1).rawValue == .max)
        #expect(Timestamp(rawValue: .min).adding(seconds: -1).rawValue == .min)
        #expect(Timestamp(rawValue: 0).adding(seconds: .max).rawValue == .max)
        #expect(Timestamp(rawValue: 0).adding(seconds: .min).rawValue == .min)
        #expect(Timestamp(rawValue: 1) < Timestamp(rawValue: 2))
    }
}
