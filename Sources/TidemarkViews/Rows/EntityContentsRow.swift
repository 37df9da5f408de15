// EntityContentsRow.swift — the row of the files that an entity names (ContentRows.swift).

package import TidemarkEvents

/// What an entity names, and who wants that: 'A' 'e' collection 0 id.
package struct EntityContentsRow: Sendable, Hashable {
    /// A file that it names by a field.
    package struct Named: Sendable, Hashable {
        package var field: String
        /// The digest, or the source.
        package var text: String
        package var isFile: Bool
        /// Whether it is a file of the user's that is to be sent before what is pending.
        package var isToBeSent: Bool

        package init(field: String, text: String, isFile: Bool, isToBeSent: Bool = false) {
            self.field = field
            self.text = text
            self.isFile = isFile
            self.isToBeSent = isToBeSent
        }

        /// Whether it is a source, the server's word for a file.
        func isSource(_ source: ContentSource) -> Bool {
            !isFile && ExactString(text) == ExactString(source.text)
        }

        /// Whether another one is the same file by the same field.
        func isNamed(as other: Self) -> Bool {
            isFile == other.isFile && ExactString(field) == ExactString(other.field)
                && ExactString(text) == ExactString(other.text)
        }

        package static func == (left: Self, right: Self) -> Bool {
            left.isNamed(as: right) && left.isToBeSent == right.isToBeSent
        }

        package func hash(into hasher: inout Hasher) {
            hasher.combine(isFile)
            hasher.combine(ExactString(field))
            hasher.combine(ExactString(text))
        }
    }

    /// Somebody's wish.
    package struct Want: Sendable, Hashable {
        /// Empty for each field.
        package var field: String
        package var by: String
        /// Whether also what lies below is wanted.
        package var isTree: Bool

        package init(field: String, by: String, isTree: Bool) {
            self.field = field
            self.by = by
            self.isTree = isTree
        }

        /// Whether another one is of the same field by the same.
        func isSame(as other: Self) -> Bool {
            ExactString(field) == ExactString(other.field)
                && ExactString(by) == ExactString(other.by)
        }
    }

    /// Each once, in the order of the rules and of the documents.
    package var names: [Named] = []
    /// In the order of fields and names.
    package var wants: [Want] = []
    /// The fields of which the files are wanted with all that lies in an entity above, in order;
    /// only an empty text for each.
    package var above: [String] = []

    package init() {}

    /// Adds names that are not among its own.
    mutating func add(_ others: [Named]) {
        let known = names
        names += others.filter { name in !known.contains { $0.isNamed(as: name) } }
    }

    /// Adds a wish; of one that is there already the wider counts.
    mutating func add(_ want: Want) {
        if let index = wants.firstIndex(where: { $0.isSame(as: want) }) {
            if want.isTree { wants[index].isTree = true }
            return
        }
        wants.append(want)
        wants.sort { left, right in
            if ExactString(left.field) != ExactString(right.field) {
                return left.field.utf8.lexicographicallyPrecedes(right.field.utf8)
            }
            return left.by.utf8.lexicographicallyPrecedes(right.by.utf8)
        }
    }

    var isEmpty: Bool { names.isEmpty && wants.isEmpty && above.isEmpty }

    /// Whether what a field names is wanted.
    package func wants(_ field: String) -> Bool {
        wants.contains { Self.covers($0.field, field) } || isWantedAbove(field)
    }

    /// Whether somebody wants it of the entity itself, and so waits for it.
    func asksFor(_ field: String) -> Bool {
        wants.contains { !$0.isTree && Self.covers($0.field, field) }
    }

    /// Whether it is with all that lies in the entity, or in one above.
    func wantsInTree(_ field: String) -> Bool {
        wants.contains { $0.isTree && Self.covers($0.field, field) } || isWantedAbove(field)
    }

    private func isWantedAbove(_ field: String) -> Bool {
        above.contains { Self.covers($0, field) }
    }

    private static func covers(_ wanted: String, _ field: String) -> Bool {
        wanted.isEmpty || ExactString(wanted) == ExactString(field)
    }

    package var encoded: [UInt8] {
        var writer = ProtoWriter()
        for name in names {
            var inner = ProtoWriter()
            inner.message(1, name.field)
            inner.message(2, name.text)
            inner.flag(3, name.isFile)
            inner.flag(4, name.isToBeSent)
            writer.message(1, inner.bytes)
        }
        for want in wants {
            var inner = ProtoWriter()
            inner.message(1, want.field)
            inner.message(2, want.by)
            inner.flag(3, want.isTree)
            writer.message(2, inner.bytes)
        }
        for field in above { writer.message(3, field) }
        return writer.bytes
    }

    package init(parsing bytes: [UInt8]) throws(ProtoError) {
        func parts(_ bytes: [UInt8]) throws(ProtoError) -> (String, String, Bool, Bool) {
            var parts = ("", "", false, false)
            var reader = ProtoReader(bytes)
            while let field = try reader.next() {
                switch field.number {
                case 1: parts.0 = try field.string()
                case 2: parts.1 = try field.string()
                case 3: parts.2 = try field.flag()
                case 4: parts.3 = try field.flag()
                default: continue
                }
            }
            return parts
        }
        var reader = ProtoReader(bytes)
        while let field = try reader.next() {
            switch field.number {
            case 1:
                let (name, text, isFile, isToBeSent) = try parts(try field.bytes())
                names.append(
                    Named(field: name, text: text, isFile: isFile, isToBeSent: isToBeSent))
            case 2:
                let (name, by, isTree, _) = try parts(try field.bytes())
                wants.append(Want(field: name, by: by, isTree: isTree))
            case 3: above.append(try field.string())
            default: continue
            }
        }
    }
}
