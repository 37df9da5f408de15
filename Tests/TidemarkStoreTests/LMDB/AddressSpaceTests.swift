// AddressSpaceTests.swift — a map that the system has no address space for.

import Foundation
import TestSupport
import Testing

@testable import TidemarkStore

@Suite struct `sizes of a map` {
    @Test func `are tried from the wanted one down to what the file needs`() {
        #expect(
            MapSizes.opening(wanted: 64 << 30, fileBytes: 5 << 30).map { $0 >> 20 }
                == [65_536, 32_768, 16_384, 8192, 5761])
        #expect(MapSizes.opening(wanted: 4 << 20, fileBytes: 0).map { $0 >> 20 } == [4, 2, 1])
        #expect(MapSizes.opening(wanted: 1000, fileBytes: 0) == [1 << 16])
        // LMDB itself takes as much as the file has.
        #expect(MapSizes.opening(wanted: 1 << 20, fileBytes: 1 << 30) == [1 << 20])
    }

    @Test func `are shares of what one alone would take, with room for each file to grow`() {
        func share(_ stores: Int, fileBytes: Int = 1 << 20, addressBytes: Int? = nil) -> Int {
            MapSizes.share(
                of: 64 << 30, stores: stores, fileBytes: fileBytes, addressBytes: addressBytes)
        }
        #expect([1, 2, 64, 4096].map { share($0) >> 30 } == [64, 32, 1, 1])
        #expect(share(4096, fileBytes: 5 << 30) == 20 << 30)
        #expect(share(4096, fileBytes: 50 << 30) == 64 << 30)
        // User space has 47 bits or, on some boards, 39.
        #expect((1...4096).reduce(0) { $0 + share($1) } < 1 << 46)
        #expect((1...64).reduce(0) { $0 + share($1) } < 1 << 39)
        // What the app itself says is no more than it says.
        #expect(MapSizes.share(of: 1000, stores: 9, fileBytes: 1 << 30, addressBytes: nil) == 1000)
    }

    @Test func `leave most of a limited address space to the process`() {
        func share(_ fileBytes: Int) -> Int {
            MapSizes.share(
                of: 64 << 30, stores: 1, fileBytes: fileBytes, addressBytes: 16 << 30)
        }
        #expect(share(0) == 1 << 30)
        #expect(share(8 << 30) == MapSizes.opening(wanted: 1 << 40, fileBytes: 8 << 30).last)
    }

    @Test func `grow by as much again, or by less`() {
        #expect(
            MapSizes.growth(from: 1 << 30, most: 1 << 40).map { $0 >> 20 }
                == [2048, 1536, 1280, 1152, 1088])
        #expect(MapSizes.growth(from: 1 << 20, most: (1 << 20) + 1).allSatisfy { $0 > 1 << 20 })
        #expect(MapSizes.growth(from: 3 << 20, most: 4 << 20).first == 4 << 20)
    }

    @Test func `follow a file that another process made longer`() {
        #expect(
            MapSizes.adoption(from: 1 << 20, fileBytes: 5 << 20).map { $0 >> 10 } == [8192, 6784])
        #expect(MapSizes.adoption(from: 1 << 30, fileBytes: 5 << 20).first == 1 << 30)
    }

    @Test func `that the system refuses are told with what helps`() {
        let error = StoreError.lmdb(ENOMEM, during: "open")
        #expect(error.code == .io)
        #expect(error.description.contains("address space"))
        #expect(!error.description.contains("Check the disk"))
    }
}

@Suite struct `many stores in one process` {
    let scratch: Scratch

    init() throws { scratch = try Scratch() }

    @Test func `have smaller maps each, which grow`() async throws {
        await #expect(processExitsWith: .success) { [folder = scratch.path as String] in
            let options = Environment.Options(tables: ["rows"], mapBytes: 64 << 30)
            let stores = try (1...70).map { try Environment.open(at: "\(folder)/\($0)", options) }

            let bytes = try stores.map { try $0.info().mapBytes }
            #expect(bytes[69] <= 1 << 30)
            #expect(bytes == bytes.sorted(by: >))
            let last = stores[69]
            try last.store(last.rows, [1], pattern(20_000))
            #expect(try last.value(last.rows, [1]) == pattern(20_000))
            for store in stores { try store.close() }
        }
    }
}

#if canImport(Glibc)
    @Suite struct `where address space is short` {
        let scratch: Scratch

        init() throws { scratch = try Scratch() }

        @Test func `a store opens with less than it would take, and is written to`() async throws {
            await #expect(processExitsWith: .success) { [store = scratch.store as String] in
                try limitAddressSpace(toMore: 7 << 30)
                let options = Environment.Options(tables: ["events", "rows"])
                let environment = try Environment.open(at: store, options)
                for number in 1...100 {
                    try environment.store(environment.rows, bigEndian(number), pattern(20_000))
                }
                let count = try environment.read { try $0.count(environment.rows) }
                let bytes = try environment.info().mapBytes
                try environment.close()
                #expect(count == 100)
                #expect(bytes >= 7 << 26 && bytes < 7 << 30)

                let again = try Environment.open(at: store, options.with { $0.readOnly = true })
                let value = try again.value(again.rows, bigEndian(100))
                #expect(value == pattern(20_000))
                try again.close()
            }
        }

        @Test func `a map that can't grow stays, and grows when there is more`() async throws {
            await #expect(processExitsWith: .success) { [store = scratch.store as String] in
                let environment = try Environment.open(
                    at: store, Environment.Options(tables: ["events", "rows"], mapBytes: 64 << 20))
                try environment.store(environment.rows, [1], [1])
                let large = pattern(65 << 20)

                try limitAddressSpace(toMore: 60 << 20)
                let error = Result { try environment.store(environment.events, [1], large) }.failure
                #expect(error?.code == .mapFull)
                #expect(error?.number == ENOMEM)
                try environment.store(environment.rows, [2], [2])
                let first = try environment.value(environment.rows, [1])
                let second = try environment.value(environment.rows, [2])
                #expect(first == [1] && second == [2])

                try limitAddressSpace(toMore: nil)
                try environment.store(environment.events, [1], large)
                let stored = try environment.value(environment.events, [1])
                #expect(stored == large)
                try environment.close()
            }
        }
    }
#endif
