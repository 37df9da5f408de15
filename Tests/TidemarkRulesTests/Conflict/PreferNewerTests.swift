// PreferNewerTests.swift — which side is newer, by the time of an edit and a field of the server's.

import Testing
import TidemarkEvents
import TidemarkRules

@testable import RulesSupport

@Suite struct `the newer of two sides` {
    @Test func `an edit whose time nobody knows loses, and so does one to a server without a time`()
        throws
    {
        let policy = ConflictPolicy.preferNewer(field: "at", margin: .seconds(86_400))
        var known = PendingChange.update(1, #"{"a":2}"#)
        known.editedAt = Timestamp(milliseconds: 1_000_000)
        let unknown = PendingChange.update(1, #"{"a":2}"#)
        func verdict(_ change: PendingChange, _ server: String) -> Verdict {
            Rebase([change], from: .live(#"{"a":1}"#), to: .live(server), policy).verdicts[0]
        }

        #expect(verdict(known, #"{"a":3,"at":1000}"#) == .stays)
        #expect(verdict(unknown, #"{"a":3,"at":1000}"#) == .superseded)
        for at in [#""soon""#, "null", "0", "[1000]", #""1000""#, "1e400"] {
            #expect(verdict(known, #"{"a":3,"at":\#(at)}"#) == .superseded, "\(at)")
        }
        #expect(verdict(known, #"{"a":3}"#) == .superseded)
    }

    @Test func `each change goes by its own time`() {
        var (early, late) = (
            PendingChange.update(1, #"{"a":2}"#), PendingChange.update(2, #"{"b":2}"#)
        )
        early.editedAt = Timestamp(milliseconds: 1_000_000)
        late.editedAt = Timestamp(milliseconds: 3_000_000)

        let rebase = Rebase(
            [early, late], from: .live(#"{"a":1,"b":1}"#),
            to: .live(#"{"a":3,"b":3,"at":2000}"#), .preferNewer(field: "at", margin: .zero))

        #expect(rebase.verdicts == [.superseded, .stays])
        #expect(rebase.conflicts.map(\.result) == [.serverWins, .localWins])
    }
}

@Suite struct `many edits of one entity` {
    private let policy = ConflictPolicy.preferNewer(field: "at", margin: .zero)

    /// Changes made one second after the other, the first one a second after 1970 began.
    private func made(_ changes: [PendingChange]) -> [PendingChange] {
        changes.enumerated().map { index, change in
            var change = change
            change.editedAt = Timestamp(milliseconds: Int64(index + 1) * 1_000)
            return change
        }
    }

    @Test func `hold a field by the last of them, and all by a deletion`() {
        let edits = made([
            .update(1, #"{"a":2}"#), .update(2, #"{"b":2}"#), .update(3, #"{"a":3}"#),
        ])
        let deleted = made([.update(1, #"{"a":2}"#), .update(2, #"{"b":2}"#), .delete(3)])
        let (old, new) = (Base.live(#"{"a":1,"b":1}"#), Base.live(#"{"a":9,"b":9,"at":2.5}"#))

        let held = Rebase(edits, from: old, to: new, policy)
        let gone = Rebase(deleted, from: old, to: new, policy)

        #expect(held.verdicts == [.stays, .superseded, .stays])
        #expect(gone.verdicts == [.stays, .stays, .stays])
    }

    @Test func `that lose are one conflict, though thousands of them were sent`() {
        let texts = (1...3_000).map { number in
            PendingChange.update(UInt64(number), #"{"a":\#(number)}"#, sent: true)
        }

        let rebase = Rebase(
            made(texts), from: .live(#"{"a":0}"#), to: .live(#"{"a":-1,"at":9000}"#), policy)

        #expect(rebase.verdicts.dropLast().allSatisfy { $0 == .coalesced })
        #expect(rebase.verdicts.last == .superseded)
        #expect(rebase.conflicts.map(\.position) == [Position(3_000)])
    }
}

@Suite struct `times in a server's field` {
    private func time(_ json: String) -> Timestamp? {
        PreferNewer.time(JSONDocument(#"{"at":\#(json)}"#), field: "at")
    }

    @Test(arguments: [
        (#""2017-09-01T12:00:00Z""#, 1_504_267_200_000_000),
        (#""2017-09-01T12:00:04.999Z""#, 1_504_267_204_999_000),
        (#""2017-09-01t12:00:00.1234567z""#, 1_504_267_200_123_456),
        (#""2017-09-01T14:30:00+02:30""#, 1_504_267_200_000_000),
        (#""2017-08-31 23:00:00-13:00""#, 1_504_267_200_000_000),
        ("1504267200", 1_504_267_200_000_000),
        ("1504267200.5", 1_504_267_200_500_000),
        ("99999999999", 99_999_999_999_000_000),
        ("100000000000", 100_000_000_000_000),
        ("1504267200000", 1_504_267_200_000_000),
        ("1.5042672e12", 1_504_267_200_000_000),
        ("-1", -1_000_000),
    ])
    func `are texts, seconds or milliseconds`(_ json: String, _ microseconds: Int64) {
        #expect(time(json)?.rawValue == microseconds)
    }

    @Test(arguments: [
        "2017-09-01", "2017-09-01T12:00", "2017-09-01T12:00:00", "2017-02-29T12:00:00Z",
        "2017-09-01T24:00:00Z", "2017-09-01T12:00:00.Z", "2017-09-01T12:00:00+24:00",
        "2017-09-01T12:00:00ZZ", "17-09-01T12:00:00Z", "", "Fri, 01 Sep 2017 12:00:00 GMT",
    ])
    func `are not guessed`(_ text: String) {
        #expect(time("\"\(text)\"") == nil)
    }
}
