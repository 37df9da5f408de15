// FileChecksumsTests.swift — which checksums an answer tells of the file that it brings.

import HTTPTypes
import Testing

@testable import TidemarkSync

@Suite struct `checksums that an answer tells of its file` {
    private static let sha1 = "75490f32c06a50051804339453d3fe2f0cd5564b"
    private static let md5 = String(repeating: "c", count: 32)
    private static let sha256 = String(repeating: "0a", count: 32)

    private func told(
        _ words: String, encoding: String? = nil
    ) throws -> [FileChecksums.Algorithm: String] {
        let name = try #require(HTTPField.Name("OC-Checksum"))
        var fields = HTTPFields()
        fields[name] = words
        fields[.contentEncoding] = encoding
        return FileChecksums.told(by: fields)
    }

    @Test func `are those of known hashes, in small digits`() throws {
        let all: [FileChecksums.Algorithm: String] = [
            .sha1: Self.sha1, .md5: Self.md5, .sha256: Self.sha256,
        ]
        let words = "ADLER32:02780140 sha1:\(Self.sha1.uppercased()),MD5:\(Self.md5)"
        #expect(try told("\(words) SHA256:\(Self.sha256)") == all)
        #expect(try told("") == [:])
        #expect(try told("SHA1") == [:])
    }

    @Test func `are none where what came is another form of the file`() throws {
        #expect(try told("SHA1:\(Self.sha1)", encoding: "identity") == [.sha1: Self.sha1])
        for encoding in ["gzip", "br", "GZIP"] {
            #expect(try told("SHA1:\(Self.sha1)", encoding: encoding) == [:], "\(encoding)")
        }
    }

    @Test func `are none where they are too short, too long, or no digits`() throws {
        for digits in [
            "", "abc", String(Self.sha1.dropLast()), Self.sha1 + "0",
            String(repeating: "g", count: 40), "sha1:" + String(repeating: "a", count: 35),
        ] {
            #expect(try told("SHA1:\(digits)") == [:], "\(digits)")
        }
        // One that makes no sense does not hide another.
        #expect(try told("MD5:abc SHA1:\(Self.sha1)") == [.sha1: Self.sha1])
    }
}
