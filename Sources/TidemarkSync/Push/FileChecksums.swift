// FileChecksums.swift — what a server tells of a file's bytes, by which a file is compared without
// being fetched.

import HTTPTypes
public import TidemarkEvents
import TidemarkStore

/// The checksums that a server tells of a file, with the version and the length that it has.
public struct FileChecksums: Sendable, Hashable {
    /// How a checksum is made; of several the first of these is compared.
    @nonexhaustive public enum Algorithm: String, Sendable, CaseIterable {
        case sha256 = "SHA256"
        case sha1 = "SHA1"
        case md5 = "MD5"
    }

    /// The version of the file whose checksums they are.
    public var revision: Revision
    /// How many bytes it has; nil where the server does not say.
    public var bytes: Int64?
    /// The checksums in hexadecimal digits.
    public var digits: [Algorithm: String]

    public init(revision: Revision, bytes: Int64?, digits: [Algorithm: String]) {
        self.revision = revision
        self.bytes = bytes
        self.digits = digits
    }

    /// What they say of a file of ours; `untold` where only the file itself can tell.
    ///
    /// - Parameters:
    ///   - record: the file as the server told it before.
    ///   - hash: the hash of ours, in hexadecimal digits.
    func finding(
        _ record: ServerRecord, bytes: Int, _ hash: (Algorithm) throws -> String
    ) rethrows -> ContentProof.Finding {
        guard let known = record.revision,
            EntityTag.isSame(known.description, revision.description)
        else { return .untold }
        for algorithm in Algorithm.allCases {
            guard let theirs = digits[algorithm] else { continue }
            if try hash(algorithm).lowercased() == theirs.lowercased() { return .same }
            // A shorter one may be a beginning of ours.
            return self.bytes.map { $0 >= Int64(bytes) } == true ? .other : .untold
        }
        return .untold
    }
}

extension FileChecksums {
    /// The checksums of a file in an answer that has it, as some servers of files tell them:
    /// `OC-Checksum: SHA1:…`, in small digits.
    ///
    /// What is encoded is not the file.
    static func told(by fields: HTTPFields) -> [Algorithm: String] {
        let encoding = fields[.contentEncoding]?.lowercased() ?? "identity"
        guard encoding == "identity", let name = HTTPField.Name("OC-Checksum"),
            let words = fields[name]
        else { return [:] }
        var told: [Algorithm: String] = [:]
        for (algorithm, digits) in pairs(in: words)
        where digits.utf8.count == algorithm.digitsCount && digits.allSatisfy(\.isHexDigit) {
            told[algorithm] = digits.lowercased()
        }
        return told
    }

    /// The checksums in a text like `SHA1:… MD5:…`.
    ///
    /// Others than those that are known are passed over.
    package static func pairs(in text: String) -> [(algorithm: Algorithm, digits: Substring)] {
        text.split(whereSeparator: { $0.isWhitespace || $0 == "," }).compactMap { word in
            let parts = word.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, let algorithm = Algorithm(rawValue: parts[0].uppercased())
            else { return nil }
            return (algorithm, parts[1])
        }
    }
}

extension FileChecksums.Algorithm {
    /// How many hexadecimal digits it has.
    fileprivate var digitsCount: Int {
        switch self {
        case .sha256: 64
        case .sha1: 40
        case .md5: 32
        }
    }

    /// The hash that makes it; nil for the one by which files are named.
    var hash: FileHash? {
        switch self {
        case .sha256: nil
        case .sha1: .sha1
        case .md5: .md5
        }
    }
}
