// RedactionSecretCapsule.swift — a capsule with events of all kinds and a secret in each place.

import Foundation
import TidemarkCapsule
import TidemarkEvents
import TidemarkLog
import TidemarkViews

enum SecretCapsule {
    static let places = [
        "account", "device", "boot", "origin", "bucket", "variable", "id", "field", "nested",
        "fieldname", "escaped", "array", "unset", "path", "query", "destination", "etag",
        "requestbody", "sentid", "message", "errorbody", "alert", "nextpage", "unreadable",
        "unreadname", "problem", "calendar", "calendarname", "longbody", "bytes", "opaque",
        "cursor", "epoch", "serverid", "heldid", "detail", "answer", "baseid", "basefield",
        "refusal", "alias", "baseaccount", "pending", "newmember", "lastid",
        "stagedid", "stageddocument",
    ]

    static func secret(_ place: String) -> String {
        // No two begin alike, so that none keeps what it shares with another one.
        let number = places.firstIndex(of: place) ?? 0
        let head = String(Character(Unicode.Scalar(UInt8(0x61 + number % 26))))
        return "\(head)\(number)Quokka\(String(place.reversed()))Zebra"
    }

    private static func percent(_ place: String) -> String {
        secret(place).utf8.map { String(format: "%%%02X", $0) }.joined()
    }

    private static func escaped(_ place: String) -> String {
        secret(place).utf16.map { String(format: "\\u%04x", $0) }.joined()
    }

    private static let model = """
        {"name":"notes","collections":[{"name":"notes","lastChange":"changed",\
        "conflict":"serverWins","references":{"list":"notes"}}],"remote":{"origin":\
        "https://\(secret("origin")).example","adapter":"kinto","bucket":"\(secret("bucket"))",\
        "credentialsVariable":"\(secret("variable"))"}}
        """

    static let longBody = Array(
        "{\"trace\":\"\(String(repeating: secret("longbody") + " ", count: 120))\"}".utf8)

    private static let item = """
        BEGIN:VCALENDAR\r\nVERSION:2.0\r\nUID:\(secret("calendar"))\r\nSUMMARY;\
        X=\(secret("calendar")):\(secret("calendar"))\r\n \(secret("calendar"))\r\n\
        DTSTART:20261121T120544Z\r\n\(secret("calendarname")):1\r\nEND:VCALENDAR\r\n
        """

    /// Payloads in the order of their events; the first one is `@11`.
    private static func payloads() -> [(EventKind, String, id: String?)] {
        let s = secret
        let long = BodyReference(to: longBody)
        let id = s("id")
        return [
            (
                .storeOpened,
                """
                {"build":"t","device":"\(s("device"))","account":"\(s("account"))"}
                """, nil
            ),
            (.modelRegistered, model, nil),
            (
                .localCreated,
                """
                {"title":"\(s("field"))","x":{"\(s("nested"))":["\(s("array"))"]},\
                "\(s("fieldname"))":1,"e":"\(escaped("escaped"))"}
                """, id
            ),
            (.localUpdated, #"{"set":{"title":"b"},"unset":["\#(s("unset"))"]}"#, id),
            (
                .syncStarted,
                """
                {"trigger":"userRequested","bootID":"\(s("boot"))","begunAt":5,"uptime":1}
                """, nil
            ),
            (
                .requestSent,
                """
                {"method":"PUT","path":"/v1/\(percent("path"))/\(s("sentid"))?q=\
                \(percent("query"))&\(s("query"))","Destination":"/v1/\(s("destination"))",\
                "If-Match":"\\"\(s("etag"))\\"",\
                "covers":[13],"rule":"push/1","body":{"data":{"title":"\(s("requestbody"))"}}}
                """, id
            ),
            (
                .requestAnswered,
                """
                {"status":400,"Date":"\(s("message")), 21 Nov 2026 12:05:44 GMT",\
                "Alert":"\(s("alert"))","Next-Page":"http://\(s("nextpage"))/v1/x?_token=\
                \(s("nextpage"))","bodyBytes":\(long.bytes),"bodySHA256":"\(long.digits)"}
                """, nil
            ),
            (
                .requestAnswered,
                """
                {"status":400,"body":{"code":400,"message":"\(s("errorbody"))",\
                "\(s("newmember"))":{"\(s("newmember"))":"\(s("newmember"))"}}}
                """, nil
            ),
            (
                .pushRejected,
                #"{"status":400,"message":"\#(s("message")) is bad","\#(s("newmember"))":1}"#, id
            ),
            (.requestFailed, #"{"error":"offline","detail":"\#(s("detail"))"}"#, nil),
            (
                .serverUnreadable,
                """
                {"name":"\(s("unreadname"))","sha256":"00","problem":"\(s("problem"))",\
                "bodyBase64":"\(Base64.encode(Array(s("unreadable").utf8) + [0xFF]))"}
                """, nil
            ),
            (
                .serverUpserted,
                #"{"id":"t","data":"\#(item.replacing("\r\n", with: #"\r\n"#))"}"#, "t"
            ),
            (
                .serverUpserted,
                #"{"id":"u","dataBase64":"\#(Base64.encode(Array(item.utf8) + [0xFF]))"}"#, "u"
            ),
            (
                .pushAccepted,
                #"{"serverID":"\#(s("serverid"))","issues":[{"severity":"warning","#
                    + #""code":"\#(s("code"))","message":"\#(s("said"))","#
                    + #""path":"/\#(s("path"))","value":"\#(s("value"))"}]}"#, id
            ),
            (.serverDescribed, #"{"collections":{"notes":"\#(s("epoch"))"}}"#, nil),
            (
                .ruleAnswered,
                """
                {"rule":"r","version":1,"inputs":"ab","answer":{"document":{"a":"\(s("answer"))"}}}
                """, id
            ),
            (
                .pullPage,
                #"{"scope":"","ids":["\#(id)"],"at":["="],"times":{"\#(s("heldid"))":5}}"#, nil
            ),
            (
                .pullCompleted,
                """
                {"scope":"","complete":true,"full":true,"epoch":"\(s("epoch"))",\
                "held":["\(s("heldid"))"],"of":3}
                """, nil
            ),
            (
                .issueAnswered,
                #"{"issue":"unreadable","name":"\#(s("unreadname"))","answer":"discard"}"#, nil
            ),
            (
                .syncFinished,
                """
                {"outcome":"incomplete","detail":"\(s("detail"))",\
                "paused \(s("detail"))":"forbidden"}
                """, nil
            ),
            (
                .reservedAdded,
                """
                {"pool":"\(s("pool"))","key":["\(s("poolkey"))"],"pattern":"\(s("pattern"))",\
                "values":["\(s("reserved"))"],"until":[1795264562378000,null]}
                """, nil
            ),
            (
                .reservedTaken,
                """
                {"pool":"\(s("pool"))","key":["\(s("poolkey"))"],"value":"\(s("reserved"))"}
                """, nil
            ),
            (.triggerReceived, #"{"trigger":"userRequested"}"#, nil),
            (.timerFired, #"{"timer":"cleanUp","now":1795264562378000}"#, nil),
            (
                .assetWanted,
                #"{"by":"\#(s("wanter"))","scope":"entity","wanted":true}"#, id
            ),
            (
                .assetStored,
                """
                {"sha256":"\(s("digest"))","bytes":3,"origin":"import","source":"\(s("source"))"}
                """, id
            ),
            (.assetRemoved, #"{"sha256":"\#(s("digest"))","reason":"unused"}"#, id),
            (.assetUsed, #"{"sha256":"\#(s("digest"))"}"#, id),
            (.pushRelayed, #"{"via":"\#(s("channel"))","confirmed":true}"#, id),
            (.localWiped, #"{"keeps":["\#(s("wipekept"))"]}"#, nil),
        ]
    }

    private static func events() -> [Event] {
        var events = payloads().map { kind, json, id in
            Event(
                kind, recordedAt: Timestamp(rawValue: 1_795_262_744_000_000),
                key: id.map { EntityKey("notes", $0) }, collection: "notes",
                json: Array(json.utf8)
            ).checked
        }
        for index in events.indices {
            switch events[index].kind {
            case .localCreated:
                events[index].idempotencyKey = [0, 0, 0, 0, 0, 0] + secret("bytes").utf8.prefix(10)
            case .requestSent, .pushRejected, .pushAccepted, .pushRelayed:
                events[index].mutation = Position(13)
            case .serverUpserted: events[index].revision = Revision("\"\(secret("etag"))\"")
            case .pullCompleted: events[index].revision = Revision(secret("cursor"))
            default: break
            }
        }
        var opaque = Event(
            .serverDeleted, recordedAt: events[0].recordedAt, key: EntityKey("notes", "o"))
        opaque.payload = [0xFF, 0xFE] + Array(secret("opaque").utf8)
        opaque.payloadType = .opaque
        opaque.revision = Revision(rawValue: [0xFF] + Array(secret("bytes").utf8))
        return events + [opaque]
    }

    private static func base() -> [SnapshotRow] {
        var pending = ProtoWriter()
        pending.position(1, Position(5))
        pending.varint(2, EntityRow.Pending.Kind.update.rawValue)
        pending.string(3, #"{"set":{"title":"\#(secret("pending"))"},"unset":[]}"#)
        pending.flag(5, true)
        var row = ProtoWriter()
        row.varint(1, EntityRow.BaseState.live.rawValue)
        row.string(2, #"{"title":"\#(secret("basefield"))"}"#)
        row.position(3, Position(3))
        row.position(4, Position(3))
        row.message(7, pending.bytes)
        row.string(8, #"{"title":"\#(secret("pending"))"}"#)
        row.position(11, Position(6))
        row.varint(12, 400)
        row.string(13, secret("refusal"))
        row.string(34, #"{"title":"\#(secret("lastid"))"}"#)
        let key = EntityKey("notes", secret("baseid"))
        func fact(_ payload: String) -> [UInt8] {
            StoreFactRow(position: Position(1), payload: Array(payload.utf8)).encoded
        }
        var kept = ProtoWriter()
        kept.string(1, secret("keptname"))
        kept.position(2, Position(2))
        var wipes = ProtoWriter()
        wipes.position(1, Position(1))
        wipes.message(2, kept.bytes)
        let stagedKey = EntityKey("notes", secret("stagedid"))
        let staged = StagedRow(
            Event(
                .serverUpserted, recordedAt: Timestamp(rawValue: 1), key: stagedKey,
                cause: Position(4), sync: Position(3),
                json: Array(#"{"title":"\#(secret("stageddocument"))"}"#.utf8)),
            Position(3), Position(5))
        return [
            SnapshotRow(key: .entity(key), value: row.bytes),
            SnapshotRow(key: .staged(stagedKey), value: staged.encoded),
            SnapshotRow(key: .wipes, value: wipes.bytes),
            SnapshotRow(key: .binding(EntityKey("notes", secret("alias"))), value: key.bytes),
            SnapshotRow(key: .store("model"), value: fact(model)),
            SnapshotRow(
                key: .store("opened"), value: fact(#"{"account":"\#(secret("baseaccount"))"}"#)),
        ].sorted { $0.key < $1.key }
    }

    static func make() -> Capsule {
        let commits = events().enumerated().map { index, event in
            let position = Position(UInt64(11 + index))
            return Capsule.Commit(
                entries: [Capsule.Entry(position: position, event: event)], views: [])
        }
        return Capsule(
            provenance: Capsule.Provenance(
                build: "t", last: Position(UInt64(10 + commits.count)), root: []),
            base: Capsule.Base(position: Position(10), rows: base()), commits: commits,
            bodies: [longBody])
    }
}
