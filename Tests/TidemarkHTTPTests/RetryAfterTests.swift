// RetryAfterTests.swift — how long a server asks to wait, in every way it may say so.

import HTTPTypes
import Testing
import TidemarkSync

@Suite struct `a wait that a server asks for` {
    private func seconds(
        _ text: String?, date: String? = "Sun, 06 Nov 1994 08:49:37 GMT"
    ) -> Int64? {
        var fields: HTTPFields = [:]
        fields[.retryAfter] = text
        fields[.date] = date
        return RetryAfter.seconds(fields)
    }

    @Test func `in seconds is what it says, up to a day`() {
        #expect(seconds("0") == 0 && seconds("30") == 30 && seconds(" 7 ") == 7)
        #expect(seconds("86400") == 86_400 && seconds("31536000") == 86_400)
        #expect(seconds("99999999999999999999999") == 86_400)
        #expect(seconds("-5") == 0 && seconds("-99999999999999999999") == 0)
    }

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:50:07 GMT", "Sunday, 06-Nov-94 08:50:07 GMT",
        "Sun Nov  6 08:50:07 1994",
    ])
    func `until a date is counted from the answer's own date, in all three ways`(_ text: String) {
        #expect(seconds(text) == 30)
        #expect(seconds(text, date: text) == 0)
        #expect(seconds("Sun, 06 Nov 1994 08:50:37 GMT", date: text) == 30)
    }

    @Test func `until a date that is past is over, and one far off is a day`() {
        #expect(seconds("Sat, 05 Nov 1994 08:49:37 GMT") == 0)
        #expect(seconds("Mon, 06 Nov 1995 08:49:37 GMT") == 86_400)
        #expect(seconds("Sunday, 06-Nov-69 08:49:37 GMT") == 86_400)
        #expect(seconds("Friday, 06-Nov-70 08:49:37 GMT") == 0)
    }

    @Test func `until a date means nothing when the answer has none`() {
        #expect(seconds("Sun, 06 Nov 1994 08:50:07 GMT", date: nil) == nil)
        #expect(seconds("Sun, 06 Nov 1994 08:50:07 GMT", date: "yesterday") == nil)
    }

    @Test(arguments: [
        nil, "", " ", "-", "--5", "+5", "1.5", "5 s", "soon", "٣", "Sun, 31 Feb 1994 08:50:07 GMT",
        "Sun, 06 Nov 1994 08:50:07 CET", "Sun, 06 Nov 1994 08:50 GMT",
        "Sunday, 06-Nov-1994 08:50:07 GMT",
        "Sun, 06 Nov 1994 25:50:07 GMT", "Sun, 06 Nov 1994 -8:50:07 GMT", "Sun Nov 6 08:50:07 x",
    ])
    func `in no known way means nothing`(_ text: String?) {
        #expect(seconds(text) == nil)
    }
}
