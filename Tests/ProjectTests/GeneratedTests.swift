// GeneratedTests.swift — what protoc-gen-swift made of event.proto is not older than event.proto.

import Foundation
import Testing

@Suite struct `the generated messages` {
    @Test func `have every message, field and value of event.proto`() throws {
        let proto = try Project.text("Schemas/tidemark/v1/event.proto")
        let made = try Project.text("Tests/EventProto/event.pb.swift")
        let hint: Comment = "make it anew: Tests/EventProtoTests/EventProtoTests.swift says how"
        var counts = [0, 0, 0]
        for line in proto.split(separator: "\n") {
            let words = line.split(separator: " ")
            if words.first == "message", words.count > 1 {
                counts[0] += 1
                #expect(made.contains("struct Tidemark_V1_\(words[1]):"), hint)
            } else if line.hasPrefix("  "), let equals = words.firstIndex(of: "="), equals >= 2 {
                counts[1] += 1
                #expect(made.contains("package var \(camel(words[equals - 1])): "), hint)
            } else if line.hasPrefix("  "), words.count > 2, words[1] == "=", line.contains(";") {
                counts[2] += 1
                #expect(made.contains(" // = \(words[2].prefix { $0.isNumber })\n"), hint)
            }
        }
        #expect(counts[0] >= 4 && counts[1] >= 22 && counts[2] >= 38)
    }

    private func camel(_ name: Substring) -> String {
        let words = name.split(separator: "_").map(String.init)
        return words.dropFirst().reduce(words[0]) { $0 + $1.capitalized }
    }
}
