// ReaderSupport.swift — stores made with the tool against a real server, and what reads them.

import Foundation
import TestSupport
import Testing

/// What these tests need from outside.
enum Outside {
    private static let environment = ProcessInfo.processInfo.environment
    /// The folder with the built programs.
    static let programs = environment["TIDEMARK_BIN"] ?? ""
    /// A Python with the packages of Tools/lib/requirements.txt.
    static let python = environment["TIDEMARK_PYTHON"] ?? ""
    /// A Kinto server.
    static let kinto = environment["TIDEMARK_KINTO"] ?? ""
    static let isThere = !programs.isEmpty && !python.isEmpty && !kinto.isEmpty
    static let missing: Comment =
        "TIDEMARK_BIN, TIDEMARK_PYTHON and TIDEMARK_KINTO are not set; Tools/test sets them"
    static let hasProtoc = (try? Project.run("protoc", "--version"))?.status == 0
}

/// A program that has ended.
struct Ended {
    var status: Int32
    var output: Data
    var errors: String
    var lines: [Substring] {
        String(decoding: output, as: UTF8.self).split(separator: "\n")
    }
}

/// A folder for one test, with a bucket of its own on the server.
final class ReaderWorkshop {
    let folder: URL
    private let bucket: String

    init() throws {
        let name = "reader-\(UUID().uuidString.lowercased())"
        bucket = name
        folder = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func path(_ name: String) -> String { folder.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try Data(text.utf8).write(to: folder.appending(path: name))
    }

    // MARK: Programs

    /// Runs a program in the folder.
    func run(_ program: String, _ arguments: [String], input: String = "") throws -> Ended {
        let ended = try Command.run(
            program, arguments, environment: ["TIDEMARK_CREDENTIALS": "me:secret"],
            in: folder.path(percentEncoded: false), input: Data(input.utf8))
        return Ended(
            status: ended.code ?? -1, output: ended.output, errors: ended.complaints)
    }

    func tool(_ arguments: String..., input: String = "") throws -> Ended {
        try run(Outside.programs + "/tidemark", arguments, input: input)
    }

    /// Runs a Python script that finds read_log.py imported.
    func python(_ script: String, _ arguments: String...) throws -> Ended {
        let opening = """
            import sys
            sys.dont_write_bytecode = True
            root, tool = sys.argv[1:3]
            sys.path.insert(0, root + "/Tools")
            import read_log

            """
        let whole = ["-c", opening + script, Project.root.path, Outside.programs + "/tidemark"]
        return try run(Outside.python, whole + arguments)
    }

    func readLog(_ store: String) throws -> Ended {
        try run(Outside.python, [Project.root.path + "/Tools/read_log.py", store])
    }

    // MARK: Stores

    /// Makes `first` and `second`, two devices that synced with the server and with each other.
    ///
    /// Something was refused, a conflict was settled, and something was deleted on the way.
    func makeSyncedStores() throws {
        try makeBucket()
        let origin = Outside.kinto.replacing("/v1", with: "")
        try makeStore("first", origin: origin)
        try makeStore("second", origin: origin)
        try edit("put", "first", "lists/l1", #"{"title":"home"}"#)
        try edit("put", "first", "tasks/t1", #"{"title":"tea \u00e9","list":"l1"}"#)
        try edit("put", "first", "tasks/t2", #"{"title":"way too long to be taken"}"#)
        try edit("put", "first", "tasks/t3", "{\n  \"title\": \"milk 🥛\"\r\n}")
        try edit("put", "first", "tasks/t4", #"{"title":"gone"}"#)
        try edit("delete", "first", "tasks/t4")
        _ = try tool("sync", "first")
        try edit("sync", "second")
        try edit("patch", "second", "tasks/t1", #"{"title":"coffee"}"#)
        try edit("sync", "second")
        try edit("patch", "first", "tasks/t1", #"{"title":"mate"}"#, "--unset", "list")
        try edit("delete", "first", "tasks/t3")
        _ = try tool("sync", "first")
        try edit("sync", "second")
        try edit("sync", "second")
    }

    /// Makes `nasty`, a store of what is hard to print, whose server can't be reached.
    func makeNastyStore() throws {
        try makeStore("nasty", origin: "http://127.0.0.1:1")
        for (index, document) in Self.nasty.enumerated() {
            let put = try tool("put", "nasty", "tasks/n\(index)", "-", input: document)
            #expect(put.status == 0, "\(document): \(put.errors)")
        }
        try edit("put", "nasty", #"lists/é "quoted"\ / 🎉"#, "{}")
        try edit("patch", "nasty", "tasks/n0", #"{"\n\u0001":[1e400, -0]}"#, "--unset", "a")
        let sync = try tool("sync", "nasty")
        #expect(sync.status == 1, "\(sync.errors)")
    }

    private static let nasty =
        [
            "{\"a\":\"\u{2028}\u{2029}\u{7F}\u{85}\u{FEFF} ü日本 👩‍👩‍👧 \u{10FFFF}\"}",
            #"{"a":"\u2028\u007f\u0000\u001f\ud83c\udf89 \"\\\/\b\f\n\r\t"}"#,
            #"{"n":[1e400,-1E-400,-0,0.1000,123456789012345678901234567890,1.0,2e0]}"#,
            #"{"":{"":[{}]},"\u0000":null,"é":true,"e\u0301":false}"#,
            #"{"d":"# + String(repeating: "[", count: 123) + String(repeating: "]", count: 123)
                + "}",
            "{\n\t\"a\" : 1 ,\r\n\t\"b\" : \"two\\nlines\"\n}",
            " { \"a\" : 1 } ",
            #"{"brackets":"[[\"{{","long":""# + String(repeating: "ab🎉", count: 20_000) + "\"}",
        ]

    private func makeStore(_ name: String, origin: String) throws {
        try write(
            """
            {"name":"todo","collections":[{"name":"lists"},{"name":"tasks","conflict":"localWins",
            "references":{"list":"lists"},"pageSize":2}],
            "remote":{"origin":"\(origin)","adapter":"kinto","bucket":"\(bucket)"}}
            """, to: "model.json")
        try edit("init", name, "--model", "model.json")
    }

    private func edit(_ arguments: String...) throws {
        let ended = try run(Outside.programs + "/tidemark", arguments)
        #expect(ended.status == 0, "\(arguments): \(ended.errors)")
    }

    private func makeBucket() throws {
        let made = try python(
            """
            import base64, json, urllib.request
            def put(path, body):
                request = urllib.request.Request(
                    sys.argv[3] + path, json.dumps(body).encode(), method="PUT", headers={
                        "Content-Type": "application/json",
                        "Authorization": "Basic " + base64.b64encode(b"me:secret").decode()})
                urllib.request.urlopen(request).read()
            bucket = "/buckets/" + sys.argv[4]
            put(bucket, {"permissions": {"write": ["system.Authenticated"]}})
            put(bucket + "/collections/lists", {})
            put(bucket + "/collections/tasks", {"data": {"schema": {
                "properties": {"title": {"type": "string", "maxLength": 10}}}}})
            """, Outside.kinto, bucket)
        try #require(made.status == 0, "\(made.errors)")
    }
}
