// TextColumns.swift — how wide a terminal shows text: by UAX #11, East Asian Width, and the emoji.

extension EventText {
    /// The columns that a text takes on a terminal.
    package static func columns(_ text: String) -> Int {
        guard !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text.count }
        return text.reduce(0) { $0 + $1.columns }
    }
}

extension Character {
    /// The columns that it takes on a terminal: 2 for one of the Far East or an emoji, else 1.
    var columns: Int {
        guard !isASCII, let first = unicodeScalars.first else { return 1 }
        if first.properties.isEmojiPresentation { return 2 }
        // The variation selector by which a symbol is shown as an emoji.
        if unicodeScalars.contains("\u{FE0F}") { return 2 }
        return Self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF, 0xA960...0xA97F,
        0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6,
        0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F2FF, 0x20000...0x3FFFD,
    ]
}
