// Conflicts.swift — the code of the article of that name: a rule of the app.

package import Tidemark

package enum Conflicts {
    package struct Note: Entity {
        package static let collection: CollectionName = "notes"
        package let id: Tidemark.ID<Note>
        package var title: String
        package var tags: [String]
    }

    package static let surveys = CollectionModel(
        "surveys", keyed: [.init("answers", by: "question")])

    package struct Survey: Entity {
        package struct Answer: Codable, Sendable {
            package var question: String
            package var text: String
        }

        package static let collection: CollectionName = "surveys"
        package let id: Tidemark.ID<Survey>
        package var answers: [Answer]
    }

    package static func edit(_ replica: Replica, _ id: Tidemark.ID<Survey>) throws {
        try replica.write { tx in
            try tx.update(Survey.self, id) { $0.answers[0].text = "yes" }
        }
    }

    package static func answer(_ replica: Replica) async throws {
        for issue in try replica.issues() where issue.kind == .conflict {
            print(issue.id, issue.key ?? "", issue.fields, issue.message)
            try await replica.answer(issue.id, .keepMine)
        }
    }

    package static func merge(
        _ replica: Replica, _ issue: SyncIssue, _ merge: (Note?, Note?, Note?) -> Note?
    ) async throws {
        guard let sides = try replica.sides(of: issue.id, as: Note.self),
            let merged = merge(sides.base, sides.mine, sides.theirs)
        else { return }
        let shown = issue.isAsked ? sides.mine : sides.theirs
        try await replica.write { tx in try tx.save(merged, editedFrom: shown) }
        try await replica.answer(issue.id, issue.isAsked ? .keepMine : .keepTheirs)
    }

    package static let allTags = ConflictRule(name: "allTags") { conflict in
        guard let local = conflict.local, let merged = conflict.merged else { return .server }
        let mine = try JSONDocument(parsing: local)
        let note = try JSONDocument(parsing: merged)
        var tags = note.value("tags")?.array ?? []
        for tag in mine.value("tags")?.array ?? [] where !tags.contains(tag) { tags.append(tag) }
        let value = JSONValue.array(tags).encoded()
        return .document(note.applying(set: [(key: "tags", value: value)]))
    }

    package static let typedTags = ConflictRule(name: "allTags", for: Note.self) { conflict in
        guard var note = conflict.merged, let mine = conflict.mine else { return .theirs }
        note.tags += mine.tags.filter { !note.tags.contains($0) }
        return .entity(note)
    }

    package static let notes = CollectionModel("notes", conflict: .custom("allTags"))

    static func open(_ folder: String) async throws -> Replica {
        let model = SyncModel(name: "notes", collections: [notes])
        return try await Replica.open(at: folder, model: model, rules: [allTags])
    }
}
