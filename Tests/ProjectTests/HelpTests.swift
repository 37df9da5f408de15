// HelpTests.swift — what `--help` says fits a terminal of 80 columns as it was written.

import Foundation
import Testing

@Suite struct `the tool's help` {
    @Test func `has no line that a terminal of 80 columns would break`() throws {
        var blocks = 0
        for path in try Project.swiftFiles() where path.hasPrefix("Tools/tidemark/") {
            var indent: Int?
            for line in try Project.text(path).split(
                separator: "\n", omittingEmptySubsequences: false)
            {
                if let begun = indent {
                    if line.contains("\"\"\"") { indent = nil }
                    #expect(line.count - begun <= 80, "\(path): \(line)")
                } else if line.hasSuffix("discussion: \"\"\"") {
                    indent = line.prefix { $0 == " " }.count + 4
                    blocks += 1
                }
            }
        }
        #expect(blocks >= 10)
    }
}
