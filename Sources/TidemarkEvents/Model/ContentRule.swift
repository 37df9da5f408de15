// ContentRule.swift — the rule of a collection about files that its entities name.

extension CollectionModel {
    /// A field that names a file beside the entity: by a URL or an id of the server's, or, for a
    /// file of the user's, by its hash.
    public struct ContentRule: Sendable, Hashable {
        /// When files are fetched.
        @nonexhaustive public enum When: String, Sendable, Hashable, CaseIterable {
            /// Those that somebody wants.
            case demand
            /// All of them.
            case all
        }

        /// The field, or a path into it as in JSON Pointer, where `*` stands for every element:
        /// `photo`, `/attachments/*/url`.
        public var field: String
        /// When its files are fetched.
        public var when: When
        /// How long every file is kept, also one that nothing names any more.
        public var grace: TimeSpan
        /// How long a file is kept that is named, and that nobody wants, after it was used last;
        /// nil for seven days where it is the content of a tree's file, else for as long as it is
        /// named.
        public var unwanted: TimeSpan?
        /// How many bytes its files may take before those go that nobody wants and that were not
        /// used for longest; nil for no limit.
        public var quotaBytes: Int?
        /// The largest file that is fetched, in bytes.
        public var bytesMax: Int
        /// The member beside the file's name that holds the file's SHA-256 in hexadecimal digits;
        /// nil for none.
        public var sha256: String?
        /// Where files of the user's are sent before what names them: a path of the server's, that
        /// is PUT where `{sha256}` stands in it for the file's hash, and that is POSTed to
        /// otherwise; nil where they aren't sent.
        ///
        /// With `{id}` it lies below the entity that names the file, by the server's id of that:
        /// the entity is made first, without what names its files, which are sent below it then.
        /// Not in a list of ``CollectionModel/keyed``.
        public var upload: String?

        /// A rule; every option has a default.
        public init(
            _ field: String, when: When = .demand, grace: TimeSpan = .hours(24),
            unwanted: TimeSpan? = nil, quotaBytes: Int? = nil, bytesMax: Int = 1 << 30,
            sha256: String? = nil, upload: String? = nil
        ) {
            self.field = field
            self.when = when
            self.grace = grace
            self.unwanted = unwanted
            self.quotaBytes = quotaBytes
            self.bytesMax = bytesMax
            self.sha256 = sha256
            self.upload = upload
        }
    }
}

package typealias ContentRule = CollectionModel.ContentRule

extension ContentRule: ModelObject {
    static let blank = ContentRule("")

    static let members: [ModelMember<ContentRule>] = [
        ModelMember(
            "when", \.when, .word, "Whether its files are fetched on demand, or all of them."),
        ModelMember(
            "grace", \.grace, .span(to: .days(3650), such: "PT24H"),
            """
            How long every file is kept; one that nothing names any more as long as the longest of \
            the model's.
            """),
        ModelMember(
            "unwanted", \.unwanted, .span(to: .days(3650), such: "P7D"),
            """
            How long after its last use a file is kept that is named and that nobody wants; unless \
            given seven days in a tree, else as long as it is named.
            """),
        ModelMember(
            "quotaBytes", \.quotaBytes, .number(0...(1 << 50)),
            """
            How many bytes the files of this field may take before those go that nobody wants and \
            that were not used for longest; no limit unless given.
            """),
        ModelMember(
            "bytesMax", \.bytesMax, .number(0...(1 << 50)),
            "The largest file that is fetched, in bytes."),
        ModelMember(
            "sha256", \.sha256, .text,
            """
            The member beside the file's name that holds its SHA-256 in hexadecimal digits: a \
            file that has another one is not taken.
            """),
        ModelMember(
            "upload", \.upload, .text,
            """
            Where files of the user's are sent before what names them: a path from the remote's \
            root on. It is PUT where {sha256} stands in it for the hash, and is the file's name \
            then; else it is POSTed to, and Location in the answer is the name. {id} stands for \
            the server's id of the entity, which is made first, without its files.
            """),
    ]
}

extension ContentRule {
    /// The names of the members that lead to the file's name, from the document down; `*` for every
    /// element.
    package var steps: [String] { FieldPath(field).steps }

    /// How and where a file of the user's is sent, by ``upload``.
    ///
    /// - Parameter id: the server's id of the entity below which it is.
    package static func sending(
        _ digest: String, to upload: String, below id: String = ""
    ) -> (method: String, path: String) {
        let place = upload.replacing(idMark, with: String(percentEncoding: id.utf8))
        guard place.contains(digestMark) else { return ("POST", place) }
        return ("PUT", place.replacing(digestMark, with: digest))
    }

    /// Whether files are sent below the entity that names them.
    package var isBelowEntity: Bool { upload?.contains(Self.idMark) == true }

    /// What stands for the hash in ``upload``, and for the entity's id.
    private static let digestMark = "{sha256}"
    private static let idMark = "{id}"

    /// Whether files can be sent there.
    fileprivate var isUploadFit: Bool {
        guard let upload else { return true }
        let path = Self.sending("0", to: upload, below: "0").path
        return path.utf8.count <= 200 && path.hasPrefix("/") && !path.hasPrefix("//")
            && path.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !"\"#<>\\^`{|}".utf8.contains(byte)
            }
            && !path.split(separator: "/").contains { $0 == "." || $0 == ".." }
    }

    /// The field of the document that it begins with.
    package var topField: String { steps[0] }

    /// The fields of the document by which it goes.
    var ruleFields: [String] {
        // Further down, the hash lies in what the first of them holds.
        [topField] + (steps.count == 1 ? [sha256].compactMap(\.self) : [])
    }
}

extension CollectionModel {
    /// Whether files of the user's are sent before what names them.
    package var sendsFiles: Bool { contents.contains { $0.upload != nil } }

    /// Whether they are sent below the entity that names them.
    package var sendsFilesBelow: Bool { contents.contains(where: \.isBelowEntity) }

    /// A path that names no field, or one that is named twice.
    func problemOfContents() -> ModelProblem? {
        for rule in contents {
            let place = "contents.\(rule.field)"
            if rule.topField.isEmpty || rule.topField == "*" {
                return ModelProblem(
                    place, "a field is needed, or a path that begins with one: /attachments/*/url")
            }
            if rule.field.utf8.contains(0) || rule.field.utf8.count > 200 {
                return ModelProblem(place, "at most 200 bytes without a zero byte are needed")
            }
            if !rule.isUploadFit {
                return ModelProblem(
                    place + ".upload",
                    "a path from the remote's root on is needed, such as /files/{sha256}")
            }
            if rule.isBelowEntity, isByPath {
                return ModelProblem(
                    place + ".upload", "the server knows these entities by paths: leave {id} out")
            }
            if rule.isBelowEntity, !pushes.contains(.update) {
                return ModelProblem(
                    place + ".upload",
                    "what is sent below the entity is named by an update: leave {id} out")
            }
            if rule.isBelowEntity, keyed.contains(where: { $0.field == rule.topField }) {
                return ModelProblem(
                    place + ".upload",
                    "an update of a file sets all of the keyed list it lies in: leave {id} out")
            }
            // What several fields name is sent once.
            if rule.isBelowEntity,
                contents.contains(where: { $0.upload != nil && $0.upload != rule.upload })
            {
                return ModelProblem(
                    place + ".upload",
                    "where files are sent below the entity, all fields send theirs to one place")
            }
        }
        return nil
    }
}

extension CollectionModel {
    /// The rules of its contents as they hold: a file of a tree that nobody wants is kept for seven
    /// days after its last use, unless its rule says for how long.
    package var heldContents: [ContentRule] {
        contents.map { rule in
            var rule = rule
            if rule.unwanted == nil, tree?.content == rule.field { rule.unwanted = .days(7) }
            return rule
        }
    }
}
