// Redactor+Payloads.swift — payloads, member by member: the tables of TidemarkEvents/Payloads tell
// what each member holds. A member that is in none of them is a text, and so is its name.

import TidemarkEvents
import TidemarkLog
import TidemarkSync

extension Redactor {
    /// The payload of an event of this kind.
    func payload(_ kind: EventKind, _ bytes: [UInt8], of collection: String?) throws -> [UInt8] {
        switch kind.form {
        case .document:
            let new = document(bytes, of: collection)
            // Of a pruned entity, only this hash is left.
            note(digest: hexadecimalHash(bytes), became: hexadecimalHash(new))
            return new
        case .patch: return patch(bytes, of: collection)
        case .registration: return model(bytes)
        case .members(let type): return members(bytes, type.shapes, kind, collection)
        case .nothing: return members(bytes, [], kind, collection)
        case nil: return bytes
        }
    }

    private func members(
        _ bytes: [UInt8], _ shapes: [PayloadMemberShape], _ kind: EventKind, _ collection: String?
    ) -> [UInt8] {
        guard case .object(var object)? = try? JSONValue(parsing: bytes) else {
            return document(bytes, of: collection)
        }
        let named = NamedBody(stored: bytes)
        if let digits = named.digest, let body = bodyReference(digits),
            let length = shapes.first(where: { $0.content == .bodyLength })
        {
            object[length.name] = .number(JSONNumber(body.bytes))
            note(digest: Array(digits.utf8), became: Array(body.digits.utf8))
        }
        func replaced() -> [UInt8] {
            JSONValue.object(
                self.object(object, shapes, collection, isAnswer: kind == .requestAnswered)
            ).encoded()
        }
        if kind == .serverUnreadable {
            // An unreadable record is identified by the hash of its bytes.
            let old = ServerUnreadable(stored: bytes).digest
            let new = ServerUnreadable(stored: replaced()).body.bytes
            if !old.isEmpty { note(digest: Array(old.utf8), became: hexadecimalHash(new)) }
        }
        return replaced()
    }

    private func object(
        _ object: JSONObject, _ shapes: [PayloadMemberShape], _ collection: String?,
        isAnswer: Bool = false
    ) -> JSONObject {
        var new = JSONObject()
        for (name, value) in object {
            switch shapes.member(name) {
            case nil: new[self.name(name)] = body(value, of: collection)
            // The answers that it names are in no redacted capsule.
            case let shape? where shape.content == .kept: break
            case let shape? where shape.content == .headerField:
                if let content = server.meaning(ofMember: name)?.content {
                    new[name] = member(content, value, collection)
                } else if FetchAnswer.decides(name, value.stringValue ?? "") {
                    new[name] = value
                } else if FetchAnswer.isAddress(name) {
                    new[name] = member(.address, value, collection)
                } else {
                    new[self.name(name)] = body(value, of: collection)
                }
            case let shape? where shape.extent == .prefix:
                let rest = text(String(name.dropFirst(shape.name.count)))
                new[shape.name + rest] = member(shape.content, value, collection)
            case let shape? where shape.content == .body:
                new[name] = body(value, of: collection, isAnswer: isAnswer)
            case let shape?: new[name] = member(shape.content, value, collection)
            }
        }
        return new
    }

    private func member(
        _ content: PayloadContent, _ value: JSONValue, _ collection: String?
    ) -> JSONValue {
        switch (content, value) {
        case (.plain, _), (.bodyLength, _), (.ruleAnswer, .string):
            plain(value)
        case (.word, .string(let text)): .string(word(text))
        case (.listScope, .string(let text)): .string(listScope(text))
        // A collection, and the scope of a part of it.
        case (.listScope, .array(let parts)):
            .array(
                parts.prefix(1).map { member(.text, $0, collection) }
                    + parts.dropFirst().map { member(.listScope, $0, collection) })
        case (.text, .string(let text)), (.owner, .string(let text)), (.reason, .string(let text)):
            .string(self.text(text))
        case (.detail, .string(let text)): .string(detail(text))
        case (.token, .string(let text)), (.cursor, .string(let text)): .string(token(text))
        case (.httpDate, .string(let text)): .string(httpDate(text) ?? self.text(text))
        case (.path, .string(let text)), (.address, .string(let text)): .string(url(text))
        case (.base64, .string(let text)): .string(base64(text))
        case (.time, .number): microseconds(value) ?? body(value, of: collection)
        // The document of a conflict rule.
        case (.ruleAnswer, .object(let object)): .object(self.object(object, [], collection))
        case (.object(let shapes), .object(let object)):
            .object(self.object(object, shapes, collection))
        case (.entity, _): entity(value)
        case (.object(let shapes), .array(let list)):
            .array(
                list.map { item in
                    item.object.map { .object(self.object($0, shapes, collection)) }
                        ?? body(item, of: collection)
                })
        case (.references, .array(let list)): .array(list.map { reference($0, collection) })
        case (.tokensByName, .object(let object)): .object(named(object, .token, collection))
        case (.timesByID, .object(let object)): .object(named(object, .time, collection))
        case (.scope, .object(let object)):
            .object(
                object.reduce(into: JSONObject()) { new, part in
                    new[part.key] = .array(
                        (part.value.array ?? []).map {
                            reservation($0) ?? selection($0) ?? entity($0)
                        })
                })
        case (.scope, _): plain(value)
        case (.feedCursor, .object(let object)): .object(cursor(object, collection))
        // The names of a feed's parts are ours.
        case (.cursors, .object(let object)):
            .object(
                object.reduce(into: JSONObject()) { new, part in
                    new[part.key] = member(.feedCursor, part.value, collection)
                })
        case (.text, .array(let list)), (.time, .array(let list)):
            .array(list.map { member(content, $0, collection) })
        default: body(value, of: collection)
        }
    }

    private func named(
        _ object: JSONObject, _ content: PayloadContent, _ collection: String?
    ) -> JSONObject {
        object.reduce(into: JSONObject()) { new, element in
            new[text(element.key)] = member(content, element.value, collection)
        }
    }

    /// A part of a collection that a run lists; nil for anything else.
    private func selection(_ value: JSONValue) -> JSONValue? {
        guard var object = value.object else { return nil }
        if let name = object["collection"]?.stringValue {
            object["collection"] = .string(text(name))
        }
        if let parameters = object["parameters"].flatMap({ ListParameters($0) }) {
            object["parameters"] = .object(replaced(parameters).json)
        }
        return .object(object)
    }

    /// Values of a pool that a run has reserved; nil for anything else.
    private func reservation(_ value: JSONValue) -> JSONValue? {
        guard var object = value.object, let pool = object["pool"]?.stringValue,
            let key = object["key"]?.array
        else { return nil }
        object["pool"] = .string(text(pool))
        object["key"] = .array(key.map { member(.text, $0, nil) })
        return .object(object)
    }

    private func replaced(_ parameters: ListParameters) -> ListParameters {
        ListParameters(
            Dictionary(
                parameters.all.map { (name($0.name), text($0.value)) }, uniquingKeysWith: { $1 }))
    }

    /// The name of the part that a list is of: a word of ours, or its parameters.
    func listScope(_ scope: String) -> String {
        if let folder = PullTarget("", scope: scope).folder {
            return PullTarget.folderScope + text(folder)
        }
        return ListParameters(scope: scope).map { replaced($0).scope } ?? word(scope)
    }

    /// `collection/id`.
    private func entity(_ value: JSONValue) -> JSONValue {
        guard let text = value.stringValue else { return plain(value) }
        return .string(EntityKey(text).map { key($0).description } ?? self.text(text))
    }

    /// Where a part of a feed goes on: its key is a time, in the form that the server's have.
    private func cursor(_ object: JSONObject, _ collection: String?) -> JSONObject {
        object.reduce(into: JSONObject()) { new, element in
            new[element.key] =
                element.key == "id"
                ? member(.text, element.value, collection)
                : value(
                    element.value, .time(rules.dates[collection ?? ""] ?? .iso8601),
                    RedactionContext(collection: collection))
        }
    }

    /// The cursor of a watermark: of a feed, or as the server wrote it.
    func cursor(_ bytes: [UInt8], of collection: String?) -> [UInt8] {
        guard let value = try? JSONValue(parsing: bytes), FeedCursor(value) != nil,
            case .object(let object) = value
        else { return token(bytes) }
        return JSONValue.object(cursor(object, collection)).encoded()
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

    /// Numbers stay, and so do Tidemark's words.
    private func plain(_ value: JSONValue) -> JSONValue {
        switch value {
        case .null, .bool, .number: value
        case .string(let text):
            isPlain(text) ? value : .string(word(text))
        case .array(let list): .array(list.map(plain))
        case .object: body(value, of: nil)
        }
    }

    /// Whether a text is a number, or a name of Tidemark with a version.
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

    /// A model; of its remote only the adapter and words of its server stay.
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
            case (_, .string(let text)) where server.constants[name]?.contains(text) == true:
                new[name] = value
            case (_, .string(let text)) where server.remoteVersions.contains(name):
                let number = text.prefix { $0 == "." || $0.isASCII && $0.isNumber }
                new[name] = .string(
                    String(number) + self.text(String(text.dropFirst(number.count))))
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
        guard old.isOfKnownShape, old.kind.form != nil else {
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
        case .json: event.payload = try payload(old.kind, old.payload, of: owner(of: old))
        }
        return event
    }

    /// The collection that all of an event's payload is of; nil for an answer whose request is not
    /// in the capsule, or is of several collections.
    private func owner(of event: Event) -> String? {
        if event.kind == .requestAnswered, event.entity == nil, let call = event.call,
            requests[call]?.count != 1
        {
            return nil
        }
        return event.collection?.rawValue
    }
}

extension ServerWords.Field.Meaning {
    /// The content of the payload member for such a field.
    fileprivate var content: PayloadContent {
        switch self {
        case .notice, .other: .text
        case .rest, .number: .plain
        case .nextPage: .address
        }
    }
}
