// ReadLogTests.swift — Tools/read_log.py, which shares no code with the library, says the same.

import Foundation
import Testing

@Suite(.enabled(if: Outside.isThere, Outside.missing))
struct `the independent reader` {
    let workshop: ReaderWorkshop

    init() throws { workshop = try ReaderWorkshop() }

    @Test func `it prints what the tool prints, byte for byte`() throws {
        try workshop.makeSyncedStores()
        try workshop.makeNastyStore()

        var kinds: Set<Substring> = []
        for store in ["first", "second", "nasty"] {
            let dump = try workshop.tool("dump", store, "-o", "json")
            let read = try workshop.readLog(store)

            #expect(dump.status == 0 && read.status == 0, "\(dump.errors)\(read.errors)")
            #expect(dump.output == read.output)
            #expect(read.errors.isEmpty)
            #expect(dump.lines.count > 10)
            for line in dump.lines {
                let parts = line.split(separator: "\"kind\":\"")
                if parts.count > 1 { kinds.insert(parts[1].prefix { $0 != "\"" }) }
            }
        }
        let wanted: Set<Substring> = [
            "store.opened", "model.registered", "local.created", "local.updated", "local.deleted",
            "sync.started", "sync.finished", "request.sent", "request.answered", "request.failed",
            "server.upserted", "server.deleted", "pull.page", "pull.completed", "push.accepted",
            "push.rejected",
        ]
        #expect(wanted.subtracting(kinds).isEmpty)
    }

    @Test func `a flipped byte is found at its event, by the reader and by the tool`() throws {
        try workshop.makeSyncedStores()

        let ended = try workshop.python(ReaderScripts.flips, "first")

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines.last == "200 flips read, 24 of them by the tool")
    }

    @Test func `sealed events are read by both, and what is damaged of them is a finding of both`()
        throws
    {
        try workshop.makeSyncedStores()
        try workshop.makeNastyStore()
        for store in ["first", "second", "nasty"] {
            let before = try workshop.tool("dump", store, "-o", "json")
            #expect(try workshop.tool("compact", store, "--keep-events", "3").status == 0)

            let dump = try workshop.tool("dump", store, "-o", "json")
            let read = try workshop.readLog(store)

            #expect(dump.status == 0 && read.status == 0, "\(dump.errors)\(read.errors)")
            #expect(dump.output == before.output && read.output == before.output)
        }

        let ended = try workshop.python(ReaderScripts.sealed, "first")

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines.last == "5 kinds of damage")
    }

    @Test func `of a truncated log both read what is left, and prove it by what is gone`() throws {
        try workshop.makeSyncedStores()
        var dropped = 0
        for store in ["first", "second"] {
            let before = try workshop.tool("dump", store, "-o", "json").lines
            let made = try workshop.tool(
                "compact", store, "--keep-events", "3", "--keep", "1", "--force")
            #expect(made.status == 0, "\(made.errors)")
            guard made.lines.contains(where: { $0.hasPrefix("dropped") }) else { continue }
            dropped += 1

            let dump = try workshop.tool("dump", store, "-o", "json")
            let read = try workshop.readLog(store)

            #expect(dump.status == 0 && read.status == 0, "\(dump.errors)\(read.errors)")
            #expect(dump.output == read.output && read.errors.isEmpty)
            let left = dump.lines.dropLast()
            #expect(left.count < before.count && left.elementsEqual(before.suffix(left.count)))
            #expect(try workshop.tool("verify", "--deep", store).status == 0)
        }
        #expect(dropped > 0)
    }

    @Test func `events that nobody wrote are shown or refused by both alike`() throws {
        try workshop.makeNastyStore()

        let ended = try workshop.python(ReaderScripts.strangers, "nasty")

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines.last?.hasPrefix("seed ") == true)
    }

    @Test func `a root, a commit or an edge that does not fit is a finding of both`() throws {
        try workshop.makeNastyStore()

        let ended = try workshop.python(ReaderScripts.misfits, "nasty")

        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `beside a process that writes it prints what was committed`() throws {
        try workshop.makeNastyStore()

        let ended = try workshop.python(ReaderScripts.besideWriter, "nasty")

        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `a file that went meanwhile is no finding`() throws {
        try workshop.makeNastyStore()

        let ended = try workshop.python(ReaderScripts.swept, "nasty")

        #expect(ended.status == 0, "\(ended.errors)")
    }

    @Test func `it changes nothing on disk, and needs no lock file`() throws {
        try workshop.makeNastyStore()
        try FileManager.default.removeItem(atPath: workshop.path("nasty/lock.mdb"))
        let before = try Data(contentsOf: URL(filePath: workshop.path("nasty/data.mdb")))

        let read = try workshop.readLog("nasty")

        #expect(read.status == 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: workshop.path("nasty"))
        #expect(names.sorted() == ["data.mdb", "identity.json"])
        #expect(try Data(contentsOf: URL(filePath: workshop.path("nasty/data.mdb"))) == before)
    }

    @Test func `what is no whole store ends it with 2 and a sentence`() throws {
        try workshop.makeNastyStore()
        let data = try Data(contentsOf: URL(filePath: workshop.path("nasty/data.mdb")))
        for (name, size) in [("empty", 0), ("stump", 5000), ("half", data.count / 8192 * 4096)] {
            try FileManager.default.createDirectory(
                atPath: workshop.path(name), withIntermediateDirectories: false)
            try data.prefix(size).write(to: URL(filePath: workshop.path(name + "/data.mdb")))
        }

        for name in ["missing", "empty", "stump", "half"] {
            let read = try workshop.readLog(name)

            #expect(read.status == 2, "\(name)")
            #expect(read.errors.hasPrefix("read_log.py: "), "\(name)")
            #expect(read.output.isEmpty, "\(name)")
        }
    }

    @Test func `without its packages it ends with 2 and a sentence`() throws {
        // -S: without the folder of packages.
        let script = Project.root.path + "/Tools/read_log.py"
        let read = try workshop.run(Outside.python, ["-S", script, "store"])

        #expect(read.status == 2)
        #expect(read.errors.hasPrefix("read_log.py: No module named 'lmdb'; it needs "))
    }
}

@Suite struct `the page about the format` {
    @Test(.enabled(if: Outside.isThere, Outside.missing))
    func `its example has the hashes and bytes that it says`() throws {
        let workshop = try ReaderWorkshop()

        let ended = try workshop.python(ReaderScripts.example)

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines == ["3 events"])
    }

    @Test func `its reader is short and needs nothing but Python, lmdb and zstandard`() throws {
        let lines = try Project.text("Tools/read_log.py").split(
            separator: "\n", omittingEmptySubsequences: false)
        let imported = lines.map { $0.drop { $0 == " " } }
            .filter { $0.hasPrefix("import ") || $0.hasPrefix("from ") }
            .compactMap { $0.split(separator: " ").dropFirst().first }
        let standard: Set<Substring> = [
            "base64", "hashlib", "itertools", "json", "os", "re", "signal", "sys",
        ]

        #expect(lines.count - 1 <= 430)
        #expect(lines.allSatisfy { $0.count <= 100 })
        #expect(Set(imported).subtracting(standard) == ["lmdb", "zstandard"])
    }

    @Test(.enabled(if: Outside.isThere, Outside.missing))
    func `the kinds are the same in proto, schema, reader and tool`() throws {
        let workshop = try ReaderWorkshop()
        try workshop.makeNastyStore()

        let ended = try workshop.python(ReaderScripts.kinds, "nasty")

        #expect(ended.status == 0, "\(ended.errors)")
        #expect(ended.lines == ["38 kinds"])
    }
}
