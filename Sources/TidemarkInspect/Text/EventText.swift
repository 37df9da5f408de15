// EventText.swift — an event in a few words: its kind, its subject, and the gist of its payload.

package import TidemarkEvents

/// Events and bytes as one line of text.
package enum EventText {
    /// Kind, subject and gist: `request.sent tasks/1 PUT /tasks/1`.
    ///
    /// - Parameter payloadMax: how many characters of a payload or an address are shown at most.
    package static func line(_ event: Event, payloadMax: Int = 60) -> String {
        var parts = [event.kind.description]
        if let collection = event.collection {
            parts.append(printable(event.key.map { "\($0)" } ?? "\(collection)"))
        }
        let gist = gist(event)
        if !gist.isEmpty { parts.append(cut(gist, to: payloadMax)) }
        return parts.joined(separator: " ")
    }

    /// The same, and the value of a field: `… asOf: @12`.
    ///
    /// - Parameter field: a member of the header, or a path into the payload, as in
    ///   `payload.covers[0]`.
    package static func line(_ event: Event, showing field: String) -> String {
        line(event, payloadMax: 120) + "; \(field): " + (value(of: field, in: event) ?? "none")
    }

    private static func value(of field: String, in event: Event) -> String? {
        switch field {
        case "kind": return event.kind.description
        case "collection": return event.collection?.rawValue
        case "entity": return event.entity
        case "cause": return event.cause?.description
        case "sync": return event.sync?.description
        case "mutation": return event.mutation?.description
        case "call": return event.call?.description
        case "asOf": return event.asOf?.description
        case "serverTime": return event.serverTime?.description
        case "revision": return event.revision.map { onOneLine($0.rawValue) }
        case "idempotencyKey": return event.idempotencyKey.map { Base64.encode($0) }
        default: break
        }
        guard field.hasPrefix("payload"), var value = try? JSONValue(parsing: event.payload) else {
            return nil
        }
        for step in field.dropFirst("payload".count).split(whereSeparator: { ".[".contains($0) }) {
            let next = step.last == "]" ? Int(step.dropLast()) : nil
            if let next, let list = value.array, list.indices.contains(next) {
                value = list[next]
            } else if let member = value[String(step)] {
                value = member
            } else {
                return nil
            }
        }
        return cut(printable("\(value)"), to: 200)
    }

    /// The most important part of the payload.
    private static func gist(_ event: Event) -> String {
        let whole = onOneLine(event.payload)
        guard !event.payload.isEmpty else { return whole }
        switch event.kind.form {
        case .members(let type):
            guard let gist = (try? type.init(reading: event.payload))?.gist, !gist.isEmpty else {
                return whole
            }
            return printable(gist)
        case .document, .patch, .registration, .nothing, nil: return whole
        }
    }

    /// The text, or its beginning with an ellipsis; an escape like `\u001b` is never cut in two.
    package static func cut(_ text: String, to columns: Int) -> String {
        // No character takes more columns than it has bytes.
        guard text.utf8.count > columns else { return text }
        var (width, end) = (0, text.startIndex)
        for index in text.indices where width <= columns {
            width += text[index].columns
            if width <= max(columns - 1, 1) { end = text.index(after: index) }
        }
        guard width > columns else { return text }
        return text[..<(begunEscape(text[..<end]) ?? end)] + "…"
    }

    /// The text on lines of at most so many columns, broken at spaces, and elsewhere only where a
    /// word is as long as a line.
    ///
    /// - Parameter indent: how many spaces all lines but the first begin with; nil for two more
    ///   than that one.
    package static func wrapped(
        _ text: String, to columns: Int, indent: Int? = nil
    ) -> [String] {
        guard text.utf8.count > columns else { return [text] }
        let own = text.prefix { $0 == " " }.count
        let margin = String(repeating: " ", count: min(indent ?? own + 2, columns / 2))
        var lines: [String] = []
        var (line, width) = ("", 0)
        for character in text {
            if width + character.columns > columns, !isBlank(line) {
                let end =
                    character == " "
                    ? line.endIndex : lineBreak(line, mostAfter: columns - margin.count)
                var first = line[..<end]
                while first.last == " " { first.removeLast() }
                lines.append(String(first))
                line = margin + line[end...].drop { $0 == " " }
                width = Self.columns(line)
            }
            if character == " ", !lines.isEmpty, isBlank(line) { continue }
            line.append(character)
            width += character.columns
        }
        return isBlank(line) ? lines : lines + [line]
    }

    /// Where a full line is broken: at its last space, or at its end where what is behind that
    /// would fill a line.
    private static func lineBreak(_ line: String, mostAfter: Int) -> String.Index {
        if let space = line.lastIndex(of: " "), !isBlank(line[..<space]),
            columns(String(line[space...])) < mostAfter
        {
            return space
        }
        return begunEscape(line[...]) ?? line.endIndex
    }

    private static func isBlank(_ text: some StringProtocol) -> Bool {
        text.allSatisfy { $0 == " " }
    }

    /// Where an escape begins that a text ends within.
    private static func begunEscape(_ text: Substring) -> String.Index? {
        text.suffix(5).lastIndex(of: "\\").flatMap { escape in
            text[escape...].hasPrefix("\\u") || escape == text.indices.last ? escape : nil
        }
    }
}
