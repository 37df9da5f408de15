// Modules.swift — which module may import which; SwiftPM allows more than the arrows say.

/// What the files of one folder may import.
struct Module {
    /// Modules any file may import.
    var imports: Set<String>
    /// Modules that only the named files may import.
    var onlyIn: [String: Set<String>] = [:]
}

/// Every folder with Swift files in Sources and Tools, from the bottom up; arrows point down only.
let modules: [String: Module] = [
    "Sources/TidemarkStore": Module(
        imports: [
            "CLMDB", "CZstd", "CTidemarkSHA256", "Crypto", "Glibc", "Musl", "Darwin",
            "Synchronization",
        ],
        onlyIn: [
            "Foundation": ["PartStream.swift"], "ObjectiveC": ["Platform+Pool.swift"],
        ]),
    "Sources/TidemarkEvents": Module(imports: ["Foundation", "FoundationEssentials"]),
    "Sources/TidemarkLog": Module(imports: ["TidemarkStore", "TidemarkEvents"]),
    "Sources/TidemarkRules": Module(imports: ["TidemarkEvents"]),
    "Sources/TidemarkViews": Module(
        imports: ["TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents"]),
    "Sources/TidemarkSync": Module(
        imports: [
            "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents",
            "HTTPTypes", "Synchronization",
        ],
        onlyIn: ["Foundation": ["Dependencies+Live.swift"]]),
    "Sources/TidemarkCapsule": Module(
        imports: [
            "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore",
            "TidemarkEvents", "HTTPTypes",
        ]),
    "Sources/Tidemark": Module(
        imports: [
            "TidemarkCapsule", "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules",
            "TidemarkStore", "TidemarkEvents", "HTTPTypes", "Foundation", "Observation",
        ]),
    "Sources/TidemarkHTTP": Module(
        imports: [
            "Tidemark", "TidemarkSync", "TidemarkStore", "TidemarkEvents", "HTTPTypes",
            "HTTPTypesFoundation", "Foundation", "FoundationNetworking", "Dispatch",
            "Synchronization",
        ],
        onlyIn: [
            "AsyncHTTPClient": ["AsyncHTTPTransport.swift"],
            "NIOCore": ["AsyncHTTPTransport.swift"], "NIOPosix": ["AsyncHTTPTransport.swift"],
            "NIOHTTP1": ["AsyncHTTPTransport.swift"],
            "NIOHTTPCompression": ["AsyncHTTPTransport.swift"],
        ]),
    "Sources/TidemarkInspect": Module(
        imports: [
            "Tidemark", "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules",
            "TidemarkStore", "TidemarkEvents",
        ]),
    "Sources/TidemarkReplay": Module(
        imports: [
            "TidemarkInspect", "TidemarkHTTP", "Tidemark", "TidemarkCapsule", "TidemarkSync",
            "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents",
            "HTTPTypes", "Foundation", "Synchronization",
        ]),
    "Sources/TidemarkTesting": Module(
        imports: [
            "TidemarkReplay", "TidemarkInspect", "TidemarkHTTP", "Tidemark", "TidemarkSync",
            "TidemarkViews", "TidemarkEvents", "HTTPTypes", "FlyingFox", "FlyingSocks",
            "Foundation", "Synchronization", "Crypto",
        ]),
    "Tools/Benchmarks": Module(
        imports: [
            "Tidemark", "TidemarkHTTP", "TidemarkInspect", "TidemarkSync", "GRDB", "CFloor",
            "HTTPTypes", "Foundation", "Synchronization",
        ]),
    "Tools/Examples": Module(imports: ["Tidemark", "TidemarkHTTP", "Foundation"]),
    "Tools/toggl-server": Module(
        imports: ["Tidemark", "TidemarkTesting", "TidemarkEvents", "ArgumentParser", "Foundation"]),
    "Tools/tidemark": Module(
        imports: [
            "Tidemark", "TidemarkHTTP", "TidemarkInspect", "TidemarkCapsule", "TidemarkReplay",
            "TidemarkTesting", "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkStore",
            "TidemarkRules", "TidemarkEvents", "TidemarkTool", "ArgumentParser", "HTTPTypes",
            "Foundation",
            "Synchronization", "Dispatch",
        ]),
]

extension Module {
    /// The module a file belongs to: its first two folders.
    static func name(of path: String) -> String {
        path.split(separator: "/").dropLast().prefix(2).joined(separator: "/")
    }

    func allows(_ imported: String, in path: String) -> Bool {
        let file = path.split(separator: "/").last.map(String.init) ?? path
        return imports.contains(imported) || onlyIn[imported]?.contains(file) == true
    }
}

/// The modules that code imports, with their lines.
func imports(in code: [SwiftToken]) -> [(module: String, line: Int)] {
    let kinds: Set<String> = [
        "struct", "class", "enum", "protocol", "typealias", "func", "let", "var", "actor",
    ]
    return code.indices.compactMap { index in
        guard code[index].text == "import" else { return nil }
        if index > 0, code[index - 1].text == "." { return nil }
        var next = index + 1
        if next < code.count, kinds.contains(code[next].text) { next += 1 }
        guard next < code.count else { return nil }
        return (code[next].text, code[index].line)
    }
}
