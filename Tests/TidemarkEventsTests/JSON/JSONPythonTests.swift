// JSONPythonTests.swift — the same verdicts and the same escapes as Python's json module.

import Foundation
import TestSupport
import Testing
import TidemarkEvents

@Suite(.enabled(if: Python.isInstalled, "python3 is not installed"))
struct `agreement with Python` {
    @Test(arguments: [0x5EED_0007] as [UInt64])
    func `both accept and both refuse`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var texts = JSONCase.all.map(\.bytes)
        for _ in 0..<2_000 {
            texts.append(random.damaged(random.text(of: try random.value(depth: 3))))
        }

        let verdicts = try Python.run(
            Python.validity + "for line in lines: print(int(valid(line)))\n", over: texts)

        #expect(verdicts.count == texts.count)
        for (text, verdict) in zip(texts, verdicts) {
            let isValid = jsonError(text) == nil
            #expect(isValid == (verdict == "1"), "\(String(decoding: text, as: UTF8.self))")
        }
        #expect(verdicts.filter { $0 == "1" }.count > 200)
        #expect(verdicts.filter { $0 == "0" }.count > 200)
    }

    @Test(arguments: [0x5EED_0008] as [UInt64])
    func `strings are escaped alike`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SplitMix64(seed: seed)
        var strings = (0..<0x180).compactMap { Unicode.Scalar($0).map { String($0) } }
        for _ in 0..<500 { strings.append(random.string()) }

        let dumped = try Python.run(
            "for line in lines: "
                + "print(json.dumps(line.decode('utf-8'), ensure_ascii=False).encode().hex())\n",
            over: strings.map { Array($0.utf8) })

        for (string, dumped) in zip(strings, dumped) {
            #expect(Python.hex(JSONValue.string(string).encoded()) == dumped)
        }
        #expect(dumped.count == strings.count)
    }
}

/// One python3 process that reads byte strings and prints one line for each.
private enum Python {
    /// `valid(raw)`: whether bytes are JSON by our rules.
    static let validity = #"""
        def valid(raw):
            """Whether raw (bytes) is one JSON text: unique keys, depth <= 128, whole scalars."""
            def constant(name):
                raise ValueError(name)
            def pairs(members):
                keys = [key for key, _ in members]
                if len(set(keys)) != len(keys):
                    raise ValueError("duplicate key")
                return members
            def check(value):
                if isinstance(value, str):
                    value.encode("utf-8", "strict")
                elif isinstance(value, (list, tuple)):
                    for each in value:
                        check(each)
            depth, in_string, escaped = 0, False, False
            for byte in raw:
                if in_string:
                    if escaped:
                        escaped = False
                    elif byte == 0x5C:
                        escaped = True
                    elif byte == 0x22:
                        in_string = False
                elif byte == 0x22:
                    in_string = True
                elif byte in b"[{":
                    depth += 1
                    if depth > 128:
                        return False
                elif byte in b"]}":
                    depth -= 1
            try:
                check(json.loads(raw.decode("utf-8", "strict"), parse_constant=constant,
                                 parse_int=str, parse_float=str, object_pairs_hook=pairs))
            except ValueError:
                return False
            return True

        """#

    static let isInstalled = (try? run("print(1)\n", over: [])) == ["1"]

    /// Runs a script that finds `json` imported and the inputs in `lines`; its lines of output.
    static func run(_ script: String, over inputs: [[UInt8]]) throws -> [String] {
        let directory = FileManager.default.temporaryDirectory
        let file = directory.appending(path: "json-\(UUID().uuidString).hex")
        try inputs.map { hex($0) + "\n" }.joined().write(
            to: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(at: file) }

        let opening = """
            import json, sys
            lines = [bytes.fromhex(line) for line in open(sys.argv[1])]

            """
        let python = try Command.run(
            "python3", ["-c", opening + script, file.path(percentEncoded: false)])
        guard python.code == 0 else { throw Command.Failure(description: python.complaints) }
        return python.text.split(separator: "\n").map(String.init)
    }

    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
