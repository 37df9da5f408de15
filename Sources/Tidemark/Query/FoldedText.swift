// FoldedText.swift — texts without case, accents and width, for what people search and sort by.
//
// What Unicode calls so differs by its version, which comes with the system: nothing of it is
// stored, and no index has it.

import Foundation
import TidemarkEvents

/// Texts as people look for them: "Éclair" and "ECLAIR" are the same.
enum FoldedText {
    /// The UTF-8 of a text without case, accents and width.
    static func bytes(_ text: some Collection<UInt8>) -> [UInt8] {
        if text.allSatisfy({ $0 < 0x80 }) {
            return text.map {
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0
            }
        }
        let folded = String(decoding: text, as: UTF8.self).folding(
            options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
        // Of one that is accents alone nothing would be left, and nothing is part of every text.
        return folded.isEmpty ? Array(text) : Array(folded.utf8)
    }

    /// The same of a JSON value; nil of one that is no text.
    static func bytes(ofJSON raw: ArraySlice<UInt8>?) -> [UInt8]? {
        guard let raw, raw.first == UInt8(ascii: "\"") else { return nil }
        if let text = JSON.unescapedText(raw) { return bytes(text) }
        return bytes(raw.dropFirst().dropLast())
    }

    /// Whether a text has another in it; each has none.
    static func contains(_ text: [UInt8], _ part: [UInt8]) -> Bool {
        part.isEmpty || text.span.firstPlace(of: part.span, from: 0) != nil
    }
}
