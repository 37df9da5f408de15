// Redactor+Payloads.swift — what each member of each payload is; Schemas/FORMAT.md says what it
// means. What is not named here is a text, its name, too.

import TidemarkEvents
import TidemarkLog

/// What a member of a payload is.
enum RedactionMember {
    /// Numbers and words of ours; any other text is replaced.
    case plain
    /// A word of ours, or any other text.
    case word
    /// An id, a message, a name: one text, or several.
    case text
    /// A version, a cursor or an epoch.
    case token
    /// By the names of collections.
    case tokens
    /// Words of ours around those of somebody else.
    case detail
    /// Microseconds since 1970, one or several.
    case time
    /// The same by ids.
    case timesByID
    case httpDate
    case url
    case body
    case base64
    /// A word of ours, an object with a document, or what an answer said beyond its events.
    case answer
    /// Ids, each with a version, and perhaps a time.
    case references
    /// How far a list is.
    case list
}

extension RedactionMember {
    private typealias Members = [String: RedactionMember]

    private static let bodies: Members = ["body": .body, "bodyText": .text, "bodyBase64": .base64]

    private static let runStart: Members = [
        "trigger": .plain, "triggers": .plain, "scope": .plain, "full": .plain, "begunAt": .time,
        "bootID": .text, "uptime": .plain, "seed": .plain,
    ]

    private static let byKind: [EventKind: [String: RedactionMember]] = [
        .storeOpened: ["build": .plain, "device": .text, "account": .text],
        .localDeleted: [:], .localDiscarded: [:], .localRetried: [:],
        .issueAnswered: ["issue": .plain, "index": .plain, "name": .text, "answer": .plain],
        .ruleAnswered: ["rule": .text, "version": .plain, "inputs": .text, "answer": .answer],
        .timerFired: ["timer": .plain, "now": .time],
        .syncStarted: runStart,
        .syncFinished: runStart.merging([
            "outcome": .plain, "detail": .detail, "requests": .plain, "pulled": .plain,
            "pushed": .plain, "conflicts": .plain, "rejected": .plain, "readBack": .plain,
            "pending": .plain, "refused": .plain, "unsettled": .plain, "held": .plain,
            "timeInDoubt": .plain, "restarted": .text, "endUptime": .plain, "answerUptime": .plain,
            "Date": .httpDate, "Backoff": .plain, "requestTimes": .time,
        ]) { old, _ in old },
        .requestSent: bodies.merging([
            "method": .plain, "path": .url, "If-Match": .token, "If-None-Match": .token,
            "sentAt": .time, "covers": .plain, "rule": .plain, "writes": .plain,
            "waited": .plain,
        ]) { old, _ in old },
        .requestAnswered: bodies.merging([
            "status": .plain, "Date": .httpDate, "uptime": .plain, "ETag": .token, "Alert": .text,
            "Backoff": .plain, "Next-Page": .url, "failure": .plain, "retryAfter": .plain,
            "mayHaveArrived": .plain,
            "bodyBytes": .plain, "bodySHA256": .text, "concerns": .plain, "answer": .answer,
        ]) { old, _ in old },
        .requestFailed: [
            "error": .plain, "mayHaveArrived": .plain, "detail": .text, "uptime": .plain,
            "concerns": .plain, "answer": .answer,
        ],
        .serverDescribed: ["collections": .tokens],
        .serverUnreadable: bodies.merging([
            "name": .text, "sha256": .text, "problem": .text,
        ]) { old, _ in old },
        .pullPage: [
            "scope": .plain, "ids": .text, "at": .plain, "times": .timesByID, "list": .list,
        ],
        .pullCompleted: [
            "scope": .plain, "complete": .plain, "full": .plain, "epoch": .token, "asked": .time,
            "held": .text, "hidden": .text, "of": .plain, "gone": .text,
        ],
        .pushAccepted: ["serverID": .text],
        .pushRejected: ["status": .plain, "message": .word],
    ]

    /// What stands in an object of ``answer``; nil for the document of a rule.
    static let noted: [String: RedactionMember] = [
        "is": .plain, "next": .url, "cursor": .token, "moves": .plain, "refs": .references,
        "same": .text, "unreadable": .text, "stale": .text, "missing": .text,
        "overtook": .plain,
    ]

    /// What stands in an object of ``list``.
    static let listed: [String: RedactionMember] = [
        "page": .plain, "asOf": .plain, "of": .plain, "after": .token, "next": .url,
        "cursor": .token, "epoch": .token, "asked": .time, "time": .time, "from": .time,
        "to": .time, "doubtful": .plain, "refs": .references, "same": .text, "unreadable": .text,
    ]

    /// The members of a kind's payloads; nil for a kind whose payloads are not ours, or not known.
    static func members(of kind: EventKind) -> [String: RedactionMember]? { byKind[kind] }
}

extension Redactor {
    /// The kinds whose payloads are documents, changes of them, and models.
    static let documents: Set<EventKind> = [
        .localCreated, .localUpdated, .serverUpserted, .serverDeleted, .modelRegistered,
    ]

    /// The payload of an event of a kind.
    func payload(_ kind: EventKind, _ bytes: [UInt8], of collection: String?) throws -> [UInt8] {
        switch kind {
        case .localCreated, .serverUpserted, .serverDeleted:
            let new = document(bytes, of: collection)
            // Of an entity that was pruned only this is left.
            note(digest: hexadecimalHash(bytes), became: hexadecimalHash(new))
            return new
        case .localUpdated: return patch(bytes, of: collection)
        case .modelRegistered: return model(bytes)
        default: break
        }
        guard let members = RedactionMember.members(of: kind) else { return bytes }
        guard case .object(var object)? = try? JSONValue(parsing: bytes) else {
            return document(bytes, of: collection)
        }
        if kind == .serverUnreadable { noteUnreadable(object, collection) }
        var new = JSONObject()
        if let digits = object["bodySHA256"]?.stringValue, let body = bodyReference(digits) {
            object["bodyBytes"] = .number(JSONNumber(body.bytes))
            note(digest: Array(digits.utf8), became: Array(body.digits.utf8))
        }
        for (name, value) in object {
            if name.hasPrefix("paused "), kind == .syncFinished {
                let collection = text(String(name.dropFirst(7)))
                new["paused " + collection] = plain(value)
            } else if name == "body", kind == .requestAnswered {
                new[name] = body(value, of: collection, isAnswer: true)
            } else if let member = members[name] {
                new[name] = self.member(member, value, collection)
            } else {
                new[self.name(name)] = body(value, of: collection)
            }
        }
        return JSONValue.object(new).encoded()
    }

    private func member(
        _ member: RedactionMember, _ value: JSONValue, _ collection: String?
    ) -> JSONValue {
        switch (member, value) {
        case (.plain, _): plain(value)
        case (.word, .string(let text)): .string(word(text))
        case (.text, .string(let text)): .string(self.text(text))
        case (.detail, .string(let text)): .string(detail(text))
        case (.token, .string(let text)): .string(token(text))
        case (.httpDate, .string(let text)): .string(httpDate(text) ?? self.text(text))
        case (.url, .string(let text)): .string(url(text))
        case (.base64, .string(let text)): .string(base64(text))
        case (.time, .number): microseconds(value) ?? body(value, of: collection)
        case (.answer, .string): plain(value)
        case (.answer, .object(let object)):
            .object(self.object(object, RedactionMember.noted, collection))
        case (.list, .object(let object)):
            .object(self.object(object, RedactionMember.listed, collection))
        case (.references, .array(let list)):
            .array(list.map { reference($0, collection) })
        case (.tokens, .object(let object)), (.timesByID, .object(let object)):
            .object(
                object.reduce(into: JSONObject()) { new, element in
                    let isToken = if case .tokens = member { true } else { false }
                    new[text(element.key)] = self.member(
                        isToken ? .token : .time, element.value, collection)
                })
        case (.text, .array(let list)), (.time, .array(let list)):
            .array(list.map { self.member(member, $0, collection) })
        default: body(value, of: collection)
        }
    }

    private func object(
        _ object: JSONObject, _ members: [String: RedactionMember], _ collection: String?
    ) -> JSONObject {
        object.reduce(into: JSONObject()) { new, element in
            if let member = members[element.key] {
                new[element.key] = self.member(member, element.value, collection)
            } else {
                new[name(element.key)] = body(element.value, of: collection)
            }
        }
    }

    private func reference(_ value: JSONValue, _ collection: String?) -> JSONValue {
        guard let items = value.array, let id = items.first else {
            return body(value, of: collection)
        }
        return .array(
            [member(.text, id, collection)]
                + items.dropFirst().map { item in
                    switch item {
                    case .null: item
                    case .number: member(.time, item, collection)
                    default: member(.token, item, collection)
                    }
                })
    }

    /// Numbers stay, and words of ours.
    private func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .number: value
        case .string(let text):
            isPlain(text) ? value : .string(word(text))
        case .array(let list): .array(list.map(plain))
        case .object: body(value, of: nil)
        }
    }

    /// Whether a text is a number, or a name of ours with a version.
    private func isPlain(_ text: String) -> Bool {
        if text.isEmpty || UInt64(text).map(String.init) == text { return true }
        return ["push/", "tidemark "].contains { name in
            text.hasPrefix(name) && text.utf8.count <= name.utf8.count + 12
                && text.utf8.dropFirst(name.utf8.count).allSatisfy { (0x2E...0x39).contains($0) }
        }
    }

    private func hexadecimalHash(_ bytes: [UInt8]) -> [UInt8] {
        Array(BodyReference(to: bytes).digits.utf8)
    }

    /// Takes note of the hash by which an unreadable record goes.
    private func noteUnreadable(_ object: JSONObject, _ collection: String?) {
        guard let digits = object["sha256"]?.stringValue else { return }
        var new: [UInt8] = []
        if let body = object["body"] { new = self.body(body, of: collection).encoded() }
        if let body = object["bodyText"]?.stringValue { new = Array(text(body).utf8) }
        if let body = object["bodyBase64"]?.stringValue {
            new = Base64.decode(base64(body)) ?? []
        }
        note(digest: Array(digits.utf8), became: hexadecimalHash(new))
    }

    /// A model; of its server only the adapter stays.
    private func model(_ bytes: [UInt8]) -> [UInt8] {
        guard case .object(var root)? = try? JSONValue(parsing: bytes) else { return text(bytes) }
        guard let remote = root["remote"]?.object else { return bytes }
        var new = JSONObject()
        for (name, value) in remote {
            switch (name, value) {
            case ("adapter", _): new[name] = value
            case ("credentialsVariable", _):
                new[name] = .string(Remote.usualCredentialsVariable)
            case ("origin", .string(let text)): new[name] = .string(url(text))
            // The user's own bucket is everybody's by that name.
            case ("bucket", "default"): new[name] = value
            case (_, .string(let text)):
                new[name] = .string(text.contains("/") ? url(text) : self.text(text))
            default: new[name] = body(value, of: nil)
            }
        }
        root["remote"] = .object(new)
        return JSONValue.object(root).encoded()
    }

    // MARK: Events

    func event(_ old: Event) throws -> Event {
        guard old.schemaVersion == 0,
            Self.documents.contains(old.kind)
                || RedactionMember.members(of: old.kind) != nil
        else {
            throw RedactionError(
                .unknown,
                "this version does not know what of \(old.kind) is a secret;"
                    + " use the one that wrote it"
            )
        }
        var event = old
        let collection = old.collection?.rawValue
        event.recordedAt = time(old.recordedAt)
        event.serverTime = old.serverTime.map { time($0) }
        event.bootID = old.bootID.map { text($0) }
        event.collection = collection.map { CollectionName(text($0)) }
        event.entity = old.entity.map { text($0) }
        event.revision = old.revision.map { Revision(rawValue: token($0.rawValue)) }
        event.idempotencyKey = old.idempotencyKey.map { idempotencyKey($0) }
        switch old.payloadType {
        case .none: break
        case .opaque: event.payload = text(old.payload)
        case .json: event.payload = try payload(old.kind, old.payload, of: collection)
        }
        return event
    }
}
