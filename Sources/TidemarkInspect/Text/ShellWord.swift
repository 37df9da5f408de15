// ShellWord.swift — words of commands that people copy into a shell.

extension String {
    /// The text as one word for a shell: in quotes where it has more than letters, digits and what
    /// no shell reads as a sign of its own.
    package var shellQuoted: String {
        let isPlain = unicodeScalars.allSatisfy { scalar in
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_", "-", ".", "/", ":", "@", "%", "+", ",": true
            default: false
            }
        }
        guard !isPlain || isEmpty else { return self }
        // By scalars: a mark that combines with an apostrophe makes another character of it.
        var text = UnicodeScalarView()
        for scalar in unicodeScalars {
            if scalar == "'" {
                text.append(contentsOf: #"'\''"#.unicodeScalars)
            } else {
                text.append(scalar)
            }
        }
        return "'" + String(text) + "'"
    }
}
