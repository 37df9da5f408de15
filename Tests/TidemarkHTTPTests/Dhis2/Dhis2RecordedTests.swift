// Dhis2RecordedTests.swift — what the adapter makes of each recorded answer of DHIS2, as the table
// in Tests/Fixtures/dhis2/answers.json says.
//
//   call   send, make, delete   a batch of writes          list, one, read   what is asked for
//          poll, report         a job, and what it says    override, reserve
//          system, form         what the adapter reads of other answers
//   in     what a part of an answer stands in, for `$`

import Foundation
import HTTPTypes
import TestSupport
import Testing
import TidemarkEvents
import TidemarkSync

@testable import TidemarkHTTP

/// A row of the table.
struct RecordedAnswer: Decodable, Sendable, CustomTestStringConvertible {
    var file: String
    var version: String
    var call: String
    /// What it is about: collections, or entities.
    var of: [String] = []
    var status = 200
    /// What is sent, by entity.
    var bodies: [String: String] = [:]
    /// What the part stands in.
    var `in`: String?
    var means: [String]

    var testDescription: String { "\(call) of \(version): \(file)" }

    private enum Member: CodingKey { case file, version, call, of, status, bodies, `in`, means }

    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        file = try members.decode(String.self, forKey: .file)
        version = try members.decode(String.self, forKey: .version)
        call = try members.decode(String.self, forKey: .call)
        of = try members.decodeIfPresent([String].self, forKey: .of) ?? []
        status = try members.decodeIfPresent(Int.self, forKey: .status) ?? 200
        bodies = try members.decodeIfPresent([String: String].self, forKey: .bodies) ?? [:]
        self.in = try members.decodeIfPresent(String.self, forKey: .in)
        means = try members.decode([String].self, forKey: .means)
    }

    /// The table.
    static let all: [RecordedAnswer] = {
        let path = Checkout.root.appending(path: "Tests/Fixtures/dhis2/answers.json")
        do {
            return try JSONDecoder().decode([RecordedAnswer].self, from: Data(contentsOf: path))
        } catch { preconditionFailure("\(path.path): \(error)") }
    }()
}

@Suite(.enabled(if: RecordedAnswers.dhis2 != nil, "\(RecordedAnswers.missing)"))
struct `recorded answers of DHIS2, as they are read` {
    @Test func `are all of those that there are`() throws {
        let folder = try #require(RecordedAnswers.dhis2)
        let files = try RecordedAnswers.files(in: folder)
        let known = Set(RecordedAnswer.all.map(\.file))

        #expect(!files.isEmpty && files.filter { !known.contains($0) } == [])
        #expect(known.subtracting(files).sorted() == [])
    }

    @Test(arguments: RecordedAnswer.all)
    func `mean what the table says`(_ recorded: RecordedAnswer) throws {
        let folder = try #require(RecordedAnswers.dhis2)
        let file = folder.appending(path: recorded.file + ".json")
        var body = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        if let place = recorded.in { body = place.replacing("$", with: body) }

        let meaning = try self.meaning(of: recorded, Array(body.utf8))

        #expect(meaning == recorded.means, "\(recorded.file)")
    }

    private func meaning(of recorded: RecordedAnswer, _ body: [UInt8]) throws -> [String] {
        let adapter = try #require(Dhis2Adapter(version: recorded.version))
        switch recorded.call {
        case "system":
            let info = try Dhis2SystemInfo(parsing: body)
            return ["\(info.version) at \(info.serverDate ?? "no time")"]
        case "form":
            let form = try #require(adapter.form(ofFile: "", head: []))
            var value = try JSONValue(parsing: body)
            for member in form.name { value = value[member] ?? .null }
            return ["named \(value.stringValue ?? "nothing")"]
        default:
            let call = try self.call(recorded, adapter)
            // By it values end; when the other answers came is not recorded.
            let date: HTTPFields =
                recorded.call == "reserve" ? [.date: "Thu, 26 Apr 2018 14:54:53 GMT"] : [:]
            let response = HTTPResponse(
                status: .init(code: recorded.status), headerFields: date)
            return words(adapter.answer(to: call, response, body: body))
        }
    }

    // MARK: What was asked

    private func call(
        _ recorded: RecordedAnswer, _ adapter: Dhis2Adapter
    ) throws -> ServerCall {
        let keys = recorded.of.compactMap { EntityKey($0) }
        func collection(_ name: CollectionName) -> CollectionModel {
            let keyed: [CollectionModel.KeyedList] =
                switch name {
                case "events": [.init("dataValues", by: "dataElement"), .init("notes", by: "note")]
                case "trackedEntities": [.init("attributes", by: "attribute")]
                default: []
                }
            return CollectionModel(
                name, idField: adapter.dialect.idField(of: Dhis2Kind(name)), keyed: keyed)
        }
        let writes = keys.map { key -> ServerCall in
            let own = collection(key.collection)
            let body = Array((recorded.bodies["\(key)"] ?? "{}").utf8)
            switch recorded.call {
            case "make": return .create(own, id: key.id, body: body)
            case "delete": return .delete(own, id: key.id, revision: Revision(""))
            default:
                return .update(own, id: key.id, body: body, changes: body, revision: Revision(""))
            }
        }
        let first = collection(keys.first?.collection ?? CollectionName(recorded.of.first ?? ""))
        let id = keys.first?.id ?? ""
        switch recorded.call {
        case "send", "make", "delete": return .batch(writes)
        case "list": return .list(first, after: nil, page: nil)
        case "one":
            return .listPart(
                first, ["trackedEntity": id, "program": "IpHINAT79UW"], after: nil, page: nil)
        case "read": return .read(first, id: id)
        case "poll": return .poll("jobs/J1", of: writes)
        case "report": return .poll("jobs/J1/report", of: writes)
        case "override":
            return .perform(
                first, id: id, action: "override", parameters: ["program": "P", "reason": "visit"])
        case "reserve": return .reserve(pool: "numbers", key: [id], pattern: nil, count: 1)
        default: throw RecordedCallError(word: recorded.call)
        }
    }

    // MARK: What it means

    private func words(_ answer: ServerAnswer) -> [String] {
        switch answer {
        case .page(let page):
            let end = page.cursor.map { ["until \($0)"] } ?? []
            return page.records.map(words) + page.unreadable.map { "unreadable: \($0.problem)" }
                + end + (page.next.map { ["then page \($0)"] } ?? [])
        case .records(let records): return records.map(words)
        case .record(let record): return [words(record)]
        case .deleted(let record): return ["gone " + words(record)]
        case .batch(let parts): return parts.flatMap { words($0.answer) }
        case .stored(let id, _, let issues): return ["stored \(id)\(words(issues))"]
        case .refused(let refusal): return ["refused \(refusal.status)\(words(refusal.issues))"]
        case .ignored(let issues): return ["left alone\(words(issues))"]
        case .absent: return ["absent"]
        case .deferred(let ticket): return ["later \(ticket)"]
        case .waiting: return ["not yet"]
        case .reserved(let values):
            return values.values.map {
                "\($0.value) until \($0.until.map { "\($0)" } ?? "ever") by \(values.pattern ?? "")"
            }
        case .failure(let failure): return ["failed: \(failure.kind)"]
        default: return ["\(answer)"]
        }
    }

    private func words(_ issues: [ServerIssue]) -> String {
        issues.isEmpty ? "" : ": " + issues.words
    }

    /// An object with those in it: `a (enrollments: b (events: c, d))`.
    private func words(_ record: ServerRecord) -> String {
        let held = record.children.filter { !$0.records.isEmpty || !$0.unreadable.isEmpty }.map {
            let broken = $0.unreadable.map { "unreadable: \($0.problem)" }
            return "\($0.member): " + ($0.records.map(words) + broken).joined(separator: ", ")
        }
        let own = record.isDeleted ? "deleted \(record.id)" : record.id
        return held.isEmpty ? own : "\(own) (\(held.joined(separator: "; ")))"
    }
}

/// A row with a word that is no call.
private struct RecordedCallError: Error { var word: String }
