// swift-tools-version: 6.3
import PackageDescription

/// Warnings are errors where Tidemark itself is worked on, as `Tools/lib/setup.sh` asks for it.
///
/// One left standing hides the next one. Nowhere else: Xcode compiles what an app depends on with
/// `-suppress-warnings`, and the compiler refuses both together.
let warnings: [SwiftSetting] =
    Context.environment["TIDEMARK_STRICT"] == "1" ? [.treatAllWarnings(as: .error)] : []

/// The settings of every target, a reason beside each.
let strict: [SwiftSetting] =
    warnings + [
        .enableUpcomingFeature("ExistentialAny"),  // a box is visible where one is made
        .enableUpcomingFeature("InternalImportsByDefault"),  // what is re-exported is said aloud
        .enableUpcomingFeature("MemberImportVisibility"),  // a file imports what it uses
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),  // async stays with its caller
        .strictMemorySafety(),  // unsafe code is marked, and only TidemarkStore has any
    ]

let crypto: Target.Dependency = .product(name: "Crypto", package: "swift-crypto")
let httpTypes: Target.Dependency = .product(name: "HTTPTypes", package: "swift-http-types")
let httpTypesFoundation: Target.Dependency = .product(
    name: "HTTPTypesFoundation", package: "swift-http-types")
let arguments: Target.Dependency = .product(
    name: "ArgumentParser", package: "swift-argument-parser")
let protobuf: Target.Dependency = .product(name: "SwiftProtobuf", package: "swift-protobuf")
let flyingFox: Target.Dependency = .product(name: "FlyingFox", package: "FlyingFox")
let flyingSocks: Target.Dependency = .product(name: "FlyingSocks", package: "FlyingFox")
/// Products that only the trait `AsyncHTTP` needs.
func asyncHTTP(_ name: String, _ package: String) -> Target.Dependency {
    .product(name: name, package: package, condition: .when(traits: ["AsyncHTTP"]))
}

/// Optimised although it is built for debugging: `Tools/test` asks for it in continuous
/// integration, where the tests take a third of the time then, and `Tools/instructions` counts
/// nothing else.
let optimized: [SwiftSetting] =
    Context.environment["TIDEMARK_OPTIMIZED"] == nil ? [] : [.unsafeFlags(["-O"])]

/// Whether LMDB and zstd are compiled from `Sources/Vendored`, as Apple's systems have neither: a
/// manifest is evaluated where the build runs, which for these is a Mac. On Linux both come as
/// packages of the system, unless `TIDEMARK_VENDORED=1` asks for the copies.
#if os(Linux)
    let isVendored = Context.environment["TIDEMARK_VENDORED"] == "1"
#else
    let isVendored = true
#endif

// The sources as they were published; no unsafe flags, which would keep apps from depending on
// this package.
let lmdb: Target =
    isVendored
    ? .target(
        name: "CLMDB", path: "Sources/Vendored/CLMDB",
        // `tidemark_mdb.c` includes `mdb.c`.
        exclude: ["README.md", "LICENSE", "COPYRIGHT", "mdb.c"], publicHeadersPath: ".")
    : .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])])
let zstd: Target =
    isVendored
    ? .target(
        name: "CZstd", path: "Sources/Vendored/CZstd",
        exclude: ["README.md", "LICENSE", "COPYING"], publicHeadersPath: ".",
        cSettings: [.define("ZSTD_DISABLE_ASM")])  // its one file in assembler is left out
    : .systemLibrary(name: "CZstd", pkgConfig: "libzstd", providers: [.apt(["libzstd-dev"])])

/// What Apple's privacy report of an app tells of the package: a resource there, and nowhere else.
#if os(Linux)
    let (privacy, noPrivacy): ([Resource], [String]) = ([], ["PrivacyInfo.xcprivacy"])
#else
    let (privacy, noPrivacy): ([Resource], [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#endif

/// A module of the library, from the bottom up; arrows point down only.
func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict + optimized)
}

/// What tests share.
func support(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .target(
        name: name, dependencies: dependencies, path: "Tests/\(name)", swiftSettings: strict)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(
        name: name, dependencies: dependencies + ["TestSupport"], swiftSettings: strict)
}

let package = Package(
    name: "tidemark",
    platforms: [.macOS(.v26), .iOS(.v26)],  // `Array.span` is from there on
    products: [
        .library(name: "Tidemark", targets: ["Tidemark"]),
        .library(name: "TidemarkSync", targets: ["TidemarkSync"]),
        .library(name: "TidemarkHTTP", targets: ["TidemarkHTTP"]),
        .library(name: "TidemarkInspect", targets: ["TidemarkInspect"]),
        .library(name: "TidemarkReplay", targets: ["TidemarkReplay"]),
        .library(name: "TidemarkTesting", targets: ["TidemarkTesting"]),
        .library(name: "TidemarkTool", targets: ["TidemarkTool"]),
        .executable(name: "tidemark-cli", targets: ["tidemark-cli"]),
    ],
    traits: [
        .trait(
            name: "AsyncHTTP",
            description:
                "AsyncHTTPTransport, over AsyncHTTPClient; without it, nobody resolves that.")
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/swhitty/FlyingFox", from: "0.27.1"),
        // Only with the trait AsyncHTTP.
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.100.0"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.26.0"),
        // Only for tests: another implementation of the format's messages.
        .package(url: "https://github.com/apple/swift-protobuf", from: "1.39.0"),
    ],
    targets: [
        lmdb, zstd,
        .target(
            name: "CTidemarkSHA256", cSettings: optimized.isEmpty ? [] : [.unsafeFlags(["-O2"])]),
        .target(
            name: "TidemarkStore", dependencies: ["CLMDB", "CZstd", "CTidemarkSHA256", crypto],
            exclude: noPrivacy, resources: privacy, swiftSettings: strict + optimized),
        module("TidemarkEvents"),
        module("TidemarkLog", ["TidemarkStore", "TidemarkEvents"]),
        module("TidemarkRules", ["TidemarkEvents"]),
        module(
            "TidemarkViews",
            ["TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents"]),
        module(
            "TidemarkSync",
            [
                "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents",
                httpTypes,
            ]),
        module(
            "TidemarkCapsule",
            [
                "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore",
                "TidemarkEvents", httpTypes,
            ]),
        module(
            "Tidemark",
            [
                "TidemarkCapsule", "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules",
                "TidemarkStore", "TidemarkEvents",
            ]),
        module(
            "TidemarkHTTP",
            [
                "Tidemark", "TidemarkSync", "TidemarkStore", "TidemarkEvents", httpTypes,
                httpTypesFoundation,
                asyncHTTP("AsyncHTTPClient", "async-http-client"),
                asyncHTTP("NIOCore", "swift-nio"), asyncHTTP("NIOPosix", "swift-nio"),
                asyncHTTP("NIOHTTP1", "swift-nio"),
                asyncHTTP("NIOHTTPCompression", "swift-nio-extras"),
            ]),
        module(
            "TidemarkInspect",
            [
                "Tidemark", "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules",
                "TidemarkStore",
                "TidemarkEvents",
            ]),
        module(
            "TidemarkReplay",
            [
                "TidemarkInspect", "TidemarkHTTP", "Tidemark", "TidemarkCapsule", "TidemarkSync",
                "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents",
                httpTypes,
            ]),
        module(
            "TidemarkTesting",
            [
                "TidemarkReplay", "TidemarkInspect", "TidemarkHTTP", "Tidemark", "TidemarkSync",
                "TidemarkViews", "TidemarkEvents", httpTypes, flyingFox, flyingSocks, crypto,
            ]),
        // The commands of the tool, for apps that make a tool with adapters of their own, …
        .target(
            name: "TidemarkTool",
            dependencies: [
                "Tidemark", "TidemarkHTTP", "TidemarkInspect", "TidemarkCapsule", "TidemarkReplay",
                "TidemarkTesting", "TidemarkRules", arguments,
            ],
            path: "Tools/tidemark", exclude: ["Main"], swiftSettings: strict),
        // … and the tool with the library's. Not `tidemark`: where a file system or Xcode leaves out
        // case, that is the library's own name, and one would be built over the other.
        .executableTarget(
            name: "tidemark-cli", dependencies: ["TidemarkTool"], path: "Tools/tidemark/Main",
            swiftSettings: strict),

        // What tests of several targets share: programs and servers beside them, …
        support("TestSupport", []),
        // … changes and documents in a few characters, …
        support("RulesSupport", ["TidemarkRules", "TidemarkEvents", "TestSupport"]),
        // … stores of the lower modules, …
        support(
            "ViewsSupport",
            [
                "TidemarkInspect", "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore",
                "TidemarkEvents", "TestSupport", "RulesSupport",
            ]),
        // … devices that are synced, …
        support(
            "SyncSupport",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkInspect", "TidemarkSync",
                "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents",
                httpTypes, "TestSupport",
            ]),
        // … and capsules.
        support(
            "CapsuleSupport",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkCapsule", "TidemarkSync",
                "TidemarkViews", "TidemarkLog", "TidemarkStore", "TidemarkEvents", httpTypes,
                "TestSupport", "SyncSupport",
            ]),
        // Generated; Tests/EventProtoTests/EventProtoTests.swift says how.
        .target(name: "EventProto", dependencies: [protobuf], path: "Tests/EventProto"),
        .executableTarget(
            name: "crash-child",
            dependencies: [
                "Tidemark", "TidemarkHTTP", "TidemarkInspect", "TidemarkSync", "TidemarkViews",
                "TidemarkLog", "TidemarkStore", "TidemarkEvents", "TidemarkTesting", httpTypes,
                "TestSupport",
            ],
            path: "Tests/CrashChild", swiftSettings: strict),
        // What Tools/instructions counts the instructions of, and its tests.
        .executableTarget(
            name: "instruction-probe",
            dependencies: [
                "Tidemark", "TidemarkHTTP", "TidemarkInspect", "TidemarkSync", "TidemarkViews",
                "TidemarkEvents", httpTypes, "TestSupport",
            ],
            path: "Tests/InstructionProbe", swiftSettings: strict + optimized),
        // As new projects of Xcode have it, all of its own is the main actor's.
        .executableTarget(
            name: "readme-example", dependencies: ["Tidemark", "TidemarkHTTP"],
            path: "Tests/ReadmeExample",
            swiftSettings: strict + [.defaultIsolation(MainActor.self)]),
        .executableTarget(
            name: "own-tool", dependencies: ["TidemarkTool", "TidemarkHTTP", "TidemarkSync"],
            path: "Tests/OwnTool", swiftSettings: strict),
        // The server in memory that behaves like Toggl, over sockets; Tools/toggl starts it.
        .executableTarget(
            name: "toggl-server",
            dependencies: ["Tidemark", "TidemarkTesting", "TidemarkEvents", arguments],
            path: "Tools/toggl-server", swiftSettings: strict),
        .executableTarget(
            name: "todo", dependencies: ["Tidemark", "TidemarkHTTP"], path: "Tools/Examples/Todo",
            swiftSettings: strict),
        // The Swift of the documentation's articles; its tests say how.
        .target(
            name: "DocExamples", dependencies: ["Tidemark", "TidemarkHTTP", "TidemarkTesting"],
            path: "Tests/DocExamples", swiftSettings: strict),
        tests("TidemarkStoreTests", ["TidemarkStore"]),
        tests("TidemarkEventsTests", ["TidemarkEvents"]),
        tests("TidemarkLogTests", ["TidemarkLog", "TidemarkStore", "TidemarkEvents", crypto]),
        tests("EventProtoTests", ["TidemarkLog", "TidemarkEvents", "EventProto", protobuf]),
        tests("TidemarkRulesTests", ["TidemarkRules", "TidemarkEvents", "RulesSupport"]),
        tests(
            "TidemarkViewsTests",
            [
                "TidemarkInspect", "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore",
                "TidemarkEvents", "ViewsSupport", "RulesSupport",
            ]),
        tests(
            "TidemarkHTTPTests",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkSync", "TidemarkStore", "TidemarkEvents",
                httpTypes,
            ]),
        tests(
            "TidemarkSyncTests",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkInspect", "TidemarkSync",
                "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents",
                httpTypes, "SyncSupport", "ViewsSupport",
            ]),
        tests(
            "TidemarkCapsuleTests",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkCapsule", "TidemarkSync",
                "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore", "TidemarkEvents",
                httpTypes, "CapsuleSupport", "SyncSupport",
            ]),
        tests(
            "TidemarkTests",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkInspect", "TidemarkCapsule",
                "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore",
                "TidemarkEvents", "DocExamples", httpTypes, "SyncSupport",
            ]),
        tests(
            "TidemarkInspectTests",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkReplay", "TidemarkInspect",
                "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules", "TidemarkStore",
                "TidemarkEvents", httpTypes, "SyncSupport", "ViewsSupport",
            ]),
        tests(
            "TidemarkReplayTests",
            [
                "TidemarkReplay", "TidemarkTesting", "TidemarkInspect", "TidemarkHTTP", "Tidemark",
                "TidemarkCapsule", "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkRules",
                "TidemarkStore", "TidemarkEvents", httpTypes, "CapsuleSupport", "SyncSupport",
            ]),
        tests(
            "TidemarkTestingTests",
            [
                "TidemarkTesting", "TidemarkHTTP", "TidemarkSync", "TidemarkEvents", httpTypes,
            ]),
        // The tool as it is built, as a process.
        tests(
            "ToolTests",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkReplay", "TidemarkInspect",
                "TidemarkSync", "TidemarkViews", "TidemarkLog", "TidemarkStore", "TidemarkEvents",
                httpTypes, "SyncSupport",
            ]),
        // Devices on the servers that Tools/test starts.
        tests(
            "RealServerTests",
            [
                "Tidemark", "TidemarkHTTP", "TidemarkTesting", "TidemarkInspect", "TidemarkSync",
                "TidemarkViews", "TidemarkRules", "TidemarkEvents", "DocExamples", httpTypes,
                "SyncSupport",
            ]),
        tests("InstructionTests", ["instruction-probe"]),
        tests("ProjectTests", [crypto]),
    ]
)

// `Tools/test --fast` runs what needs neither a server nor a program that is built beside tests,
// and nothing else is built for it.
if Context.environment["TIDEMARK_TESTS"] == "fast" {
    let others: Set = [
        "TidemarkTool", "tidemark-cli", "own-tool", "todo", "toggl-server", "readme-example",
        "crash-child",
        "ToolTests", "RealServerTests",
        "EventProto", "EventProtoTests",
    ]
    package.targets.removeAll { others.contains($0.name) }
    package.products.removeAll { others.contains($0.name) }
}
