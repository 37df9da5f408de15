// Redactor+Texts.swift — texts that must stay readable in part: addresses, and texts made of lines,
// such as calendar items.

import TidemarkEvents
import TidemarkSync

extension Redactor {
    // MARK: Addresses

    /// An address or a path: its segments and the values of its query are replaced as texts.
    func url(_ text: String) -> String {
        if let scheme = ["http://", "https://"].first(where: text.hasPrefix) {
            let rest = text.dropFirst(scheme.count)
            let path = rest.firstIndex(of: "/").map { String(rest[$0...]) } ?? ""
            return "https://redacted.invalid" + url(path)
        }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let segments = (parts.first ?? "").split(
            separator: "/", omittingEmptySubsequences: false)
        // After any other segment, a constant is an id like all others.
        let path = segments.indices.map { index in
            let constants = index > 0 ? server.constants[String(segments[index - 1])] : nil
            let segment = String(segments[index])
            return constants?.contains(segment) == true ? segment : self.segment(segments[index])
        }.joined(separator: "/")
        guard parts.count == 2 else { return path }
        let query = parts[1].split(separator: "&", omittingEmptySubsequences: false)
            .map { parameter($0) }
        return path + "?" + query.joined(separator: "&")
    }

    private func segment(_ segment: Substring) -> String {
        escaped(segment) { bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            if server.segments.contains(text) || RedactionWords.segments.contains(text) {
                return bytes
            }
            for suffix in server.suffixes where text.hasSuffix(suffix) {
                return self.text(Array(bytes.dropLast(suffix.utf8.count))) + Array(suffix.utf8)
            }
            return self.text(bytes)
        }
    }

    private func parameter(_ text: Substring) -> String {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts.first ?? "")
        guard parts.count == 2 else { return escaped(text) { self.text($0) } }
        let parameter = server.parameters[name]
        let comparison = server.comparisons.first(where: name.hasPrefix)
        if parameter == nil, let comparison {
            let field = String(name.dropFirst(comparison.count))
            return comparison + self.name(field) + "="
                + escaped(parts[1]) { key($0, in: field) }
        }
        if parameter == .count, Int64(parts[1]) != nil { return String(text) }
        if parameter == .flag, parts[1] == "true" { return String(text) }
        let newName = parameter == nil ? escaped(parts[0]) { self.text($0) } : name
        return newName + "="
            + escaped(parts[1]) { bytes in
                switch parameter {
                case .seconds: seconds(bytes) ?? token(bytes)
                case .ids: ids(bytes)
                case .field: fieldNames(bytes)
                case .version, .count, .flag: token(bytes)
                case nil: self.text(bytes)
                }
            }
    }

    /// Seconds since 1970, shifted; nil for a text that is no number.
    private func seconds(_ bytes: [UInt8]) -> [UInt8]? {
        guard let seconds = Int64(String(decoding: bytes, as: UTF8.self)) else { return nil }
        let (sum, overflow) = seconds.addingReportingOverflow(shift / 1_000_000)
        return Array(String(overflow ? seconds : sum).utf8)
    }

    /// A value of a field, as JSON.
    private func key(_ bytes: [UInt8], in field: String) -> [UInt8] {
        guard let value = try? JSONValue(parsing: bytes) else { return text(bytes) }
        return self.value(value, rules.role(field, nil), RedactionContext()).encoded()
    }

    /// Names of fields, each perhaps after a minus, with commas between them.
    private func fieldNames(_ bytes: [UInt8]) -> [UInt8] {
        let names = String(decoding: bytes, as: UTF8.self)
            .split(separator: ",", omittingEmptySubsequences: false)
        return Array(
            names.map { text in
                let sign = text.hasPrefix("-") ? "-" : ""
                return sign + name(String(text.dropFirst(sign.count)))
            }.joined(separator: ",").utf8)
    }

    /// Several quoted ids with commas between them.
    private func ids(_ bytes: [UInt8]) -> [UInt8] {
        let comma = UInt8(ascii: ",")
        let ids = bytes.split(separator: comma, omittingEmptySubsequences: false)
        let quote = UInt8(ascii: "\"")
        let replaced = ids.map { id in
            // An id is replaced as a text everywhere, even if it looks like something else.
            guard id.count > 1, id.first == quote, id.last == quote else { return text(Array(id)) }
            return [quote] + text(Array(id.dropFirst().dropLast())) + [quote]
        }
        return Array(replaced.joined(separator: [comma]))
    }

    /// Replaces the decoded bytes of a percent-encoded text, and encodes them again.
    private func escaped(_ text: Substring, _ replace: ([UInt8]) -> [UInt8]) -> String {
        let encoded = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < encoded.count {
            if encoded[index] == UInt8(ascii: "%"), index + 2 < encoded.count,
                let byte = UInt8(
                    String(decoding: encoded[index + 1...index + 2], as: UTF8.self), radix: 16)
            {
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(encoded[index])
                index += 1
            }
        }
        let plain = Set(encoded).subtracting([UInt8(ascii: "%")]).union(Self.unreserved)
        var result: [UInt8] = []
        for byte in replace(bytes) {
            if plain.contains(byte) {
                result.append(byte)
            } else {
                result += Array((byte < 16 ? "%0" : "%").utf8)
                result += Array(String(byte, radix: 16, uppercase: true).utf8)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static let unreserved = Set(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)

    // MARK: Texts made of lines

    /// A text made of lines: line names stay, times follow the policy; nil for any other text.
    func lines(_ text: String) -> String? {
        let form = server.lines.first { form in
            form.beginnings.contains(where: text.hasPrefix)
        }
        guard let form else { return nil }
        // "\r\n" is one Character, so lines are split as bytes.
        return text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            .map { line in
                let hasReturn = line.last == UInt8(ascii: "\r")
                let line = String(decoding: hasReturn ? line.dropLast() : line, as: UTF8.self)
                return self.line(line, form) + (hasReturn ? "\r" : "")
            }.joined(separator: "\n")
    }

    private func line(_ line: String, _ form: ServerWords.Lines) -> String {
        // The continuation of a long line.
        if line.hasPrefix(" ") || line.hasPrefix("\t") {
            return String(line.prefix(1)) + text(String(line.dropFirst()))
        }
        guard let colon = line.firstIndex(of: ":") else { return text(line) }
        let head = line[..<colon].split(separator: ";", maxSplits: 1)
        let name = String(head.first ?? "")
        let value = String(line[line.index(after: colon)...])
        let isStructure = form.structure.contains(name)
        let isTime = form.times.contains(name)
        var new = isStructure || isTime || form.names.contains(name) ? name : text(name)
        if head.count == 2 { new += ";" + text(String(head[1])) }
        new += ":"
        if isStructure { return new + word(value) }
        guard isTime else { return new + text(value) }
        let times = value.split(separator: ",", omittingEmptySubsequences: false)
        return new + times.map { basicTime(String($0)) }.joined(separator: ",")
    }

    /// `20261121T120544Z` or a part of it; anything else is replaced as a text.
    private func basicTime(_ text: String) -> String {
        let digits = text.utf8.prefix(8)
        let rest = String(text.dropFirst(8))
        let isTime = rest.isEmpty || (rest.hasPrefix("T") && [7, 8].contains(rest.utf8.count))
        guard digits.count == 8, isTime, rest.dropFirst().prefix(6).allSatisfy(\.isNumber),
            rest.utf8.count < 8 || rest.hasSuffix("Z")
        else { return self.text(text) }
        let parts = [text.prefix(4), text.dropFirst(4).prefix(2), text.dropFirst(6).prefix(2)]
        let date = Self.civil(
            parts.joined(separator: "-"), plus: shift / Self.microsecondsPerDay)
        guard let date else { return self.text(text) }
        return date.split(separator: "-").joined() + rest
    }
}
