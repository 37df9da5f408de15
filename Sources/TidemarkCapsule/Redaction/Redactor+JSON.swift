// Redactor+JSON.swift — documents, patches and bodies: their structure stays, and so do names that
// a model mentions. Of the values, only null, true and false stay.

import TidemarkEvents
import TidemarkSync

/// What a JSON value is part of.
struct RedactionContext {
    /// Its collection; nil where it may be of any.
    var collection: String?
    /// Whether it was sent or received, so that a path in it is one of the server.
    var isExchange = false
    /// Whether numbers in it belong to the protocol.
    var isAnswer = false

    /// The context of a member of it.
    func inside(_ member: ServerWords.Member?) -> RedactionContext {
        var inner = self
        if member == .content { inner.isAnswer = false }
        return inner
    }
}

extension Redactor {
    /// A document; bytes that are no JSON count as text.
    func document(_ bytes: [UInt8], of collection: String?) -> [UInt8] {
        if bytes.isEmpty { return bytes }
        guard let value = try? JSONValue(parsing: bytes) else { return text(bytes) }
        return self.value(value, .replaced, RedactionContext(collection: collection)).encoded()
    }

    /// An update; its fields are treated as those of a document.
    func patch(_ bytes: [UInt8], of collection: String?) -> [UInt8] {
        guard case .object(let object)? = try? JSONValue(parsing: bytes) else {
            return document(bytes, of: collection)
        }
        let context = RedactionContext(collection: collection)
        var new = JSONObject()
        for (key, value) in object {
            if key == "unset", let names = value.array {
                new[key] = .array(names.map { fieldName($0, context) })
            } else {
                new[name(key)] = self.value(value, .replaced, context)
            }
        }
        return JSONValue.object(new).encoded()
    }

    private func fieldName(_ value: JSONValue, _ context: RedactionContext) -> JSONValue {
        value.stringValue.map { .string(name($0)) } ?? self.value(value, .replaced, context)
    }

    /// The body of a request or of an answer.
    func body(_ bytes: [UInt8]) throws -> [UInt8] {
        guard let value = try? JSONValue(parsing: bytes) else { return text(bytes) }
        return body(value, of: nil, isAnswer: true).encoded()
    }

    func body(
        _ value: JSONValue, of collection: String?, isAnswer: Bool = false
    ) -> JSONValue {
        let context = RedactionContext(
            collection: collection, isExchange: true, isAnswer: isAnswer)
        return self.value(value, .replaced, context)
    }

    /// A value in a field with this role.
    func value(
        _ value: JSONValue, _ role: RedactionRole, _ context: RedactionContext
    ) -> JSONValue {
        switch value {
        case .null, .bool: value
        case .array(let list): .array(list.map { self.value($0, role, context) })
        case .object(let object): .object(self.object(object, role, context))
        case .string(let text):
            switch role {
            case .kept, .keptOrNegative: kept(text)
            case .time(let format): time(value, format) ?? .string(plain(text))
            case .replaced: .string(plain(text))
            }
        case .number(let number):
            switch role {
            case .kept: value
            case .keptOrNegative: number.text.hasPrefix("-") ? .number(JSONNumber(-1)) : value
            case .time(let format): time(value, format) ?? .number(self.number(number))
            case .replaced: .number(self.number(number))
            }
        }
    }

    private func kept(_ text: String) -> JSONValue {
        keep(text)
        return .string(text)
    }

    private func object(
        _ object: JSONObject, _ role: RedactionRole, _ context: RedactionContext
    ) -> JSONObject {
        var new = JSONObject()
        for (key, value) in object {
            let inner = role == .kept ? .kept : rules.role(key, context.collection)
            let member = server.members[key]
            switch (member, value) {
            case (.path, .string(let path)) where context.isExchange && role != .kept:
                new[key] = .string(url(path))
            case (.number, .number):
                new[key] = context.isAnswer ? value : self.value(value, inner, context)
            case (.base64, .string(let encoded)) where role != .kept:
                new[key] = .string(base64(encoded))
            default:
                if role == .kept { keep(key) }
                new[role == .kept ? key : name(key)] = self.value(
                    value, inner, context.inside(member))
            }
        }
        return new
    }

    private func plain(_ text: String) -> String {
        lines(text) ?? self.text(text)
    }

    /// Bytes in Base64.
    func base64(_ encoded: String) -> String {
        guard let bytes = Base64.decode(encoded) else { return text(encoded) }
        if let lines = String(validating: bytes, as: UTF8.self).flatMap(self.lines) {
            return Base64.encode(Array(lines.utf8))
        }
        return Base64.encode(text(bytes))
    }
}
