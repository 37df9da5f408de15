// CalDAVFuzzTests.swift — answers that are cut off, damaged or hostile: always a value.

import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkHTTP
import TidemarkSync

@Suite struct `hostile answers to a CalDAV client` {
    private let caldav = CalDAVCase()

    @Test func `an answer that is cut off anywhere is malformed`() {
        for (call, body) in [(caldav.later, Radicale.changes), (caldav.fetch, Radicale.bothItems)] {
            let bytes = Array(body.utf8)
            #expect(!caldav.answer(to: call, 207, bytes).isMalformed)
            for length in bytes.indices {
                let answer = caldav.answer(to: call, 207, Array(bytes[..<length]))
                #expect(answer.isMalformed, "\(length) bytes")
            }
        }
    }

    @Test func `a damaged answer is malformed, or a page with all that it needs`() {
        var random = SplitMix64(seed: 0xCA1DA7)
        let bytes = Array(Radicale.changes.utf8)
        for round in 0..<3000 {
            var damaged = bytes
            for _ in 0...Int(random.next() % 3) {
                let index = Int(random.next() % UInt64(damaged.count))
                switch random.next() % 3 {
                case 0: damaged[index] ^= 1 << UInt8(random.next() % 8)
                case 1: damaged.remove(at: index)
                default: damaged.insert(UInt8(truncatingIfNeeded: random.next()), at: index)
                }
            }
            switch caldav.answer(to: caldav.later, 207, damaged) {
            case .page(let page):
                #expect(page.cursor != nil, "round \(round)")
                #expect(page.records.count + page.references.count <= 2, "round \(round)")
            case .failure(.malformed): break
            case let other: Issue.record("round \(round): \(other)")
            }
        }
    }

    @Test(arguments: [
        String(repeating: "<a>", count: 10_000) + String(repeating: "</a>", count: 10_000),
        String(repeating: "<a>", count: 100_000),
        #"<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;&x;">]><multistatus xmlns="DAV:">"#
            + "<sync-token>&y;</sync-token></multistatus>",
        #"<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><multistatus xmlns="DAV:">"#
            + "<sync-token>&x;</sync-token></multistatus>",
        #"<?xml version="1.0"?> <!-- --> <!DOCTYPE a SYSTEM "http://evil.test/a.dtd"><a/>"#,
        #"<multistatus xmlns="DAV:"><sync-token>&nbsp;</sync-token></multistatus>"#,
        #"<multistatus xmlns="DAV:"><sync-token>a&#0;b</sync-token></multistatus>"#,
        #"<multistatus xmlns="DAV:"><x:y/><sync-token>t</sync-token></multistatus>"#,
        #"<?xml version="1.0" encoding="UTF-7"?>+ADw-a/+AD4-"#,
        #"<?xml version="1.0" encoding="nonsense"?><a/>"#, "<", "<!", "<?", "<!--", "<!-- --",
        "\u{FEFF}", "\u{FEFF}<", "<a a='1' a='2'/>", "<a></b>", "<\u{0}a/>", "<a\u{0}/>",
    ])
    func `tricks of XML are malformed`(_ body: String) {
        #expect(caldav.answer(to: caldav.list, 207, body).isMalformed)
        #expect(caldav.failure(to: caldav.list, 404, body)?.name == "client")
        // A body that explains a refusal may be anything.
        if case .refused = caldav.answer(to: caldav.create, 400, body) {
        } else {
            Issue.record("400 with \(body.prefix(40))")
        }
    }

    @Test func `more prefixes in one place than any server needs are malformed`() {
        let names = (0..<60).map { " xmlns:p\($0)='urn:\($0)'" }.joined()
        func isMalformed(_ inner: String) -> Bool {
            let body =
                "<x:multistatus xmlns:x='DAV:'><x:sync-token>t</x:sync-token>" + inner
                + "</x:multistatus>"
            return caldav.answer(to: caldav.later, 207, body).isMalformed
        }
        func nested(_ depth: Int) -> String {
            String(repeating: "<a\(names)>", count: depth)
                + String(repeating: "</a>", count: depth)
        }
        #expect(!isMalformed(nested(4)))
        #expect(isMalformed(nested(5)))
        // Those of an element end with it.
        #expect(!isMalformed(String(repeating: nested(1), count: 9)))
    }

    @Test func `UTF-16 hides nothing`() {
        let text = "<!DOCTYPE a []><a/>"
        let little: [UInt8] =
            [0xFF, 0xFE] + text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let bare = text.utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }

        #expect(caldav.answer(to: caldav.list, 207, little).isMalformed)
        #expect(caldav.answer(to: caldav.list, 207, bare).isMalformed)
    }

    @Test func `comments, instructions, CDATA and other prefixes change nothing`() {
        let body =
            "\u{FEFF}<?xml version='1.0'?>\n<!-- <!DOCTYPE x> --><?pi <!DOCTYPE?>\n"
            + "<x:multistatus xmlns:x='DAV:'><x:sync-token><![CDATA[t<!DOCTYPE]]>&amp;<!-- c -->2"
            + "</x:sync-token><extra xmlns='urn:other'><sync-token>no</sync-token></extra>"
            + "</x:multistatus>"

        #expect(
            caldav.page(body)
                == ListPage(
                    records: [], next: nil, cursor: Revision("t<!DOCTYPE&2"), movesCursor: true))
    }

    @Test func `a long list is read whole`() {
        let count = 5000
        let items = (0..<count).map { number in
            "<response><href>/base/demo/tasks/u\(number).ics</href><propstat><prop><getetag>\"e"
                + "\(number)\"</getetag></prop><status>HTTP/1.1 200 OK</status></propstat>"
                + "</response>"
        }
        let page = caldav.page(
            #"<multistatus xmlns="DAV:"><sync-token>t</sync-token>"# + items.joined()
                + "</multistatus>")

        #expect(page?.references.count == count)
        #expect(page?.references.last?.revision == Revision("\"e\(count - 1)\""))
    }
}
