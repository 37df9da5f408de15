// ContentRowTests.swift — counts in rows about files, as a stranger's capsule may have them.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import TidemarkViews

@Suite struct `rows about files from a stranger` {
    private let photo = ContentField("tasks", "photo")

    /// A file that is referenced so often by each of some fields, and that nobody wants.
    private func row(_ references: UInt64, _ fields: Int = 1) throws -> ContentRow {
        var row = ProtoWriter()
        for number in 0..<fields {
            var hold = ProtoWriter()
            hold.message(1, "tasks")
            hold.message(2, number == 0 ? "photo" : "photo\(number)")
            hold.varint(3, references)
            row.message(8, hold.bytes)
        }
        return try ContentRow(parsing: row.bytes)
    }

    @Test func `count no less than nothing, so that they can be written again`() throws {
        var row = try row(5)
        row.own.add(
            ContentHold(field: photo, references: 1, wanted: 1, sends: 1, asked: 1), times: -1)

        let hold = try #require(row.own.first)
        #expect(hold.references == 4)
        #expect(hold.wanted == 0 && hold.sends == 0 && hold.asked == 0)
        #expect(try ContentRow(parsing: row.encoded) == row)
    }

    @Test func `count no more than can be added`() throws {
        var row = try row(.max, 3)
        row.own.add(ContentHold(field: photo, references: 1, wanted: 1))

        #expect(row.own.reduce(0) { $0 + $1.references } > 3)
    }

    @Test func `tell of failures as often as one more can be counted`() throws {
        var writer = ProtoWriter()
        for field: UInt32 in [5, 6, 13] { writer.varint(field, .max) }
        var progress = try FetchStanding(parsing: writer.bytes).progress
        for result in [ReceivedFile.Result.failed, .anew, .partless, .refused] {
            progress = TransferRule.after(
                result, progress, from: 0, bytes: 0, total: nil, tag: nil)
        }
        #expect(progress.failures > 0)

        var sent = ProtoWriter()
        for field: UInt32 in [4, 5, 8] { sent.varint(field, .max) }
        var row = try SendRow(parsing: sent.bytes)
        row.failures += 1
        #expect(try SendRow(parsing: row.encoded).failures >= row.failures - 1)
    }
}

@Suite struct `a row of a file that is sent below an entity` {
    private func source(_ digest: String, below id: String) -> ContentSource {
        var source = ContentSource(CollectionName(String(repeating: "c", count: 100)), digest)
        source.entity = id
        return source
    }

    @Test(arguments: [1, 400])
    func `is that of one file and one entity, however long their names are`(_ length: Int) throws {
        let ids = ["a", "b"].map { String(repeating: "i", count: length - 1) + $0 }
        let digests = ["0", "1"].map { String(repeating: $0, count: 64) }
        let sources = ids.flatMap { id in digests.map { source($0, below: id) } }

        let keys = sources.map(RowKey.send)

        #expect(Set(keys).count == 4 && Set(sources).count == 4)
        #expect(keys.allSatisfy { $0.bytes.count <= RowKey.bytesMax })
        var row = SendRow()
        (row.entity, row.digest) = (ids[0], digests[0])
        #expect(try SendRow(parsing: row.encoded) == row)
    }
}
