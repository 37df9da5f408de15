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

    /// The coding key of a field of the server: the first of its possible texts that the type takes
    /// and whose ``fieldName(_:)`` is the field's name; nil where there is none.
    ///
    /// Several texts have the same name: `user_id` is that of `userId`, `userID` and `UserID`. They
    /// are tried in the order of the field's own name, its words in camel case, and then with one
    /// word or several in capitals.
    package func codingKey<Key: CodingKey>(_ type: Key.Type, of fieldName: String) -> Key? {
        func fitting(_ text: String) -> Key? {
            guard let key = Key(stringValue: text),
                self.fieldName(key.stringValue).utf8.elementsEqual(fieldName.utf8)
            else { return nil }
            return key
        }
        if let key = fitting(fieldName) { return key }
        // No name of the style has capitals.
        guard self == .snakeCase, !fieldName.utf8.contains(where: Self.isCapital) else {
            return nil
        }
        let words = Self.words(fieldName)
        for inCapitals in Self.choices(of: words.count) {
            for isFirstCapital in [false, true] {
                let text = Self.camelCase(
                    words, inCapitals: inCapitals, isFirstCapital: isFirstCapital)
                if let key = fitting(text) { return key }
            }
        }
        return nil
    }

    /// The words of a server's name; an underscore that it begins with belongs to the first.
    private static func words(_ fieldName: String) -> [[UInt8]] {
        var words: [[UInt8]] = [[]]
        for letter in fieldName.utf8 {
            if letter != UInt8(ascii: "_") || words[0].isEmpty {
                words[words.count - 1].append(letter)
            } else if !words[words.count - 1].isEmpty {
                words.append([])
            }
        }
        return words
    }

    /// Which of so many words may be in capitals, a bit each: any of a few, one of more.
    private static func choices(of words: Int) -> [Int] {
        let (anyMax, oneMax) = (6, 20)
        if words <= anyMax { return Array(0..<1 << words) }
        return [0] + (0..<min(words, oneMax)).map { 1 << $0 }
    }

    private static func camelCase(
        _ words: [[UInt8]], inCapitals: Int, isFirstCapital: Bool
    ) -> String {
        var text: [UInt8] = []
        for (place, word) in words.enumerated() {
            let isWhole = (inCapitals >> place) & 1 == 1
            for (index, letter) in word.enumerated() {
                let isCapital = isWhole || index == 0 && (place > 0 || isFirstCapital)
                let isSmall = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(letter)
                text.append(isCapital && isSmall ? letter & ~0x20 : letter)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    private static func isCapital(_ letter: UInt8) -> Bool {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter)
    }
}
