// EventLines.swift — an event as one line: JSON for programs, text for people.
//
// The JSON line's members are sorted by name; Schemas/dump.schema.json describes them, and
// Tools/read_log.py prints the same bytes without any of this code.

package import TidemarkEvents

/// One event as a line.
package enum EventLine {
    /// The JSON line, without a line end.
    ///
    /// A payload is written as it is if it is JSON without control bytes, otherwise as base64.
    /// Times are microseconds since 1970.
    package static func json(_ position: Position, _ event: Event) -> [UInt8] {
        var line = JSONLine(capacity: 360 + event.payload.count)
        line.reference("asOf", event.asOf)
        line.text("boot", event.bootID)
        line.reference("call", event.call)
        line.reference("cause", event.cause)
        line.text("collection", event.collection?.rawValue)
        line.text("entity", event.entity)
        line.text("idempotencyKey", event.idempotencyKey.map { Base64.encode($0) })
        line.text("kind", event.kind.description)
        line.reference("mutation", event.mutation)
        if isPrintable(event.payload) {
            line.json("payload", event.payload)
        } else if !event.payload.isEmpty {
            line.text("payloadBase64", Base64.encode(event.payload))
        }
        line.number("position", position.rawValue)
        line.number("recordedAt", event.recordedAt.rawValue)
        if let revision = event.revision {
            if let words = String(validating: revision.rawValue, as: UTF8.self),
                revision.rawValue.allSatisfy({ $0 >= 0x20 })
            {
                line.text("revision", words)
            } else {
                line.text("revisionBase64", Base64.encode(revision.rawValue))
            }
        }
        if event.schemaVersion > 0 { line.number("schemaVersion", event.schemaVersion) }
        if let time = event.serverTime { line.number("serverTime", time.rawValue) }
        line.reference("sync", event.sync)
        if let uptime = event.uptime { line.number("uptime", uptime) }
        return line.ended
    }

    private static func isPrintable(_ payload: [UInt8]) -> Bool {
        guard !payload.isEmpty, payload.allSatisfy({ $0 >= 0x20 }) else { return false }
        do { try JSON.validate(payload) } catch { return false }
        return true
    }

    /// The text line: position, time, kind, entity, and the beginning of the payload.
    ///
    /// - Parameter columns: the width to cut the line to, or nil to leave it whole.
    package static func text(_ position: Position, _ event: Event, columns: Int?) -> String {
        var line = "\(position)".padded(to: 6) + " \(time(event.recordedAt))  "
        line += event.kind.description.padded(to: 17)
        if let collection = event.collection {
            line += " " + (event.key.map { "\($0)" } ?? "\(collection)")
        }
        if !event.payload.isEmpty { line += "  " + onOneLine(event.payload) }
        line = EventText.escaped(line)
        return columns.map { EventText.cut(line, to: $0) } ?? line
    }

    /// A time to the second, in UTC: `2026-11-21 11:09:00`.
    package static func time(_ time: Timestamp) -> String {
        String(time.description.prefix(19)).replacing("T", with: " ")
    }

    /// Every field of the event, one per line, the whole payload, and the body that it names.
    package static func verbose(
        _ position: Position, _ event: Event, body: [UInt8]? = nil
    ) -> [String] {
        var lines = ["\(position) \(event.kind)"]
        func field(_ name: String, _ value: String?) {
            if let value { lines.append("  \(name.padded(to: 11)) \(value)") }
        }
        field("recordedAt", "\(event.recordedAt)")
        field("collection", event.collection?.rawValue)
        field("entity", event.entity)
        field("cause", event.cause.map { "\($0)" })
        field("sync", event.sync.map { "\($0)" })
        field("mutation", event.mutation.map { "\($0)" })
        field("call", event.call.map { "\($0)" })
        field("asOf", event.asOf.map { "\($0)" })
        field("serverTime", event.serverTime.map { "\($0)" })
        field("uptime", event.uptime.map { "\($0)" })
        field("boot", event.bootID.map { onOneLine(Array($0.utf8)) })
        field("revision", event.revision.map { onOneLine($0.rawValue) })
        if event.schemaVersion > 0 { field("schema", "\(event.schemaVersion)") }
        field("key", event.idempotencyKey.map { Base64.encode($0) })
        if !event.payload.isEmpty {
            field("payload", "\(event.payload.count) bytes: \(onOneLine(event.payload))")
        }
        field("body", body.map { "\($0.count) bytes: \(onOneLine($0))" })
        return lines
    }

    /// Bytes as one line of text; control characters are replaced by spaces, so that no server can
    /// control the user's terminal.
    package static func onOneLine(_ bytes: [UInt8]) -> String { EventText.onOneLine(bytes) }
}

extension String {
    /// The text, padded with spaces to a width in columns.
    package func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - EventText.columns(self)))
    }
}
