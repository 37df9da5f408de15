// AssetPayloadTests.swift — what stands in the log about files beside entities.

import Testing
import TidemarkEvents

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

private func words(_ kind: EventKind, _ json: String) -> String? {
    Event(kind, recordedAt: Timestamp(rawValue: 1), json: bytes(json)).words
}

@Suite struct `a file beside an entity` {
    private static let digest = String(repeating: "0f", count: 32)

    @Test func `has events with numbers, names and a family for ever`() {
        let kinds: [EventKind] = [.assetWanted, .assetStored, .assetRemoved, .assetUsed]

        #expect(kinds.map(\.rawValue) == [90, 91, 92, 93])
        #expect(
            kinds.map(\.description) == [
                "asset.wanted", "asset.stored", "asset.removed", "asset.used",
            ])
        #expect(kinds.allSatisfy { $0.family == .asset })
    }

    @Test func `is wanted, and no longer, by the same members`() throws {
        let wanted = AssetWanted("photo", by: "user")
        let json = #"{"field":"photo","by":"user","scope":"entity","wanted":true}"#
        #expect(wanted.encoded == bytes(json))
        #expect(try AssetWanted(reading: bytes(json)) == wanted)

        let all = try AssetWanted(reading: bytes(#"{"by":"gallery","wanted":false}"#))
        #expect(all == AssetWanted("", by: "gallery", isWanted: false))
        let newer = try AssetWanted(reading: bytes(#"{"by":"user","scope":"galaxy"}"#))
        #expect(newer.scope == .entity && newer.isWanted)
    }

    @Test(arguments: [UInt64(0), 1, 1 << 40])
    func `is stored with its length, also where it is empty`(_ length: UInt64) throws {
        let stored = AssetStored(digest: Self.digest, bytes: length, .imported)
        let json = #"{"sha256":"\#(Self.digest)","bytes":\#(length),"origin":"import"}"#

        #expect(stored.encoded == bytes(json))
        #expect(try AssetStored(reading: stored.encoded) == stored)
    }

    @Test func `is stored under the name that the server has for it`() throws {
        let stored = AssetStored(digest: Self.digest, bytes: 3, .download, source: "/p/1.jpg")

        #expect(try AssetStored(reading: stored.encoded) == stored)
        #expect(try AssetStored(reading: bytes(#"{"origin":"swap"}"#)).origin == nil)
    }

    @Test(arguments: AssetRemoved.Reason.allCases)
    func `is removed for a reason`(_ reason: AssetRemoved.Reason) throws {
        let removed = AssetRemoved(digest: Self.digest, reason)

        #expect(try AssetRemoved(reading: removed.encoded) == removed)
        #expect(
            words(.assetRemoved, #"{"sha256":"\#(Self.digest)","reason":"\#(reason.rawValue)"}"#)
                == "the file 0f0f0f0f0f0f was removed: \(reason.rawValue)")
    }

    @Test func `tells a person what happened to it`() {
        #expect(
            words(.assetWanted, #"{"field":"photo","by":"user","wanted":true}"#)
                == "what photo names is wanted by the user")
        #expect(
            words(.assetWanted, #"{"by":"gallery","wanted":false}"#)
                == "what it names is no longer wanted by gallery")
        #expect(
            words(.assetStored, #"{"sha256":"\#(Self.digest)","bytes":9,"origin":"download"}"#)
                == "its file was fetched and stored (0f0f0f0f0f0f, 9 bytes)")
        #expect(
            words(.assetStored, #"{"sha256":"\#(Self.digest)","bytes":9,"origin":"import"}"#)
                == "a file of the user's was stored (0f0f0f0f0f0f, 9 bytes)")
        #expect(words(.assetStored, "{}") == "a file was stored (, 0 bytes)")
        #expect(words(.assetUsed, #"{"sha256":"ab"}"#) == "its file was used")
    }
}
