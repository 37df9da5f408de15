// KeyStyle+FieldName.swift — from the names of coding keys to the server's, and back.

extension KeyStyle {
    /// The server's name for the field of a coding key.
    ///
    /// With ``snakeCase`` a new word begins at a capital letter behind a small letter or a digit,
    /// and at the last of several capitals when a small letter follows: `startedAt` is
    /// `started_at`, `userID` is `user_id`, `myURLPath` is `my_url_path`, `line2Text` is
    /// `line2_text`. What has no capitals stays as it is. Only the letters A to Z count.
    package func fieldName(_ codingKey: String) -> String {
        guard self == .snakeCase, codingKey.utf8.contains(where: Self.isCapital) else {
            return codingKey
        }
        let letters = Array(codingKey.utf8)
        var name: [UInt8] = []
        name.reserveCapacity(letters.count + 4)
        for (index, letter) in letters.enumerated() {
            guard Self.isCapital(letter) else {
                name.append(letter)
                continue
            }
            if index > 0, letters[index - 1] != UInt8(ascii: "_") {
                let isBehindCapital = Self.isCapital(letters[index - 1])
                let isBeforeSmall =
                    index + 1 < letters.count
                    && (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letters[index + 1])
                if !isBehindCapital || isBeforeSmall { name.append(UInt8(ascii: "_")) }
            }
            name.append(letter | 0x20)
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// A coding key that a field of the server may have: `startedAt` for `started_at`.
    ///
    /// Several keys may have the same field: `user_id` gives `userId`, never `userID`.
    package func codingKey(_ fieldName: String) -> String {
        guard self == .snakeCase else { return fieldName }
        var key: [UInt8] = []
        var isNewWord = false
        for letter in fieldName.utf8 {
            if letter == UInt8(ascii: "_"), !key.isEmpty {
                isNewWord = true
            } else {
                let isSmall = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
                key.append(isNewWord && isSmall ? letter & ~0x20 : letter)
                isNewWord = false
            }
        }
        return String(decoding: key, as: UTF8.self)
    }

    private static func isCapital(_ letter: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
    }
}
