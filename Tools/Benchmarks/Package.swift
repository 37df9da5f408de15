// swift-tools-version: 6.3
import PackageDescription

// A separate package, so that users of Tidemark never resolve the libraries that it is measured
// against.
let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v26)],
    dependencies: [
        .package(name: "tidemark", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0"),
    ],
    targets: [
        .systemLibrary(name: "CFloor", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        .executableTarget(
            name: "bench",
            dependencies: [
                "CFloor",
                .product(name: "Tidemark", package: "tidemark"),
                .product(name: "TidemarkInspect", package: "tidemark"),
                .product(name: "TidemarkSync", package: "tidemark"),
                .product(name: "TidemarkHTTP", package: "tidemark"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]),
    ]
)
