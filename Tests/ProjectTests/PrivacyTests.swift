// PrivacyTests.swift — Apple's privacy manifest tells of each function that wants a reason.

import Foundation
import Testing

@Suite struct `the privacy manifest` {
    private struct Manifest: Decodable {
        struct Access: Decodable {
            var NSPrivacyAccessedAPIType: String
            var NSPrivacyAccessedAPITypeReasons: [String]
        }
        var NSPrivacyTracking: Bool
        var NSPrivacyTrackingDomains: [String]
        var NSPrivacyCollectedDataTypes: [String]
        var NSPrivacyAccessedAPITypes: [Access]
    }

    /// By kind, what Apple's list names of it and, of the clock, what tells the same.
    private static let functions: [String: String] = [
        "FileTimestamp":
            #"\b(?:[fl]?stat|fstatat|f?getattrlist|getattrlist(?:at|bulk))\(|attributesOfItem"#
            + #"|(?:creation|contentModification)DateKey|(?:creation|modification)Date\b"#,
        "DiskSpace": #"\bf?statv?fs\(|volume(?:Available|Total)Capacity|\bsystem(?:Free)?Size\b"#,
        "SystemBootTime": #"\bmach_absolute_time\(|systemUptime|clock_gettime(?:_nsec_np)?\("#,
        "UserDefaults": #"\bUserDefaults\b"#,
        "ActiveKeyboards": #"\bactiveInputModes\b"#,
    ]

    @Test func `declares what the sources use, and nothing else`() throws {
        let manifest = try PropertyListDecoder().decode(
            Manifest.self, from: Project.bytes("Sources/TidemarkStore/PrivacyInfo.xcprivacy"))
        let sources = try Project.files().filter {
            $0.hasPrefix("Sources/") && $0.wholeMatch(of: /.+\.(swift|c|h)/) != nil
        }.map { try Project.text($0) }

        var used: Set<String> = []
        for (kind, pattern) in Self.functions {
            let regex = try Regex(pattern)
            if sources.contains(where: { $0.contains(regex) }) { used.insert(kind) }
        }
        let declared = manifest.NSPrivacyAccessedAPITypes.map(\.NSPrivacyAccessedAPIType)
        #expect(Set(declared) == Set(used.map { "NSPrivacyAccessedAPICategory\($0)" }))
        #expect(declared.count == used.count)
        #expect(
            manifest.NSPrivacyAccessedAPITypes.allSatisfy {
                !$0.NSPrivacyAccessedAPITypeReasons.isEmpty
            })
        #expect(!manifest.NSPrivacyTracking && manifest.NSPrivacyTrackingDomains.isEmpty)
        #expect(manifest.NSPrivacyCollectedDataTypes.isEmpty)
    }

    @Test func `goes with the package to Apple's systems`() throws {
        let text = try Project.text("Package.swift")

        #expect(text.contains(#".copy("PrivacyInfo.xcprivacy")"#))
    }
}
