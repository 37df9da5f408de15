// CredentialMaskTests.swift — what of the credentials is found in what a server sends, however it
// is written there.

import Testing
import TidemarkEvents
import TidemarkSync

@testable import SyncSupport

@Suite struct `the mask of credentials` {
    private static let name = "alice-reader"
    private static let password = #"sésame/"open"&+1%"#
    private static let pair = Base64.encode(Array("\(name):\(password)".utf8))
    private static let basic = CredentialMask(["Basic \(pair)"])
    private static let bearer = CredentialMask(["Bearer tok-0123456789"])

    @Test(arguments: [
        ("Basic \(pair)", "[credentials]"),
        ("x \(pair) y", "x [credentials] y"),
        ("\(name):\(password)", "[credentials]"),
        ("of \(name), with \(password)!", "of [credentials], with [credentials]!"),
        ("basic \(pair)", "basic [credentials]"),
        // One begins in another one.
        ("Basic \(pair)\(pair)", "[credentials][credentials]"),
        // As addresses, JSON and XML write it.
        ("?a=Basic+\(pair.replacing("=", with: "%3D"))&b", "?a=[credentials]&b"),
        ("s%C3%A9same%2f%22open%22%26%2b1%25", "[credentials]"),
        (#""s\u00e9same\/\"open\"&+1%""#, #""[credentials]""#),
        ("<p>s&#xE9;same/&quot;open&#34;&amp;+1%</p>", "<p>[credentials]</p>"),
        // Parts of it, and what is like it, are innocent.
        ("Basic alice sésame", "Basic alice sésame"),
        (#"sésame/"open"&-1%"#, #"sésame/"open"&-1%"#),
    ])
    func `finds name, password and both`(_ text: String, _ masked: String) {
        #expect(Self.basic.masked(text) == masked)
    }

    @Test(arguments: 0..<4)
    func `finds them in Base64, wherever they begin in it`(_ before: Int) {
        let around = String(repeating: "-", count: before)
        for secret in [Self.password, "\(Self.name):\(Self.password)"] {
            let text = Base64.encode(Array("\(around)\(secret)…".utf8))
            let masked = Self.basic.masked(text)

            #expect(masked.contains(CredentialMask.replacement) && Self.basic.holds(text))
            // What is left tells at most bits of its first and last character.
            let left = masked.replacing(CredentialMask.replacement, with: "")
            #expect(left.utf8.count <= text.utf8.count - secret.utf8.count * 4 / 3 + 2)
            #expect(Self.basic.holds(text.replacing("+", with: "-").replacing("/", with: "_")))
        }
    }

    @Test func `takes what overlaps as one`() {
        let mask = CredentialMask(["Bearer abcdefghij", "Other ghijklmnop"])

        #expect(mask.masked("1abcdefghijklmnop2") == "1[credentials]2")
    }

    @Test(arguments: ["Bearer tok-0123456789", "tok-0123456789", "tok%2D0123456789"])
    func `finds a token`(_ text: String) {
        #expect(Self.bearer.masked(">\(text)<") == ">[credentials]<")
        #expect(Self.bearer.holds(text))
    }

    @Test func `finds what is shorter than eight bytes only within the whole value`() {
        let mask = CredentialMask(["Basic " + Base64.encode(Array("me:tea".utf8))])

        #expect(mask.masked("me likes tea, me:tea") == "me likes tea, me:tea")
        #expect(mask.masked("Basic bWU6dGVh") == "[credentials]")
        #expect(CredentialMask(["Bearer x"]).masked("x Bearer x") == "x [credentials]")
        #expect(CredentialMask(["x"]).masked("xxx") == "xxx")
    }

    @Test func `takes a name for no proof, unless no password stands beside it`() {
        let name = "alice-reader"
        #expect(!Self.basic.holds("/\(name)/calendar/"))
        #expect(Self.basic.masked("/\(name)/") == "/[credentials]/")
        for word in ["", "api_token"] {
            let mask = CredentialMask(["Basic " + Base64.encode(Array("\(name):\(word)".utf8))])
            #expect(mask.holds(name) && !mask.holds(#"{"api_token":null}"#))
        }
    }

    @Test func `spares what lies where a document is`() {
        let text = Array("tok-0123456789 tok-0123456789".utf8)

        let masked = Self.bearer.masked(text, sparing: [15..<29])

        #expect(
            masked.map { String(decoding: $0, as: UTF8.self) } == "[credentials] tok-0123456789")
        #expect(Self.bearer.masked(text, sparing: [0..<14, 15..<29]) == nil)
    }

    @Test func `spares what it is told to among many finds`() {
        let token = "tok-0123456789"
        let text = Array(repeating: token, count: 40).joined(separator: " ")
        let places = (0..<40).map { $0 * 15..<$0 * 15 + 14 }
        let many = places[5].lowerBound..<places[7].upperBound
        let left = [0, 1, 5, 6, 7, 39]

        let masked = Self.bearer.masked(
            Array(text.utf8), sparing: [places[0], 14..<15, 20..<22, many, places[39]])

        let expected = places.indices.map { left.contains($0) ? token : "[credentials]" }
        #expect(
            masked.map { String(decoding: $0, as: UTF8.self) } == expected.joined(separator: " "))
    }

    @Test func `finds nothing where nothing is sent`() {
        let mask = CredentialMask([])

        #expect(mask.masked(Array("Basic %zz \\u00 &amp".utf8)) == nil && !mask.holds("text"))
    }

    @Test(arguments: [
        "%", "%2", "\\", "\\u", "\\u12", "\\ud800", "\\ud800\\u0041", "&", "&#", "&#x;",
    ])
    func `reads what is cut off as it is`(_ text: String) {
        #expect(Self.basic.masked("é\(text)") == "é\(text)")
        #expect(Self.basic.masked("\(Self.password)\(text)") == "[credentials]\(text)")
    }
}
