// Issues.swift — `tidemark issues` and `answer`: the issues that a person has to decide.

import ArgumentParser
import Tidemark
import TidemarkEvents
import TidemarkInspect
import TidemarkViews

struct Issues: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Prints what is left for a person to decide.",
        discussion: """
            rejected    the server refused it; it waits, and what depends on it
            warned      the server took it, and warns of it
            conflict    both sides changed the same, and the server's side won, or waits
            absent      a whole list did not name more than half of a collection
            unreadable  the server sent what is no entity
            unsettled   three calls in a row about it, or with a file that it names, failed;
                        they are repeated
            dangling    it is hidden, as what it refers to can't be had
            unfetched   a file that is wanted of it can't be had

            The first word of each line is the issue's name, for `tidemark answer`.
            With a name it prints that one, and the entity as it was on both sides:
            what both changed, mine and theirs.
            Exit code 1 when there is any, and when there is none of that name. -o json
            prints one object a line.
            """)

    @OptionGroup var store: StoreArgument
    @Argument(help: "The name of an issue: @41 or @41.1.")
    var issue: String?
    @OptionGroup var past: PastOption
    @OptionGroup var format: OutputOption

    func run() throws {
        if let issue { return try show(try SyncIssue.ID(named: issue)) }
        let issues = try past.read(store) { try $0.issuesInFull().map { SyncIssue($0) } }
        for issue in issues {
            if format.isJSON {
                Terminal.write(issue.json)
            } else {
                Terminal.write(wrapping: issue.text, indent: 7)
            }
        }
        guard !issues.isEmpty else {
            if !format.isJSON { Terminal.say("there are no issues") }
            return
        }
        throw Exit.findings
    }

    private func show(_ id: SyncIssue.ID) throws {
        let (issue, sides) = try past.read(store) { views in
            let found = try views.issues().first {
                SyncIssue.ID($0.position, index: $0.index) == id
            }
            guard let row = try found.map(views.inFull) else {
                throw TidemarkError(.notFound, "there is no open issue \(id)")
            }
            return (SyncIssue(row), try ConflictSides(row, views))
        }
        if format.isJSON {
            Terminal.write(try issue.json(with: sides))
        } else {
            Terminal.write(wrapping: issue.text, indent: 7)
            for detail in issue.details { Terminal.write(wrapping: "  " + detail.text) }
            for (name, document) in sides?.named ?? [] {
                let text = document.map { EventLine.onOneLine($0) } ?? "-"
                Terminal.write(wrapping: "  " + name.padded(to: 7) + text, indent: 9)
            }
        }
        throw Exit.findings
    }
}

struct Answer: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Decides an issue.",
        discussion: """
            rejected    retry or keepMine sends it again, discard or keepTheirs gives it up
                        with what lies in it
            warned      discard is done with what the server says
            conflict    keepMine makes the edit again that lost, keepTheirs leaves it so
            absent      keepMine creates the entities there, keepTheirs deletes them here
            unreadable  retry reads the collection again, discard is done with it
            unsettled   retry asks at once, discard gives up what is pending
            unfetched   retry asks at once, discard wants the file no longer

            In a tree, keepBoth keeps what the server has under its name and puts what was
            made here beside it: where something was refused because its name is taken,
            and by paths where a conflict is about the content of a file.

            Prints the position of the first event. The next sync does the rest.
            """)

    @OptionGroup var store: StoreArgument
    @OptionGroup var patience: WaitOption
    @Argument(help: "The name of an issue, as `tidemark issues` prints it: @41 or @41.1.")
    var issue: String
    @Argument(help: "retry, discard, keepMine, keepTheirs or keepBoth.")
    var answer: String

    func run() throws {
        let id = try SyncIssue.ID(named: issue)
        guard let answer = IssueAnswer(rawValue: answer) else {
            let names = IssueAnswer.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("\"\(answer)\" is none of \(names)")
        }
        let replica = try store.open(patience)
        let before = try replica.read { $0.position }
        try replica.answer(id, answer)
        try replica.close()
        Terminal.write("\(before.next) \(id) \(answer.rawValue)")
    }
}

extension SyncIssue.ID {
    fileprivate init(named text: String) throws {
        guard let id = Self(text) else {
            throw UsageError("\"\(text)\" names no issue; write @12, as `tidemark issues` does")
        }
        self = id
    }
}

extension ConflictSides<[UInt8]> {
    fileprivate var named: [(name: String, document: [UInt8]?)] {
        [("base", base), ("mine", mine), ("theirs", theirs)]
    }
}

extension SyncIssue.Detail {
    /// `error E1007 at /dataValues/DE1: it is no number ("x")`.
    fileprivate var text: String {
        let head = [isError ? "error" : "warning", code, path.map { "at " + $0 }]
        return head.compactMap(\.self).joined(separator: " ") + ": " + message
            + (value.map { " (\"\($0)\")" } ?? "")
    }

    fileprivate var json: JSONValue {
        var object: JSONObject = ["severity": .string(isError ? "error" : "warning")]
        for (name, text) in [("code", code), ("path", path), ("value", value)] {
            if let text { object[name] = .string(text) }
        }
        object["message"] = .string(message)
        return .object(object)
    }
}

extension SyncIssue {
    fileprivate var json: [UInt8] { JSONValue.object(object).encoded() }

    fileprivate func json(with sides: ConflictSides<[UInt8]>?) throws -> [UInt8] {
        var object = object
        for (name, document) in sides?.named ?? [] {
            object[name] = .some(try document.map { try JSONValue(parsing: $0) } ?? .null)
        }
        return JSONValue.object(object).encoded()
    }

    private var object: JSONObject {
        var object: JSONObject = [
            "issue": .string("\(id)"), "kind": .string(kind.rawValue),
            "collection": .string(collection.rawValue),
        ]
        if let key { object["id"] = .string(key.id) }
        object["fields"] = .array(fields.map(JSONValue.string))
        if kind == .conflict {
            object["conflictingFields"] = .array(conflictingFields.map(JSONValue.string))
        }
        object["message"] = .string(message)
        if !details.isEmpty { object["details"] = .array(details.map(\.json)) }
        object["answers"] = .array(answers.map { .string($0.rawValue) })
        return object
    }

    fileprivate var text: String {
        var line =
            "\(id)".padded(to: 6) + " \(kind.rawValue)".padded(to: 12)
            + " \(key.map { "\($0)" } ?? collection.rawValue)".padded(to: 18) + " \(message)"
        if !fields.isEmpty { line += "  (" + fields.joined(separator: ", ") + ")" }
        return line
    }
}
