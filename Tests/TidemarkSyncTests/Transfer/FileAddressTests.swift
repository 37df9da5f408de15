// FileAddressTests.swift — which names of files are addresses, and whose.

import Testing
import TidemarkSync

@Suite struct `the address of a file` {
    private func line(_ name: String, _ remote: String = "https://a.test:8080/base") -> String? {
        FileAddress(name, remote: remote).map { "\($0.isOwn ? "own" : "other") \($0.logged)" }
    }

    @Test("is the remote's for paths and ids, and what begins with its origin")
    func own() {
        #expect(line("/files/1?v=2") == "own /files/1?v=2")
        #expect(line("files/1") == "own /files/1")
        #expect(line("A") == "own /A")
        #expect(line("https://a.test:8080/base/x#part") == "own /x")
        #expect(line("HTTPS://A.Test:8080/base/x") == "own /x")
        #expect(line("https://a.test:443/x", "https://a.test") == "own /x")
        #expect(line("http://a.test/x", "http://A.test:80") == "own /x")
    }

    @Test("is another server's otherwise, also beside the remote's base path")
    func others() {
        #expect(line("https://b.test/x") == "other https://b.test/x")
        #expect(line("HTTP://b.test") == "other http://b.test/")
        #expect(line("https://a.test:8080/baseball/x") == "other https://a.test:8080/baseball/x")
        #expect(line("http://a.test:8080/base/x") == "other http://a.test:8080/base/x")
        #expect(line("https://a.test:8080/BASE/x") == "other https://a.test:8080/BASE/x")
        #expect(line("http://a.test:443/x", "http://a.test") == "other http://a.test:443/x")
        #expect(line("https://a.test/base/x") == "other https://a.test/base/x")
        #expect(line("https://a.test:8080.evil/base/x") == "other https://a.test:8080.evil/base/x")
    }

    @Test(
        "is none where the name leads elsewhere than to a file of a server",
        arguments: [
            "", "../x", "/../x", "files/../../x", "a/./b", "/%2e%2E/x", "/a%2F..%2Fb", "//b.test/x",
            "file:///etc/passwd", "file:x", "data:text/plain,x", "https://me:secret@b.test/x",
            "https:///x", "https:x", "a b", "a\nb", "a\\b", "ä", "https://b.test/../x",
            "javascript:alert(1)", "#x", "/a/..;/x", "/a/..;v=1/x", "/a/%2e.%3Bv/x",
        ])
    func none(_ name: String) { #expect(line(name) == nil) }
}
