// TidyTests.swift — the project as it stands keeps its own rules of form.

import Foundation
import Testing

@Suite struct `the project is tidy` {
    @Test func `every Swift file keeps the rules`() throws {
        let files = try Project.swiftFiles()
        let found = try files.flatMap { violations(path: $0, text: try Project.text($0)) }

        #expect(files.count > 10)
        for violation in found {
            Issue.record("\(violation)")
        }
    }

    /// What is one server's own is a model value, its adapter, and what tests and tools need.
    @Test func `the core names no server that it was made for, and no word of one`() throws {
        let own = ["Sources/TidemarkHTTP/", "Sources/TidemarkTesting/"]
        let core = try Project.swiftFiles().filter { path in
            path.hasPrefix("Sources/") && !own.contains(where: path.hasPrefix)
        }

        #expect(core.count > 100)
        for path in core {
            for word in serverWords(in: try Project.text(path), of: path) {
                Issue.record("\(path): \"\(word)\" is an adapter's to know, in its ServerWords")
            }
        }
    }

    /// A payload's members are known to its table in TidemarkEvents/Payloads, and to nobody else.
    @Test func `members of payloads are read by their types alone`() throws {
        let own = [
            "Sources/TidemarkEvents/", "Sources/TidemarkHTTP/", "Sources/TidemarkTesting/",
            "Tests/",
        ]
        for path in try Project.swiftFiles() where !own.contains(where: path.hasPrefix) {
            // What doc comments show is an adapter's.
            let code = try Project.text(path).components(separatedBy: "\n").filter {
                !$0.trimmingCharacters(in: .whitespaces).hasPrefix("///")
            }
            let found = code.first { $0.contains(/\.(value|rawValue)\("\w/) }

            #expect(found == nil, "\(path): read the payload as the type of its kind")
        }
    }

    /// A new kind is to be placed by everybody who tells kinds apart.
    @Test func `a switch over kinds of events has no default`() throws {
        for path in try Project.swiftFiles() where !path.hasPrefix("Tests/") {
            for text in switches(in: try Project.text(path)) {
                let isOverKinds = text.contains(/case \.(local|server|request|pull|push|sync)[A-Z]/)

                #expect(!isOverKinds || !text.contains("default:"), "\(path): \(text.prefix(200))")
            }
        }
    }

    /// The text of each switch, without what is nested deeper than its cases.
    private func switches(in text: String) -> [String] {
        guard text.contains("switch ") else { return [] }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        func indent(_ line: Substring) -> Int { line.prefix { $0 == " " }.count }
        return lines.indices.filter { lines[$0].contains(/\bswitch .*\{$/) }.map { start in
            let end = lines[(start + 1)...].firstIndex {
                $0.contains("}") && indent($0) <= indent(lines[start])
            }
            return lines[start..<(end ?? lines.endIndex)]
                .filter { indent($0) <= indent(lines[start]) + 4 }.joined(separator: "\n")
        }
    }

    @Test func `the table of imports has exactly the modules there are`() throws {
        let present = try Project.swiftFiles()
            .filter { $0.hasPrefix("Sources/") || $0.hasPrefix("Tools/") }
            .map(Module.name(of:))

        let onlyInOne = Set(present).symmetricDifference(modules.keys)

        #expect(onlyInOne.isEmpty)
    }

    @Test(.enabled(if: Project.isWorkingCopy))
    func `the top level holds only what belongs there`() throws {
        let allowed: Set = [
            "Package.swift", "Sources", "Tests", "Tools", "Schemas", "README.md", "LICENSE",
            "CHANGELOG.md",
        ]
        let names = try Project.files().compactMap { $0.split(separator: "/").first }
        let strays = Set(names.map(String.init)).filter {
            !$0.hasPrefix(".") && !allowed.contains($0)
        }

        #expect(strays.isEmpty)
    }

    @Test func `the programs that tests run are all built for them`() throws {
        let names = try Project.text("Package.swift").components(separatedBy: ".executableTarget(")
            .dropFirst().compactMap { $0.components(separatedBy: "name: \"").dropFirst().first }
            .compactMap { $0.components(separatedBy: "\"").first }
        let line = try Project.text("Tools/lib/setup.sh").components(separatedBy: "\n")
            .first { $0.hasPrefix("programs=(") }
        let built = line?.dropFirst("programs=(".count).dropLast().split(separator: " ")

        #expect(names.count >= 7)
        #expect(Set(names) == Set((built ?? []).map(String.init)))
    }

    /// A Mac's file system keeps no two files whose names differ so, nor does Xcode two targets.
    @Test func `no two products or targets are one name in another case`() throws {
        let manifest = try Project.text("Package.swift")
        // The package itself is neither.
        let named = manifest.replacing("name: \"tidemark\",\n    platforms", with: "")
        let names = Set(
            named.components(separatedBy: "\"").enumerated().filter { $0.offset % 2 == 1 }
                .map(\.element))
        let spellings = Dictionary(grouping: names) { $0.lowercased() }.values

        #expect(manifest.contains("name: \"tidemark\",\n    platforms"))
        #expect(names.contains("tidemark-cli"))
        #expect(spellings.filter { $0.count > 1 }.map { $0.sorted() } == [])
    }

    @Test func `no folder of tests has more files than can be looked through`() throws {
        let folders = Dictionary(
            grouping: try Project.swiftFiles().filter { $0.hasPrefix("Tests/") }
        ) { $0.split(separator: "/").dropLast().joined(separator: "/") }

        for (folder, files) in folders {
            #expect(files.count <= 25, "\(folder) has \(files.count) files: make folders in it")
        }
    }

    @Test(.enabled(if: Project.isWorkingCopy))
    func `every Markdown file has one top heading`() throws {
        for path in try Project.files() where path.hasSuffix(".md") {
            let headings = topHeadings(try Project.text(path))

            #expect(headings.count == 1, "\(path): \(headings)")
        }
    }

    @Test(.enabled(if: Project.isWorkingCopy))
    func `every shell script parses`() throws {
        let scripts = try Project.files().filter { path in
            if path.hasSuffix(".sh") { return true }
            let start = String(decoding: try Project.bytes(path).prefix(40), as: UTF8.self)
            return start.hasPrefix("#!") && start.prefix { $0 != "\n" }.hasSuffix("sh")
        }

        #expect(scripts.contains("Tools/test"))
        for path in scripts {
            let parsed = try Project.run("bash", "-n", path)

            #expect(parsed.status == 0, "\(path): \(parsed.output)")
        }
    }

    @Test(.enabled(if: Project.isWorkingCopy))
    func `no file names a folder of the machine it was written on`() throws {
        let folder = Data(("/wo" + "rk/").utf8)
        let strays = try Project.files().filter { try Project.bytes($0).range(of: folder) != nil }

        #expect(strays.isEmpty)
    }
}
